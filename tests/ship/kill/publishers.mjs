// Publishers that behave like a real back-end: one event after the other, each posted until it is answered.
import { Agent, request } from "node:http";
import { delay } from "../hub.mjs";

const classes = ["message", "message", "call", "bulk"];
const timeToLive = 3600;

/** A publisher owns its users, so that what it posts to one of them has an order. */
export class Publisher {
  /** `users`: each in turn gets an event. `topic`: given, each event goes to it, and all of them get it. `rest`: ms between two events, at most. */
  constructor(stage, ledger, name, users, random, { topic = undefined, rest = 8 } = {}) {
    Object.assign(this, { stage, ledger, name, users, random, topic, rest, n: 0, stopped: false });
    this.agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  async run() {
    while (!this.stopped) {
      await this.#next();
      await delay(this.random() * this.rest);
    }

    this.agent.destroy();
  }

  async #next() {
    const n = this.n++;
    const users = this.topic ? this.users : [this.users[n % this.users.length]];
    const key = `${this.name}-${n}`;
    const body = bodyOf(key, this.topic ? { topic: this.topic } : { user: users[0] }, classes[n % classes.length], n % 8 !== 7);
    const entries = this.ledger.post(key, users, body, this.name);
    for (let attempt = 0; !this.stopped || attempt === 0; attempt++) {
      const answer = await post(this.stage, body, this.agent);
      if (answer?.status === 202) {
        this.ledger.accept(entries, answer.json, attempt > 0);
        return;
      }

      if (answer && answer.status !== 429 && answer.status !== 503) {
        this.ledger.violate(`${key} was answered ${answer.status} ${answer.text}`);
        return;
      }

      // Without an id of its own a second post would be a second event.
      if (!answer && !("id" in body)) {
        return;
      }

      await delay(20 + (this.random() * 30));
    }
  }
}

function bodyOf(key, to, className, given) {
  const id = given ? { id: key } : {};
  return { ...id, to, class: className, ttl: timeToLive, data: { key, padding: "x".repeat(400) }, notification: { title: "Kill", body: key } };
}

/** Gives status and body, or null when the connection failed. */
export function post(stage, body, agent) {
  return send(stage, "POST", "/v1/events", body, agent);
}

export function send(stage, method, path, body, agent) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${stage.key}`, "content-type": "application/json" };
    const message = request({ host: "127.0.0.1", port: stage.port, method, path, agent, headers, timeout: 15_000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => { text += part; });
      answer.on("end", () => resolve(answer.complete ? read(answer.statusCode, text) : null)).on("error", () => resolve(null));
    });
    message.on("error", () => resolve(null)).on("timeout", () => message.destroy());
    message.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function read(status, text) {
  try {
    return { status, text, json: text === "" ? null : JSON.parse(text) };
  } catch {
    return { status, text, json: null };
  }
}
