// node freeze.mjs PROGRAM [--clients 200] [--rate 20] [--bytes 8000] [--seconds 10]: a hub and two edges, half of the clients at each, all in one topic that gets a broadcast `rate` times a second.
// One edge is stopped with SIGSTOP and goes on after some seconds. The other one's clients notice nothing, the hub ends the links and does not grow, and the clients of the frozen edge
// keep their sockets: what was durable comes to them once.
import { resolve } from "node:path";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { summed } from "./caller.mjs";
import { linksOf, memoryOf, openCluster, openEdge, play } from "./nodes.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: "string", default: "200" }, rate: { type: "string", default: "20" }, bytes: { type: "string", default: "8000" }, seconds: { type: "string", default: "10" },
  },
});
const [count, rate, seconds] = [Number(options.clients), Number(options.rate), Number(options.seconds)];
const padding = "x".repeat(Number(options.bytes));
const stage = await openCluster(program);

/** A client in the topic, which acknowledges and notes what comes. */
class Listener {
  constructor(edge, user) {
    Object.assign(this, { edge, user, ids: new Map(), waits: [], closed: null });
  }

  open() {
    return new Promise((done, fail) => {
      const socket = new WebSocket(`${this.edge.url.replace("http", "ws")}/v1/socket`);
      socket.on("error", fail);
      socket.on("close", (code) => { this.closed = code; });
      socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token: stage.token(this.user, ["room"]), device: "tab", state: "active" })));
      socket.on("message", (text) => {
        const frame = JSON.parse(text);
        if (frame.type === "welcome") {
          socket.send(JSON.stringify({ type: "join", topics: ["room"] }));
          done();
        } else if (frame.type === "event" && frame.class === "transient") {
          this.waits.push(Date.now() - frame.data.at);
        } else if (frame.type === "event") {
          this.ids.set(frame.id, (this.ids.get(frame.id) ?? 0) + 1);
          socket.send(JSON.stringify({ type: "ack", seq: frame.seq }));
        }
      });
    });
  }
}

async function scene() {
  stage.spawn();
  await stage.ready();
  const [frozen, other] = [await openEdge(stage, "edge-0", resolve(program)), await openEdge(stage, "edge-1", resolve(program))];
  const clients = Array.from({ length: count }, (_, i) => new Listener(i % 2 === 0 ? frozen : other, `user-${i}`));
  for (const client of clients) {
    await client.open();
  }

  const held = clients.filter((client) => client.edge === frozen);
  const beside = clients.filter((client) => client.edge === other);
  const publishing = publish();
  await delay(5000); // until it runs smoothly
  const before = await latencies(beside, seconds);
  const memory = memoryOf(stage.hub.child.pid);

  frozen.process.child.kill("SIGSTOP");
  const from = Date.now();
  const watching = watchLinks(frozen, from);
  const durable = await postDurable(held);
  const during = await latencies(beside, seconds - ((Date.now() - from) / 1000));
  const [ended, peak] = [await watching, memoryOf(stage.hub.child.pid).peak];
  frozen.process.child.kill("SIGCONT");
  for (const end = Date.now() + 20_000; Date.now() < end && held.some((client) => durable.some((id) => !client.ids.has(id))); await delay(50)) {
    // They come with the sessions.
  }

  const again = await latencies(held, 3);
  publishing.stopped = true;
  await publishing.done;
  report({ before, during, again, ended, grown: peak - memory.now, held, durable, clients });
}

function publish() {
  const state = { stopped: false };
  state.done = (async () => {
    for (let n = 0, next = Date.now(); !state.stopped; n++) {
      await send(stage, "POST", "/v1/events", { to: { topic: "room" }, class: "transient", data: { n, at: Date.now(), padding } });
      next += 1000 / rate;
      await delay(Math.max(0, next - Date.now()));
    }
  })();
  return state;
}

/** A message to each client whose edge stands still; the ids that the hub took. */
async function postDurable(held) {
  const ids = [];
  for (const { user } of held) {
    const answer = await send(stage, "POST", "/v1/events", { id: `durable-${user}`, to: { user }, class: "message", ttl: 600, data: { n: 1 } });
    if (answer?.status === 202) {
      ids.push(answer.json.id);
    }
  }

  return ids;
}

async function latencies(clients, seconds) {
  clients.forEach((client) => { client.waits = []; });
  await delay(seconds * 1000);
  return summed(clients.flatMap((client) => client.waits));
}

/** After how many ms the hub has ended all links of the edge. */
async function watchLinks(edge, from) {
  while (await linksOf(stage, edge.node) > 0) {
    if (Date.now() - from > seconds * 1000) {
      return Infinity;
    }

    await delay(100);
  }

  return Date.now() - from;
}

function report({ before, during, again, ended, grown, held, durable, clients }) {
  const sent = Math.floor(rate * seconds * clients.length / 2);
  const closed = clients.filter((client) => client.closed !== null);
  const missing = held.filter((client) => !client.ids.has(`durable-${client.user}`));
  const twice = held.filter((client) => [...client.ids.values()].some((times) => times > 1));
  console.log(`   p99 at the other edge ${before.p99} ms before, ${during.p99} ms during ${seconds} s of SIGSTOP (${before.count} and ${during.count} frames); at the frozen one afterwards ${again.p99} ms`);
  console.log(`   the hub ended the links after ${ended} ms and grew by ${grown.toFixed(1)} MB at most; ${durable.length - missing.length} of ${durable.length} messages came afterwards, ${twice.length} twice`);
  check("the broadcast was real", before.count > sent / 2 && during.count > sent / 2 ? null : `${before.count} and ${during.count} of ${sent}`);
  // A p99 of one or two milliseconds says more of the clock than of the hub.
  check("the other edge's p99 stays below 3 x", during.p99 < 3 * Math.max(before.p99, 5) ? null : `${during.p99} ms after ${before.p99} ms`);
  check("the links are ended after 3 s of silence", ended <= 5000 ? null : `${ended} ms`);
  check("the hub grows by 16 MB at most", grown <= 16 ? null : `${grown.toFixed(1)} MB`);
  check("no client's socket is closed", closed.length === 0 ? null : `${closed.length}: ${[...new Set(closed.map((client) => client.closed))]}`);
  check("what was durable comes to the clients of the frozen edge, once", missing.length === 0 && twice.length === 0 && durable.length === held.length ? null
    : `${durable.length} accepted for ${held.length}, ${missing.length} missing, ${twice.length} twice`);
  check("the broadcast goes on at the frozen edge", again.count > 0 ? null : "nothing came");
}

await play(stage, scene);
