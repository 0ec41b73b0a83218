// What the user did with events, until the hub has it. Part of pnh.js.

const most = 100;

/** Said again on each connection until the hub confirms it; saying it twice is saying it once. */
export class Answers {
  #open = new Map();

  /** Resolves with true when the hub has it, with false when it never will. */
  add(frame) {
    const key = keyOf(frame);
    const known = this.#open.get(key);
    if (known) return known.promise;
    const answer = { frame };
    answer.promise = new Promise((end) => { answer.end = end; });
    this.#open.set(key, answer);
    if (this.#open.size > most) this.#end([...this.#open.keys()][0], false);
    return answer.promise;
  }

  /** All that the hub may not have. */
  get frames() {
    return [...this.#open.values()].map(({ frame }) => frame);
  }

  confirm({ of, id }) {
    this.#end(keyOf({ type: of, id }), true);
  }

  /** Nobody will hear it any more. */
  drop() {
    for (const key of [...this.#open.keys()]) this.#end(key, false);
  }

  #end(key, isKept) {
    this.#open.get(key)?.end(isKept);
    this.#open.delete(key);
  }
}

const keyOf = ({ type, id }) => `${type} ${id}`;
