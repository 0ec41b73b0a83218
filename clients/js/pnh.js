// The client of PNH for browsers and Node: one socket that comes back by itself, for all tabs of a browser. Protocol: pnh.v1. Types and what each member does: pnh.d.ts.
import { Answers } from './pnh-answers.js';
import { Events } from './pnh-events.js';
import { keep, randomDevice, recall } from './pnh-kept.js';
import { Listeners } from './pnh-listeners.js';
import { closeCodes, judge } from './pnh-loss.js';
import { canShare, Tabs } from './pnh-tabs.js';
import { claimsOf, Tokens } from './pnh-token.js';
import { checkTopics, Topics } from './pnh-topics.js';

const shortestWait = 500;
const longestWait = 30_000;
const welcomeWithin = 15_000; // from the dial on, whatever the network does
const staleDial = 2_000;
const longestBeat = 25; // s, below the minute after which proxies close what stands still
const callBeat = 10;
const beatGrace = 8_000;
const acksBehind = 20;
const leavesAfter = 1_000; // what the other tabs want is known by then
const leadsWithin = 5_000;

/** Opens a session and keeps it open until `close` is called or the hub says not to come back. */
export function connect(options) {
  return new PnhClient(options);
}

class PnhClient {
  #options;
  #listeners = new Listeners();
  #tokens;
  #socket = null;
  #turn = 0; // of ways to a connection: what an older one still waits for is void
  #session = null;
  #events;
  #ackedSeq = 0;
  #wanted = new Set(); // topics
  #topics = new Topics();
  #answers = new Answers();
  #known = []; // what the hub knows beyond the first version
  #leavesFrom = 0;
  #state;
  #toldState;
  #place = null; // where it keeps what it is: by address and user
  #tabs = null;
  #device = null;
  #attempt = 0;
  #dialedAt = 0;
  #openedAt = Infinity;
  #heardAt = 0;
  #beat = 0;
  #expectsCalls = false;
  #watch;
  #timer;
  #patience = null; // for its lead
  #drain = null;
  #problem = null; // the error that came last, which a close may follow
  #isDraining = false; // it waits for a reason: all clients of a node that goes away at once would be a storm
  #isClosed = false;
  #status = 'connecting';
  #detail = {}; // of the status

