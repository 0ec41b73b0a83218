// This tab as a device of the demo's user, where the hub made the demo: the client that any page would use, over the public listener's socket.
import { connect } from '/console/pnh.js';
import { byId, clockSeconds, make, post, setText } from '/console/dom.js';

const keptEvents = 50;
const longestWait = 10_000;

let client = null;
let state = 'active';
let timer = null;
let isStarting = false;

function status(tone, text) {
  byId('tab-status').dataset.state = tone;
  setText(byId('tab-text'), text);
}

/** One id per tab, kept over reloads: two tabs are two devices and do not replace each other. */
function deviceId() {
  let id = sessionStorage.getItem('pnh-device');
  if (!id) {
    id = `tab-${crypto.getRandomValues(new Uint32Array(1))[0].toString(16).padStart(8, '0')}`;
    sessionStorage.setItem('pnh-device', id);
  }
  return id;
}

/** The hub names its listener by the address it listens on; the browser reaches it under the name that it used for this page. */
function socketUrl(text) {
  const url = new URL(text);
  if (['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = location.hostname;
  return url.href;
}

async function fetchToken() {
  const answer = await post('/console/token');
  if (answer.status === 200) return answer.json;
  // Only the demo of a first start has a user whom a tab may speak for.
  byId('tab').hidden = answer.status === 404;
  const isEnd = answer.status === 404 || answer.status === 401;
  throw Object.assign(new Error(answer.status === 401 ? 'signed out: open the console again' : answer.json?.detail ?? `the hub answers ${answer.status}`), { isEnd });
}

async function start() {
  if (isStarting) return;
  isStarting = true;
  clearTimeout(timer);
  byId('tab-connect').textContent = 'Disconnect';
  status('wait', 'connecting');
  let first;
  try {
    first = await fetchToken();
  } catch (error) {
    status(error.isEnd ? 'off' : 'wait', error.isEnd ? error.message : 'hub not reachable, trying again');
    if (!error.isEnd) timer = setTimeout(start, Math.random() * longestWait);
    return;
  } finally {
    isStarting = false;
  }
  byId('tab').hidden = false;
  byId('user').value ||= first.user;
  const device = first.device ?? deviceId();
  setText(byId('tab-user'), `${first.user}, device ${device}`);
  client = connect({ url: socketUrl(first.socketUrl), device, state, visibility: false, share: false, token });
  client.on('status', showStatus);
  client.on('event', list);
  client.on('withdraw', ({ id }) => find(id)?.firstElementChild.classList.add('withdrawn'));
  client.on('error', (error) => status('wait', `hub says: ${error.message}`));

  async function token() {
    const known = first ?? await fetchToken();
    first = null;
    return known.token;
  }
}

function showStatus({ status: now, resumed, why, wait, reason }) {
  const texts = {
    connecting: ['wait', 'connecting'],
    open: ['on', resumed ? 'connected, session resumed' : 'connected'],
    waiting: ['wait', `${why}, again in ${(wait / 1000).toFixed(1)} s`],
    // With a reason it does not come back.
    closed: ['off', reason ? `closed: ${why}` : 'disconnected'],
  };
  status(...texts[now]);
  if (now === 'closed') {
    client = null;
    byId('tab-connect').textContent = 'Connect';
  }
}

const find = (id) => [...byId('received').children].find((item) => item.dataset.event === id);

function list(frame) {
  const title = frame.notification?.title ?? '';
  const body = frame.notification?.body ?? '';
  const item = make('li', { 'data-event': frame.id, class: 'new' },
    make('div', {}, make('b', {}, title || frame.class), body ? ` ${body}` : ''),
    make('div', { class: 'meta' }, clockSeconds(new Date())),
    make('code', {}, frame.data === undefined ? '' : JSON.stringify(frame.data)),
    make('div', { class: 'meta' }, `${frame.class} · `,
      frame.seq === undefined ? 'live only' : make('span', { class: 'ack' }, `seq ${frame.seq} acked`)));
  const received = byId('received');
  received.prepend(item);
  while (received.children.length > keptEvents) received.lastElementChild.remove();
}

function setState(next) {
  state = next;
  byId('tab-active').setAttribute('aria-pressed', String(next === 'active'));
  byId('tab-background').setAttribute('aria-pressed', String(next === 'background'));
  if (client) client.state = next;
}

export function startTab() {
  byId('tab-active').addEventListener('click', () => setState('active'));
  byId('tab-background').addEventListener('click', () => setState('background'));
  byId('tab-connect').addEventListener('click', () => (client ? client.close() : start()));
  start();
}
