// Calls to clients, one after the other, and how long each takes from its POST to its client.
import { Agent } from "node:http";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";

const rest = 10; // ms

export class Caller {
  constructor(stage, ledger, name, clients) {
    Object.assign(this, { stage, ledger, name, clients, waits: [], stopped: false });
  }

  async run() {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let n = 0; !this.stopped; n++) {
      await this.#call(this.clients[n % this.clients.length], `${this.name}-${n}`, agent);
      await delay(rest);
    }

    agent.destroy();
  }

  async #call(client, key, agent) {
    const from = performance.now();
    client.expected.set(key, () => this.waits.push(performance.now() - from));
    const entries = this.ledger.post(key, [client.user], { class: "call" }, this.name);
    const answer = await postCall(this.stage, key, client.user, agent);
    if (answer?.status === 202) {
      this.ledger.accept(entries, answer.json, false);
    }
  }

  /** How many came since the last time, and their p99 in ms. */
  take() {
    const waits = this.waits;
    this.waits = [];
    return summed(waits);
  }
}

/** Posts a call; gives the answer. */
export function postCall(stage, key, user, agent) {
  return send(stage, "POST", "/v1/events", { to: { user }, class: "call", ttl: 60, data: { key }, notification: { title: "Ring" } }, agent);
}

/** How many there are, and their p99. */
export function summed(waits) {
  waits.sort((a, b) => a - b);
  return { count: waits.length, p99: waits[Math.floor(waits.length * 0.99)] ?? Infinity };
}