  constructor(options) {
    if (!options?.url || !options.token) throw new TypeError('connect needs url and token');
    const isPage = typeof document !== 'undefined';
    this.#options = { WebSocket: globalThis.WebSocket, visibility: isPage, keep: isPage, share: isPage && canShare(), beat: longestBeat, ...options };
    if (!this.#options.WebSocket) throw new TypeError('this runtime has no WebSocket: give one as an option');
    this.#tokens = new Tokens(options.token);
    this.#events = this.#newEvents();
    this.#state = options.state ?? (this.#options.visibility && document.visibilityState === 'hidden' ? 'background' : 'active');
    if (isPage) this.#listen('addEventListener');
    // Later, so that the caller has set its handlers.
    this.#timer = setTimeout(() => this.#connect(), 0);
  }

  #newEvents(seq, ids) {
    return new Events({
      handlers: () => this.#listeners.of('event'),
      canHandle: () => this.#handles || Boolean(this.#tabs?.leads && this.#tabs.handles),
      // By its id: what came before it may wait for its handlers, and a push would ring beside it.
      begun: ({ id, class: name }, isHeard) => { if (!isHeard && name === 'call' && this.#known.includes('taken')) this.#say({ type: 'taken', id }); },
      handled: (event) => this.#listeners.ask('handled', event),
      withdrawn: (frame) => this.#listeners.emit('withdraw', frame),
      missed: ({ count, since }) => this.#listeners.emit('missed', { count, since }),
      failed: (event, error, isGivenUp) => this.#listeners.emit('error', Object.assign(new Error(`a handler failed: ${error?.message ?? error}`, { cause: error }), { code: 'handler', event, isGivenUp })),
      done: (frame, isHeard, isIdle) => {
        if (isHeard) return;
        if (isIdle || this.#events.seq - this.#ackedSeq >= acksBehind) this.#ack();
        this.#tell({ frame });
      },
    }, seq, ids);
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
    this.#listeners.add(type, listener);
    this.#change();
    return () => {
      this.#listeners.delete(type, listener);
      this.#change();
    };
  }

  get #handles() {
    return this.#listeners.of('event').size > 0;
  }

  get joined() {
    return this.#topics.joined;
  }

  /** True while a call is expected: a connection that died in silence is found within 18 s then, and not within 33. */
  get expectsCalls() {
    return this.#expectsCalls;
  }

  set expectsCalls(value) {
    this.#expectsCalls = value;
    this.#change();
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
    return this.#answer({ type: 'answer', id, as });
  }

  seen(id) {
    return this.#answer({ type: 'seen', id });
  }

  #answer(frame) {
    if (this.#isClosed) return Promise.resolve(false);
    const kept = this.#answers.add(frame);
    this.#sayAnswer(frame);
    return kept;
  }

  /** An older hub confirms nothing: then it is said. */
  #sayAnswer(frame) {
    if (this.#say(frame) && !this.#follows && !this.#known.includes('confirmed')) this.#confirmed({ of: frame.type, id: frame.id });
  }

  #confirmed(confirmed) {
    this.#answers.confirm(confirmed);
    this.#tell({ confirmed });
  }

  send(event) {
    return this.#say({ ...event, type: 'send' });
  }

  async identity() {
    if (!this.#device && !this.#isClosed) {
      await new Promise((known) => {
        const off = this.on('status', () => {
          if (this.#device || this.#isClosed) known(off());
        });
      });
    }

    if (!this.#device) throw new Error('the client is closed');
    const token = await this.#tokens.get();
    return { hub: this.#hub, token, user: claimsOf(token).sub, device: this.#device };
  }

  get #hub() {
    return this.#options.url.replace(/^ws/, 'http').replace(/\/v1\/socket.*$/, '');
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
    document[how]('freeze', this.#sleep);
    document[how]('resume', this.#wake);
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
    const isStale = this.#socket && this.#status === 'connecting' && Date.now() - this.#dialedAt > staleDial;
    if (isStale || (this.#status === 'waiting' && !this.#isDraining)) this.#connect();
  };

  /** True while another tab holds the socket. */
  get #follows() {
    return this.#tabs !== null && !this.#tabs.leads;
  }

  /** What the tabs want has changed: the hub is told of the difference. */
  #change() {
    this.#events.go();
    if (this.#follows) {
      this.#tabs.say();
      return;
    }

    if (this.#status === 'open') {
      this.#topics.say(this.#allTopics, Date.now() >= this.#leavesFrom).forEach((frame) => this.#say(frame));
      const state = stateOf(this.#allWants);
      if (state !== this.#toldState) this.#say({ type: 'state', state });
      this.#toldState = state;
      if (this.#known.includes('beat') && this.#beatAsked * 1000 !== this.#beat) {
        this.#beat = this.#beatAsked * 1000;
        this.#say({ type: 'beat', every: this.#beatAsked });
      }
    }

    this.#tell();
  }

  get #wants() {
    return { topics: [...this.#wanted], state: this.#state, handles: this.#handles, beat: this.#expectsCalls ? callBeat : this.#options.beat };
  }

  /** Of this tab and of the others. */
  get #allWants() {
    return this.#tabs?.wants ?? [this.#wants];
  }

  /** In seconds. */
  get #beatAsked() {
    return Math.min(...this.#allWants.map(({ beat }) => beat));
  }

  get #allTopics() {
    return new Set(this.#allWants.flatMap(({ topics }) => topics));
  }

  /** A dead connection says nothing: the hub's beats do not come. */
  #findLoss() {
    if (this.#status !== 'open' || !this.#beat || Date.now() - this.#heardAt < this.#beat + beatGrace) return;
    this.#drop(closeCodes.silent, 'silent', 'nothing came for a while');
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

  #become(status, detail = {}) {
    this.#status = status;
    this.#detail = detail;
    if (status === 'open' || !this.#tabs?.leads) {
      clearTimeout(this.#patience);
      this.#patience = null;
    } else {
      this.#patience ??= setTimeout(this.#passLead, leadsWithin);
    }

    this.#tell();
    this.#listeners.emit('status', { status, ...detail });
  }

  /** The way to a connection: a token, the tab that holds the socket, the dial. The welcome ends it. */
  async #connect() {
    this.#hangUp(closeCodes.left);
    const turn = this.#turn;
    this.#isDraining = false;
    this.#become('connecting');
    let token;
    try {
      token = await this.#tokens.get();
    } catch (error) {
      if (turn === this.#turn) this.#fall({ reason: 'no-token', why: `no token: ${error?.message ?? error}` }, this.#tokens.isFixed);
      return;
    }

    if (turn !== this.#turn) return;
    const { aud, sub } = claimsOf(token);
    const place = `pnh:${this.#options.url}:${aud}:${sub}`;
    if (!this.#place) await this.#settle(place);
    if (turn !== this.#turn) return;
    if (place !== this.#place) {
      this.#end({ reason: 'other-user', why: 'the token is of another user' });
    } else if (!this.#follows) {
      this.#dial(token);
    }
  }

  /** The token says who is signed in: tabs of two users share nothing. */
  async #settle(place) {
    this.#place = place;
    if (this.#options.keep && !keep('localStorage', 'pnh')) this.#fail({ code: 'not-kept', message: 'a reload begins anew, as the browser refuses storage' });
    const kept = this.#options.keep && recall('sessionStorage', place);
    if (kept && (!this.#options.device || kept.device === this.#options.device)) {
      this.#device = kept.device;
      this.#session = kept.session;
      this.#topics = new Topics(kept.joined);
      this.#events = this.#newEvents(kept.seq, kept.handled);
    }

    const tabs = this.#options.share && new Tabs(place, {
      lead: () => this.#lead(), follow: () => this.#follow(), hear: (news) => this.#hear(news), takeOver: (frame) => this.#takeOver(frame), change: () => this.#change(), wants: () => this.#wants,
    });
    if (tabs) {
      this.#tabs = tabs;
      try {
        await tabs.join();
        return;
      } catch (error) {
        if (this.#isClosed) return;
        this.#tabs = null;
        this.#fail({ code: 'not-shared', message: `this tab has a socket of its own, as the browser refuses locks: ${error?.message ?? error}` });
      }
    }

    this.#device ??= this.#options.device ?? randomDevice();
  }

  /** This tab holds the socket from now on, and goes on where the one before it was. */
  #lead() {
    if (this.#isClosed) return;
    const kept = recall('localStorage', this.#place);
    this.#device ??= this.#options.device ?? kept?.device ?? randomDevice();
    keep('localStorage', this.#place, { device: this.#device });
    this.#connect();
  }

  /** Another tab holds the socket from now on. */
  #follow() {
    this.#hangUp(closeCodes.left);
    this.#events.cut();
  }

  /** A lead that comes to no welcome, whatever is in its way, is the next tab's. */
  #passLead = () => {
    this.#patience = null;
    if (!this.#tabs?.leads || this.#status === 'open') return;
    if (this.#isDraining || !this.#tabs.hasOthers) {
      this.#patience = setTimeout(this.#passLead, leadsWithin);
      return;
    }

    this.#follow();
    this.#tabs.pass();
    this.#tabs.stand();
  };

  /** The browser stops this page: it runs nothing but what other tabs say. */
  #sleep = () => {
    if (!this.#tabs?.leads) return;
    this.#ack();
    this.#follow();
    this.#tabs.pass();
  };

  #wake = () => {
    if (this.#tabs && !this.#tabs.leads) this.#tabs.stand();
  };

  /** The leader, to the other tabs: what there is now. */
  #tell(news = {}) {
    this.#tabs?.tell({ status: this.#status, detail: this.#detail, device: this.#device, session: this.#session, seq: this.#events.seq, joined: this.joined, attempt: this.#attempt, ...news });
  }

  /** What the leader tells. An event is this tab's from here on: its leader has acknowledged it, or will. */
  #hear({ status, detail, device, session, seq, joined, attempt, frame, error, confirmed }) {
    if (frame) {
      this.#events.take(frame, true);
    } else if (error) {
      this.#fail(error);
    } else if (confirmed) {
      this.#answers.confirm(confirmed);
    }

    if (!this.#follows) return;
    this.#attempt = attempt;
    if (session) {
      [this.#device, this.#session, this.#topics] = [device, session, new Topics(joined)];
      this.#events.startAt(seq);
    }

    if (status === 'closed') {
      this.#end(detail);
    } else if (JSON.stringify([status, detail]) !== JSON.stringify([this.#status, this.#detail])) {
      this.#become(status, detail);
      this.#answers.frames.forEach((each) => this.#say(each)); // the leader may be another one
    }
  }

  /** What another tab says to this one, which leads. */
  #takeOver(frame) {
    this.#findLoss();
    if (frame?.type === 'look') {
      this.#seeNetwork();
    } else if (frame?.type === 'answer' || frame?.type === 'seen') {
      this.#answer(frame);
    } else if (frame) {
      this.#say(frame);
    }

    this.#change();
  }

  /** The page goes, perhaps to come again. A close by the browser itself would end the session. */
  #leave = () => {
    if (this.#options.keep && this.#place) {
      keep('sessionStorage', this.#place, { device: this.#device, session: this.#session, seq: this.#events.seq, joined: this.joined, handled: this.#events.ids });
    }

    if (this.#socket) this.#drop(closeCodes.left, 'left', 'the page goes');
    if (this.#tabs) {
      this.#hangUp();
      this.#tabs.leave();
    }
  };

  /** The page is back as it was. */
  #return = ({ persisted }) => {
    if (persisted && !this.#isClosed) this.#tabs?.join().catch(() => {});
  };

  #dial(token) {
    const turn = this.#turn;
    this.#dialedAt = Date.now();
    this.#timer = setTimeout(() => this.#drop(closeCodes.silent, 'no-answer', `no welcome within ${welcomeWithin / 1000} s`), welcomeWithin);
    let socket;
    try {
      socket = this.#socket = new this.#options.WebSocket(this.#options.url, 'pnh.v1');
    } catch (error) {
      this.#fall({ reason: 'no-connection', why: `${error?.message ?? error}` });
      return;
    }

    socket.onopen = () => {
      if (turn !== this.#turn) return;
      const resume = this.#session && { session: this.#session, seq: this.#events.seq };
      this.#toldState = stateOf(this.#allWants);
      socket.send(JSON.stringify({ type: 'hello', token, device: this.#device, state: this.#toldState, beat: true, knows: ['joined', 'confirmed', 'taken', 'beat', 'missed'], ...(resume && { resume }) }));
    };
    socket.onmessage = ({ data }) => {
      if (turn !== this.#turn) return;
      this.#heardAt = Date.now();
      this.#take(JSON.parse(data));
    };
    socket.onerror = () => {}; // the close says it
    socket.onclose = ({ code, reason }) => {
      if (turn === this.#turn) this.#lost(code, reason);
    };
  }

  #take(frame) {
    this.#problem = frame.type === 'error' ? frame : null;
    switch (frame.type) {
      case 'welcome':
        this.#welcome(frame);
        break;
      case 'event':
      case 'withdraw':
      case 'missed':
        this.#events.take(frame);
        break;
      case 'confirmed':
        this.#confirmed(frame);
        break;
      case 'drain':
        this.#drain = frame;
        break;
      case 'joined':
        for (const [code, topics] of this.#topics.answer(frame, this.#allTopics)) {
          if (code === 'not-allowed') this.#tokens.refuse(); // the next one may
          this.#fail({ code, topics, message: `refused, as the hub says ${code}: ${topics.join(', ')}` });
        }

        this.#change();
        break;
      case 'error':
        this.#fail(frame);
        break;
    }
  }

  /** To the pages of all tabs. */
  #fail({ code, message, topics }) {
    this.#listeners.emit('error', Object.assign(new Error(message), { code, ...(topics && { topics }) }));
    this.#tell({ error: { code, message, topics } });
  }

  #welcome(frame) {
    const { session, seq, resumed, beat = 0, knows = [] } = frame;
    this.#known = knows;
    clearTimeout(this.#timer);
    if (!resumed) this.#events.startAt(seq);
    this.#topics.welcome(frame);
    this.#ackedSeq = seq;
    this.#session = session;
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
    this.#answers.frames.forEach((each) => this.#sayAnswer(each));
  }

  /** The connection is gone. What is final, and what is tried again and when: the table in PROTOCOL.md. */
  #lost(code, text, reason) {
    const { detail, isOfToken, hasLived, isFinal } = judge({ code, text, reason, problem: this.#problem, openedAt: this.#openedAt, hub: this.#hub });
    const drain = code === closeCodes.drained && this.#drain;
    const { isFixed } = this.#tokens;
    if (hasLived) this.#attempt = 0;
    if (isOfToken) this.#tokens.refuse();
    this.#hangUp();
    this.#events.cut();
    if (code === closeCodes.replaced && this.#tabs) {
      // Another tab has the socket, which says so within a moment, or another client has it.
      this.#again(leavesAfter, detail, () => this.#end(detail));
      this.#isDraining = true;
    } else if (drain) {
      this.#again(drain.after * 1000, detail);
      this.#isDraining = true;
    } else if (code === closeCodes.expired && hasLived && !isFixed) {
      this.#again(0, detail);
    } else {
      this.#fall(detail, isFinal || (isOfToken && isFixed));
    }
  }

  /** Nothing of this connection counts any more. */
  #hangUp(code) {
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
    this.#turn++;
    const socket = this.#socket;
    this.#socket = this.#drain = this.#problem = null;
    this.#openedAt = Infinity;
    if (code) socket?.close(code);
  }

  /** Ends a connection from here; the session goes on with the next one. */
  #drop(code, reason, why) {
    const socket = this.#socket;
    this.#ack();
    this.#lost(0, why, reason);
    socket?.close(code);
  }

  /** Doubles up to 30 s, all of it by chance: after a restart clients must not come back in one moment. */
  #fall(detail, isFinal = false) {
    if (isFinal) {
      this.#end(detail);
    } else {
      this.#again(Math.random() * Math.min(longestWait, shortestWait * 2 ** this.#attempt++), detail);
    }
  }

  #again(wait, detail, next = () => this.#connect()) {
    clearTimeout(this.#timer);
    this.#become('waiting', { ...detail, wait, retryIn: wait });
    this.#timer = setTimeout(next, wait);
  }

  #end(detail = {}) {
    this.#hangUp();
    this.#isClosed = true;
    if (!(detail.code >= closeCodes.final)) this.#tabs?.leave(); // the others decide for themselves
    if (typeof document !== 'undefined') this.#listen('removeEventListener');
    if (this.#options.keep && this.#place) keep('sessionStorage', this.#place, null);
    this.#events.clear();
    this.#answers.drop();
    this.#become('closed', detail);
    this.#tabs?.leave();
  }

  #ack() {
    const { seq } = this.#events;
    if (!this.#follows && seq > this.#ackedSeq && this.#say({ type: 'ack', seq })) this.#ackedSeq = seq;
  }
}

const stateOf = (wants) => (wants.some(({ state }) => state === 'active') ? 'active' : 'background');
