// Calls beside what happens, from a thread of their own: thousands of clients that come back keep the scene's own thread busy, and its calls would be posted, and be seen to arrive, seconds late.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { delay } from "../ship/hub.mjs";
import { readJson } from "../ship/kill/clients.mjs";
import { Ledger } from "../ship/kill/ledger.mjs";
import { generator } from "../ship/random.mjs";
import { Caller, postCall } from "./caller.mjs";
import { Client } from "./client.mjs";

const resolution = 5; // ms between two looks at how late the thread is

export class CallsBeside {
  #thread;

  /** `count` users whose names begin with `name`, each with a client at the edge; the calls have begun when it resolves. */
  static async open(stage, edge, name, count) {
    const users = Array.from({ length: count }, (_, i) => `${name}-${i}`);
    const tokens = Object.fromEntries(users.map((user) => [user, stage.token(user)]));
    const calls = new CallsBeside();
    calls.#thread = new Worker(new URL(import.meta.url), { workerData: { port: stage.port, key: stage.key, fcm: stage.fcm, ca: stage.ca, edge, name, tokens } });
    await once(calls.#thread, "message");
    return calls;
  }

  /** Since the last time: how many came, their p99, and how late the thread came to its own events (p99), in ms. */
  take() {
    return this.#ask("take");
  }

  /**
   * Calls users who have no client now, one after the other; `calls`: key, user and the address of the phone. Resolves when all phones have rung, or after 10 s, with the answer to each POST, and after how many ms
   * from its POST the phone was seen to have the call; undefined = it was not.
   */
  ring(calls) {
    return this.#ask("ring", calls);
  }

  /** No call follows. What did not come, and what came otherwise than promised, a line each. */
  async stop() {
    const faults = await this.#ask("stop");
    await this.#thread.terminate();
    return faults;
  }

  async #ask(what, calls) {
    const answer = once(this.#thread, "message");
    this.#thread.postMessage({ what, calls });
    return (await answer)[0];
  }
}

async function call({ port, key, fcm, ca, edge, name, tokens }) {
  const stage = { port, key, fcm, ca, token: (user) => tokens[user] };
  const ledger = new Ledger();
  const clients = Object.keys(tokens).map((user) => new Client(stage, ledger, edge, user, generator(1)));
  await Promise.all(clients.map((client) => client.open()));
  const caller = new Caller(stage, ledger, name, clients);
  const late = monitorEventLoopDelay({ resolution });
  late.enable();
  const does = {
    take() {
      const taken = { ...caller.take(), late: (late.percentile(99) / 1e6) - resolution };
      late.reset();
      return taken;
    },
    ring: (calls) => ring(stage, calls),
    async stop() {
      caller.stopped = true;
      await calling;
      await delay(500); // the last acks
      clients.forEach((client) => client.stop());
      return [...ledger.violations, ...ledger.missing().map((entry) => `${entry.id} for ${entry.user} did not come`), ...clients.flatMap((client) => client.closes.map((code) => `closed with ${code}`))];
    },
  };
  parentPort.on("message", async ({ what, calls }) => parentPort.postMessage(await does[what](calls)));
  const calling = caller.run();
  parentPort.postMessage("ready");
}

async function ring(stage, calls) {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(stage.ca) });
  for (const call of calls) {
    call.at = performance.now();
    call.answer = await postCall(stage, call.key, call.user);
  }

  for (const end = performance.now() + 10_000; calls.some((call) => call.took === undefined) && performance.now() < end; await delay(20)) {
    const phones = new Map((await readJson(`${stage.fcm}/sandbox/phones`, agent) ?? []).map((phone) => [phone.address, phone]));
    for (const call of calls.filter(({ took, answer, address }) => took === undefined && phones.get(address)?.lockScreen.some((shown) => shown.eventId === answer?.json?.id))) {
      call.took = performance.now() - call.at;
    }
  }

  agent.destroy();
  return calls.map(({ answer, took }) => ({ answer, took }));
}

if (!isMainThread && workerData?.tokens) {
  await call(workerData);
}
