// The hub with few descriptors, flooded with connections that have no credential, while it is scraped and published to: it lives, answers, and loses nothing.
// Usage: node descriptors.mjs PATH-OF-PUBLISHED-pnh [--limits 288,400] [--transports Direct,Framework] [--rounds 1] [--seconds 6]
import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import WebSocket from "ws";
import { setTimeout as delay } from "node:timers/promises";
import { startHub } from "./hub.mjs";
import { checked, finish } from "./report.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limits: { type: "string", default: "288,400" }, transports: { type: "string", default: "Direct,Framework" },
    rounds: { type: "string", default: "1" }, seconds: { type: "string", default: "6" },
  },
});
const list = (text) => text.split(",");
const perFlooder = 6_000;
let floods = 0;

// An app of its own: with 288 there is no room for the sandbox of a first start, since the runtime keeps two files of each assembly open.
const shopKey = "pnh_shop_0123456789012345678901234567890123456789";
const shop = [
  `--Pnh:Apps:demo:Keys:0:Secret=${shopKey}`, "--Pnh:Apps:demo:Keys:0:Scopes=send register read admin", "--Pnh:Apps:demo:Tokens:Hs256Secret=01234567890123456789012345678901",
];

for (const limit of list(values.limits).map(Number)) {
  for (const transport of list(values.transports)) {
    for (let round = 1; round <= Number(values.rounds); round++) {
      await checked(`${limit} descriptors, ${transport}, round ${round}: a flood without credentials ends nothing`, () => flooded(limit, transport));
    }
  }
}

for (const transport of list(values.transports)) {
  await checked(`400 descriptors, ${transport}: as many sessions as there can be leave publishers their connections`, () => crowded(transport));
}

await checked("more Sockets:MaxConnections than fit are an error at the start", () => refused(400, ["--Pnh:Sockets:MaxConnections=5000"], /MaxConnections is 5000, but of the 400 files/));
await checked("too few descriptors are an error at the start, not a hub that dies", () => refused(245, shop, /may have 245 files open and needs \d+/));
for (const limit of [60, 120, 200, 239]) {
  await checked(`${limit} descriptors, too few to open what the hub is made of: one line says so`, () => refused(limit, shop, /: pnh: the process may have \d+ files open and needs at least \d+[^\n]*\s*$/));
}

finish();

async function refused(limit, settings, why) {
  const problem = await startHub(positionals[0], { wrap: ["prlimit", `--nofile=${limit}:${limit}`, "--"], settings }).then((hub) => hub.stop().then(() => "it started"), (e) => e.message);
  expect(/ended at its start with 1/.test(problem) && why.test(problem), problem);
}

async function flooded(limit, transport) {
  const hub = await startHub(positionals[0], {
    wrap: ["prlimit", `--nofile=${limit}:${limit}`, "--"], settings: [`--Pnh:Sockets:Transport=${transport}`, ...(limit < 300 ? shop : [])],
    key: limit < 300 ? shopKey : undefined,
  });
  const seen = { accepted: new Set(), arrived: new Set(), refused: 0, lost: 0, health: 0, healthFailed: [], scrapes: 0, scrapesFailed: [], mostFiles: 0 };
  let stop = () => {};
  try {
    const reader = await listen(hub, seen);
    const flooders = flood(hub, limit);
    stop = () => flooders.forEach((flooder) => flooder.stdin.end());
    await delay(1500);
    const end = Date.now() + Number(values.seconds) * 1000;
    await Promise.all([publish(hub, end, seen, 0), publish(hub, end, seen, 1), watch(hub, end, seen), scrape(hub, end, seen), files(hub, end, seen)]);
    await delay(1000);
    const held = flooders.map((flooder) => flooder.last).filter(Boolean);
    stop();
    await delay(500);
    console.log(`# ${limit} ${transport}: ${seen.accepted.size} accepted, ${seen.arrived.size} arrived, ${seen.lost} tries without an answer, health ${seen.health}, `
      + `scrapes ${seen.scrapes}, at most ${seen.mostFiles} files, flood ${JSON.stringify(held)}`);
    judge(hub, seen, limit, await ended(hub));
    const after = await get(`${hub.url}/healthz`);
    expect(after.status === 200, `after the flood: ${after.status}`);
    reader.close();
    await hub.stop();
  } finally {
    stop();
    await hub.stop().catch(() => {});
  }
}

