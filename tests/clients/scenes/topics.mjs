// Topics that are joined: the hub's word is believed, topic by topic, over restarts and other tokens, at hubs and edges, of now and of before.
import { delay, freePort } from "../../ship/hub.mjs";
import { until } from "../../ship/until.mjs";
import { postTo, Reader, WebSocket, WebSocketServer, world } from "../reader.mjs";

const rooms = Array.from({ length: 103 }, (_, n) => `room-${n}`.padEnd(128, "–"));

/** A reader whose token allows topics of now; what it was refused, by code. */
async function open(user, topics, more) {
  const allowed = { topics };
  const reader = new Reader(user, { token: () => world.stage.token(user, allowed.topics), ...more });
  await reader.open();
  reader.refused = (code) => reader.errors.filter((error) => error.code === code).flatMap((error) => error.topics ?? []);
  return [reader, allowed];
}

/** A forbidden one, more than a session may be in, and more bytes than a frame has: the others are joined, and stay so over a restart. */
async function refusesSome(name, more, restart) {
  const [reader, allowed] = await open(name, ["room-*"], more);
  reader.client.join("hall", ...rooms);
  await until("a hundred are joined and four refused", () => [reader.client.joined.length, reader.refused("not-allowed").join(), reader.refused("too-many-topics").length].join() === "100,hall,3");
  await restart();
  await until("it is back", () => reader.client.status === "open");
  await until("a hundred are joined again", () => reader.client.joined.length === 100);
  const [one] = reader.client.joined;
  await postTo({ topic: one }, `${name}-after`, 0);
  await until("a room's event comes", () => reader.handled.length === 1);

  reader.errors.length = 0;
  reader.client.leave(...rooms.slice(0, 50));
  await until("there is room for the others", () => reader.client.joined.length === 53);
  allowed.topics = ["hall"];
  reader.wire.cut();
  await until("another token, other topics", () => reader.client.joined.join() === "hall" && reader.refused("not-allowed").length === 53);
  if (reader.statuses.some(({ status }) => status === "closed")) {
    throw new Error("closed");
  }

  reader.close();
}

export const topicsOfAHub = () => refusesSome("topics-hub", {}, async () => {
  await world.stage.kill();
  world.stage.spawn();
  await world.stage.ready();
});

export const topicsOfAnEdge = () => refusesSome("topics-edge", { port: world.edge.port }, async () => {
  world.edge.process.child.kill("SIGKILL");
  await world.edge.process.ended;
  await world.openEdge();
});

/** A hub that knows no answers, as the members are not heard there: all or none, and a portion each. */
export async function topicsOfAnOlderHub() {
  const port = await freePort();
  const older = new WebSocketServer({ port, host: "127.0.0.1" });
  const joins = [];
  older.on("connection", (near) => {
    const far = new WebSocket(`ws://127.0.0.1:${world.stage.port}/v1/socket`);
    const opened = new Promise((done) => far.once("open", done));
    near.on("message", async (data) => {
      const { knows, ...frame } = JSON.parse(data);
      if (frame.type === "join") joins.push(data.length);
      if (!["hello", "join", "leave", "ack", "state", "answer", "seen", "send"].includes(frame.type) || (frame.type === "hello" && frame.beat !== true)) throw new Error(`it does not know ${data}`);
      await opened;
      far.send(JSON.stringify(frame));
    });
    far.on("message", (data) => near.send(data.toString()));
    near.on("close", () => far.terminate());
    far.on("close", () => near.terminate());
    near.on("error", () => {});
    far.on("error", () => {});
  });
  const [reader] = await open("topics-older", ["room-*"], { port });
  reader.client.join(...rooms.slice(0, 100));
  await until("a hundred were asked for", () => reader.client.joined.length === 100);
  reader.client.join("hall");
  await until("the error comes", () => reader.errors.some(({ code, topics }) => code === "not-allowed" && !topics));
  reader.wire.cut();
  await delay(100);
  await until("it is back", () => reader.client.status === "open");
  await postTo({ topic: rooms[99] }, "topics-older-after", 0);
  await until("a room's event comes", () => reader.handled.length === 1);
  reader.close();
  older.close();
  if (joins.some((length) => length > 16 * 1024)) {
    throw new Error(`${joins}`);
  }
}

/** What no hub takes is thrown, and not said: the session lives. */
export async function noTopic() {
  const [reader] = await open("topics-none", ["*"]);
  for (const wrong of ["", ".", "a\nb", "n".repeat(129), undefined]) {
    let error = null;
    try {
      reader.client.join("room", wrong);
    } catch (e) {
      error = e;
    }

    if (!(error instanceof TypeError)) {
      throw new Error(`${JSON.stringify(wrong)}: ${error}`);
    }
  }

  await delay(200);
  if (reader.client.status !== "open" || reader.client.joined.length) {
    throw new Error(`${reader.client.status}, ${reader.client.joined}`);
  }

  reader.close();
}
