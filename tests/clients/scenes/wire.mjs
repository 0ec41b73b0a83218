// A wire that breaks, stands still and dies, and hubs that go: every event is handled once, in the hub's order.
import { delay } from "../../ship/hub.mjs";
import { until } from "../../ship/until.mjs";
import { complete, post, Reader, world, Writer } from "../reader.mjs";

export async function cutEverySecond() {
  const reader = await new Reader("cut").open();
  const writer = new Writer("cut");
  for (let i = 0; i < world.seconds; i++) {
    await delay(1000);
    reader.wire.cut();
  }

  await complete(reader, await writer.stop(), "cut each second");
  reader.close();
}

export async function hubRestarts() {
  const reader = await new Reader("restart").open();
  const writer = new Writer("restart");
  for (const end of ["kill", "stop"]) {
    await delay(1500);
    await world.stage[end]();
    world.stage.spawn();
    await world.stage.ready();
    await until("it is back", () => reader.client.status === "open");
  }

  await delay(1000);
  await complete(reader, await writer.stop(), "the hub killed, and told to stop");
  reader.close();
}

export async function standsStill() {
  const reader = await new Reader("still").open();
  const writer = new Writer("still", 50);
  await delay(500);
  await reader.wire.freeze(world.seconds * 1000);
  await complete(reader, await writer.stop(), `the wire stood still for ${world.seconds} s`);
  reader.close();
}

/** Nothing passes, and neither end hears of it, as when a machine moves to another network: the hub's beats do not come. New connections go through. */
export async function diesSilently() {
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

export async function manyWhileAway() {
  const reader = await new Reader("away").open();
  await post("away", 0);
  await until("the first is handled", () => reader.handled.length === 1);
  reader.wire.shut();
  for (let n = 1; n < world.away; n++) {
    await post("away", n);
  }

  reader.wire.mend();
  await complete(reader, world.away, "away");
  reader.close();
}

export async function twoTabs() {
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

/** A network that takes the dial and lets nothing pass: 15 s, whatever came of it, and a machine that wakes up does not wait for them. A socket that cannot even be made is told as well. */
export async function dialIsSwallowed() {
  const reader = new Reader("swallowed");
  reader.swallows = true;
  const from = Date.now();
  await reader.start();
  await until("it gives the dial up", () => reader.reasons()[0] === "no-answer", Boolean, 20);
  const took = Date.now() - from;
  reader.wire.swallows = false;
  await until("the client is open", () => reader.client.status === "open", Boolean, 40);
  reader.close();
  const throwing = new Reader("swallowed", { WebSocket: class { constructor() { throw new Error("blocked by a policy"); } } });
  await throwing.start();
  await until("it is told", () => throwing.statuses.some(({ status, reason, why, retryIn, wait }) => status === "waiting" && reason === "no-connection" && why === "blocked by a policy" && retryIn === wait));
  throwing.close();
  if (took < 14_000 || took > 17_000) {
    throw new Error(`given up after ${took} ms`);
  }
}
