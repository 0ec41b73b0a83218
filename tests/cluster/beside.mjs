// Calls to clients at an edge beside what happens, from a thread of their own: thousands of other clients that come back keep the scene's own thread busy, and its calls would say nothing of the hub.
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Ledger } from "../ship/kill/ledger.mjs";
import { generator } from "../ship/random.mjs";
import { Caller } from "./caller.mjs";
import { Client } from "./client.mjs";

const resolution = 5; // ms between two looks at how late the thread is

export class CallsBeside {
  #thread;

  /** `count` users whose names begin with `name`, each with a client at the edge; the calls have begun when it resolves. */
  static async open(stage, edge, name, count) {
    const users = Array.from({ length: count }, (_, i) => `${name}-${i}`);
    const tokens = Object.fromEntries(users.map((user) => [user, stage.token(user)]));
    const calls = new CallsBeside();
    calls.#thread = new Worker(new URL(import.meta.url), { workerData: { port: stage.port, key: stage.key, edge, name, tokens } });
    await once(calls.#thread, "message");
    return calls;
  }

  /** Since the last time: how many came, their p99, and how late the thread came to its own events (p99), in ms. */
  take() {
    return this.#ask("take");
  }

  /** No call follows. What did not come, and what came otherwise than promised, a line each. */
  async stop() {
    const faults = await this.#ask("stop");
    await this.#thread.terminate();
    return faults;
  }

  async #ask(what) {
    const answer = once(this.#thread, "message");
    this.#thread.postMessage(what);
    return (await answer)[0];
  }
}

async function call({ port, key, edge, name, tokens }) {
  const stage = { port, key, token: (user) => tokens[user] };
  const ledger = new Ledger();
  const clients = Object.keys(tokens).map((user) => new Client(stage, ledger, edge, user, generator(1)));
  await Promise.all(clients.map((client) => client.open()));
  const caller = new Caller(stage, ledger, name, clients);
  const late = monitorEventLoopDelay({ resolution });
  late.enable();
  parentPort.on("message", async (what) => {
    if (what === "take") {
      parentPort.postMessage({ ...caller.take(), late: (late.percentile(99) / 1e6) - resolution });
      late.reset();
      return;
    }

    caller.stopped = true;
    await calling;
    await new Promise((resolve) => setTimeout(resolve, 500)); // the last acks
    clients.forEach((client) => client.stop());
    parentPort.postMessage([...ledger.violations, ...ledger.missing().map((entry) => `${entry.id} for ${entry.user} did not come`), ...clients.flatMap((client) => client.closes.map((code) => `closed with ${code}`))]);
  });
  const calling = caller.run();
  parentPort.postMessage("ready");
}

if (!isMainThread && workerData?.tokens) {
  await call(workerData);
}
