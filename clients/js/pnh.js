// The client of PNH for browsers and Node: one socket that comes back by itself. Protocol: pnh.v1. Types and what each member does: pnh.d.ts.

const shortestWait = 500;
const longestWait = 30_000;
const renewedAfter = 5_000; // a session that lived so long needs a new token now, and not a wait
const keptIds = 10_000;
const beatGrace = 8_000;
const attemptsOfHandler = 3;
const acksBehind = 20;
const closeCodes = { drained: 4000, expired: 4002, final: 4500, left: 4997, silent: 4998, failed: 4999 }; // the last three are said by this end

/** Opens a session and keeps it open until `close` is called or the hub says not to come back. */
export function connect(options) {
  return new PnhClient(options);
}

class PnhClient {
  #options;
  #listeners = new Map();
  #socket = null;
  #session = null;
  #handledSeq = 0; // what resume and ack name: everything up to it was handled
  #ackedSeq = 0;
  #queue = [];
  #isHandling = false;
  #seen = new Map(); // ids of events that were handled, with the time until which a twin may come
  #failures = new Map();
  #topics = new Set();
  #state;
  #device = null;
  #release = () => {};
  #attempt = 0;
  #openedAt = Infinity;
  #heardAt = 0;
  #beat = 0;
  #watch;
  #timer;
  #drain = null;
  #isDraining = false; // it was said when to come: all clients at once would be a storm
  #isClosed = false;
  #status = 'connecting';

