// The topics that a client wants, and those that the hub gives it. Part of pnh.js.

const portion = 30; // names of 128 characters in a frame of 16 kB, however they are written
const name = /^(?!\.{1,2}$)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

/** Throws for what no hub takes: it would end the session for good. */
export function checkTopics(topics) {
  for (const topic of topics) {
    if (typeof topic !== 'string' || !name.test(topic)) throw new TypeError(`no name of a topic, which has 1 to 128 printable characters: ${topic}`);
  }
}

/** The hub's word is believed, not what was asked for. What it refuses is asked for again on the next connection, with the next token. */
export class Topics {
  #joined;
  #refused = new Map(); // by topic: why
  #asked = null; // what is not answered yet; null = nothing is
  #isAnswered = false; // a hub of before 0.2 says nothing of a join that it takes, and takes all of it or nothing

  constructor(joined = []) {
    this.#joined = new Set(joined);
  }

  get joined() {
    return [...this.#joined];
  }

  /** A session opened. */
  welcome({ resumed, topics, knows = [] }) {
    if (topics || !resumed) this.#joined = new Set(topics);
    this.#refused.clear();
    this.#asked = null;
    this.#isAnswered = knows.includes('joined');
  }

  /** The frames that lead from what the hub gives to what is wanted; one portion after the other, where they are answered. */
  say(wanted, mayLeave) {
    const isGone = (topic) => !wanted.has(topic);
    const leaves = mayLeave ? [...this.#joined, ...this.#asked ?? []].filter(isGone) : [];
    for (const [topic, why] of this.#refused) {
      if (isGone(topic) || (leaves.length && why === 'too-many-topics')) this.#refused.delete(topic);
    }

    leaves.forEach((topic) => this.#joined.delete(topic) || this.#asked.delete(topic));
    let joins = this.#asked ? [] : [...wanted].filter((topic) => !this.#joined.has(topic) && !this.#refused.has(topic));
    if (this.#isAnswered) {
      joins = joins.slice(0, portion);
      if (joins.length) this.#asked = new Set(joins);
    } else {
      joins.forEach((topic) => this.#joined.add(topic));
    }

    return [...frames('leave', leaves), ...frames('join', joins)];
  }

  /** The answer to a join. Gives `[why, topics]` of what was refused; where there are too many, that is all that is wanted beside those that it has. */
  answer({ topics, refused = {} }, wanted) {
    topics.filter((topic) => this.#asked?.has(topic)).forEach((topic) => this.#joined.add(topic));
    this.#asked = null;
    return Object.entries(refused).map(([why, names]) => {
      const all = why === 'too-many-topics' ? [...wanted].filter((topic) => !this.#joined.has(topic) && !this.#refused.has(topic)) : names;
      all.forEach((topic) => this.#refused.set(topic, why));
      return [why, all];
    });
  }
}

function frames(type, topics) {
  return Array.from({ length: Math.ceil(topics.length / portion) }, (_, n) => ({ type, topics: topics.slice(n * portion, (n + 1) * portion) }));
}
