// What comes, and how far it was handled. Part of pnh.js.
import { HandledIds } from './pnh-kept.js';

const attempts = 3;
const pause = 1_000;

/**
 * Calls one after the other, and beside them all else one after the other, each in its order. `client` has `handlers()`, `canHandle()`, `begun(event, isHeard)`, `handled(event)`, `failed(event, error, isGivenUp)`,
 * `withdrawn(frame)`, `missed(frame)` and `done(frame, isHeard, isIdle)`.
 */
export class Events {
  #client;
  #lanes = { call: [], rest: [] };
  #busy = new Set(); // lanes in which one is being handled
  #waiting = new Map(); // by seq, in its order: what came and is not handled
  #highest;
  #ids;

  constructor(client, seq = 0, ids = []) {
    this.#client = client;
    this.#highest = seq;
    this.#ids = new HandledIds(ids);
  }

  /** Everything up to it was handled. */
  get seq() {
    const [[first] = [this.#highest + 1]] = this.#waiting;
    return first - 1;
  }

  /** Ids that were handled, with when they end. */
  get ids() {
    return this.#ids.entries;
  }

  /** An event, a withdrawal, or what was missed; from another tab it is acknowledged there. */
  take(frame, isHeard = false) {
    if (frame.seq && !isHeard) {
      this.#waiting.set(frame.seq, frame);
      this.#highest = Math.max(this.#highest, frame.seq);
    }

    if (frame.type === 'withdraw') {
      this.#withdraw(frame, isHeard);
    } else if (frame.type === 'missed') {
      this.#miss(frame, isHeard);
    } else {
      this.#lanes[frame.class === 'call' ? 'call' : 'rest'].push({ frame, isHeard });
      this.go();
    }
  }

  /** Goes on with what waits, once somebody handles it. */
  go() {
    for (const lane of ['call', 'rest']) this.#run(lane);
  }

  /** The connection is gone: what was not handled comes again, and what is being handled then is known. */
  cut() {
    this.#keep(({ isHeard, frame }) => isHeard || !frame.seq);
    this.startAt(this.seq);
  }

  /** The number after which the session goes on. */
  startAt(seq) {
    this.#waiting.clear();
    this.#highest = seq;
  }

  clear() {
    this.#keep(() => false);
  }

  #keep(isKept) {
    for (const lane in this.#lanes) this.#lanes[lane] = this.#lanes[lane].filter(isKept);
  }

  /** Told at once, also while a handler waits for a person; an event that waits is never shown. */
  #withdraw(frame, isHeard) {
    this.#keep((entry) => {
      if (entry.frame.id !== frame.id) return true;
      this.#ids.add(entry.frame);
      this.#waiting.delete(entry.frame.seq);
      return false;
    });
    this.#client.withdrawn(frame);
    this.#finish(frame, isHeard);
  }

  /** Told once: the hub repeats it until it is acknowledged. */
  #miss(frame, isHeard) {
    const twin = { id: `missed ${frame.since} ${frame.count}`, ttl: 300 };
    if (!this.#ids.has(twin.id)) this.#client.missed(frame);
    this.#ids.add(twin);
    this.#finish(frame, isHeard);
  }

  async #run(lane) {
    if (this.#busy.has(lane)) return;
    this.#busy.add(lane);
    for (let next; this.#client.canHandle() && (next = this.#lanes[lane].shift());) {
      const { frame, isHeard } = next;
      if (!this.#ids.has(frame.id)) {
        this.#client.begun(frame, isHeard);
        await Promise.all([...this.#client.handlers()].map((handler) => this.#give(handler, frame)));
        if (frame.seq) this.#ids.add(frame);
        await this.#client.handled(frame);
      }

      this.#finish(frame, isHeard);
    }

    this.#busy.delete(lane);
  }

  #finish(frame, isHeard) {
    if (this.#waiting.get(frame.seq) === frame) this.#waiting.delete(frame.seq);
    this.#client.done(frame, isHeard, !this.#lanes.call.length && !this.#lanes.rest.length);
  }

  /** A handler that fails is called again, after a pause. */
  async #give(handler, frame) {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        return await handler(frame);
      } catch (error) {
        const isGivenUp = attempt === attempts || !frame.seq;
        this.#client.failed(frame, error, isGivenUp);
        if (isGivenUp) return undefined;
        await new Promise((done) => setTimeout(done, pause * attempt));
      }
    }
  }
}
