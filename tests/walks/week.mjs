// node week.mjs PATH-OF-PUBLISHED-pnh: an operator's week, by pages and commands alone: looked at before the start, watched, backed up, lost, restored, upgraded.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startHub } from "../ship/hub.mjs";
import { checked, finish } from "../ship/report.mjs";
import { says } from "./pages.mjs";

const program = process.argv[2];
const run = promisify(execFile);
const copies = await mkdtemp(join(tmpdir(), "pnh-week-"));
const hub = await startHub(program);
const own = [`--Pnh:Data=${hub.data}`, `--Pnh:Urls=${hub.url}`, `--Pnh:OperationsUrls=${hub.operations}`];
const pnh = async (...words) => (await run(program, words, { timeout: 60_000 })).stdout;
const post = (to, path, body, key) => fetch(to + path, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body) });

function has(text, ...parts) {
  const missing = parts.filter((part) => !text.includes(part));
  if (missing.length > 0) {
    throw new Error(`it does not say ${missing.join(", ")}: ${text}`);
  }
}

let restored;
try {
  await checked("monday: the machine and the configuration are looked at", async () => {
    await says(hub, "operate", "pnh doctor");
    await says(hub, "operate", "pnh config check");
    has(await pnh("doctor", ...own), "ok    configuration", "a hub is running", "disk sync", "open files");
    has(await pnh("config", "check", ...own), "the configuration is good");
    has(await pnh("config", "show", ...own), "Pnh:Data", "command line");
  });
  await checked("tuesday: what the page says to watch is there", async () => {
    const metrics = await (await fetch(`${hub.operations}/metrics`)).text();
    for (const name of ["pnh_ready", "pnh_deadline_missed_total", "pnh_provider_breakers_open", "pnh_ledger_in_flight", "pnh_q_factor"]) {
      await says(hub, "operate", name);
      has(metrics, `\n${name}`);
    }

    for (const name of ["pnh_journal_bytes", "pnh_data_free_bytes"]) {
      if (!(Number(new RegExp(`^${name} (\\S+)`, "m").exec(metrics)?.[1]) > 0)) {
        throw new Error(`${name} is not above 0`);
      }
    }
  });
  await checked("wednesday: a backup while events come in", async () => {
    await says(hub, "operate", "pnh backup");
    for (let n = 0; n < 200; n++) {
      const answer = await post(hub.url, "/v1/events", { id: `week-${n}`, to: { user: "ada" }, class: "bulk" }, hub.key);
      if (answer.status !== 202) {
        throw new Error(`event ${n} is answered with ${answer.status}`);
      }
    }

    has(await pnh("backup", join(copies, "wednesday"), ...own), "read once");
  });
  await checked("thursday: the data folder is lost, and the copy is a hub again", async () => {
    await says(hub, "operate", "pnh restore");
    has(await pnh("restore", join(copies, "wednesday"), `--Pnh:Data=${join(copies, "data")}`), "read once");
    restored = await startHub(program, { settings: [`--Pnh:Data=${join(copies, "data")}`], key: hub.key });
    for (const n of [0, 199]) {
      const answer = await fetch(`${restored.url}/v1/events/week-${n}`, { headers: { authorization: `Bearer ${hub.key}` } });
      if (answer.status !== 200) {
        throw new Error(`week-${n} is answered with ${answer.status}`);
      }
    }

    const again = await (await post(restored.url, "/v1/events", { id: "week-0", to: { user: "ada" }, class: "bulk" }, hub.key)).json();
    if (again.duplicate !== true) {
      throw new Error("an event of the copy is taken for a new one");
    }
  });
  await checked("friday: an upgrade, and a person is erased", async () => {
    await says(hub, "operate", "SIGTERM");
    await says(hub, "devices", "goneBy");
    const admin = /\S{20,}/.exec(await pnh("key", "add", "--app", "demo", "--scope", "admin", `--Pnh:Data=${join(copies, "data")}`, `--Pnh:OperationsUrls=${restored.operations}`))[0];
    const answer = await (await fetch(`${restored.url}/v1/users/ada`, { method: "DELETE", headers: { authorization: `Bearer ${admin}` } })).json();
    if (answer.devices < 1 || !answer.goneBy) {
      throw new Error(JSON.stringify(answer));
    }
  });
} finally {
  await checked("both hubs stop cleanly", async () => {
    await hub.stop();
    await restored?.stop();
  });
  await rm(copies, { recursive: true, force: true });
}

finish();
