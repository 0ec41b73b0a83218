// The client of browsers in Chromium: a page that is loaded again goes on with its session and handles nothing twice, and the copy of a tab is another device.
// Usage: node client.mjs <http address of a hub> <publisher key> <client token of user ada>. Exit 0 = everything was seen; 1 = not, with one line why.
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';

const [hub, key, token] = process.argv.slice(2);
const limit = 15_000;
const page = `<!doctype html><title>client</title><script type="module">
  import { connect } from '${hub}/pnh.js';
  window.handled = [];
  window.statuses = [];
  window.client = connect({ url: '${hub.replace('http', 'ws')}/v1/socket', token: '${token}' });
  client.on('event', async ({ id }) => { await new Promise((done) => setTimeout(done, 5)); handled.push(id); });
  client.on('status', (status) => statuses.push(status));
</script>`;
let step = 'start';

const server = createServer((request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page)).listen(0, '127.0.0.1');
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

  step = 'copy the tab';
  const [copy] = await Promise.all([context.waitForEvent('page'), first.evaluate(() => { window.open(location.href); })]);
  await until('the copy is open', () => copy.evaluate(() => window.client?.status), (status) => status === 'open');
  if (await copy.evaluate(() => client.device) === device) throw new Error('the copy has the same device');
  await until('the first is still open', () => first.evaluate(() => client.status), (status) => status === 'open');
  await copy.close();
}

async function post(name, count, rest = 0) {
  for (let n = 0; n < count; n++) {
    const answer = await fetch(`${hub}/v1/events`, {
      method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body: JSON.stringify({ id: `${name}-${n}`, to: { user: 'ada' }, class: 'message', data: { n } }),
    });
    if (answer.status !== 202) throw new Error(`posted, answered ${answer.status}`);
    if (rest) await new Promise((done) => setTimeout(done, rest));
  }
}

async function until(what, read, accept) {
  let value;
  for (const end = Date.now() + limit; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    value = await read().catch((error) => error.message); // while the page is loaded again
    if (accept(value)) return value;
  }
  throw new Error(`not within ${limit / 1000} s: ${what}; last seen: ${JSON.stringify(value)}`);
}
