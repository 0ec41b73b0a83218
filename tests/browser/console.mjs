// Clicks through the console in Chromium: send -> the phone shows it -> this tab shows it -> the counters moved.
// Usage: node console.mjs <one-time link of the console> [folder for screenshots]. Exit 0 = everything was seen; 1 = not, with one line why.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import axe from 'axe-core';
import { until as look } from '../ship/until.mjs';

const [link, pictures = 'screenshots'] = process.argv.slice(2);
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const limit = 15_000;

// As root in a container there is no sandbox; without the last four Chromium calls home at every start.
const chromiumFlags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
];

let step = 'start';

function until(what, read, accept) {
  step = what;
  return look(what, read, accept, limit / 1000);
}

const count = (text) => Number(text.replaceAll(/[^0-9.]/g, '') || 0);
const text = (page, selector) => page.locator(selector).first().textContent({ timeout: limit });
const total = async (page) => count(await text(page, '#stat-deliveries .note'));
const accepted = async (page) => count(await text(page, '#stat-events .note'));

async function send(page, title, body, className) {
  await page.fill('#title', title);
  await page.fill('#body', body);
  await page.selectOption('#class', className);
  await page.click('#send');
}

async function clickThrough(page, failures) {
  // Clicked on a page of another site, as in web mail or a web terminal: strict cookies do not come along on such a navigation.
  step = 'open the one-time link';
  await page.setContent(`<a href="${link}">the link</a>`);
  await page.click('a');
  await until('the console is open without the ticket in its address', () => page.url(), (value) => value === new URL('/console', link).href);
  await until('the stream is live', () => text(page, '#live-text'), (value) => value.startsWith('live')); // a disk that fills or a slow machine may be a trouble
  await takeState(page, 'empty');
  await until('this tab is connected', () => text(page, '#tab-text'), (value) => value.startsWith('connected'));
  await until('the form names its app', () => text(page, '#publish-app'), (value) => value.includes('demo'));
  const user = await page.inputValue('#user');
  await until(`the sessions table shows the tab of ${user}`, () => page.locator('#sessions tbody').textContent(), (value) => value.includes(user));

  // With the tab in the background the plan pushes at once; in front it would wait for the ack.
  await page.click('#tab-background');
  await until('the tab reports background', () => page.locator('#sessions tbody').textContent(), (value) => value.includes('background'));
  await send(page, 'Grace', 'is calling', 'call');
  await until('both phones ring', () => page.locator('#phones .phone').evaluateAll((phones) => phones.map((phone) => phone.textContent)),
    (phones) => phones.length === 2 && phones.every((phone) => phone.includes('is calling')));
  await takeFrontPicture(page);

  const deliveriesBefore = await total(page);
  const eventsBefore = await accepted(page);
  const marker = `browser ${Date.now().toString(36)}`;

  step = 'send a message';
  await send(page, 'Grace', marker, 'message');
  await until('the hub accepted it', () => text(page, '#answer-status'), (value) => value === '202');
  await until('the plan gives reasons', () => text(page, '#plan'), (value) => value.includes('because'));
  await until('its timeline tells of a push', () => page.click('#show-timeline').then(() => text(page, '#timeline')), (value) => value.includes('over apns'));
  await page.fill('#find-text', user);
  await page.click('#find-button');
  await until('the user is found with devices and the event', () => page.locator('#found').textContent(), (value) => value.includes(user) && value.includes('apns') && /accepted over|because/.test(value));
  await page.locator('#found-user button.link').first().click();
  await until('its event opens with milliseconds', () => page.locator('#found-user .plan:not([hidden])').textContent(), (value) => /\+\d+ ms planned/.test(value));
  await page.fill('#find-text', 'nobody-at-all');
  await page.click('#find-button');
  await until('who is not known is told so', () => text(page, '#found'), (value) => value.includes('Nothing is known'));
  await until('what did not arrive has its panel', () => page.locator('#failures').textContent(), (value) => /because no-provider|Nothing, as far back/.test(value));
  await until('the newest events have this one with its end', () => page.locator('#newest').textContent(), (value) => /message.*accepted over/.test(value));
  await until('the last hour has its charts with figures', () => page.locator('#hour .chart').evaluateAll((charts) => charts.map((chart) => chart.ariaLabel)),
    (labels) => labels.length === 6 && labels.some((label) => /^Sessions, last hour: last \d/.test(label)));
  await page.selectOption('#failures-channel', 'websocket');
  await until('no socket failed', () => page.locator('#failures').textContent(), (value) => value.includes('Nothing, as far back'));
  const lost = page.locator('#deliveries button[data-channel]').last();
  if (await lost.count()) {
    const channel = await lost.getAttribute('data-channel');
    await lost.click();
    await until('a count leads to the failures of its channel', () => page.inputValue('#failures-channel'), (value) => value === channel);
  }
  await page.selectOption('#failures-channel', '');
  await until('of all channels there may be some', () => page.locator('#failures').textContent(), (value) => /because no-provider|Nothing, as far back/.test(value));
  await page.click('#stat-events dt button');
  await until('the tile of events leads to them', () => page.evaluate(() => document.activeElement.closest('.panel')?.id), (value) => value === 'newest-panel');
  await page.locator('#newest tbody th button').first().click();
  await until('a line there leads to the timeline', () => page.locator('#found-event').textContent(), (value) => value.includes('Timeline of'));
  await page.locator('#sessions button.link').first().click();
  await until('a session leads to its user', () => page.locator('#found-user').textContent(), (value) => value.includes(user));
  await until('this tab shows it', () => page.locator('#received').textContent(), (value) => value.includes(marker));
  await until('this tab acked it', () => text(page, '#received li .ack'), (value) => value.includes('acked'));
  await until('a phone shows it', () => page.locator('#phones .card').allTextContents(), (cards) => cards.some((card) => card.includes(marker)));
  await until('deliveries were counted', () => total(page), (value) => value >= deliveriesBefore + 2);
  await until('the event was counted', () => accepted(page), (value) => value >= eventsBefore + 1);
  await until('the table has the channel websocket', () => page.locator('#deliveries tbody').textContent(), (value) => value.includes('websocket'));

  await until('the table of nodes has the hub and its edge', () => page.locator('#nodes tbody tr').allTextContents(),
    (rows) => rows.length === 2 && rows[0].includes('all') && rows[1].includes('edge-1') && rows[1].includes('MiB'));

  step = 'send a call with the tab in front';
  await page.click('#tab-active');
  await send(page, 'Ada', `${marker} call`, 'call');
  await until('this tab shows the call', () => page.locator('#received').textContent(), (value) => value.includes(`${marker} call`));

  step = 'refuse data that is no JSON';
  await page.fill('#data', '{not json');
  await page.click('#send');
  await until('the form says why', () => text(page, '#data-error'), (value) => value.includes('no JSON'));
  await page.fill('#data', '{"chat": 7}');
  await page.click('#explain');
  await until('explain answers 200', () => text(page, '#answer-status'), (value) => value === '200');
  if (failures.length) throw new Error(`the page reported: ${failures.join(' | ')}`);
}

