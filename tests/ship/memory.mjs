// Large bodies in constant memory: 25 MB of events in one request, and the export of 1,000,000 devices. The hub's peak of resident memory (VmHWM) is
// set back before each, after one of the same kind has warmed it up. Usage: node memory.mjs PATH-OF-PUBLISHED-pnh [DEVICES] [--sabotage]
// Every upload's last line must count what was written. --sabotage puts one event, and one device, into each that is refused, to see that this is noticed.
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { startHub } from "./hub.mjs";
import { check, checked, finish } from "./report.mjs";

const limit = 8 * 1024 * 1024;
const bodyBytes = 25 * 1024 * 1024;
const sabotage = process.argv.includes("--sabotage");
const devices = Number(process.argv[3]?.startsWith("--") ? undefined : process.argv[3]) || 1_000_000;
const hub = await startHub(process.argv[2]);

try {
  for (const [kind, type] of [["lines", "application/x-ndjson"], ["an array", "application/json"]]) {
    await checked(`25 MB of events as ${kind}`, async () => {
      await post("/v1/events", type, (sent) => events(kind, sent));
      await grows(() => post("/v1/events", type, (sent) => events(kind, sent)));
    });
  }

  await checked(`${devices} devices are imported`, () => post("/v1/devices:import", "application/x-ndjson", deviceLines));
  const shape = { lines: 0, nulls: 0, numbers: 0 };
  await checked(`the export of ${devices} devices`, async () => {
    await exported(shape);
    Object.assign(shape, { lines: 0, nulls: 0, numbers: 0 });
    await grows(() => exported(shape));
  });
  check("every device is in the export", shape.lines >= devices ? null : `${shape.lines} lines`);
  check("nulls are left out and enums are words", shape.nulls + shape.numbers === 0 ? null : JSON.stringify(shape));
} finally {
  await checked("the hub stops cleanly", () => hub.stop());
}

finish();

/** Runs it up to three times; throws when the peak went up by the limit or more each time. What is kept goes up each time; when the collector happens to run does not. */
async function grows(body) {
  for (let left = 2; ; left--) {
    const growth = await growthOf(body);
    if (growth < limit) {
      return;
    }

    if (left === 0) {
      throw new Error(`grew by ${(growth / 1048576).toFixed(1)} MB`);
    }
  }
}

async function growthOf(body) {
  await writeFile(`/proc/${hub.pid}/clear_refs`, "5"); // sets VmHWM back to what is resident now
  const before = await peak();
  await body();
  const growth = (await peak()) - before;
  console.log(`   peak memory ${(before / 1048576).toFixed(1)} MB, grew by ${(growth / 1048576).toFixed(1)} MB`);
  return growth;
}

async function peak() {
  return Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${hub.pid}/status`, "utf8"))[1]) * 1024;
}

/** 25 MB in pieces of some 64 kB: for sockets that nobody has, so that only the way in is measured. */
function* events(kind, sent) {
  const line = (i) => JSON.stringify({ to: { user: `nobody-${i % 1000}` }, class: sabotage && i === 7 ? "none" : "transient", data: { i, text: "x".repeat(120) } });
  const array = kind !== "lines";
  let piece = array ? "[" : "";
  for (let bytes = 0, i = 0; bytes < bodyBytes; i++) {
    const text = (array && i > 0 ? "," : "") + line(i) + (array ? "" : "\n");
    piece += text;
    sent.count++;
    bytes += text.length;
    if (piece.length > 65_536) {
      yield piece;
      piece = "";
    }
  }

  yield piece + (array ? "]" : "");
}

function* deviceLines(sent) {
  let piece = "";
  for (let i = 0; i < devices; i++) {
    piece += `{"user":"u${i}","device":"phone","platform":"${sabotage && i === 7 ? "none" : "android"}","fcm":{"token":"fcm:${i}"}}\n`;
    sent.count++;
    if (piece.length > 65_536) {
      yield piece;
      piece = "";
    }
  }

  yield piece;
}

/** Sends the pieces that `make` yields as fast as they are taken; the last line of the answer must count everything that they hold. */
function post(path, type, make) {
  const sent = { count: 0 };
  return new Promise((resolve, reject) => {
    const call = request(`${hub.url}${path}`, { method: "POST", headers: { Authorization: `Bearer ${hub.key}`, "Content-Type": type } }, (answer) => {
      let end = "";
      answer.setEncoding("utf8").on("data", (part) => { end = (end + part).slice(-2000); });
      answer.on("end", () => {
        const last = end.trim().split("\n").at(-1);
        const problem = answer.statusCode < 300 ? problemOf(last, sent.count) : `${answer.statusCode} ${last}`;
        problem ? reject(new Error(problem)) : resolve();
      });
    });
    call.on("error", reject);
    (async () => {
      for (const piece of make(sent)) {
        if (!call.write(piece)) {
          await new Promise((drained) => call.once("drain", drained));
        }
      }

      call.end();
    })().catch(reject);
  });
}

/** What is wrong with the last line of an upload of so many; null = nothing. */
function problemOf(line, count) {
  const { done, accepted, imported, refused } = JSON.parse(line);
  return done === true && (accepted ?? imported) === count && refused === 0 ? null : `of ${count} written: ${line}`;
}

/** Reads the whole export, counting lines and what should not be in them. */
function exported(shape) {
  return new Promise((resolve, reject) => {
    request(`${hub.url}/v1/devices:export`, { headers: { Authorization: `Bearer ${hub.key}` } }, (answer) => {
      if (answer.statusCode !== 200) {
        reject(new Error(`${answer.statusCode}`));
      }

      let rest = "";
      answer.setEncoding("utf8").on("data", (part) => {
        const lines = (rest + part).split("\n");
        rest = lines.pop();
        shape.lines += lines.length;
        shape.nulls += lines.filter((line) => line.includes(":null")).length;
        shape.numbers += lines.filter((line) => !line.includes('"platform":"')).length;
      });
      answer.on("end", resolve).on("error", reject);
    }).on("error", reject).end();
  });
}
