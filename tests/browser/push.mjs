// Web Push of the client in Chromium: a page subscribes and is registered, its service worker shows what the hub sends, shows no twin of what the user saw, and clears what is taken back.
// Chromium's push service is elsewhere: the subscription is one of the sandbox's browsers, and what the sandbox decrypted is given to the service worker.
// Usage: node push.mjs <http address of a hub> <publisher key> <client token of user ada> <https address of its sandbox> <the sandbox's CA>. Exit 0 = everything was seen; 1 = not, with one line why.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { get } from 'node:https';
import { connect as connectTo } from 'node:net';
import { chromium } from 'playwright-core';

const [hub, key, token, sandbox, authority] = process.argv.slice(2);
const ca = readFileSync(authority);
const limit = 15_000;
const page = `<!doctype html><title>push</title><script type="module">
  import { connect } from '/pnh.js';
  import { subscribe, unsubscribe } from '/pnh-push.js';
  window.handled = [];
  window.clicks = [];
  window.client = connect({ url: location.origin.replace('http', 'ws') + '/v1/socket', token: '${token}', device: 'ada-web' });
  client.on('event', ({ id }) => handled.push(id));
  window.subscribePush = () => subscribe(client, { onClick: (click) => clicks.push(click.id) });
  window.unsubscribePush = () => unsubscribe(client);
</script>`;
let step = 'start';

// The page's own site, with the hub behind it, as an ingress has it. Its socket goes to the hub itself.
const site = createServer(async (request, response) => {
  if (request.url === '/') {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    return;
  }

  const body = await new Response(request).text();
  const headers = Object.fromEntries(['authorization', 'content-type'].filter((name) => request.headers[name]).map((name) => [name, request.headers[name]]));
  const answer = await fetch(hub + request.url, { method: request.method, headers, body: body || undefined });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(await answer.text());
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
const origin = `http://localhost:${site.address().port}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
try {
  await walk();
} catch (error) {
  console.log(`push: FAILED at "${step}": ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  site.closeAllConnections();
  site.close();
}

async function walk() {
  const context = await browser.newContext();
  await context.grantPermissions(['notifications'], { origin });
  await context.addInitScript(standIn, await ask(`${sandbox}/sandbox/browsers/ada-web`));
  const tab = await context.newPage();
  await tab.goto(origin);
  const worker = await context.newCDPSession(tab);
  let registrationId;
  worker.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => { registrationId = registrations.at(-1)?.registrationId ?? registrationId; });
  await worker.send('ServiceWorker.enable');
  const deliver = (push) => worker.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(push) });
  const shown = () => tab.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag, data }) => ({ title, body, tag, id: data.id })));

  step = 'subscribe';
  await until('the client is open', () => tab.evaluate(() => client.status), (status) => status === 'open');
  const permission = await tab.evaluate(() => subscribePush());
  if (permission !== 'granted') throw new Error(permission);
  const registered = await api('GET', '/v1/users/ada/devices/ada-web');
  const given = await api('GET', '/v1/webpush/key');
  if (registered.platform !== 'web' || !registered.webpush || await tab.evaluate(() => subscribedKey) !== given.key) throw new Error(`registered ${JSON.stringify(registered)}`);

  step = 'a push is shown';
  await send('shown', { channels: ['webpush'], notification: { title: 'Ada', body: 'hello' }, collapseKey: 'chat', data: { url: '/' } });
  await deliver(await pushOf('shown'));
  const [one] = await until('one is shown', shown, (all) => all.length === 1);
  if (one.title !== 'Ada' || one.body !== 'hello' || one.tag !== 'chat' || one.id !== 'shown') throw new Error(JSON.stringify(one));

  step = 'what the user saw in the tab is not shown again';
  await send('seen', { notification: { title: 'seen' } });
  await until('the tab handled it', () => tab.evaluate(() => handled), (ids) => ids.includes('seen'));
  await send('pushed', { channels: ['webpush'], notification: { title: 'pushed' } });
  const push = await pushOf('pushed');
  await deliver({ ...push, id: 'seen', tag: 'seen', title: 'seen' });
  await deliver(push);
  await until('the other one is shown', shown, (all) => all.some(({ id }) => id === 'pushed'));
  if ((await shown()).some(({ id }) => id === 'seen')) throw new Error('the twin is shown');

  step = 'what is taken back is cleared';
  await deliver({ id: 'shown', 'pnh-withdraw': 'shown', 'pnh-reason': 'withdrawn' });
  await until('it is gone', shown, (all) => all.every(({ id }) => id !== 'shown'));

  step = 'unsubscribe';
  await tab.evaluate(() => unsubscribePush());
  if ((await api('GET', '/v1/users/ada/devices/ada-web')).webpush) throw new Error('the hub still has the subscription');
}

/** In the page: the browser's own subscription is one of the sandbox's browsers. */
function standIn(json) {
  const subscription = JSON.parse(json);
  let current = null;
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0)).buffer;
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    window.subscribedKey = applicationServerKey;
    current = {
      endpoint: subscription.endpoint, options: { applicationServerKey: bytes(applicationServerKey) }, toJSON: () => subscription,
      unsubscribe: async () => { current = null; return true; },
    };
    return current;
  };
}

/** What the sandbox's browser decrypted of the event. */
async function pushOf(id) {
  const find = (phones) => phones.flatMap((phone) => phone.lockScreen ?? []).find((shown) => shown.payload?.id === id);
  return find(await until(`the sandbox has ${id}`, async () => JSON.parse(await ask(`${sandbox}/sandbox/phones`)), find)).payload;
}

async function send(id, members) {
  await api('POST', '/v1/events', { id, to: { device: { user: 'ada', device: 'ada-web' } }, class: 'message', ...members });
}

async function api(method, path, body) {
  const answer = await fetch(hub + path, { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

function ask(address) {
  return new Promise((done, fail) => get(address, { ca }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => done(text));
  }).on('error', fail));
}

async function until(what, read, accept) {
  let value;
  for (const end = Date.now() + limit; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    value = await read();
    if (accept(value)) return value;
  }

  throw new Error(`not within ${limit / 1000} s: ${what}; last seen: ${JSON.stringify(value)}`);
}
