// What is tried again and what is final, and what needs no socket.
import { connect } from "../../../clients/js/pnh.js";
import { acknowledge, inbox, presence } from "../../../clients/js/pnh-http.js";
import { delay } from "../../ship/hub.mjs";
import { send } from "../../ship/kill/publishers.mjs";
import { until } from "../../ship/until.mjs";
import { complete, post, Reader, WebSocket, world, Writer } from "../reader.mjs";

/** Each second token has expired: the hub refuses it with 4002, and the next one is asked for. */
export async function tokenExpires() {
  let asked = 0;
  const old = (user) => world.stage.token(user, undefined, -120);
  const reader = await new Reader("expires", { token: () => (++asked % 2 === 0 ? world.stage.token("expires") : old("expires")) }).open();
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

/** Twice for one event, three times for another: the first comes until it is handled, the second is given up. */
export async function handlerFails() {
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
export async function replacedStays() {
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
export async function asksByHttp() {
  await send(world.stage, "PUT", "/v1/users/http/devices/desk", { platform: "web" });
  const client = connect({ url: `ws://127.0.0.1:${world.stage.port}/v1/socket`, token: () => world.stage.token("http"), device: "desk", WebSocket });
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
