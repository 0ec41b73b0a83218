// node run.mjs PROGRAM [--seconds 10] [--away 1000] [--scene NAME]: the JavaScript client (clients/js) against a real hub, over a wire that is cut, held still and closed.
// Every event that the hub took is handled once, in the hub's order; nothing else is.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { connect } from "../../clients/js/pnh.js";
import { acknowledge, inbox, presence } from "../../clients/js/pnh-http.js";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { openStage } from "../ship/kill/stage.mjs";
import { check, checked, finish } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { Wire } from "./wire.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true, options: { seconds: { type: "string", default: "10" }, away: { type: "string", default: "1000" }, scene: { type: "string" } },
});
const [seconds, awayCount] = [Number(options.seconds), Number(options.away)];
const largest = 6000;
const stage = await openStage(resolve(program), { settings: { Pnh__Mailbox__Items: `${Math.min(10_000, awayCount + 100)}` } });
/** A user with a client over a wire, and what it handled. */
class Reader {
  constructor(user, { device = "tab", ...more } = {}) {
    Object.assign(this, { user, device, more, handled: [], statuses: [], errors: [] });
  }

  /** Its device is registered: what comes while no session is there waits for it. */
  async open() {
    const answer = await send(stage, "PUT", `/v1/users/${this.user}/devices/${this.device}`, { platform: "web" });
    if (!answer || answer.status >= 300) {
      throw new Error(`registering ${this.user}: ${answer?.status}`);
    }

    this.wire = await new Wire(stage.port).open();
    this.client = connect({ url: `ws://127.0.0.1:${this.wire.port}/v1/socket`, token: () => stage.token(this.user), device: this.device, WebSocket, ...this.more });
    this.client.on("event", async (event) => {
      await delay(Math.random() * 3);
      this.handled.push(event.data.n);
    });
    this.client.on("status", (status) => this.statuses.push(status));
    this.client.on("error", (error) => this.errors.push(error));
    await until("the client is open", () => this.client.status === "open");
    return this;
  }

  close() {
    this.client.close();
    this.wire.close();
  }
}

/** Posts one event after the other until it is stopped; an id that was not answered is posted again. */
class Writer {
  constructor(user, rest = 10) {
    Object.assign(this, { user, rest, posted: 0, isStopped: false });
    this.working = this.#run();
  }

  async stop() {
    this.isStopped = true;
    await this.working;
    return this.posted;
  }

  async #run() {
    while (!this.isStopped) {
      await post(this.user, this.posted++);
      await delay(this.rest);
    }
  }
}

async function post(user, n) {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(50)) {
    const answer = await send(stage, "POST", "/v1/events", { id: `${user}-${n}`, to: { user }, class: "message", ttl: 3600, data: { n } });
    if (answer?.status === 202) {
      return;
    }
  }

  throw new Error(`event ${n} was not taken`);
}

/** Waits for the last one, and a moment for what must not come. */
async function complete(reader, count, name) {
  await until(`the last of ${count} events is handled`, () => reader.handled.length >= count, Boolean, 60);
  await delay(500);
  const wrong = reader.handled.findIndex((n, i) => n !== i);
  console.log(`   ${name}: ${reader.handled.length} of ${count} handled, ${reader.statuses.filter((status) => status.status === "open").length} connections, ${reader.statuses.filter((status) => status.resumed).length} resumed`);
  if (reader.handled.length !== count || wrong >= 0) {
    throw new Error(`${reader.handled.length} of ${count}; at ${wrong}: ${reader.handled.slice(Math.max(0, wrong - 3), wrong + 4)}`);
  }
}

async function cutEverySecond() {
  const reader = await new Reader("cut").open();
  const writer = new Writer("cut");
  for (let i = 0; i < seconds; i++) {
    await delay(1000);
    reader.wire.cut();
  }

  await complete(reader, await writer.stop(), "cut each second");
  reader.close();
}

async function hubRestarts() {
  const reader = await new Reader("restart").open();
  const writer = new Writer("restart");
  for (const end of ["kill", "stop"]) {
    await delay(1500);
    await stage[end]();
    stage.spawn();
    await stage.ready();
    await until("it is back", () => reader.client.status === "open");
  }

  await delay(1000);
  await complete(reader, await writer.stop(), "the hub killed, and told to stop");
  reader.close();
}

async function standsStill() {
  const reader = await new Reader("still").open();
  const writer = new Writer("still", 50);
  await delay(500);
  await reader.wire.freeze(seconds * 1000);
  await complete(reader, await writer.stop(), `the wire stood still for ${seconds} s`);
  reader.close();
}

/** Nothing passes, and neither end hears of it, as when a machine moves to another network: the hub's beats do not come. New connections go through. */
async function diesSilently() {
  const reader = await new Reader("dies").open();
  const writer = new Writer("dies", 200);
  await delay(500);
  const thawing = reader.wire.freeze(60_000);
  const from = Date.now();
  await until("the client has noticed and is back", () => reader.statuses.filter((status) => status.status === "open").length === 2, Boolean, 45);
  const took = Date.now() - from;
  await complete(reader, await writer.stop(), `a connection that died in silence was found after ${took} ms`);
  reader.close();
  void thawing; // what is held is closed
  if (took > 40_000) {
    throw new Error(`${took} ms`);
  }
}

