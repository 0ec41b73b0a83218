// node synced.mjs PROGRAM: strace on the real hub. No byte of a 202 may leave before the fsync returned that covers the write of that event. Checks its own reading of a trace
// first, on traces with a wrong order. Without strace it says so and is skipped, except in CI (PNH_REQUIRE_ALL).
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { delay } from "./hub.mjs";
import { post } from "./kill/publishers.mjs";
import { openStage } from "./kill/stage.mjs";
import { check, checked, finish } from "./report.mjs";
import { cases } from "./synced/cases.mjs";
import { judge } from "./synced/trace.mjs";

const publishers = 16;
const eventsEach = 25;
const calls = "fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg";

for (const { name, trace, problem } of cases) {
  const found = judge(trace, "/data/").problems.join("; ");
  check(`reading a trace: ${name}`, problem === null ? found || null : problem.test(found) ? null : `found "${found}"`);
}

if (hasStrace()) {
  await traced();
} else if (process.env.PNH_REQUIRE_ALL) {
  check("strace is there", "not found: install the Debian package strace");
} else {
  console.log("   skipped: no strace here; the real hub was not traced");
}

finish();
process.exit();

async function traced() {
  const folder = mkdtempSync(join(tmpdir(), "pnh-synced-"));
  const stage = await openStage(resolve(process.argv[2]));
  try {
    stage.spawn();
    await stage.ready();
    // What the first requests compile is no part of the trace; and a key cached by then is one thing less.
    await postAll(stage, "warm", 5);
    const file = join(folder, "trace");
    const tracer = await attach(stage.hub.child.pid, file);
    const answered = await postAll(stage, "synced", eventsEach);
    // The client may have an answer before strace has written the call that sent it.
    await delay(500);
    await detach(tracer);
    const trace = readFileSync(file, "latin1");
    const data = join(stage.folder, "data") + "/";
    const { problems, judged, syncs } = judge(trace, data);
    console.log(`   ${answered.size} answers 202 from ${publishers} publishers, ${judged.size} found in the trace, ${syncs} syncs of files in the data folder`);
    check("every 202 was found in the trace", [...answered].every((id) => judged.has(id)) && answered.size === publishers * eventsEach
      ? null : `${answered.size} answered, ${[...answered].filter((id) => !judged.has(id)).length} not found, such as ${[...answered].find((id) => !judged.has(id))}`);
    check("no 202 left before its event was synced", problems.length === 0 ? null : `${problems.length}: ${problems.slice(0, 5).join("; ")}`);
    const broken = withoutSyncs(trace);
    check("the same trace without its syncs is refused", judge(broken, data).problems.length >= answered.size ? null : "it was taken");
  } catch (e) {
    check("the hub is traced", e.stack ?? e);
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Posts from all publishers at once; gives the ids that were answered 202. */
async function postAll(stage, name, each) {
  const answered = new Set();
  await Promise.all(Array.from({ length: publishers }, async (_, publisher) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let n = 0; n < each; n++) {
      const id = `${name}-${publisher}-${n}~`;
      // A user without devices: the answer is all there is to send. The id is last in the data, so that a write cut short would miss it.
      const answer = await post(stage, { id, to: { user: `user-${n}` }, class: n % 3 === 0 ? "call" : "message", data: { text: "x".repeat(n * 20), id } }, agent);
      if (answer?.status === 202) {
        answered.add(id);
      }
    }

    agent.destroy();
  }));
  return answered;
}

async function attach(pid, file) {
  const tracer = spawn("strace", ["-f", "-y", "-ttt", "-s", "262144", "-e", `trace=${calls}`, "-o", file, "-p", `${pid}`], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  tracer.stderr.setEncoding("utf8").on("data", (text) => { said += text; });
  for (const end = Date.now() + 10_000; Date.now() < end && !/ attached/.test(said) && tracer.exitCode === null; await delay(50)) {
    // Says so once all threads are under it.
  }

  if (!/ attached/.test(said) || tracer.exitCode !== null) {
    throw new Error(`strace could not attach: ${said}`);
  }

  await delay(300);
  return tracer;
}

async function detach(tracer) {
  const gone = new Promise((done) => tracer.once("exit", done));
  tracer.kill("SIGINT");
  await Promise.race([gone, delay(10_000)]);
}

function withoutSyncs(trace) {
  return trace.split("\n").filter((line) => !/\b(fsync|fdatasync)\b/.test(line)).join("\n");
}

function hasStrace() {
  try {
    execFileSync("strace", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
