// The client of browsers in Chromium: a page that is loaded again goes on with its session and handles nothing twice; all tabs of a user share one socket, whichever of them closes, sleeps or is loaded again.
// Usage: node client.mjs <http address of a hub> <publisher key> <client token of user ada, who may join the topic room> <one of user eve>. Exit 0 = everything was seen; 1 = not, with one line why.
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
import { until as look } from '../ship/until.mjs';

const [hub, key, token, otherToken] = process.argv.slice(2);
const limit = 25; // s: a tab that sleeps is noticed after 15
// How a page is: of another user, with tokens that come late, in a browser that refuses locks or does not answer, without sockets.
const page = `<!doctype html><title>client</title><script type="module">
  import { connect } from '${hub}/pnh.js';
  const how = location.search.slice(1);
  if (how === 'refused') navigator.locks.request = () => Promise.reject(new DOMException('denied', 'SecurityError'));
  if (how === 'silent') navigator.locks.request = () => new Promise(() => {});
  if (how === 'socketless') globalThis.WebSocket = class { constructor() { throw new Error('blocked'); } };
  const late = async () => { await new Promise((done) => setTimeout(done, 1000)); return '${token}'; };
  window.open = () => {
    window.handled = [];
    window.statuses = [];
    window.errors = [];
    window.client = connect({ url: '${hub.replace('http', 'ws')}/v1/socket', token: how === 'eve' ? '${otherToken}' : how === 'late' ? late : '${token}' });
    client.on('event', async ({ id }) => { await new Promise((done) => setTimeout(done, 5)); handled.push(id); });
    client.on('status', (status) => statuses.push(status));
    client.on('error', ({ code }) => errors.push(code));
  };
  window.open();
</script>`;
const frame = '<!doctype html><title>frame</title><iframe sandbox="allow-scripts" src="/"></iframe>';
let step = 'start';

