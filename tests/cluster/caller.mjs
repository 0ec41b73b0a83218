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
    await call(this.stage, this.ledger, this.name, key, client.user, agent);
  }

  /** How many came since the last time, and their p99 in ms. */
  take() {
    const waits = this.waits;
    this.waits = [];
    return summed(waits);
  }
}

/** A call, in the books. `line`: what is posted one after the other. */
export async function call(stage, ledger, line, key, user, agent) {
  const entries = ledger.post(key, [user], { class: "call" }, line);
  const answer = await send(stage, "POST", "/v1/events", { to: { user }, class: "call", ttl: 60, data: { key }, notification: { title: "Ring" } }, agent);
  if (answer?.status === 202) {
    ledger.accept(entries, answer.json, false);
  }
}

/** How many there are, and their p99. */
export function summed(waits) {
  waits.sort((a, b) => a - b);
  return { count: waits.length, p99: waits[Math.floor(waits.length * 0.99)] ?? Infinity };
}
