// Web Push of the client in Chromium: a page subscribes and is registered, its service worker shows what the hub sends, shows no twin of what the user saw, clears what is taken back, and fetches the texts that a push does not carry.
// Chromium's push service is elsewhere: the subscription is one of the sandbox's browsers, and what the sandbox decrypted is given to the service worker.
// Usage: node push.mjs <http address of a hub> <publisher key> <client token of user ada> <https address of its sandbox> <the sandbox's CA>. Exit 0 = everything was seen; 1 = not, with one line why.
import { readFileSync } from 'node:fs';
import { until } from '../ship/until.mjs';
import { ask, launch, openTab, pushOf, startSite } from './site.mjs';

const [hub, key, token, sandbox, authority] = process.argv.slice(2);
const ca = readFileSync(authority);
const page = `<!doctype html><title>push</title><script type="module">
  import { connect } from '/pnh.js';
  import { subscribe, unsubscribe } from '/pnh-push.js';
  window.handled = [];
  window.clicks = [];
  window.client = connect({ url: location.origin.replace('http', 'ws') + '/v1/socket', token: '${token}', device: 'ada-web' });
  client.on('event', ({ id }) => handled.push(id));
  window.subscribePush = (more) => subscribe(client, { ...more, onClick: (click) => clicks.push(click.id) });
  window.unsubscribePush = () => unsubscribe(client);
</script>`;
let step = 'start';

