// node starting.mjs PROGRAM [--events N] [--attempts N]: SIGTERM at points spread over a start that reads a large journal of events which wait in mailboxes. Each time the program ends with 0, or by the signal where
// nothing has taken it over yet, and says one line at most; what the journal holds is there afterwards.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { delay } from "./hub.mjs";
import { openStage } from "./kill/stage.mjs";
import { check, checked, finish } from "./report.mjs";

const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true, options: { events: { type: "string", default: "200000" }, attempts: { type: "string", default: "24" } },
});
const events = Number(options.events);
const attempts = Number(options.attempts);
const perRequest = 20_000;
const users = 500;
const stage = await openStage(resolve(program));
try {
  stage.spawn();
  await stage.ready();
  const first = await fill();
  await stage.kill();
  const usual = await timeOfAStart();
  let whileReading = 0;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const after = Math.round((usual * (attempt + 0.5)) / attempts);
    stage.spawn();
    await delay(after);
    const code = await stage.stop();
    const lines = stage.hub.output.split("\n").filter((line) => line !== "");
    whileReading += lines.some((line) => line.includes("told to stop while it started")) ? 1 : 0;
    // A start that was through prints its welcome, and is a stop like any other.
    const isServed = lines.some((line) => line.includes("is running"));
    const problem = code !== 0 && code !== "SIGTERM" ? `it ended with ${code}` : !isServed && lines.length > 1 ? `it said ${lines.length} lines` : null;
    check(`SIGTERM ${after} ms after the start: one line, exit 0 or by the signal`, problem && `${problem}: ${stage.hub.output.slice(0, 600)}`);
  }

  check("some of them came while the journal was read", whileReading > 0 ? null : "none did: more events are needed");
  await checked("the start after them has every event", async () => {
    stage.spawn();
    await stage.ready();
    for (const id of [first, `start-${events - 1}`]) {
      const answer = await fetch(`${stage.url}/v1/events/${id}`, { headers: { Authorization: `Bearer ${stage.key}` } });
      if (!answer.ok) {
        throw new Error(`${id} is ${answer.status}`);
      }
    }
  });
  check("a stop after it is clean", (await stage.stop()) === 0 ? null : stage.hub.output.slice(-500));
} finally {
  await stage.close(false);
}

finish();

/** Events that wait for devices without a session; gives the first one's id. */
async function fill() {
  for (let user = 0; user < users; user++) {
    const answer = await fetch(`${stage.url}/v1/users/u${user}/devices/tab`, {
      method: "PUT", headers: { Authorization: `Bearer ${stage.key}`, "Content-Type": "application/json" }, body: '{"platform":"web"}',
    });
    if (!answer.ok) {
      throw new Error(`the device was answered ${answer.status}`);
    }
  }

  for (let from = 0; from < events; from += perRequest) {
    const lines = Array.from({ length: Math.min(perRequest, events - from) }, (_, i) =>
      JSON.stringify({ id: `start-${from + i}`, to: { user: `u${(from + i) % users}` }, class: "message", data: { text: "x".repeat(100) } }));
    const answer = await fetch(`${stage.url}/v1/events`, {
      method: "POST", headers: { Authorization: `Bearer ${stage.key}`, "Content-Type": "application/x-ndjson" }, body: lines.join("\n"),
    });
    const text = await answer.text();
    if (!answer.ok || text.includes("\"status\":4") || text.includes("\"status\":5")) {
      throw new Error(`the upload was answered ${answer.status}: ${text.slice(0, 300)}`);
    }
  }

  return "start-0";
}

/** Milliseconds from the process to its readiness, on the folder as it is; then SIGKILL. */
async function timeOfAStart() {
  const from = Date.now();
  stage.spawn();
  await stage.ready();
  const took = Date.now() - from;
  console.log(`   ${events} events; a start takes ${took} ms`);
  await stage.kill();
  return took;
}