/** The picture of the README, docs/console.png: the page's upper part while both phones ring. */
async function takeFrontPicture(page) {
  step = 'picture of the README';
  await page.setViewportSize({ width: 1180, height: 680 });
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.waitForTimeout(1_500);
  const picture = await page.screenshot({ path: join(pictures, 'console.png') });
  await page.setViewportSize({ width: 1280, height: 900 });
  if (picture.length > 200_000) throw new Error(`it has ${picture.length} bytes; the README's may have 200,000`);
}

/** Nothing that axe finds, of any of its rules. Its source goes in past the page's policy, which lets in no script but the page's own. */
async function check(page, where) {
  step = `axe, ${where}`;
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? node.failureSummary})`).join(', ')}`);
  if (found.length) throw new Error(found.join(' | '));
}

/** A picture of the page as it is, in both schemes, wide and narrow. */
async function takeState(page, state) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await page.screenshot({ path: join(pictures, `console-${state}-${scheme}-${width}.png`), fullPage: true });
    }
    await check(page, `${state}, ${scheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function takePictures(page) {
  step = 'screenshots';
  await page.waitForTimeout(2_500);
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 420, 390]) {
      await page.setViewportSize({ width, height: width > 600 ? 900 : 860 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) throw new Error(`at ${width} px the page is ${overflow} px too wide`);
      const wrong = await page.evaluate(phonesOutOfPlace);
      if (wrong.length > 0) throw new Error(`at ${width} px: ${wrong.join(', ')}`);
      await page.screenshot({ path: join(pictures, `console-${scheme}-${width}.png`), fullPage: true });
      await check(page, `busy, ${scheme}, ${width} px`);
    }
  }
}

/** Runs in the page: phones that leave their panel or lie over each other. */
function phonesOutOfPlace() {
  const panel = document.getElementById('phones').getBoundingClientRect();
  const phones = [...document.querySelectorAll('.phone')].map((phone) => ({ name: phone.dataset.phone, box: phone.querySelector('.shell').getBoundingClientRect() }));
  const leaving = phones.filter(({ box }) => box.left < panel.left - 1 || box.right > panel.right + 1).map(({ name }) => `${name} leaves its panel`);
  const over = phones.flatMap((one, i) => phones.slice(i + 1)
    .filter(({ box }) => box.left < one.box.right && one.box.left < box.right && box.top < one.box.bottom && one.box.top < box.bottom)
    .map(({ name }) => `${name} lies over ${one.name}`));
  return phones.length < 2 ? ['fewer than two phones'] : [...leaving, ...over];
}

/** The strip of troubles as the page shows it; a page that is signed out hears nothing that would take it away. */
async function showTroubles(page) {
  step = 'the strip of troubles';
  await page.evaluate(async () => {
    const { showTrouble } = await import('/console/trouble.js');
    showTrouble(['apns: account "demo/0" is refused', 'disk full in 3 h'], { time: Date.now(), served: Infinity, deliveries: [], events: [], deadlinesMissed: 0 });
  });
  await until('both lines are seen', () => page.locator('#trouble li:visible').count(), (count) => count === 2);
}

/** The session ends for every page that it has open: one shows the form again, another says so and dims what it does not renew. */
async function signOut(page) {
  step = 'open the console a second time';
  const other = await page.context().newPage();
  await other.goto(page.url(), { waitUntil: 'domcontentloaded', timeout: limit });
  await until('the second is live', () => text(other, '#live-text'), (value) => value.startsWith('live'));
  step = 'sign out';
  await page.click('#signout');
  await until('the form asks for a key', () => page.locator('input[name=key]').count(), (value) => value === 1);
  await check(page, 'sign-in');
  await until('the second says that it is signed out', () => text(other, '#live-text'), (value) => value.startsWith('signed out'));
  await until('its figures are dimmed', () => other.locator('main[data-stale]').count(), (value) => value === 1);
  await showTroubles(other);
  await takeState(other, 'broken');
  await other.close();
}

if (!link) {
  console.error('usage: node console.mjs <console link> [folder for screenshots]');
  process.exit(2);
}

await mkdir(pictures, { recursive: true });
const profile = await mkdtemp(join(tmpdir(), 'pnh-browser-'));
const context = await chromium.launchPersistentContext(profile, { executablePath: browserPath, args: chromiumFlags, viewport: { width: 1280, height: 900 } });
let failed = false;
try {
  const page = await context.newPage();
  const failures = [];
  page.on('pageerror', (error) => failures.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') failures.push(message.text()); });
  try {
    await clickThrough(page, failures);
    await takePictures(page);
    await signOut(page);
    console.log('console: everything was seen');
  } catch (error) {
    failed = true;
    console.error(`console: FAILED at "${step}": ${error.message.split('\n')[0]}${failures.length ? ` (page: ${failures.join(' | ')})` : ''}`);
    await page.screenshot({ path: join(pictures, 'failed.png'), fullPage: true }).catch(() => {});
  }
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
