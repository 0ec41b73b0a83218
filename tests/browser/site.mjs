// A web site with a hub behind it, as an ingress has it, and a browser whose push service is the sandbox's.
import { createServer } from 'node:http';
import { get } from 'node:https';
import { connect as connectTo } from 'node:net';
import { chromium } from 'playwright-core';
import { until } from '../ship/until.mjs';

/**
 * `pages`: answers of the site's own, by path: the text, with its type where it is not HTML. Everything else is the hub's, its socket too.
 * Gives `origin`, and `close()`.
 */
export async function startSite(hub, pages) {
  const site = createServer(async (request, response) => {
    const before = request.headers['service-worker'] === 'script' ? tells : '';
    const own = pages[request.url];
    if (own !== undefined) {
      const { text, type = 'text/html' } = typeof own === 'string' ? { text: own } : own;
      response.writeHead(200, { 'content-type': type }).end(before + text);
      return;
    }

    const body = await new Response(request).text();
    const headers = Object.fromEntries(['authorization', 'content-type'].filter((name) => request.headers[name]).map((name) => [name, request.headers[name]]));
    const answer = await fetch(hub + request.url, { method: request.method, headers, body: body || undefined });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(before + await answer.text());
  });
  site.on('upgrade', (request, socket, head) => {
    const through = connectTo(Number(new URL(hub).port), new URL(hub).hostname, () => {
      const headers = request.rawHeaders.reduce((text, part, i) => text + part + (i % 2 ? '\r\n' : ': '), '');
      through.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n`);
      through.write(head);
      through.pipe(socket).pipe(through);
    });
    for (const end of [socket, through]) end.on('error', () => through.destroy(socket.destroy()));
  });
  await new Promise((done) => site.listen(0, 'localhost', done));
  return {
    origin: `http://localhost:${site.address().port}`,
    close: () => {
      site.closeAllConnections();
      site.close();
    },
  };
}

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });

/**
 * Before each service worker's script: its page hears of each notification that the browser took.
 * Chromium without a window forgets one now and then after showNotification has resolved, so `getNotifications` cannot say what was shown.
 */
const tells = `{
  const { prototype } = ServiceWorkerRegistration;
  const { showNotification } = prototype;
  prototype.showNotification = async function (title, options) {
    await showNotification.call(this, title, options);
    new BroadcastChannel('shown').postMessage({ title, body: options.body ?? '', tag: options.tag, id: options.data.id });
  };
}
`;

/**
 * A tab of the site whose subscription is that of the sandbox's browser. `deliver` gives its service worker a push, as the push service would.
 * `shown`: the notifications that the browser took of it, in order; `kept`: the ids of what it still shows.
 */
export async function openTab(browser, origin, subscription) {
  const context = await browser.newContext();
  await context.grantPermissions(['notifications'], { origin });
  await context.addInitScript(standIn, subscription);
  const tab = await context.newPage();
  await tab.goto(origin);
  const worker = await context.newCDPSession(tab);
  let registrationId;
  worker.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => { registrationId = registrations.at(-1)?.registrationId ?? registrationId; });
  await worker.send('ServiceWorker.enable');
  return {
    tab,
    deliver: (push) => worker.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(push) }),
    shown: () => tab.evaluate(() => window.shown),
    kept: () => tab.evaluate(async () => (await Promise.all((await navigator.serviceWorker.getRegistrations()).map((each) => each.getNotifications()))).flat().map(({ data }) => data.id)),
  };
}

/** What the sandbox's browser decrypted of the event; null = nothing yet. */
export async function pushOf(sandbox, ca, id) {
  return JSON.parse(await ask(`${sandbox}/sandbox/phones`, ca)).flatMap((phone) => phone.lockScreen ?? []).find((shown) => shown.payload?.id === id)?.payload ?? null;
}

/** GETs text by HTTPS, from a server whose certificate that authority has signed. */
export function ask(address, ca) {
  return new Promise((done, fail) => get(address, { ca }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => done(text));
  }).on('error', fail));
}

/** In the page: the browser's own subscription is one of the sandbox's browsers. */
function standIn(json) {
  const subscription = JSON.parse(json);
  let current = null;
  let asked = 0;
  window.shown = [];
  new BroadcastChannel('shown').onmessage = ({ data }) => window.shown.push(data);
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0)).buffer;
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    window.subscribedKey = applicationServerKey;
    // As Chrome does right after unsubscribing.
    const isRemoved = asked++ === 0;
    current = {
      endpoint: isRemoved ? 'https://permanently-removed.invalid/fcm/send/x' : subscription.endpoint, options: { applicationServerKey: bytes(applicationServerKey) }, toJSON: () => ({ ...subscription, endpoint: current.endpoint }),
      unsubscribe: async () => { current = null; return true; },
    };
    return current;
  };
}