const server = createServer((request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/frame' ? frame : page)).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
try {
  await walk();
} catch (error) {
  console.log(`client: FAILED at "${step}": ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  server.close();
}

async function walk() {
  const context = await browser.newContext();
  const first = await context.newPage();
  step = 'open a page';
  await first.goto(`http://127.0.0.1:${server.address().port}/`);
  await until('the client is open', () => first.evaluate(() => client.status), (status) => status === 'open');
  const device = await first.evaluate(() => client.device);
  await post('before', 5);
  await until('five events were handled', () => first.evaluate(() => handled.length), (count) => count === 5);

  step = 'load it again while events come';
  const posting = post('during', 40, 25);
  const handled = new Set(await first.evaluate(() => handled));
  for (let i = 0; i < 3; i++) {
    await new Promise((done) => setTimeout(done, 250));
    for (const id of await first.evaluate(() => handled)) handled.add(id);
    await first.reload();
    await until('it is open again', () => first.evaluate(() => window.client?.status), (status) => status === 'open');
    const { resumed } = await first.evaluate(() => statuses.find(({ status }) => status === 'open'));
    if (!resumed) throw new Error('the session was not resumed');
  }
  await posting;
  await until('the device is the same', () => first.evaluate(() => client.device), (now) => now === device);
  await until('the last event was handled', () => first.evaluate(() => handled.at(-1)), (id) => id === 'during-39');
  const last = await first.evaluate(() => handled);
  if (new Set(last).size !== last.length) throw new Error(`handled twice: ${last}`);

  await tabsShareOneSocket(context, first);
  for (const scene of [closesBeforeItsToken, locksAreRefused, leadsWithoutASocket]) {
    step = scene.name;
    const own = await browser.newContext();
    await scene(own);
    await own.close();
  }
}

async function openTab(context, how = '') {
  const tab = await context.newPage();
  await tab.goto(`http://127.0.0.1:${server.address().port}/${how}`);
  return tab;
}

function isOpen(tab, what = 'the tab is open') {
  return until(what, () => tab.evaluate(() => window.client?.status), (status) => status === 'open');
}

/** As a component that is mounted twice: closed while its token is on its way, and opened again. */
async function closesBeforeItsToken(context) {
  const first = await openTab(context, '?late');
  await until('it asks for its token', () => first.evaluate(() => statuses.length), (count) => count > 0);
  await first.evaluate(() => { client.close(); window.open(); });
  await isOpen(first, 'the second client of the page is open');
  const gone = await openTab(context, '?late');
  await until('it asks for its token', () => gone.evaluate(() => statuses.length), (count) => count > 0);
  await gone.evaluate(() => client.close());
  await first.evaluate(() => client.close());
  const last = await openTab(context);
  await isOpen(last, 'a tab beside two that closed is open');
  await eachHandled([last], await post('mounted', 3));
  if ((await first.evaluate(() => handled)).length || (await gone.evaluate(() => statuses.at(-1).status)) !== 'closed') throw new Error('a closed client goes on');
}

/** Locks that are refused or never given, and a frame without an origin, which has no storage either: the tab has a socket of its own, and says each once. */
async function locksAreRefused(context) {
  const tabs = [await openTab(context, '?refused'), await openTab(context, '?silent'), (await openTab(context, 'frame')).frames()[1]];
  for (const [n, tab] of tabs.entries()) {
    await isOpen(tab, `the tab ${tab.url()} is open`);
    const errors = await tab.evaluate(() => errors);
    if (errors.join() !== ['not-shared', 'not-shared', 'not-kept,not-shared'][n]) throw new Error(`${tab.url()} says ${errors}`);
  }

  await eachHandled(tabs, await post('alone-each', 3));
}

/** The tab that leads first cannot open a socket: the other one leads within seconds, and both get what comes. */
async function leadsWithoutASocket(context) {
  const first = await openTab(context, '?socketless');
  await until('it says why', () => first.evaluate(() => statuses.at(-1)), ({ status, reason }) => status === 'waiting' && reason === 'no-connection');
  const second = await openTab(context);
  const from = Date.now();
  await isOpen(second, 'the second tab leads');
  await isOpen(first, 'the first hears from it');
  if (Date.now() - from > 12_000) throw new Error(`after ${Date.now() - from} ms`);
  await eachHandled([first, second], await post('socketless', 3));
}

/** What a tab handled since it was loaded, without its loading. */
function handledBy(tab) {
  return tab.evaluate(() => handled);
}

/** Each of the tabs handled these events once, in their order. */
async function eachHandled(tabs, ids) {
  for (const tab of tabs) {
    await until(`a tab handled ${ids.at(-1)}`, () => handledBy(tab), (handled) => handled.includes(ids.at(-1)));
  }

  await new Promise((done) => setTimeout(done, 200)); // for what must not come
  for (const tab of tabs) {
    const handled = (await handledBy(tab)).filter((id) => ids.includes(id));
    if (handled.join() !== ids.join()) throw new Error(`handled ${handled} instead of ${ids}`);
  }
}

async function tabsShareOneSocket(context, first) {
  step = 'open two more tabs';
  const address = first.url();
  const sockets = [];
  const open = async (search = '') => {
    const tab = await context.newPage();
    tab.on('websocket', () => sockets.push(tab));
    await tab.goto(address + search);
    await until('the tab is open', () => tab.evaluate(() => window.client?.status), (status) => status === 'open');
    return tab;
  };
  const [second, third, eve] = [await open(), await open(), await open('?eve')];
  if (sockets.length !== 1 || sockets[0] !== eve) throw new Error(`${sockets.length} sockets instead of one for the tab of another user`);
  const device = await first.evaluate(() => client.device);
  await until('the tabs are one device', () => second.evaluate(() => client.device), (other) => other === device);
  await eachHandled([first, second, third], await post('shared', 10));
  if ((await handledBy(eve)).length) throw new Error("another user's tab handled something");

  step = 'a tab that does not hold the socket joins a topic and answers';
  await second.evaluate(() => client.join('room'));
  await until('the event of the topic comes', async () => {
    await post(`room-${Date.now()}`, 1, 0, { topic: 'room' });
    return (await handledBy(third)).some((id) => id.startsWith('room-'));
  }, (came) => came);
  await third.evaluate(() => client.seen('shared-0'));

  step = 'the tab with the socket closes while events come';
  const closing = post('closing', 40, 10);
  await new Promise((done) => setTimeout(done, 150));
  await first.close();
  await eachHandled([second, third], await closing);
  const { resumed } = await second.evaluate(() => statuses.findLast(({ status }) => status === 'open'));
  if (!resumed || sockets.filter((tab) => tab === second).length !== 1 || sockets.includes(third)) throw new Error('the second tab did not go on with the session');

  step = 'the tab with the socket is loaded again while events come';
  const loading = post('loading', 40, 10);
  await new Promise((done) => setTimeout(done, 150));
  await second.reload();
  await eachHandled([third], await loading);

  step = 'the tab with the socket sleeps';
  await until('the second tab is back', () => second.evaluate(() => window.client?.status), (status) => status === 'open');
  const sleep = await context.newCDPSession(third);
  await sleep.send('Page.setWebLifecycleState', { state: 'frozen' });
  const from = Date.now();
  const sleeping = await post('sleeping', 10);
  await eachHandled([second], sleeping);
  if (Date.now() - from > 5_000) throw new Error(`the next tab went on after ${Date.now() - from} ms`);
  await sleep.send('Page.setWebLifecycleState', { state: 'active' });
  await eachHandled([second, third], await post('awake', 10));
  await eachHandled([third], sleeping);

  step = 'a topic that no tab wants any more';
  await second.evaluate(() => client.close());
  await until('the other goes on', () => third.evaluate(() => client.status), (status) => status === 'open');
  await eachHandled([third], await post('alone', 3));
  const before = (await handledBy(third)).length;
  await post('left', 1, 0, { topic: 'room' });
  await new Promise((done) => setTimeout(done, 500));
  if ((await handledBy(third)).length !== before) throw new Error('an event came of a topic that its tab has left');
}

async function post(name, count, rest = 0, to = { user: 'ada' }) {
  const ids = Array.from({ length: count }, (_, n) => `${name}-${n}`);
  for (let n = 0; n < count; n++) {
    const answer = await fetch(`${hub}/v1/events`, {
      method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body: JSON.stringify({ id: ids[n], to, class: 'message', data: { n } }),
    });
    if (answer.status !== 202) throw new Error(`posted, answered ${answer.status}`);
    if (rest) await new Promise((done) => setTimeout(done, rest));
  }

  return ids;
}

/** A page that is being loaded again has an error to say, and no value. */
function until(what, read, accept) {
  return look(what, () => read().catch((error) => error.message), accept, limit);
}
