// The service worker of PNH: shows what comes by Web Push. A site serves it from its own origin: this file, or one of its own with importScripts("https://push.example.com/pnh-sw.js").
// `self.pnhInbox = { hub, device, token: async () => … }` says where texts are that a push does not carry. `self.pnhOptions = (push) => ({ icon: "/icon.png" })` adds to how it is shown, or replaces it: members of showNotification's options, and `title`.

self.addEventListener('push', (event) => event.waitUntil(takePush(event.data?.json() ?? {})));
self.addEventListener('notificationclick', (event) => event.waitUntil(openFor(event.notification)));
self.addEventListener('message', (event) => event.data?.type === 'pnh-renewal' && event.waitUntil(renewalOf(self.registration.scope, event.data)));
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event)));

/** What is taken back is closed; what the user had before his eyes already is not shown. Apple takes the permission away for a push that shows nothing: there everything is. */
async function takePush(push) {
  if (push['pnh-withdraw']) {
    for (const shown of await self.registration.getNotifications()) {
      if (shown.data?.id === push['pnh-withdraw']) shown.close();
    }
  } else if (push['pnh-replace'] || !await wasSeen(push.id) || await isApples()) {
    await show(await withTexts(push));
  }
}

/** The push with what its event says in the device's inbox; as it came when it lacks nothing, when the site does not say where, or when that cannot be had within 5 s. */
async function withTexts(push) {
  const inbox = self.pnhInbox;
  if (!push['pnh-fetch'] || !inbox) return push;
  try {
    const signal = AbortSignal.timeout(5000);
    const authorization = `Bearer ${await inbox.token()}`;
    for (let after = ''; after !== undefined;) {
      const answer = await fetch(`${inbox.hub}/v1/inbox?${new URLSearchParams({ device: inbox.device, ...(after && { after }) })}`, { headers: { authorization }, signal });
      const { events, next } = await answer.json();
      const event = events.find(({ id }) => id === push.id);
      if (event) return { ...push, ...inLanguage(event.notification), data: event.data };
      after = next;
    }
  } catch (error) {
    console.warn('PNH: the texts of a push could not be fetched', error);
  }
  return push;
}

function inLanguage({ locales = {}, ...texts } = {}) {
  const language = self.navigator.language;
  return { ...texts, ...(locales[language] ?? locales[language.split('-')[0]]) };
}

function show(push) {
  const { title, ...options } = {
    title: push.title ?? push.body ?? '',
    body: push.title === undefined ? undefined : [push.subtitle, push.body].filter(Boolean).join('\n'),
    image: push.image, lang: push.locale, tag: push.tag, silent: push.silent ?? false, renotify: Boolean(push.tag) && !push.silent,
    requireInteraction: push.class === 'call', data: { id: push.id, class: push.class, data: push.data, link: push.link },
    ...self.pnhOptions?.(push),
  };
  return self.registration.showNotification(title, options);
}

/** A click goes to a tab of the site that is open, else opens the notification's `link` or the event's own `data.url`, else the site. */
async function openFor(notification) {
  notification.close();
  const { id, class: name, data, link } = notification.data ?? {};
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const tab = tabs.length ? await tabs[0].focus() : await self.clients.openWindow(sameOrigin(link ?? data?.url));
  tab?.postMessage({ type: 'pnh-click', id, class: name, data, link });
}

/** A publisher's text decides which page of the site is opened, and no other site's. */
function sameOrigin(url) {
  try {
    const target = new URL(url ?? '/', self.location.origin);
    return target.origin === self.location.origin ? target.href : '/';
  } catch {
    return '/';
  }
}

/** The browser changed the subscription: it is told to the hub, by the key that came with the one before. A tab that is open registers it too, and so does the next one. */
async function renew({ oldSubscription, newSubscription }) {
  const { pushManager, scope } = self.registration;
  const kept = await renewalOf(scope);
  const made = oldSubscription?.options ?? (kept && { userVisibleOnly: true, applicationServerKey: kept.key });
  const subscription = newSubscription ?? await pushManager.getSubscription() ?? (made && await pushManager.subscribe(made));
  if (kept?.renewal && subscription) await tellHub(kept, subscription, scope).catch((error) => console.warn('PNH: the new subscription could not be told to the hub', error));
  for (const tab of await self.clients.matchAll({ type: 'window', includeUncontrolled: true })) tab.postMessage({ type: 'pnh-renewed' });
}

/** A network that is not back yet has half a minute. */
async function tellHub({ hub, renewal, key }, subscription, scope) {
  const headers = { authorization: `Bearer ${renewal}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ platform: 'web', webpush: subscription.toJSON() });
  for (let pause = 2000; ; pause *= 2) {
    const answer = await fetch(`${hub}/v1/webpush/renew`, { method: 'POST', headers, body }).catch((error) => error);
    if (answer.ok) return renewalOf(scope, { hub, key, renewal: (await answer.json()).renewal });
    if ((answer.status && answer.status < 500) || pause > 16_000) throw answer.status ? new Error(`the hub answers ${answer.status}`) : answer;
    await new Promise((done) => setTimeout(done, pause));
  }
}

/** The key that a page gave with its registration, where the hub is, and its public key; a value takes its place. Without a database there is none. */
function renewalOf(scope, value) {
  return new Promise((answer) => {
    const opening = indexedDB.open('pnh-renewal', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
    opening.onerror = () => answer(undefined);
    opening.onsuccess = () => {
      const work = opening.result.transaction('keys', 'readwrite');
      const keys = work.objectStore('keys');
      const asked = value ? keys.put(value, scope) : keys.get(scope);
      work.oncomplete = work.onerror = work.onabort = () => {
        opening.result.close();
        answer(value ?? asked.result);
      };
    };
  });
}

async function isApples() {
  const subscription = await self.registration.pushManager.getSubscription();
  return Boolean(subscription) && new URL(subscription.endpoint).hostname.endsWith('.push.apple.com');
}

/** Whether a page noted that the user saw it. What is over is forgotten. A database that refuses or does not answer knows nothing. */
function wasSeen(id) {
  return new Promise((answer) => {
    setTimeout(answer, 1000, false);
    const opening = indexedDB.open('pnh', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('seen');
    opening.onerror = () => answer(false);
    opening.onsuccess = () => {
      const reading = opening.result.transaction('seen', 'readwrite');
      const seen = reading.objectStore('seen');
      let isSeen = false;
      seen.openCursor().onsuccess = ({ target: { result: cursor } }) => {
        if (!cursor) return;
        isSeen ||= cursor.key === id;
        if (cursor.value < Date.now()) cursor.delete();
        cursor.continue();
      };
      reading.oncomplete = reading.onerror = reading.onabort = () => {
        opening.result.close();
        answer(isSeen);
      };
    };
  });
}