/** Each second token has expired: the hub refuses it with 4002, and the next one is asked for. */
async function tokenExpires() {
  let asked = 0;
  const old = (user) => stage.token(user, undefined, -120);
  const reader = await new Reader("expires", { token: () => (++asked % 2 === 0 ? stage.token("expires") : old("expires")) }).open();
  const writer = new Writer("expires");
  for (let i = 0; i < 3; i++) {
    await delay(700);
    reader.wire.cut();
    await delay(50);
    await until("it is back", () => reader.client.status === "open");
  }

  await complete(reader, await writer.stop(), `expired tokens, ${asked} asked for`);
  if (asked < 8) {
    throw new Error(`the token was asked for ${asked} times`);
  }

  reader.close();
}

async function manyWhileAway() {
  const reader = await new Reader("away").open();
  await post("away", 0);
  await until("the first is handled", () => reader.handled.length === 1);
  reader.wire.shut();
  for (let n = 1; n < awayCount; n++) {
    await post("away", n);
  }

  reader.wire.mend();
  await complete(reader, awayCount, "away");
  reader.close();
}

async function twoTabs() {
  const readers = [await new Reader("tabs", { device: "tab-1" }).open(), await new Reader("tabs", { device: "tab-2" }).open()];
  const writer = new Writer("tabs");
  await delay(500);
  readers[0].wire.cut();
  await delay(1000);
  const count = await writer.stop();
  for (const reader of readers) {
    await complete(reader, count, reader.device);
    reader.close();
  }
}

/** Twice for one event, three times for another: the first comes until it is handled, the second is given up. */
async function handlerFails() {
  const reader = new Reader("fails");
  const failing = new Map([[3, 2], [5, 3]]);
  await reader.open();
  let tries = 0;
  reader.client.on("event", async ({ data }) => {
    if ((failing.get(data.n) ?? 0) > 0) {
      failing.set(data.n, failing.get(data.n) - 1);
      tries++;
      throw new Error("not now");
    }
  });
  const writer = new Writer("fails", 30);
  await until("both have failed as often as they should", () => tries === 5);
  await delay(500);
  const count = await writer.stop();
  await until("the last one is handled", () => reader.handled.includes(count - 1));
  const errors = reader.errors.filter((error) => error.code === "handler").map((error) => [error.event.data.n, error.isGivenUp]);
  const expected = [[3, false], [3, false], [5, false], [5, false], [5, true]];
  const distinct = [...new Set(reader.handled)];
  // The other handler, which does not fail, is called for each try.
  if (JSON.stringify(errors) !== JSON.stringify(expected) || distinct.length !== count || distinct.some((n, i) => n !== i)) {
    throw new Error(`${JSON.stringify(errors)}; ${distinct.length} of ${count}`);
  }

  reader.close();
}

/** A newer session of the same device: the hub says not to come back, and the client does not. */
async function replacedStays() {
  const older = await new Reader("replaced").open();
  const newer = await new Reader("replaced").open();
  await until("the older one is closed", () => older.client.status === "closed");
  await delay(1500);
  const end = older.statuses.at(-1);
  if (end.code !== 4500 || newer.client.status !== "open") {
    throw new Error(`${JSON.stringify(end)}, the newer one is ${newer.client.status}`);
  }

  await post("replaced", 0);
  await complete(newer, 1, "replaced");
  older.close();
  newer.close();
}

/** What a handler never finishes with stays in the inbox, and is taken out of it there. */
async function asksByHttp() {
  await send(stage, "PUT", "/v1/users/http/devices/desk", { platform: "web" });
  const client = connect({ url: `ws://127.0.0.1:${stage.port}/v1/socket`, token: () => stage.token("http"), device: "desk", WebSocket });
  client.on("event", () => new Promise(() => {}));
  await until("the client is open", () => client.status === "open");
  const here = await presence(client);
  if (!here.online || here.sessions.length !== 1 || here.sessions[0].device !== "desk") {
    throw new Error(JSON.stringify(here));
  }

  for (let n = 0; n < 3; n++) {
    await post("http", n);
  }

  let waiting = [];
  for (const end = Date.now() + 10_000; waiting.length < 3 && Date.now() < end; await delay(50)) {
    waiting = (await inbox(client)).events;
  }

  const taken = await acknowledge(client, waiting.slice(0, 2).map(({ id }) => id));
  const left = (await inbox(client)).events.map(({ data }) => data.n);
  client.close();
  if (waiting.map(({ data }) => data.n).join() !== "0,1,2" || taken !== 2 || left.join() !== "2") {
    throw new Error(`${JSON.stringify(waiting)}, ${taken} taken, left ${left}`);
  }
}

const scenes = { cutEverySecond, hubRestarts, standsStill, diesSilently, tokenExpires, manyWhileAway, twoTabs, handlerFails, replacedStays, asksByHttp };
try {
  stage.spawn();
  await stage.ready();
  const sizes = await Promise.all(["pnh.js", "pnh-kept.js", "pnh-tabs.js"].map(async (name) => gzipSync(await (await fetch(`http://127.0.0.1:${stage.port}/${name}`)).text(), { level: 9 }).length));
  const size = sizes.reduce((sum, each) => sum + each);
  check(`the client as it is served has less than ${largest} bytes compressed`, size < largest ? null : `${size}`);
  for (const [name, scene] of Object.entries(scenes).filter(([name]) => !options.scene || name === options.scene)) {
    await checked(`${name}: every event is handled once, in order`, scene);
  }
} finally {
  await stage.close(false);
}

finish();
process.exit();
