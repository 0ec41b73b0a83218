// Web Push for pages: the browser shows what comes while no tab of the site is looked at. Loaded by pages that want it. Types: pnh-push.d.ts.
import { request } from './pnh-http.js';
import { keep, recall } from './pnh-kept.js';

const renewedEvery = 7 * 24 * 3_600_000;
const writtenWithin = 300;
const ownWorker = '/pnh-sw.js';
const ownScope = '/pnh/';

/** Whether this browser has Web Push at all. On iOS only an installed web app does. */
export const canPush = () => Boolean(globalThis.navigator?.serviceWorker && globalThis.PushManager && globalThis.Notification);

/**
 * Subscribes this browser and registers the subscription for the client's device; asks the user when he has not answered yet, which browsers want after a click. To be called on each load of the page after that: it
 * renews what the browser or the hub changed. Gives `granted`, or what is in the way: `denied`, `default` (not answered) or `unsupported`.
 */
export async function subscribe(client, options = {}) {
  const { device = {} } = options;
  if (!canPush()) return 'unsupported';
  const permission = await Notification.requestPermission();
  if (permission !== 'granted') return permission;
  const worker = await registrationOf(options);
  const { pushManager } = worker;
  const { key } = await request(client, 'GET', '/v1/webpush/key');
  let subscription = await pushManager.getSubscription();
  if (subscription && (keyOf(subscription) !== key || isRemoved(subscription))) {
    await subscription.unsubscribe(); // it was made for a key that the hub does not have
    subscription = null;
  }

  subscription ??= await subscribeAnew(pushManager, key);
  await register(client, { locale: navigator.language, ...device, platform: 'web', webpush: subscription.toJSON() }, worker, key);
  listen(client, options);
  return permission;
}

/** The worker in a scope of its own, so that it replaces none of the site's. A page that is subscribed by one for the whole site keeps it. */
async function registrationOf({ serviceWorker = ownWorker }) {
  const { serviceWorker: workers } = navigator;
  let scope;
  if (serviceWorker === ownWorker) {
    const known = await workers.getRegistration('/');
    const isKept = known?.active && new URL(known.active.scriptURL).pathname === ownWorker && await known.pushManager.getSubscription();
    scope = isKept ? new URL(known.scope).pathname : ownScope;
  }

  return activated(await workers.register(serviceWorker, scope && { scope }));
}

/** Itself, and not the one that controls the page: of a worker in a folder no page of the site would be told. */
function activated(registration) {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) return registration;
  return new Promise((done, fail) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') done(registration);
      if (worker.state === 'redundant') fail(new Error('the service worker could not be installed'));
    });
  });
}

/** Chrome gives an address that does not exist when it is asked right after unsubscribing: then it is asked again, a little later each time. */
async function subscribeAnew(pushManager, key) {
  for (let pause = 500; ; pause *= 2) {
    const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    if (!isRemoved(subscription)) return subscription;
    await subscription.unsubscribe();
    if (pause > 8_000) throw new Error('The browser gives no address for pushes. Subscribe again with the next load of the page.');
    await new Promise((done) => setTimeout(done, pause));
  }
}

const isRemoved = ({ endpoint }) => new URL(endpoint).hostname.endsWith('.invalid');

/** Ends the subscription, here and at the hub. The device stays. */
export async function unsubscribe(client, { device = {}, serviceWorker = ownScope } = {}) {
  const registration = await navigator.serviceWorker?.getRegistration(serviceWorker);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await register(client, { locale: navigator.language, ...device, platform: 'web' }, registration);
}

/** Nothing is sent when the hub has it already. The worker gets the key by which it renews the subscription while no tab is open. */
async function register(client, registration, worker, key) {
  const { hub, user, device } = await client.identity();
  const place = `pnh-push:${user}:${device}`;
  const text = JSON.stringify(registration);
  const kept = recall('localStorage', place);
  if (kept?.text === text && kept.renews && Date.now() - kept.at < renewedEvery) return;
  const { renewal } = await request(client, 'PUT', `/v1/users/${encodeURIComponent(user)}/devices/${encodeURIComponent(device)}`, text);
  for (const each of [worker?.installing, worker?.waiting, worker?.active]) each?.postMessage({ type: 'pnh-renewal', hub, key, renewal });
  keep('localStorage', place, { text, at: Date.now(), renews: true });
}

const keyOf = (subscription) => btoa(String.fromCharCode(...new Uint8Array(subscription.options.applicationServerKey))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const listening = new WeakSet();

function listen(client, options) {
  if (listening.has(client)) return;
  listening.add(client);

  // The service worker shows no twin of what the user had before his eyes. It is known before the event is acknowledged, since the hub pushes what is not.
  client.on('handled', async (event) => {
    if (event.seq && document.visibilityState === 'visible') await noteSeen(event);
  });
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (data?.type === 'pnh-click') {
      client.seen(data.id);
      options.onClick?.(data);
    } else if (data?.type === 'pnh-renewed') {
      subscribe(client, options).catch(() => {}); // with the next load of the page, then
    }
  });
  navigator.serviceWorker.startMessages();
}

/** Read by `pnh-sw.js`, which forgets what is over. A browser whose database refuses, or does not answer, may show a twin; the event does not wait for it. */
function noteSeen({ id, ttl }) {
  const written = new Promise((done) => {
    const opening = indexedDB.open('pnh', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('seen');
    opening.onerror = done;
    opening.onsuccess = () => {
      const writing = opening.result.transaction('seen', 'readwrite');
      writing.objectStore('seen').put(Date.now() + ttl * 1000, id);
      writing.oncomplete = writing.onerror = writing.onabort = () => {
        opening.result.close();
        done();
      };
    };
  });
  return Promise.race([written.catch(() => {}), new Promise((done) => setTimeout(done, writtenWithin))]);
}
