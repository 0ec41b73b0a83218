// node quiet.mjs PATH-OF-PUBLISHED-pnh [--scene NAME]: pushes that quiet hours hold, with the machine's clock set (faketime) over nights in which clocks change, and by a real clock over two minutes.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { delay } from "../ship/hub.mjs";
import { readJson } from "../ship/kill/clients.mjs";
import { openStage } from "../ship/kill/stage.mjs";
import { checked, finish } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";

const { values: { scene: only }, positionals: [given] } = parseArgs({ allowPositionals: true, options: { scene: { type: "string" } } });
const program = resolve(given);
const folder = mkdtempSync(join(tmpdir(), "pnh-quiet-"));
const library = readdirSync("/usr/lib").map((entry) => join("/usr/lib", entry, "faketime/libfaketimeMT.so.1")).find(existsSync);

const scenes = {
  "the night in which clocks go forward ends at seven": () => night({ evening: "2026-03-28T21:30:00Z", morning: "2026-03-29T05:00:00Z" }),
  "the night in which they go back ends at seven, over a kill": () => night({ evening: "2026-10-24T20:30:00Z", morning: "2026-10-25T06:00:00Z", isKilled: true }),
  "two minutes by a real clock": realMinutes,
};

/** Held in the evening, on the screen in the morning and not before, once; settings of Berlin. */
async function night({ evening, morning, isKilled = false }) {
  must(library, "faketime is not installed");
  const clock = join(folder, randomUUID());
  const set = (time) => writeFileSync(clock, `${(Date.parse(time) - Date.now()) / 1000 < 0 ? "" : "+"}${((Date.parse(time) - Date.now()) / 1000).toFixed(3)}\n`);
  set(evening);
  const stage = await Stage.open({ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" });
  try {
    await stage.settings({ quietHours: { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" } });
    const plan = await stage.ask("POST", "/v1/events:explain", { to: { user: "ada" }, notification: { title: "x" } });
    const [step] = plan.users[0].devices[0].steps;
    must(step.when === "held-until" && Date.parse(step.until) === Date.parse(morning), `explain says ${JSON.stringify(step)}, not ${morning}`);
    const id = await stage.post({});
    await stage.held(id, morning);
    if (isKilled) {
      await stage.kill();
    }

    set(new Date(Date.parse(morning) - 20_000).toISOString());
    if (isKilled) {
      await stage.start();
    }

    await delay(4000);
    must((await stage.shown()).length === 0, "it is on the screen before the hours end");
    set(morning);
    await until("the push", () => stage.shown(), (ids) => ids.includes(id), 60); // faketime reads its file with each look at the clock: a busy machine takes half a minute
    await delay(2000);
    must((await stage.received()) === 1, `the phone got ${await stage.received()} pushes`);
    await stage.end();
  } finally {
    await stage.close();
  }
}

/** The hours end with the next full minute that is at least 60 s away: what is still wanted then is pushed, not before and once; the rest is not. */
async function realMinutes() {
  const stage = await Stage.open();
  try {
    const end = new Date(Math.ceil((Date.now() + 60_000) / 60_000) * 60_000);
    const clock = (date) => date.toISOString().slice(11, 16);
    await stage.settings({ quietHours: { from: clock(new Date(end - 180_000)), to: clock(end), timeZone: "UTC" } });
    const wanted = await stage.post({});
    const [older, newer] = [await stage.post({ collapseKey: "score" }), await stage.post({ collapseKey: "score" })];
    const [withdrawn, brief, call] = [await stage.post({}), await stage.post({ ttl: 5 }), await stage.post({ class: "call" })];
    await stage.held(wanted, end.toISOString());
    await stage.ask("POST", `/v1/events/${withdrawn}/withdraw`, {});
    must(await stage.ledgerHolds(2), "the ledger does not hold the two that are left");
    await until("the call", () => stage.shown(), (ids) => ids.includes(call), 10);
    await until("the call's end", () => stage.endOf(call), (end) => end === "accepted", 10);
    await delay(500); // what was noted of it is with the kernel
    await stage.kill();
    await stage.start();
    must(Date.now() < end - 5000, "the restart took until the end of the hours");
    must((await stage.shown()).length === 1, "more than the call is on the screen");
    await until("both pushes", () => stage.shown(), (ids) => ids.includes(wanted) && ids.includes(newer), (end - Date.now()) / 1000 + 60); // the two nights beside it load the machine
    must(Date.now() >= end, "they came before the hours ended");
    console.log(`   the pushes were on the screen ${Date.now() - end} ms after the hours' end`);
    await delay(2000);
    must((await stage.received()) === 3, `the phone got ${await stage.received()} pushes, not the call and two`);
    for (const [id, state] of [[wanted, "accepted"], [newer, "accepted"], [older, "suppressed collapsed"], [withdrawn, "withdrawn withdrawn"], [brief, "suppressed quiet-hours"]]) {
      await until(`${state} of ${id}`, () => stage.endOf(id), (end) => end === state, 10);
    }

    must(await stage.ledgerHolds(0), "the ledger still holds some");
    await stage.end();
  } finally {
    await stage.close();
  }
}

/** A hub and stand-ins with a phone of Ada's. */
class Stage {
  static async open(env = {}) {
    const stage = new Stage();
    stage.inner = await openStage(program, { everywhere: env }); // the stand-ins look at the time too
    stage.agent = new Agent({ ca: readFileSync(stage.inner.ca) });
    await stage.start();
    await stage.ask("PUT", "/v1/users/ada/devices/phone", { platform: "android", fcm: { token: "cafe-0123456789abcdef" } });
    return stage;
  }

  async start() {
    this.inner.spawn();
    await this.inner.ready();
  }

  kill() {
    return this.inner.kill();
  }

  async end() {
    must(await this.inner.stop() === 0, `the hub did not end cleanly: ${this.inner.hub.output.slice(-500)}`);
  }

  async close() {
    this.agent.destroy();
    await this.inner.close(false);
  }

  async ask(method, path, body) {
    const answer = await fetch(this.inner.url + path, { method, headers: { authorization: `Bearer ${this.inner.key}`, "content-type": "application/json" }, body: body && JSON.stringify(body) });
    const text = await answer.text();
    must(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  settings(settings) {
    return this.ask("PUT", "/v1/users/ada/settings", settings);
  }

  async post(members) {
    const id = randomUUID();
    await this.ask("POST", "/v1/events", { id, to: { user: "ada" }, notification: { title: "Ada", body: id }, ...members });
    return id;
  }

  /** The timeline says that it is held until then. */
  held(id, time) {
    return until(`held until ${time}`, async () => (await this.ask("GET", `/v1/events/${id}`)).deliveries?.[0]?.milestones?.find(({ kind }) => kind === "held"),
      (line) => line?.reason === "quiet-hours" && Date.parse(line.nextAttemptAt) === Date.parse(time), 10);
  }

  async endOf(id) {
    const { state, reason } = (await this.ask("GET", `/v1/events/${id}`)).deliveries[0];
    return [state, reason].filter(Boolean).join(" ");
  }

  /** planned = settled + in flight + held, and so many are held. */
  async ledgerHolds(count) {
    const page = await (await fetch(`http://127.0.0.1:${this.inner.operationsPort}/metrics`)).text();
    const sum = (name) => [...page.matchAll(new RegExp(`^${name}\\{app="demo",class="message".*\\} (\\S+)$`, "gm"))].reduce((all, [, value]) => all + Number(value), 0);
    return sum("pnh_ledger_held") === count && sum("pnh_ledger_planned_total") === sum("pnh_ledger_settled_total") + sum("pnh_ledger_in_flight") + count;
  }

  async phone() {
    return (await readJson(`${this.inner.fcm}/sandbox/phones`, this.agent))?.find(({ address }) => address.startsWith("cafe"));
  }

  async shown() {
    return (await this.phone())?.lockScreen.map(({ eventId }) => eventId) ?? [];
  }

  async received() {
    return (await this.phone())?.received ?? 0;
  }
}

function must(isSo, problem) {
  if (!isSo) {
    throw new Error(problem);
  }
}

try {
  // One beside the other: each waits most of its time.
  await Promise.all(Object.entries(scenes).filter(([name]) => !only || name === only).map(([name, scene]) => checked(name, scene)));
} finally {
  rmSync(folder, { recursive: true, force: true });
  finish();
}
