// The books kept outside the hub: what was posted, what was promised by a 202, what arrived where. Knows nothing of how the hub works.

/** One entry per posted event, by a key that travels in its data. `id` is null until the publisher knows it. */
export class Ledger {
  constructor() {
    this.entries = new Map();
    this.violations = [];
    this.counts = { posted: 0, accepted: 0, acceptedTwice: 0, arrived: 0, duplicates: 0, acceptedAnew: 0, outOfOrder: 0, bySocket: 0, byPush: 0 };
    this.waiting = 0;
    this.newest = new Map();
    this.overtaken = [];
    this.kills = [];
    this.repeats = { socket: [], push: [], "socket after a push": [], "push after a frame": [] };
  }

  /** The hub is gone: what arrived before and comes again was not yet known to it as done. */
  killed() {
    this.kills.push(Date.now());
  }

  /** How many came again after a kill, by the way they came, and how long before the first kill after it they were done with (acknowledged, or pushed), in ms. */
  repeated() {
    return Object.entries(this.repeats).map(([way, found]) => {
      const ages = found.sort((a, b) => a - b);
      return `${ages.length} by ${way} (${ages[ages.length >> 1] ?? 0} ms median, ${ages.at(-1) ?? 0} at most)`;
    }).join(", ");
  }

  /** The client's ack left. */
  acknowledge(user, key) {
    const entry = this.entries.get(placeOf(key, user));
    if (entry?.channel === "socket") {
      entry.doneAt ??= Date.now();
    }
  }

  violate(text) {
    this.violations.push(text);
    if (this.violations.length <= 10) {
      console.log(`   violation: ${text}`);
    }
  }

  /** One entry for each user who should get it: an event to a topic has several, all with its key. `line`: what is posted one after the other, so that it has an order. */
  post(key, users, body, line) {
    this.counts.posted++;
    return users.map((user) => {
      const entry = { key, user, body, line, id: body.id ?? null, given: body.id !== undefined, class: body.class, n: this.counts.posted, accepted: false, arrivals: 0 };
      this.entries.set(placeOf(key, user), entry);
      return entry;
    });
  }

  /** The event with that key, for that user; one that was misrouted is another user's. */
  #find(key, user) {
    return this.entries.get(placeOf(key, user)) ?? [...this.entries.values()].find((entry) => entry.key === key);
  }

  /** A 202 was read. `again`: it was posted before and the answer got lost. */
  accept(entries, answer, again) {
    if (again) {
      answer.duplicate ? this.counts.acceptedTwice++ : this.counts.acceptedAnew++;
    }

    entries.forEach((entry) => this.#accept(entry, answer));
  }

  #accept(entry, answer) {
    if (entry.id !== null && entry.id !== answer.id) {
      this.violate(`${entry.key} is known as ${entry.id} and was accepted as ${answer.id}`);
    }

    if (answer.durable !== true) {
      this.violate(`${entry.key} was accepted as not durable`);
    }

    entry.id = answer.id;
    if (!entry.accepted) {
      entry.accepted = true;
      this.counts.accepted++;
      this.waiting += entry.arrivals === 0 ? 1 : 0;
    }
  }

  /** A frame or a push reached a client. */
  arrive(user, id, key, channel) {
    const entry = this.#find(key, user);
    if (!entry || id === undefined || id === null) {
      this.violate(`${user} got ${id} with key ${key} by ${channel}, which nobody posted`);
      return;
    }

    if (entry.user !== user) {
      this.violate(`${user} got ${id}, which is for ${entry.user}`);
    }

    if (entry.id !== null && entry.id !== id) {
      this.violate(`${key} arrived as ${id} and is known as ${entry.id}`);
    }

    entry.id ??= id;
    if (entry.arrivals++ > 0) {
      this.counts.duplicates++;
      const killedAt = this.kills.find((at) => at > entry.doneAt);
      if (killedAt !== undefined) {
        const way = entry.channel === channel ? channel : channel === "socket" ? "socket after a push" : "push after a frame";
        this.repeats[way].push(killedAt - entry.doneAt);
        entry.doneAt = Infinity;
      }

      return;
    }

    entry.channel = channel;
    entry.doneAt = channel === "push" ? Date.now() : undefined;
    this.counts.arrived++;
    channel === "socket" ? this.counts.bySocket++ : this.counts.byPush++;
    this.waiting -= entry.accepted ? 1 : 0;
    this.#order(entry, channel);
  }

  /** First arrivals of one user, class and channel in the order in which they were posted, one after the other's 202. A figure, since a lost answer frees the order. */
  #order(entry, channel) {
    const line = `${entry.line} ${entry.user} ${entry.class} ${channel}`;
    if (entry.n < (this.newest.get(line)?.n ?? 0)) {
      this.counts.outOfOrder++;
      this.overtaken.push(`${entry.id} (${entry.class}, ${entry.user}) came by ${channel} after ${this.newest.get(line).id}`);
    } else {
      this.newest.set(line, entry);
    }
  }

  /** Promised and not arrived. */
  missing() {
    return [...this.entries.values()].filter((entry) => entry.accepted && entry.arrivals === 0);
  }

  /** How many arrived of what was posted in that line. */
  arrivedOf(line) {
    return [...this.entries.values()].filter((entry) => entry.line === line && entry.arrivals > 0).length;
  }

  /** How many of a user's events were accepted. */
  promisedTo(user) {
    return [...this.entries.values()].filter((entry) => entry.accepted && entry.user === user).length;
  }

  /** A few accepted events with ids of their publisher, for asking again. */
  sample(random, count) {
    const known = [...this.entries.values()].slice(-2000).filter((entry) => entry.accepted && entry.given);
    return Array.from({ length: Math.min(count, known.length) }, () => known[Math.floor(random() * known.length)]);
  }
}

const placeOf = (key, user) => `${key} ${user}`;
