// The client of PNH for browsers and Node: one socket that comes back by itself, for all tabs of a browser. Protocol: pnh.v1. Types and what each member does: pnh.d.ts.
import { claimsOf, HandledIds, keep, randomDevice, recall } from './pnh-kept.js';
import { canShare, Tabs } from './pnh-tabs.js';
import { checkTopics, Topics } from './pnh-topics.js';

const shortestWait = 500;
const longestWait = 30_000;
const renewedAfter = 5_000; // a session that lived so long needs a new token now, and not a wait
const beatGrace = 8_000;
const attemptsOfHandler = 3;
const acksBehind = 20;
const leavesAfter = 1_000; // what the other tabs want is known by then
const closeCodes = { drained: 4000, expired: 4002, final: 4500, replaced: 4500, left: 4997, silent: 4998, failed: 4999 }; // the last three are said by this end

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
  #handled = new HandledIds();
  #failures = new Map();
  #wanted = new Set(); // topics
  #topics = new Topics();
  #leavesFrom = 0;
  #state;
  #toldState;
  #place = null; // where it keeps what it is: by address and user
  #tabs = null;
  #firstToken = null;
  #device = null;
  #attempt = 0;
  #openedAt = Infinity;
  #heardAt = 0;
  #beat = 0;
  #watch;
  #timer;
  #drain = null;
  #isDraining = false; // it waits for a reason: all clients of a node that goes away at once would be a storm
  #isClosed = false;
  #status = 'connecting';
  #detail = {}; // of the status

  constructor(options) {
    if (!options?.url || !options.token) throw new TypeError('connect needs url and token');
    const isPage = typeof document !== 'undefined';
    this.#options = { WebSocket: globalThis.WebSocket, visibility: isPage, keep: isPage, share: isPage && canShare(), ...options };
    if (!this.#options.WebSocket) throw new TypeError('this runtime has no WebSocket: give one as an option');
    this.#state = options.state ?? (this.#options.visibility && document.visibilityState === 'hidden' ? 'background' : 'active');
    if (isPage) this.#listen('addEventListener');
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
    this.#change();
  }

  on(type, listener) {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  get joined() {
    return this.#topics.joined;
  }

  join(...topics) {
    checkTopics(topics);
    topics.forEach((topic) => this.#wanted.add(topic));
    this.#change();
  }

  leave(...topics) {
    topics.forEach((topic) => this.#wanted.delete(topic));
    this.#change();
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

  async identity() {
    if (!this.#device) await new Promise((known) => { const off = this.on('status', () => { if (this.#device) known(off()); }); });
    const token = await this.#newToken();
    const hub = this.#options.url.replace(/^ws/, 'http').replace(/\/v1\/socket.*$/, '');
    return { hub, token, user: claimsOf(token).sub, device: this.#device };
  }

  close() {
    if (this.#isClosed) return;
    const socket = this.#socket;
    const goesOn = this.#tabs?.hasOthers; // in another tab
    if (goesOn) this.#ack();
    this.#tabs?.leave();
    this.#end();
    socket?.close(goesOn ? closeCodes.left : 1000);
  }

  #listen(how) {
    globalThis[how]('pagehide', this.#leave);
    globalThis[how]('pageshow', this.#return);
    globalThis[how]('online', this.#seeNetwork);
    document[how]('visibilitychange', this.#seeVisibility);
  }

  #seeVisibility = () => {
    this.#seeNetwork();
    if (this.#options.visibility) this.state = document.visibilityState === 'hidden' ? 'background' : 'active';
  };

  /** The network is back, or the machine woke up: no need to wait, and a connection that died meanwhile is found. */
  #seeNetwork = () => {
    if (this.#follows) {
      this.#tabs.say({ type: 'look' });
      return;
    }

    this.#findLoss();
    if (this.#status !== 'waiting' || this.#isDraining) return;
    clearTimeout(this.#timer);
    this.#next();
  };

  /** True while another tab holds the socket. */
  get #follows() {
    return this.#tabs !== null && !this.#tabs.leads;
  }

  /** What the tabs want has changed: the hub is told of the difference. */
  #change() {
    if (this.#follows) {
      this.#tabs.say();
      return;
    }

    if (this.#status === 'open') {
      this.#topics.say(this.#allTopics, Date.now() >= this.#leavesFrom).forEach((frame) => this.#say(frame));
      const state = stateOf(this.#allWants);
      if (state !== this.#toldState) this.#say({ type: 'state', state });
      this.#toldState = state;
    }

    this.#tell();
  }

  get #wants() {
    return { topics: [...this.#wanted], state: this.#state };
  }

  /** Of this tab and of the others. */
  get #allWants() {
    return this.#tabs?.wants ?? [this.#wants];
  }

  get #allTopics() {
    return new Set(this.#allWants.flatMap(({ topics }) => topics));
  }

  /** A dead connection says nothing: the hub's beats do not come. */
  #findLoss() {
    if (this.#status !== 'open' || !this.#beat || Date.now() - this.#heardAt < this.#beat + beatGrace) return;
    this.#drop(closeCodes.silent, 'nothing came for a while');
  }

  /** False when nobody hears it now. */
  #say(frame) {
    if (this.#status !== 'open') return false;
    if (this.#follows) {
      this.#tabs.say(frame);
      return true;
    }

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
    this.#detail = detail;
    this.#tell();
    this.#emit('status', { status, ...detail });
  }

  #next() {
    return this.#place ? this.#open() : this.#begin();
  }

  /** The token says who is signed in: tabs of two users share nothing. */
  async #begin() {
    const token = await this.#askToken();
    if (!token) return;
    this.#firstToken = token;
    this.#place = `pnh:${this.#options.url}:${claimsOf(token).aud}:${claimsOf(token).sub}`;
    const kept = this.#options.keep && recall('sessionStorage', this.#place);
    if (kept && (!this.#options.device || kept.device === this.#options.device)) {
      this.#device = kept.device;
      this.#session = kept.session;
      this.#handledSeq = kept.seq;
      this.#topics = new Topics(kept.joined);
      this.#handled = new HandledIds(kept.handled);
    }

    if (this.#options.share) {
      this.#tabs = new Tabs(this.#place, {
        lead: () => this.#lead(), follow: () => this.#follow(), hear: (news) => this.#hear(news), takeOver: (frame) => this.#takeOver(frame), change: () => this.#change(), wants: () => this.#wants,
      });
      this.#tabs.join();
    } else {
      this.#device ??= this.#options.device ?? randomDevice();
      await this.#open();
    }
  }

  /** This tab holds the socket from now on, and goes on where the one before it was. */
  #lead() {
    if (this.#isClosed) return;
    const kept = recall('localStorage', this.#place);
    this.#device ??= this.#options.device ?? kept?.device ?? randomDevice();
    keep('localStorage', this.#place, { device: this.#device });
    this.#open();
  }

  /** Another tab took the socket over, as this one slept. */
  #follow() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (!socket) return;
    this.#lost(0, 'another tab goes on');
    clearTimeout(this.#timer);
    socket.close(closeCodes.left);
  }

  /** The leader, to the other tabs: what there is now. */
  #tell(news = {}) {
    this.#tabs?.tell({ status: this.#status, detail: this.#detail, device: this.#device, session: this.#session, seq: this.#handledSeq, joined: this.joined, ...news });
  }

  /** What the leader tells. An event is this tab's from here on: its leader has acknowledged it, or will. */
  #hear({ status, detail, device, session, seq, joined, frame, error }) {
    if (frame) {
      this.#queue.push({ ...frame, isHeard: true });
      this.#handle();
    } else if (error) {
      this.#fail(error);
    }

    if (!this.#follows) return;
    this.#firstToken = null; // it would be an old one by the time
    if (session) [this.#device, this.#session, this.#handledSeq, this.#topics] = [device, session, seq, new Topics(joined)];
    if (status === 'closed') {
      this.#end(detail);
    } else if (JSON.stringify([status, detail]) !== JSON.stringify([this.#status, this.#detail])) {
      this.#become(status, detail);
    }
  }

  /** What another tab says to this one, which leads. */
  #takeOver(frame) {
    this.#findLoss();
    if (frame?.type === 'look') {
      this.#seeNetwork();
    } else if (frame) {
      this.#say(frame);
    }

    this.#change();
  }

  /** The page goes, perhaps to come again. A close by the browser itself would end the session. */
  #leave = () => {
    if (this.#options.keep && this.#place) {
      keep('sessionStorage', this.#place, { device: this.#device, session: this.#session, seq: this.#handledSeq, joined: this.joined, handled: this.#handled.entries });
    }

    if (this.#socket) this.#drop(closeCodes.left, 'the page goes');
    if (this.#tabs) {
      clearTimeout(this.#timer);
      this.#tabs.leave();
    }
  };

  #return = ({ persisted }) => {
    if (persisted && !this.#isClosed) this.#tabs?.join();
  };

  async #newToken() {
    return typeof this.#options.token === 'function' ? this.#options.token() : this.#options.token;
  }

  /** Null when there is none now: it will be asked for again. */
  async #askToken() {
    this.#isDraining = false;
    this.#become('connecting');
    try {
      return this.#firstToken ?? await this.#newToken();
    } catch (error) {
      this.#wait(`no token: ${error?.message ?? error}`);
      return null;
    } finally {
      this.#firstToken = null;
    }
  }

  async #open() {
    const token = await this.#askToken();
    if (!token || this.#isClosed || this.#follows) return;
    const socket = new this.#options.WebSocket(this.#options.url, 'pnh.v1');
    this.#socket = socket;
    socket.onopen = () => {
      const resume = this.#session && { session: this.#session, seq: this.#handledSeq };
      this.#toldState = stateOf(this.#allWants);
      socket.send(JSON.stringify({ type: 'hello', token, device: this.#device, state: this.#toldState, beat: true, knows: ['joined'], ...(resume && { resume }) }));
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
      case 'joined':
        for (const [code, topics] of this.#topics.answer(frame, this.#allTopics)) this.#fail({ code, topics, message: `refused, as the hub says ${code}: ${topics.join(', ')}` });
        this.#change();
        break;
      case 'error':
        this.#fail(frame);
        break;
    }
  }

  /** To the pages of all tabs. */
  #fail({ code, message, topics }) {
    this.#emit('error', Object.assign(new Error(message), { code, ...(topics && { topics }) }));
    this.#tell({ error: { code, message, topics } });
  }

  #welcome(frame) {
    const { session, seq, resumed, beat = 0 } = frame;
    if (!resumed) this.#handledSeq = seq;
    this.#topics.welcome(frame);
    this.#ackedSeq = seq;
    this.#session = session;
    this.#attempt = 0;
    this.#openedAt = Date.now();
    this.#beat = beat * 1000;
    clearInterval(this.#watch);
    if (beat) this.#watch = setInterval(() => this.#findLoss(), 1000);
    if (this.#tabs) {
      this.#leavesFrom = Date.now() + leavesAfter;
      setTimeout(() => this.#change(), leavesAfter);
    }

    this.#become('open', { session, resumed });
    this.#change();
  }

  #lost(code, reason) {
    this.#socket = null;
    clearInterval(this.#watch);
    this.#queue = this.#queue.filter(({ isHeard }) => isHeard); // the others are not handled, so not acknowledged: they come again
    const drain = this.#drain;
    this.#drain = null;
    if (this.#isClosed) return;
    if (code === closeCodes.replaced && this.#tabs) {
      this.#become('waiting', { wait: leavesAfter, why: reason });
      this.#isDraining = true;
      this.#timer = setTimeout(() => this.#end({ code, reason }), leavesAfter); // unless another tab has the socket: it says so within a moment
    } else if (code >= closeCodes.final && code < 5000) {
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
    this.#timer = setTimeout(() => this.#next(), wait);
  }

  #end(detail = {}) {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
    if (typeof document !== 'undefined') this.#listen('removeEventListener');
    if (this.#options.keep && this.#place) keep('sessionStorage', this.#place, null);
    this.#socket = null;
    this.#queue = [];
    this.#become('closed', detail);
    this.#tabs?.leave();
  }

  /** One after the other, in their order; each is acknowledged once its handlers have finished. */
  async #handle() {
    if (this.#isHandling) return;
    this.#isHandling = true;
    try {
      for (let frame; (frame = this.#queue.shift());) {
        const socket = this.#socket;
        const isDone = await this.#deliver(frame);
        if (frame.isHeard || socket !== this.#socket) continue; // of a connection that is gone: it comes again, and is known then
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
    if (frame.type === 'withdraw') {
      this.#emit('withdraw', frame);
      if (!frame.isHeard) this.#tell({ frame });
      return true;
    }

    if (this.#handled.has(frame.id)) return true;
    try {
      await Promise.all([...(this.#listeners.get('event') ?? [])].map((listener) => listener(frame)));
    } catch (error) {
      const failures = (this.#failures.get(frame.id) ?? 0) + 1;
      this.#failures.set(frame.id, failures);
      const isGivenUp = failures >= attemptsOfHandler || !frame.seq || frame.isHeard === true;
      this.#emit('error', Object.assign(new Error(`a handler failed: ${error?.message ?? error}`, { cause: error }), { code: 'handler', event: frame, isGivenUp }));
      if (!isGivenUp) return false;
    }

    this.#failures.delete(frame.id);
    if (frame.seq) this.#handled.add(frame);
    if (!frame.isHeard) this.#tell({ frame, seq: frame.seq ?? this.#handledSeq });
    return true;
  }
}

const stateOf = (wants) => (wants.some(({ state }) => state === 'active') ? 'active' : 'background');