  constructor(options) {
    if (!options?.url || !options.token) throw new TypeError('connect needs url and token');
    const isPage = typeof document !== 'undefined';
    this.#options = { WebSocket: globalThis.WebSocket, visibility: isPage, keep: isPage, ...options };
    if (!this.#options.WebSocket) throw new TypeError('this runtime has no WebSocket: give one as an option');
    this.#state = options.state ?? (this.#options.visibility && document.visibilityState === 'hidden' ? 'background' : 'active');
    if (this.#options.visibility) document.addEventListener('visibilitychange', this.#seeVisibility);
    if (this.#options.keep) globalThis.addEventListener('pagehide', this.#leave);
    globalThis.addEventListener?.('online', this.#seeNetwork);
    // Later, so that the caller has set its handlers.
    this.#timer = setTimeout(() => this.#begin(), 0);
  }

  /** `connecting`, `open`, `waiting` or `closed`. */
  get status() {
    return this.#status;
  }

  /** Null until it is known: a page looks first whether another tab has it. */
  get device() {
    return this.#device;
  }

  get state() {
    return this.#state;
  }

  set state(value) {
    this.#state = value;
    this.#say({ type: 'state', state: value });
  }

  on(type, listener) {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  join(...topics) {
    topics.forEach((topic) => this.#topics.add(topic));
    this.#say({ type: 'join', topics });
  }

  leave(...topics) {
    topics.forEach((topic) => this.#topics.delete(topic));
    this.#say({ type: 'leave', topics });
  }

  answer(id, as) {
    return this.#say({ type: 'answer', id, as });
  }

  seen(id) {
    return this.#say({ type: 'seen', id });
  }

  send(event) {
    return this.#say({ ...event, type: 'send' });
  }

  close() {
    if (this.#isClosed) return;
    const socket = this.#socket;
    this.#end();
    socket?.close(1000);
  }

  #seeVisibility = () => {
    this.#seeNetwork();
    this.state = document.visibilityState === 'hidden' ? 'background' : 'active';
  };

  /** The network is back, or the machine woke up: no need to wait, and a connection that died meanwhile is found. */
  #seeNetwork = () => {
    this.#findLoss();
    if (this.#status !== 'waiting' || this.#isDraining) return;
    clearTimeout(this.#timer);
    this.#open();
  };

  /** A dead connection says nothing: the hub's beats do not come. */
  #findLoss() {
    if (this.#status !== 'open' || !this.#beat || Date.now() - this.#heardAt < this.#beat + beatGrace) return;
    this.#drop(closeCodes.silent, 'nothing came for a while');
  }

  /** False when nobody hears it now. */
  #say(frame) {
    if (this.#status !== 'open') return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #emit(type, value) {
    for (const listener of this.#listeners.get(type) ?? []) {
      try {
        listener(value);
      } catch (error) {
        console.error(error);
      }
    }
  }

  #become(status, detail = {}) {
    this.#status = status;
    this.#emit('status', { status, ...detail });
  }

  /** What this tab was before it was loaded again, unless it is the copy of a tab that lives. */
  async #begin() {
    const kept = this.#options.keep ? this.#recall() : null;
    if (kept && (!this.#options.device || kept.device === this.#options.device) && await this.#own(kept.device)) {
      this.#device = kept.device;
      this.#session = kept.session;
      this.#handledSeq = kept.seq;
      this.#seen = new Map(kept.seen);
    } else {
      this.#device = this.#options.device ?? randomDevice();
      if (this.#options.keep) await this.#own(this.#device);
    }

    if (!this.#isClosed) await this.#open();
  }

  /** Two tabs with one device would close each other: the first to ask has it for as long as it lives. */
  #own(device) {
    if (!globalThis.navigator?.locks) return true;
    return new Promise((answer) => {
      navigator.locks.request(`pnh:${this.#options.url}:${device}`, { ifAvailable: true }, (lock) => {
        answer(Boolean(lock));
        return lock && new Promise((release) => { this.#release = release; });
      });
    });
  }

  get #place() {
    return `pnh:${this.#options.url}`;
  }

  #recall() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#place));
    } catch {
      return null; // a page without storage, or what is no longer understood
    }
  }

  /** The page goes, perhaps to come again. A close by the browser itself would end the session. */
  #leave = () => {
    const now = Date.now();
    const seen = [...this.#seen].filter(([, until]) => until > now);
    try {
      sessionStorage.setItem(this.#place, JSON.stringify({ device: this.#device, session: this.#session, seq: this.#handledSeq, seen }));
    } catch {
      // A page without storage: it begins anew.
    }

    if (this.#socket) this.#drop(closeCodes.left, 'the page goes');
  };

  async #open() {
    this.#isDraining = false;
    this.#become('connecting');
    let token;
    try {
      token = typeof this.#options.token === 'function' ? await this.#options.token() : this.#options.token;
    } catch (error) {
      this.#wait(`no token: ${error?.message ?? error}`);
      return;
    }

    if (this.#isClosed) return;
    const socket = new this.#options.WebSocket(this.#options.url, 'pnh.v1');
    this.#socket = socket;
    socket.onopen = () => {
      const resume = this.#session && { session: this.#session, seq: this.#handledSeq };
      socket.send(JSON.stringify({ type: 'hello', token, device: this.#device, state: this.#state, beat: true, ...(resume && { resume }) }));
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heardAt = Date.now();
      this.#take(JSON.parse(data));
    };
    socket.onerror = () => {}; // the close says it
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#lost(code, reason);
    };
  }

  #take(frame) {
    switch (frame.type) {
      case 'welcome':
        this.#welcome(frame);
        break;
      case 'event':
      case 'withdraw':
        this.#queue.push(frame);
        this.#handle();
        break;
      case 'drain':
        this.#drain = frame;
        break;
      case 'error':
        this.#emit('error', Object.assign(new Error(frame.message), { code: frame.code }));
        break;
    }
  }

  #welcome({ session, seq, resumed, beat = 0 }) {
    if (!resumed) this.#handledSeq = seq;
    this.#ackedSeq = seq;
    this.#session = session;
    this.#attempt = 0;
    this.#openedAt = Date.now();
    this.#beat = beat * 1000;
    clearInterval(this.#watch);
    if (beat) this.#watch = setInterval(() => this.#findLoss(), 1000);
    this.#become('open', { session, resumed });
    if (!resumed && this.#topics.size) this.#say({ type: 'join', topics: [...this.#topics] });
  }

  #lost(code, reason) {
    this.#socket = null;
    clearInterval(this.#watch);
    this.#queue = []; // not handled, so not acknowledged: they come again
    const drain = this.#drain;
    this.#drain = null;
    if (this.#isClosed) return;
    if (code >= closeCodes.final && code < 5000) {
      this.#end({ code, reason });
    } else if (code === closeCodes.drained && drain) {
      this.#again(drain.after * 1000, 'the node goes away');
      this.#isDraining = true;
    } else if (code === closeCodes.expired && Date.now() - this.#openedAt > renewedAfter) {
      this.#again(0, 'the token expired');
    } else {
      this.#wait(reason || `connection lost (${code})`);
    }
  }

  /** Ends a connection from here; the session goes on with the next one. */
  #drop(code, why) {
    const socket = this.#socket;
    this.#ack();
    this.#lost(0, why);
    socket.close(code);
  }

  /** Doubles up to 30 s, all of it by chance: after a restart clients must not come back in one moment. */
  #wait(why) {
    if (!this.#isClosed) this.#again(Math.random() * Math.min(longestWait, shortestWait * 2 ** this.#attempt++), why);
  }

  #again(wait, why) {
    this.#become('waiting', { wait, why });
    this.#timer = setTimeout(() => this.#open(), wait);
  }

  #end(detail = {}) {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
    this.#release();
    if (this.#options.keep) {
      globalThis.removeEventListener('pagehide', this.#leave);
      try {
        sessionStorage.removeItem(this.#place);
      } catch {
        // A page without storage.
      }
    }
    globalThis.removeEventListener?.('online', this.#seeNetwork);
    this.#socket = null;
    this.#queue = [];
    if (this.#options.visibility) document.removeEventListener('visibilitychange', this.#seeVisibility);
    this.#become('closed', detail);
  }

  /** One after the other, in their order; each is acknowledged once its handlers have finished. */
  async #handle() {
    if (this.#isHandling) return;
    this.#isHandling = true;
    try {
      for (let frame; (frame = this.#queue.shift());) {
        const socket = this.#socket;
        if (frame.type === 'withdraw') this.#emit('withdraw', frame);
        const isDone = frame.type === 'withdraw' || await this.#deliver(frame);
        if (socket !== this.#socket) continue; // of a connection that is gone: it comes again, and is known then
        if (!isDone) {
          this.#drop(closeCodes.failed, 'a handler failed'); // it comes again with the next connection, and so does all behind it
          break;
        }

        if (frame.seq) this.#handledSeq = frame.seq;
        if (this.#queue.length === 0 || this.#handledSeq - this.#ackedSeq >= acksBehind) this.#ack();
      }
    } finally {
      this.#isHandling = false;
    }

    if (this.#queue.length) this.#handle();
  }

  #ack() {
    if (this.#handledSeq > this.#ackedSeq && this.#say({ type: 'ack', seq: this.#handledSeq })) this.#ackedSeq = this.#handledSeq;
  }

  /** True when it was handled, now or before; false when a handler failed and it shall come again. */
  async #deliver(frame) {
    if (this.#seen.has(frame.id)) return true;
    try {
      await Promise.all([...(this.#listeners.get('event') ?? [])].map((listener) => listener(frame)));
    } catch (error) {
      const failures = (this.#failures.get(frame.id) ?? 0) + 1;
      this.#failures.set(frame.id, failures);
      const isGivenUp = failures >= attemptsOfHandler || !frame.seq;
      this.#emit('error', Object.assign(new Error(`a handler failed: ${error?.message ?? error}`, { cause: error }), { code: 'handler', event: frame, isGivenUp }));
      if (!isGivenUp) return false;
    }

    this.#failures.delete(frame.id);
    if (frame.seq) this.#remember(frame);
    return true;
  }

  #remember({ id, at, ttl }) {
    const now = Date.now();
    this.#seen.set(id, at + (ttl * 1000));
    for (const [known, until] of this.#seen) {
      if (until > now && this.#seen.size <= keptIds) break; // roughly by age: what is behind it is younger
      this.#seen.delete(known);
    }
  }
}

function randomDevice() {
  return `web-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
