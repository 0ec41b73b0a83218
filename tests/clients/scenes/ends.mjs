// What is tried again and what is final, and what needs no socket.
import { connect } from "../../../clients/js/pnh.js";
import { acknowledge, inbox, presence } from "../../../clients/js/pnh-http.js";
import { delay } from "../../ship/hub.mjs";
import { send } from "../../ship/kill/publishers.mjs";
import { until } from "../../ship/until.mjs";
import { complete, expect, post, postTo, Reader, WebSocket, world, Writer } from "../reader.mjs";

/** Two tokens that have expired, then one for a day: it is asked for once, however often the connection breaks. */
export async function tokenExpires() {
  let asked = 0;
  const reader = await new Reader("expires", { token: () => world.stage.token("expires", undefined, ++asked < 3 ? -120 : 86_400) }).open();
  const writer = new Writer("expires");
  for (let i = 0; i < 3; i++) {
    await delay(700);
    reader.wire.cut();
    await delay(50);
    await until("it is back", () => reader.client.status === "open");
  }

  await complete(reader, await writer.stop(), `expired tokens, ${asked} asked for`);
  expect({ asked, reasons: reader.reasons().slice(0, 2) }, { asked: 3, reasons: ["token-expired", "token-expired"] });
  reader.close();
}

/** What a back-end that is being deployed answers is never shown to the hub, and never final. */
export async function backEndIsAway() {
  const answers = ["<html>502 Bad Gateway</html>", "", '{"error":"unavailable"}', null, "a.b", () => { throw new Error("Failed to fetch"); }];
  let asked = 0;
  const reader = new Reader("away-back-end", { token: () => {
    const answer = answers[asked++];
    return typeof answer === "function" ? answer() : asked > answers.length ? `${world.stage.token("away-back-end")}\n` : answer;
  } });
  await reader.open();
  expect({ dials: reader.wire.count, asked, reasons: new Set(reader.reasons()).size, reason: reader.reasons()[0] }, { dials: 1, asked: 7, reasons: 1, reason: "no-token" });
  reader.close();
}

/** Keys that are being replaced, and a clock that is five minutes apart: the next token is asked for. */
export async function keysAreReplaced() {
  const good = world.stage.token("keys");
  const forged = `${good.slice(0, -8)}AAAAAAAA`;
  const tokens = [forged, world.stage.tokenOf({ sub: "keys", nbf: Math.floor(Date.now() / 1000) + 300, exp: Math.floor(Date.now() / 1000) + 900 }), good];
  const reader = await new Reader("keys", { token: () => tokens.shift() ?? good }).open();
  expect(reader.reasons(), ["bad-token", "bad-token"]);
  expect(reader.statuses.filter(({ status }) => status === "waiting").map(({ code }) => code), [4007, 4007]);
  reader.close();
}

/** A text is all that there is: what the hub refuses of it, or what is no token, ends the client. So does what no token mends. */
export async function fixedTokenIsFinal() {
  for (const [token, code, reason] of [["<html>", undefined, "no-token"], [world.stage.token("fixed", undefined, -120), 4002, "token-expired"], [`${world.stage.token("fixed").slice(0, -8)}AAAAAAAA`, 4007, "bad-token"]]) {
    const end = await endOf({ token });
    expect({ code: end.code, reason: end.reason }, { code, reason });
  }

  const bound = await endOf({ token: () => world.stage.tokenOf({ sub: "fixed", device: "phone", exp: 4_000_000_000 }) });
  expect({ code: bound.code, reason: bound.reason, help: bound.help }, { code: 4501, reason: "other-device", help: `${world.stage.url}/docs/clients#refused` });
  const { status, headers } = await fetch(bound.help);
  expect([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  let isFirst = true;
  const reader = await new Reader("fixed", { token: () => (isFirst ? (isFirst = false, world.stage.token("fixed", undefined, -30)) : world.stage.token("eve")) }).open();
  reader.wire.cut();
  await until("the token of another user ends it", () => reader.client.status === "closed");
  expect(reader.statuses.at(-1).reason, "other-user");
  reader.close();
}

async function endOf(more) {
  const client = connect({ url: `ws://127.0.0.1:${world.stage.port}/v1/socket`, device: "tab", WebSocket, ...more });
  let end;
  client.on("status", (status) => { end = status; });
  await until("it is closed", () => client.status === "closed");
  return end;
}

/** A token that is over, from a cache; and a hub whose connections break as soon as they are welcomed: tried again ever later. */
export async function triesEverLater() {
  let asked = 0;
  const old = world.stage.token("later", undefined, -3600);
  const client = connect({ url: `ws://127.0.0.1:${world.stage.port}/v1/socket`, token: () => { asked++; return old; }, device: "tab", WebSocket });
  await delay(5000);
  client.close();
  const reader = new Reader("later");
  reader.onOpen = () => reader.wire.cut();
  await reader.start();
  await delay(5000);
  const dials = reader.wire.count;
  reader.close();
  console.log(`   in 5 s ${asked} tokens and ${dials} connections`);
  if (asked > 12 || asked < 2 || dials > 12 || dials < 2) {
    throw new Error(`${asked} tokens, ${dials} connections`);
  }
}

/** Twice for one event, three times for another: tried again in memory, over the same connection, and only what failed. The events behind wait. */
export async function handlerFails() {
  let asked = 0;
  const reader = new Reader("fails", { token: () => { asked++; return world.stage.token("fails"); } });
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
  await complete(reader, await writer.stop(), "a handler failed");
  const errors = reader.errors.filter((error) => error.code === "handler").map((error) => [error.event.data.n, error.isGivenUp]);
  expect({ errors, asked, dials: reader.wire.count }, { errors: [[3, false], [3, false], [5, false], [5, false], [5, true]], asked: 1, dials: 1 });
  reader.wire.cut();
  await until("it is back", () => reader.client.status === "open");
  await delay(500);
  expect(reader.errors.length, 5); // all was acknowledged
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

/** What a handler never finishes with stays in the inbox, and is taken out of it there; also of a user whose name is not ASCII. */
export async function asksByHttp() {
  for (const user of ["http", "Zoë Ωmega 🙂"]) {
    await asksOf(user);
  }
}

async function asksOf(user) {
  await send(world.stage, "PUT", `/v1/users/${encodeURIComponent(user)}/devices/desk`, { platform: "web" });
  const client = connect({ url: `ws://127.0.0.1:${world.stage.port}/v1/socket`, token: () => world.stage.token(user), device: "desk", WebSocket });
  client.on("event", () => new Promise(() => {}));
  await until("the client is open", () => client.status === "open");
  const here = await presence(client);
  if (!here.online || here.sessions.length !== 1 || here.sessions[0].device !== "desk") {
    throw new Error(JSON.stringify(here));
  }

  for (let n = 0; n < 3; n++) {
    await postTo({ user }, `http-${user.length}-${n}`, n);
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
