// Who is told what. Part of pnh.js.

export class Listeners {
  #byType = new Map();

  add(type, listener) {
    this.#byType.set(type, this.of(type).add(listener));
  }

  delete(type, listener) {
    this.of(type).delete(listener);
  }

  of(type) {
    return this.#byType.get(type) ?? new Set();
  }

  /** One that throws is in nobody's way. */
  emit(type, value) {
    for (const listener of this.of(type)) {
      try {
        listener(value);
      } catch (error) {
        console.error(error);
      }
    }
  }

  /** Completes when all have finished, however they do. */
  ask(type, value) {
    return Promise.allSettled([...this.of(type)].map(async (listener) => listener(value)));
  }
}
