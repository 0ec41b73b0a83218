// What a client keeps, in memory and over reloads of its page. Part of pnh.js.

const keptIds = 10_000;

/** Ids of events that were handled, until no twin of them can come. */
export class HandledIds {
  #until;

  constructor(entries = []) {
    this.#until = new Map(entries);
  }

  get entries() {
    const now = Date.now();
    return [...this.#until].filter(([, until]) => until > now);
  }

  has(id) {
    return this.#until.has(id);
  }

  /** By its arrival, as the hub's clock is another one. */
  add({ id, ttl }) {
    const now = Date.now();
    this.#until.set(id, now + ttl * 1000);
    for (const [known, until] of this.#until) {
      if (until > now && this.#until.size <= keptIds) break; // roughly by age: what is behind it is younger
      this.#until.delete(known);
    }
  }
}

/** What was kept; null in a page without storage, or when it is no longer understood. */
export function recall(storage, place) {
  try {
    return JSON.parse(globalThis[storage].getItem(place));
  } catch {
    return null;
  }
}

/** Null = nothing. A page without storage begins anew. False = there is none, or it is full. */
export function keep(storage, place, value) {
  try {
    if (value) globalThis[storage].setItem(place, JSON.stringify(value));
    else globalThis[storage].removeItem(place);
    return true;
  } catch {
    return false;
  }
}

export function randomDevice() {
  return `web-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
