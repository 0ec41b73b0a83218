// This tab as a device of the demo's user, where the hub made the demo: the protocol pnh.v1 over the public listener's socket, as any client would speak it.
import { byId, clockSeconds, make, post, setText } from '/console/dom.js';

const keptEvents = 50;
const longestWait = 30_000;

let socket = null;
let wanted = true;
let attempt = 0;
let timer = null;
let session = null;
let lastSeq = 0;
let state = 'active';

function status(tone, text) {
  byId('tab-status').dataset.state = tone;
  setText(byId('tab-text'), text);
  byId('tab-connect').textContent = wanted ? 'Disconnect' : 'Connect';
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
  return url;
}

async function connect() {
  clearTimeout(timer);
  status('wait', 'connecting');
  let token;
  try {
    const answer = await post('/console/token');
    // Only the demo of a first start has a user whom a tab may speak for.
    byId('tab').hidden = answer.status === 404;
    if (answer.status === 404) {
      wanted = false;
      return;
    }
    if (answer.status === 401) {
      wanted = false;
      status('off', 'signed out: open the console again');
      return;
    }
    if (answer.status !== 200) {
      retry(answer.json?.detail ?? `the hub answers ${answer.status}`);
      return;
    }
    token = answer.json;
  } catch {
    retry('hub not reachable');
    return;
  }
  if (!wanted) return;
  if (!byId('user').value) byId('user').value = token.user;
  const device = token.device ?? deviceId();
  setText(byId('tab-user'), `${token.user}, device ${device}`);
  open(token, device);
}

function open(token, device) {
  const own = new WebSocket(socketUrl(token.socketUrl));
  socket = own;
  own.onopen = () => own.send(JSON.stringify({
    type: 'hello', token: token.token, device, state, ...(session && { resume: { session, seq: lastSeq } }),
  }));
  own.onmessage = (message) => receive(own, JSON.parse(message.data));
  own.onclose = (close) => {
    if (socket !== own) return;
    socket = null;
    const reason = close.reason || `code ${close.code}`;
    if (!wanted) {
      status('off', 'disconnected');
    } else if (close.code >= 4500 && close.code < 5000) {
      // The hub says: do not come back.
      wanted = false;
      status('off', `closed: ${reason}`);
    } else {
      retry(`connection lost (${reason})`);
    }
  };
}

/** Doubles up to 30 s, with full jitter: after a restart the clients must not come back in one moment. */
function retry(why) {
  if (!wanted) return;
  const wait = Math.random() * Math.min(longestWait, 500 * 2 ** attempt++) + 250;
  status('wait', `${why}, again in ${(wait / 1000).toFixed(1)} s`);
  clearTimeout(timer);
  timer = setTimeout(connect, wait);
}

function receive(own, frame) {
  if (frame.type === 'welcome') {
    attempt = 0;
    if (!frame.resumed) lastSeq = frame.seq ?? 0;
    session = frame.session;
    status('on', frame.resumed ? 'connected, session resumed' : 'connected');
  } else if (frame.type === 'event') {
    if (frame.seq !== undefined) {
      lastSeq = frame.seq;
      own.send(JSON.stringify({ type: 'ack', seq: frame.seq }));
    }
    list(frame);
  } else if (frame.type === 'withdraw') {
    lastSeq = frame.seq ?? lastSeq;
    if (frame.seq !== undefined) own.send(JSON.stringify({ type: 'ack', seq: frame.seq }));
    find(frame.id)?.firstElementChild.classList.add('withdrawn');
  } else if (frame.type === 'error') {
    status('wait', `hub says: ${frame.message}`);
  }
}

const find = (id) => [...byId('received').children].find((item) => item.dataset.event === id);

/** A twin (socket and replay) is shown once: same id, same event. */
function list(frame) {
  if (find(frame.id)) return;
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
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'state', state: next }));
}

function toggle() {
  wanted = !wanted;
  if (wanted) {
    attempt = 0;
    connect();
  } else {
    clearTimeout(timer);
    session = null;
    const own = socket;
    socket = null;
    own?.close(1000);
    status('off', 'disconnected');
  }
}

export function startTab() {
  byId('tab-active').addEventListener('click', () => setState('active'));
  byId('tab-background').addEventListener('click', () => setState('background'));
  byId('tab-connect').addEventListener('click', toggle);
  connect();
}
