// What comes, and how far it was handled. Part of pnh.js.
import { HandledIds } from './pnh-kept.js';

const attempts = 3;
const pause = 1_000;

/** Events one after the other, in their order. `client` has `handlers()`, `failed(event, error, isGivenUp)`, `withdrawn(frame)` and `done(frame, isHeard, isIdle)`. */
export class Events {
  #client;
  #queue = [];
  #isHandling = false;
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

  /** An event or a withdrawal; from another tab it is acknowledged there. */
  take(frame, isHeard = false) {
    if (frame.seq && !isHeard) {
      this.#waiting.set(frame.seq, frame);
      this.#highest = Math.max(this.#highest, frame.seq);
    }

    this.#queue.push({ frame, isHeard });
    this.#run();
  }

  /** The connection is gone: what was not handled comes again, and what is being handled then is known. */
  cut() {
    this.#queue = this.#queue.filter(({ isHeard, frame }) => isHeard || !frame.seq);
    this.startAt(this.seq);
  }

  /** The number after which the session goes on. */
  startAt(seq) {
    this.#waiting.clear();
    this.#highest = seq;
  }

  clear() {
    this.#queue = [];
  }

  async #run() {
    if (this.#isHandling) return;
    this.#isHandling = true;
    for (let next; (next = this.#queue.shift());) {
      const { frame, isHeard } = next;
      await this.#handle(frame);
      if (this.#waiting.get(frame.seq) === frame) this.#waiting.delete(frame.seq);
      this.#client.done(frame, isHeard, this.#queue.length === 0);
    }

    this.#isHandling = false;
  }

  async #handle(frame) {
    if (frame.type === 'withdraw') {
      this.#client.withdrawn(frame);
    } else if (!this.#ids.has(frame.id)) {
      await Promise.all([...this.#client.handlers()].map((handler) => this.#give(handler, frame)));
      if (frame.seq) this.#ids.add(frame);
    }
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