const worker = `self.pnhInbox = { hub: location.origin, device: 'ada-web', token: async () => '${token}' };\n${await (await fetch(`${hub}/pnh-sw.js`)).text()}`;
const site = await startSite(hub, { '/': page, '/pnh-sw.js': { text: worker, type: 'text/javascript' }, '/folder/push.js': { text: worker, type: 'text/javascript' }, '/own.js': { text: 'self.isOwn = true;', type: 'text/javascript' } });
const browser = await launch();
try {
  await walk();
} catch (error) {
  console.log(`push: FAILED at "${step}": ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  site.close();
}

/** The scripts of the tab's workers, by scope. */
function workersOf(tab) {
  return tab.evaluate(async () => Object.fromEntries((await navigator.serviceWorker.getRegistrations()).map(({ scope, active }) => [new URL(scope).pathname, new URL(active.scriptURL).pathname])));
}

/** A site's own worker stays, a page that was subscribed by a worker for the whole site keeps it, and one in a folder is waited for itself. */
async function leavesWorkersAlone() {
  const subscription = await ask(`${sandbox}/sandbox/browsers/ada-web`, ca);
  for (const [name, before, more, expected] of [
    ["a site's own worker", '/own.js', {}, { '/': '/own.js', '/pnh/': '/pnh-sw.js' }],
    ['a worker of before', '/pnh-sw.js', {}, { '/': '/pnh-sw.js' }],
    ['a worker in a folder', '/own.js', { serviceWorker: '/folder/push.js' }, { '/': '/own.js', '/folder/': '/folder/push.js' }],
  ]) {
    step = name;
    const { tab } = await openTab(browser, site.origin, subscription);
    await until('the client is open', () => tab.evaluate(() => client.status), (status) => status === 'open');
    await tab.evaluate(async (script) => {
      await navigator.serviceWorker.register(script);
      const { pushManager } = await navigator.serviceWorker.ready;
      await (await pushManager.subscribe({ applicationServerKey: 'AAAA' })).unsubscribe();
      if (script === '/pnh-sw.js') await pushManager.subscribe({ applicationServerKey: 'AAAA' });
    }, before);
    const permission = await tab.evaluate((given) => subscribePush(given), more);
    const workers = await workersOf(tab);
    if (permission !== 'granted' || JSON.stringify(Object.entries(workers).sort()) !== JSON.stringify(Object.entries(expected).sort())) throw new Error(`${permission} ${JSON.stringify(workers)}`);
    await tab.context().close();
  }
}

/** The browser changes the subscription while no page of the site is open. */
async function renewsWithoutATab() {
  step = 'renew without a tab';
  const subscription = JSON.parse(await ask(`${sandbox}/sandbox/browsers/ada-web`, ca));
  const { tab } = await openTab(browser, site.origin, JSON.stringify(subscription));
  await until('the client is open', () => tab.evaluate(() => client.status), (status) => status === 'open');
  await tab.evaluate(() => subscribePush());
  await tab.goto('about:blank');
  const [worker] = tab.context().serviceWorkers();
  for (const name of ['second', 'third']) {
    const endpoint = `${subscription.endpoint}-${name}`;
    await worker.evaluate((json) => renew({ newSubscription: { toJSON: () => json } }), { ...subscription, endpoint });
    const { webpush } = await api('GET', '/v1/users/ada/devices/ada-web');
    if (webpush?.endpoint !== endpoint) throw new Error(JSON.stringify(webpush));
  }

  await tab.context().close();
}

async function walk() {
  const { tab, deliver, shown, kept } = await openTab(browser, site.origin, await ask(`${sandbox}/sandbox/browsers/ada-web`, ca));

  step = 'subscribe';
  await until('the client is open', () => tab.evaluate(() => client.status), (status) => status === 'open');
  const permission = await tab.evaluate(() => subscribePush());
  if (permission !== 'granted') throw new Error(permission);
  const registered = await api('GET', '/v1/users/ada/devices/ada-web');
  const given = await api('GET', '/v1/webpush/key');
  if (registered.platform !== 'web' || !registered.webpush || await tab.evaluate(() => subscribedKey) !== given.key) throw new Error(`registered ${JSON.stringify(registered)}`);

  step = 'a push is shown';
  await send('shown', { channels: ['webpush'], notification: { title: 'Ada', body: 'hello' }, collapseKey: 'chat', data: { url: '/' } });
  const first = await decrypted('shown');
  await deliver(first);
  const [one] = await until('one is shown', shown, (all) => all.length === 1);
  if (one.title !== 'Ada' || one.body !== 'hello' || one.tag !== 'chat' || one.id !== 'shown') throw new Error(JSON.stringify(one));

  step = 'what the user saw in the tab is not shown again';
  await send('seen', { notification: { title: 'seen' } });
  await until('the tab handled it', () => tab.evaluate(() => handled), (ids) => ids.includes('seen'));
  await send('pushed', { channels: ['webpush'], notification: { title: 'pushed' } });
  const push = await decrypted('pushed');
  await deliver({ ...push, id: 'seen', tag: 'seen', title: 'seen' });
  await deliver(push);
  await until('the other one is shown', shown, (all) => all.some(({ id }) => id === 'pushed'));
  if ((await shown()).some(({ id }) => id === 'seen')) throw new Error('the twin is shown');

  step = 'what is taken back is cleared';
  await until('the browser keeps it', async () => {
    if ((await kept()).includes('shown')) return true;
    const before = (await shown()).length;
    await deliver(first);
    await until('it is shown again', shown, (all) => all.length > before);
    return false;
  });
  await deliver({ id: 'shown', 'pnh-withdraw': 'shown', 'pnh-reason': 'withdrawn' });
  await until('it is gone', kept, (ids) => !ids.includes('shown'));

  step = 'unsubscribe';
  await tab.evaluate(() => unsubscribePush());
  if ((await api('GET', '/v1/users/ada/devices/ada-web')).webpush) throw new Error('the hub still has the subscription');

  step = 'what a push does not carry is fetched';
  await tab.evaluate(() => client.close());
  await send('fetched', { notification: { title: 'Ada', body: 'hello', locales: { en: { body: 'hello, in English' } } }, data: { n: 1 } });
  await deliver({ id: 'fetched', class: 'message', body: 'You have a new message', 'pnh-fetch': true });
  await deliver({ id: 'elsewhere', class: 'message', body: 'You have a new message', 'pnh-fetch': true });
  const fetched = await until('both are shown', shown, (all) => ['fetched', 'elsewhere'].every((id) => all.some((one) => one.id === id)));
  const texts = Object.fromEntries(fetched.map(({ id, title, body }) => [id, `${title}|${body}`]));
  await leavesWorkersAlone();
  await renewsWithoutATab();
  if (texts.fetched !== 'Ada|hello, in English' || texts.elsewhere !== 'You have a new message|') throw new Error(JSON.stringify(texts));
}

function decrypted(id) {
  return until(`the sandbox has ${id}`, () => pushOf(sandbox, ca, id));
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