function judge(hub, seen, limit, exit) {
  expect(exit === undefined, `the hub ended with ${exit}: ${hub.output.slice(-600)}`);
  expect(seen.healthFailed.length === 0 && seen.health > 5, `/healthz of operations: ${seen.health} answers, ${seen.healthFailed.length} failures: ${seen.healthFailed[0]}`);
  expect(seen.scrapesFailed.length === 0 && seen.scrapes > 2, `scrapes: ${seen.scrapes}, ${seen.scrapesFailed.length} failures: ${seen.scrapesFailed[0]}`);
  expect(seen.accepted.size > 20, `only ${seen.accepted.size} events were accepted (${seen.refused} refused, ${seen.lost} without an answer)`);
  const missing = [...seen.accepted].filter((id) => !seen.arrived.has(id));
  expect(missing.length === 0, `${missing.length} of ${seen.accepted.size} accepted events did not arrive`);
  expect(seen.mostFiles < limit, `${seen.mostFiles} of ${limit} files were open`);
  const warnings = hub.output.split("\n").filter((line) => /^(warn|fail|crit):/.test(line));
  expect(warnings.length <= 2 * (Number(values.seconds) + 10), `${warnings.length} lines of warning or above: ${warnings[0]}`);
}

function expect(condition, what) {
  if (!condition) {
    throw new Error(what);
  }
}

function ended(hub) {
  return Promise.race([hub.ended, delay(10)]);
}

// Sessions with hello, of one token and of many: the token gets its hundred, all together seven eighths of the connections, and each publisher is answered.
async function crowded(transport) {
  const hub = await startHub(positionals[0], { wrap: ["prlimit", "--nofile=400:400", "--"], settings: [`--Pnh:Sockets:Transport=${transport}`, "--Pnh:Sockets:PerUser=20"] });
  const sockets = [];
  try {
    const tokens = await Promise.all(Array.from({ length: 16 }, (_, i) => hub.token(`user-${i}`)));
    const codes = {};
    for (let i = 0; i < 320; i++) {
      sockets.push(hello(hub, tokens[i < 30 ? 0 : i % 16], `tab-${i}`, codes));
      await delay(5);
    }

    await delay(2000);
    const open = sockets.filter((socket) => socket.isWelcome && socket.readyState === WebSocket.OPEN).length;
    const ofOne = sockets.slice(0, 30).filter((socket) => socket.isWelcome).length;
    expect(ofOne === 20, `one user has ${ofOne} sessions, not 20`);
    expect(open > 40 && codes[4005] > 10, `${open} sessions open, closed with ${JSON.stringify(codes)}`);
    for (let i = 0; i < 60; i++) {
      const answer = await get(`${hub.url}/v1/events`, { method: "POST", body: JSON.stringify({ to: { user: "user-0" }, class: "message", data: i }), key: hub.key }).catch((e) => ({ status: e.message }));
      expect(answer.status === 202, `a publisher beside ${open} sessions was answered ${answer.status} at its connection ${i}`);
    }

    console.log(`# 400 ${transport}: ${open} sessions, closed ${JSON.stringify(codes)}, 60 of 60 new publisher connections answered`);
  } finally {
    sockets.forEach((socket) => socket.terminate());
    await hub.stop();
  }
}

