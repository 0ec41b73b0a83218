// What rests for phones that are away. Usage: node bench/resting.mjs PATH-OF-PUBLISHED-pnh [--events 500000] [--phones 1000] [--browsers]
// The sandbox takes a push for each event, or (--browsers) the devices have no push address; then the hub is killed and started again, its memory measured, and sessions with all of one phone's mail are timed. Prints a table; writes nothing.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { delay } from "../tests/ship/hub.mjs";
import { openStage } from "../tests/ship/kill/stage.mjs";

const { values: options, positionals: [program] } = parseArgs({ allowPositionals: true, options: { events: { type: "string", default: "500000" }, phones: { type: "string", default: "1000" }, browsers: { type: "boolean", default: false } } });
const [events, phones] = [Number(options.events), Number(options.phones)];
const WebSocket = createRequire(new URL("../tests/ship/package.json", import.meta.url))("ws");
const stage = await openStage(program, { settings: { Pnh__Apps__demo__Keys__0__Scopes: "send register read admin" } });
const row = (what, value) => console.log(`| ${what} | ${value} |`);

try {
  stage.spawn();
  await stage.ready();
  await upload("/v1/devices:import", Array.from({ length: phones }, (_, i) => ({ user: `u${i}`, device: "phone", ...(options.browsers ? { platform: "web" } : { platform: "android", fcm: { token: `token-${i}` } }) })));
  row("memory of an empty hub, MB", Math.round((await quietMemory()) / 1e6));
  for (let from = 0; from < events; from += 20_000) {
    await upload("/v1/events", Array.from({ length: Math.min(20_000, events - from) }, (_, i) => ({ to: { user: `u${(from + i) % phones}` }, class: "message", ttl: 86400, data: { text: "hello", n: from + i } })));
  }

  const sent = Date.now();
  await until(async () => options.browsers || await metric(/^pnh_deliveries_total\{[^}]*channel="fcm"[^}]*status="accepted"[^}]*\} (\d+)/gm) >= events, 600);
  row("until all pushes were taken, s", ((Date.now() - sent) / 1000).toFixed(1));
  await delay(5000);
  row("deliveries that rest, without an end and in all", `${await metric(/^pnh_ledger_resting\{[^}]*\} (\d+)/gm)}, ${await metric(/^pnh_journal_resting (\d+)/gm)}`);
  await stage.kill();
  const begun = Date.now();
  stage.spawn();
  await stage.ready();
  row("ready again after, s", ((Date.now() - begun) / 1000).toFixed(1));
  row("CPU until then, s", cpu().toFixed(1));
  row("memory then, MB", Math.round((await quietMemory()) / 1e6));
  const each = Math.min(500, Math.floor(events / phones));
  for (const user of ["u1", "u2", "u3"]) {
    row(`${each} events on a session that opens, ms`, await open(user, each));
  }
} finally {
  await stage.close(false);
}

 
process.exit();

async function upload(path, lines) {
  const answer = await fetch(`${stage.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${stage.key}`, "content-type": "application/x-ndjson" }, body: lines.map((line) => JSON.stringify(line)).join("\n") });
  const text = await answer.text();
  if (!answer.ok || /"(error|refused)":[1-9]/.test(text)) {
    throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`);
  }
}

async function metric(pattern) {
  const page = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`)).text();
  return [...page.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function until(condition, seconds) {
  for (const end = Date.now() + seconds * 1000; !(await condition()); await delay(500)) {
    if (Date.now() > end) {
      throw new Error(`not within ${seconds} s`);
    }
  }
}

/** The least of the resident memory, as collections come and go. */
async function quietMemory() {
  let least = Infinity;
  for (let look = 0; look < 10; look++, await delay(500)) {
    least = Math.min(least, Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${stage.hub.child.pid}/status`, "utf8"))[1]) * 1024);
  }

  return least;
}

function cpu() {
  const fields = readFileSync(`/proc/${stage.hub.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function open(user, count) {
  return new Promise((done, fail) => {
    const socket = new WebSocket(`${stage.url.replace("http", "ws")}/v1/socket`);
    let begun = 0;
    let seen = 0;
    socket.on("error", fail);
    socket.on("open", () => {
      begun = performance.now();
      socket.send(JSON.stringify({ type: "hello", token: stage.token(user), device: "phone", state: "active" }));
    });
    socket.on("message", (text) => {
      const frame = JSON.parse(text);
      if (frame.type === "event") {
        socket.send(JSON.stringify({ type: "ack", seq: frame.seq }));
        if (++seen === count) {
          done(Math.round(performance.now() - begun));
        }
      }
    });
    setTimeout(() => fail(new Error(`only ${seen} of ${count}`)), 30_000);
  });
}
