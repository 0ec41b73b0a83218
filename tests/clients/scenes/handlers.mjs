// Who handles what comes: nobody yet, a handler that waits for a person, and what the user did.
import { delay } from "../../ship/hub.mjs";
import { send } from "../../ship/kill/publishers.mjs";
import { until } from "../../ship/until.mjs";
import { complete, expect, post, postTo, Reader, world } from "../reader.mjs";

/** More than a session holds comes before anybody handles it: the session stays open, nothing is lost, and it comes in its order. */
async function nobodyHandles(name, port) {
  const reader = new Reader(name, { port });
  reader.isIdle = true;
  await reader.open();
  const count = 400;
  for (let n = 0; n < count; n++) {
    await post(name, n);
  }

  await delay(1000);
  expect({ statuses: reader.statuses.map(({ status }) => status), handled: reader.handled.length }, { statuses: ["connecting", "open"], handled: 0 });
  reader.handle();
  await complete(reader, count, name);
  expect(reader.wire.count, 1);
  reader.close();
}

export const nobodyHandlesAtAHub = () => nobodyHandles("idle-hub", world.stage.port);

export const nobodyHandlesAtAnEdge = () => nobodyHandles("idle-edge", world.edge.port);

/** A promise that is kept once the hub has it, over a dead connection and a hub that was killed. */
export async function answersAreKept() {
  const reader = await new Reader("answers").open();
  await post("answers", 0);
  await until("it is handled", () => reader.handled.length === 1);
  expect(await reader.client.seen("answers-0"), true);
  await post("answers", 1);
  await until("it is handled", () => reader.handled.length === 2);
  reader.wire.shut();
  let kept;
  reader.client.answer("answers-1", "accepted").then((value) => { kept = value; });
  await world.stage.kill();
  await delay(500);
  expect(kept, undefined);
  world.stage.spawn();
  await world.stage.ready();
  reader.wire.mend();
  await until("it is kept", () => kept === true, Boolean, 40);
  const history = await send(world.stage, "GET", "/v1/events/answers-1");
  if (!history.text.includes("answered: accepted")) {
    throw new Error("the hub does not know it");
  }

  const late = reader.client.seen("never-sent-away");
  reader.wire.shut();
  reader.client.seen("answers-1").then((value) => { kept = value; });
  reader.close();
  await late;
  await until("what nobody can hear any more is told", () => kept === false);
}

/** A handler that waits for a person: a withdrawal is told at once, and what waits behind and was taken back is never shown. */
export async function withdrawalsOvertake() {
  const reader = new Reader("overtake");
  reader.isIdle = true;
  await reader.open();
  const given = [];
  const withdrawn = [];
  let release;
  reader.client.on("event", ({ data }) => {
    given.push(data.n);
    return data.n === 0 ? new Promise((done) => { release = done; }) : undefined;
  });
  reader.client.on("withdraw", ({ id }) => withdrawn.push(id));
  for (const n of [0, 1, 2]) {
    await post("overtake", n);
  }

  await until("the first is given", () => given.length === 1);
  await delay(300);
  for (const n of [0, 1]) {
    await send(world.stage, "POST", `/v1/events/overtake-${n}/withdraw`, {});
  }

  await until("both are told", () => withdrawn.join() === "overtake-0,overtake-1", Boolean, 5);
  release();
  await until("the third is given", () => given.includes(2));
  expect(given, [0, 2]);
  reader.close();
}

/** A call does not wait for a message's handler, and no push goes out beside it. */
export async function callsGoBeside() {
  const reader = new Reader("beside");
  reader.isIdle = true;
  await reader.open();
  const given = [];
  let release;
  reader.client.on("event", ({ id, class: name }) => {
    given.push(id);
    return name === "message" ? new Promise((done) => { release = done; }) : undefined;
  });
  await post("beside", 0);
  await until("the message is given", () => given.length === 1);
  await postTo({ user: "beside" }, "beside-call", 0, { class: "call", ttl: 30 });
  await until("the call is given", () => given.length === 2, Boolean, 5);
  await until("it is acknowledged before the message is", async () => {
    const history = await send(world.stage, "GET", "/v1/events/beside-call");
    return history.text.includes('"acked"');
  }, Boolean, 5);
  if ((await send(world.stage, "GET", "/v1/events/beside-0")).text.includes('"acked"')) {
    throw new Error("the message is acknowledged though its handler waits");
  }

  release();
  reader.close();
}

/** While a call is expected a dead connection is found before the call is over. */
export async function expectsCalls() {
  const reader = await new Reader("expects-calls").open();
  reader.client.expectsCalls = true;
  await delay(500);
  reader.wire.freeze(60_000);
  const from = Date.now();
  await until("the client has noticed", () => reader.reasons()[0] === "silent", Boolean, 25);
  console.log(`   found after ${Date.now() - from} ms`);
  reader.close();
  if (Date.now() - from > 20_500) {
    throw new Error(`after ${Date.now() - from} ms`);
  }
}

/** What expired while the user was away is told once, though the connection breaks and the page comes again, at a hub and at an edge. */
async function missedIsTold(name, port) {
  const reader = new Reader(name, { port });
  const told = [];
  reader.isIdle = true;
  await reader.open();
  reader.client.close();
  await until("the hub knows that it left", async () => !(await send(world.stage, "GET", `/v1/users/${name}/presence`)).text.includes('"session"'));
  const since = Date.now();
  for (const n of [0, 1]) {
    await postTo({ user: name }, `${name}-${n}`, n, { ttl: 1 });
  }

  await delay(2_500);
  await postTo({ user: name }, `${name}-2`, 2);
  reader.wire.close();
  await reader.start();
  reader.client.on("missed", ({ count, since: from }) => told.push({ count, isRight: Math.abs(from - since) < 60_000 }));
  await until("it is told", () => told.length === 1);
  reader.wire.cut();
  await until("it is back", () => reader.statuses.filter(({ status, resumed }) => status === "open" && resumed).length === 1);
  reader.handle();
  await until("the event that is alive is handled", () => reader.handled.length === 1);
  await delay(500);
  expect({ told, handled: reader.handled }, { told: [{ count: 2, isRight: true }], handled: [2] });
  reader.close();
}

export const missedIsToldAtAHub = () => missedIsTold("missed-hub", world.stage.port);

export const missedIsToldAtAnEdge = () => missedIsTold("missed-edge", world.edge.port);
