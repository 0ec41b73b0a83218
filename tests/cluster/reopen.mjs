// node reopen.mjs PROGRAM [--sessions 100000] [--edges 4] [--rounds 3]: the hub is killed and started again while edges hold very many sessions, which all say them again at once.
// Then one of the edges is gone for good: what the end of its sessions costs the hub is measured. The edges are simulated: the hub alone is looked at. It is ready within 3 s of the process's start, and stays below 500 MB; what a session costs it is printed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { SimulatedEdge } from "./link.mjs";
import { memoryOf, openCluster, play } from "./nodes.mjs";

const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true, options: { sessions: { type: "string", default: "100000" }, edges: { type: "string", default: "4" }, rounds: { type: "string", default: "3" } },
});
const [sessions, edgeCount, rounds] = [Number(options.sessions), Number(options.edges), Number(options.rounds)];
const stage = await openCluster(program);

async function scene() {
  stage.spawn();
  await stage.ready();
  await delay(1000);
  const empty = await heap();
  const key = readFileSync(join(stage.folder, "cluster.key"), "utf8");
  const edges = Array.from({ length: edgeCount }, (_, e) => new SimulatedEdge(
    `edge-${e}`, `ws://127.0.0.1:${stage.clusterPort}/v1/link`, key, Array.from({ length: sessions / edgeCount }, (_, i) => `user-${e}-${i}`)));
  edges.forEach((edge) => edge.run());
  await until("all sessions are known", async () => await known() === sessions);
  const times = [];
  for (let round = 0; round < rounds; round++) {
    await delay(3000); // the names of the edges are written
    await stage.kill();
    await delay(200);
    const from = Date.now();
    stage.spawn();
    await stage.ready();
    const ready = Date.now() - from;
    await until("all sessions are known again", async () => await known() === sessions);
    times.push({ ready, known: Date.now() - from, online: await online() });
  }

  await delay(2000);
  const lost = await loseEdge(edges[0]);
  const { peak } = memoryOf(stage.hub.child.pid);
  const full = await heap();
  console.log(`   ${sessions} sessions at ${edgeCount} edges; ready after ${times.map((time) => time.ready).join(", ")} ms, all said after ${times.map((time) => time.known).join(", ")} ms; `
    + `${peak.toFixed(0)} MB at most; ${((full - empty) / sessions).toFixed(0)} bytes of heap a session (${(full / 1e6).toFixed(1)} MB, ${(empty / 1e6).toFixed(1)} MB without)`);
  check("the hub is ready within 3 s of the process's start", times.every((time) => time.ready <= 3000) ? null : JSON.stringify(times));
  check("users are online to the hub as soon as it is ready", times.every((time) => time.online) ? null : JSON.stringify(times));
  console.log(`   the end of ${sessions / edgeCount} sessions of an edge that is gone: ${lost.toFixed(0)} us of the hub's CPU each`);
  check("a lost session costs the hub 200 us of CPU at most", lost <= 200 ? null : `${lost} us`);
  check("the hub stays below 500 MB", peak < 500 ? null : `${peak} MB`);
}

/** The hub lets its sessions wait for a minute, then ends them. CPU us of the hub for each, less what it needs for the others meanwhile. */
async function loseEdge(edge) {
  const used = () => Number(readFileSync(`/proc/${stage.hub.child.pid}/stat`, "utf8").split(" ").slice(13, 15).reduce((sum, ticks) => sum + Number(ticks), 0)) * 10_000;
  await delay(10_000); // what the start left to do
  const idleFrom = used();
  await delay(5000);
  const idle = (used() - idleFrom) / 5000;
  const [from, began] = [used(), Date.now()];
  edge.stopped = true;
  edge.socket.terminate();
  await delay(65_000);
  const left = (sessions / edgeCount) * (edgeCount - 1);
  await until("the sessions of the lost edge are gone", async () => await known() === left && !(await send(stage, "GET", "/v1/users/user-0-0/presence"))?.json.online);
  return Math.max(0, used() - from - (idle * (Date.now() - began))) / (sessions / edgeCount);
}

/** Sessions that edges have said, as `pnh cluster` counts them. */
async function known() {
  const secret = readFileSync(join(stage.folder, "data/operator.secret"), "utf8").trim();
  const answer = await fetch(`http://127.0.0.1:${stage.operationsPort}/cluster`, { headers: { authorization: `Bearer ${secret}` }, signal: AbortSignal.timeout(5000) });
  return (await answer.json()).all.sessions;
}

async function online() {
  for (let e = 0; e < edgeCount; e++) {
    const last = (sessions / edgeCount) - 1;
    if (!(await send(stage, "GET", `/v1/users/user-${e}-${last}/presence`))?.json.online) {
      return false;
    }
  }

  return true;
}

/** Bytes on the heap that the last collection left. */
async function heap() {
  const page = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
  return Number(/^pnh_memory_live_bytes (\S+)/m.exec(page)[1]);
}

await play(stage, scene);