function hello(hub, token, device, codes) {
  const socket = new WebSocket(`${hub.url.replace("http", "ws")}/v1/socket`, "pnh.v1");
  socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token, device, state: "background" }));
  socket.onmessage = ({ data }) => { socket.isWelcome ||= JSON.parse(data).type === "welcome"; };
  socket.onclose = ({ code }) => { codes[code] = (codes[code] ?? 0) + 1; };
  socket.onerror = () => {};
  return socket;
}

// Each flood comes from addresses of its own: the ports of the one before wait out their minute, and one from the same addresses would be a trickle.
function flood(hub, limit) {
  const wanted = Math.ceil(limit * 1.2) + 100;
  floods++;
  const flooders = [];
  for (let left = wanted, from = 2 + (floods % 16) * 8; left > 0; left -= perFlooder, from++) {
    flooders.push(flooder(hub.port, Math.min(left, perFlooder), from, 2000));
  }

  flooders.push(flooder(hub.operationsPort, Math.min(wanted, 200), 200, 2));
  return flooders;
}

function flooder(port, count, from, perSecond) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./descriptors/flood.mjs", import.meta.url)), port, count, from, perSecond], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8").on("data", (text) => { child.last = JSON.parse(text.trim().split("\n").at(-1)); });
  return child;
}

async function listen(hub, seen) {
  const token = await hub.token("ada");
  const socket = new WebSocket(`${hub.url.replace("http", "ws")}/v1/socket`, "pnh.v1");
  await new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error("the session was not opened"));
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token, device: "tab", state: "active" }));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === "welcome") {
        resolve();
      } else if (frame.type === "event") {
        seen.arrived.add(frame.id);
        socket.send(JSON.stringify({ type: "ack", seq: frame.seq }));
      }
    };
  });
  socket.onclose = ({ code }) => { seen.closed = code; };
  return socket;
}

// Goes on with the same id until it is answered, as a back-end does.
async function publish(hub, end, seen, worker) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; Date.now() < end; i++) {
    const id = `flood-${worker}-${i}`;
    const body = JSON.stringify({ id, to: { user: "ada" }, class: "message", data: { i } });
    for (let answer; answer === undefined && Date.now() < end + 2000;) {
      answer = await get(`${hub.url}/v1/events`, { agent, method: "POST", body, key: hub.key }).catch(() => undefined);
      answer === undefined ? seen.lost++ : answer.status === 202 ? seen.accepted.add(id) : seen.refused++;
    }

    await delay(20);
  }
}

async function watch(hub, end, seen) {
  for (; Date.now() < end; await delay(100)) {
    await probe(`${hub.operations}/healthz`).then(({ status }) => { status === 200 ? seen.health++ : seen.healthFailed.push(status); }, (e) => seen.healthFailed.push(e.message));
  }
}

async function scrape(hub, end, seen) {
  for (; Date.now() < end; await delay(500)) {
    await probe(`${hub.operations}/metrics`).then(
      ({ status, text }) => { status === 200 && /pnh_sessions/.test(text) ? seen.scrapes++ : seen.scrapesFailed.push(status); }, (e) => seen.scrapesFailed.push(e.message));
  }
}

async function files(hub, end, seen) {
  for (; Date.now() < end; await delay(200)) {
    seen.mostFiles = Math.max(seen.mostFiles, (await readdir(`/proc/${hub.pid}/fd`).catch(() => [])).length);
  }
}

// The operations listener is flooded too, so a new connection may lose its place to a newer one: as a probe does, once more.
function probe(url) {
  return get(url).catch(() => get(url));
}

/** One request on a connection of its own, or of the agent; at most 4 s. */
function get(url, { agent, method = "GET", body, key } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }) };
    const sent = request(url, { agent: agent ?? false, method, headers, timeout: 4000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => { text += piece; }).on("end", () => resolve({ status: answer.statusCode, text })).on("error", reject);
    });
    sent.on("error", reject).on("timeout", () => sent.destroy(new Error("no answer in 4 s"))).end(body);
  });
}
