// The hub that the scenes are played with, a user's client over a wire, and who posts to it.
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import { connect } from "../../clients/js/pnh.js";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { until } from "../ship/until.mjs";
import { Wire } from "./wire.mjs";

export const { WebSocket, WebSocketServer } = createRequire(new URL("../ship/package.json", import.meta.url))("ws");

/** Set by run.mjs: `stage`, `edge`, `seconds` and `away`. */
export const world = {};

/** A user with a client over a wire, and what it handled. */
export class Reader {
  constructor(user, { device = "tab", port = world.stage.port, ...more } = {}) {
    Object.assign(this, { user, device, port, more, handled: [], statuses: [], errors: [] });
  }

  async open() {
    await this.start();
    await until("the client is open", () => this.client.status === "open");
    return this;
  }

  handle() {
    this.client.on("event", async (event) => {
      await delay(Math.random() * 3);
      this.handled.push(event.data.n);
    });
  }

  /** Why it had to wait, each time. */
  reasons() {
    return this.statuses.filter(({ status }) => status === "waiting").map(({ reason }) => reason);
  }

  /** Its device is registered: what comes while no session is there waits for it. */
  async start() {
    const answer = await send(world.stage, "PUT", `/v1/users/${this.user}/devices/${this.device}`, { platform: "web" });
    if (!answer || answer.status >= 300) {
      throw new Error(`registering ${this.user}: ${answer?.status}`);
    }

    this.wire = await new Wire(this.port).open();
    this.wire.swallows = this.swallows;
    const { connect: by = connect } = this.more;
    this.client = by({ url: `ws://127.0.0.1:${this.wire.port}/v1/socket`, token: () => world.stage.token(this.user), device: this.device, WebSocket, ...this.more });
    if (!this.isIdle) this.handle();
    this.client.on("status", (status) => {
      this.statuses.push(status);
      if (status.status === "open") this.onOpen?.();
    });
    this.client.on("error", (error) => this.errors.push(error));
  }

  close() {
    this.client.close();
    this.wire.close();
  }
}

/** Posts one event after the other until it is stopped; an id that was not answered is posted again. */
export class Writer {
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

/** Throws when it is something else. */
export function expect(found, expected) {
  if (!isDeepStrictEqual(found, expected)) {
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
}

export const post = (user, n) => postTo({ user }, `${user}-${n}`, n);

/** Until it is taken. */
export async function postTo(to, id, n, more = {}) {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(50)) {
    const answer = await send(world.stage, "POST", "/v1/events", { id, to, class: "message", ttl: 3600, data: { n }, ...more });
    if (answer?.status === 202) {
      return;
    }
  }

  throw new Error(`event ${id} was not taken`);
}

/** Waits for the last one, and a moment for what must not come. */
export async function complete(reader, count, name) {
  await until(`the last of ${count} events is handled`, () => reader.handled.length >= count, Boolean, 60);
  await delay(500);
  const wrong = reader.handled.findIndex((n, i) => n !== i);
  console.log(`   ${name}: ${reader.handled.length} of ${count} handled, ${reader.statuses.filter((status) => status.status === "open").length} connections, ${reader.statuses.filter((status) => status.resumed).length} resumed`);
  if (reader.handled.length !== count || wrong >= 0) {
    throw new Error(`${reader.handled.length} of ${count}; at ${wrong}: ${reader.handled.slice(Math.max(0, wrong - 3), wrong + 4)}`);
  }
}
