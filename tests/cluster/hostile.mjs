// node hostile.mjs PROGRAM: a hub with two keys that have names, an edge with one of them, and a stranger who has stolen the other. The stranger's links open no session, take none, acknowledge nothing and may speak no
// version that proves nothing; the edge's client notices nothing. Then the stolen key's line is removed and the hub is started again: the stranger is refused, and the edge's session goes on. Last, a key without a name: with it the
// stranger is believed, as every edge of before is.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { hello, Item, kinds } from "./link.mjs";
import { openCluster, openEdge, play } from "./nodes.mjs";
import { openClient } from "./socket.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
const stage = await openCluster(process.argv[2]);
const [west, stolen, nameless] = [1, 2, 3].map(() => randomBytes(32).toString("base64url"));
const keys = (...lines) => writeFileSync(join(stage.folder, "cluster.key"), `${lines.join("\n")}\n`);
const keyOf = (session) => (item) => item.text("demo").text(session.user).text("tab").text(session.id);

/** A link that says these items, and what the hub answered within a second: the kinds of items, or how the dial ended. `beats` keeps it alive. */
async function say(key, version, ...items) {
  const link = { kinds: [], refusal: null, socket: new WebSocket(`ws://127.0.0.1:${stage.clusterPort}/v1/link`, { headers: { authorization: `Bearer ${key}` }, perMessageDeflate: false }) };
  link.socket.on("error", () => {});
  link.socket.on("unexpected-response", (_, answer) => { link.refusal = answer.statusCode; });
  link.socket.on("open", () => link.socket.send(Buffer.concat([hello("stranger", version), ...items.map((item) => item.end())])));
  link.socket.on("message", (batch) => {
    for (let at = 0; at < batch.length; at += 4 + batch.readInt32LE(at)) {
      link.kinds.push(batch[at + 4]);
    }
  });
  await delay(1000);
  return link;
}

const acked = async (id) => JSON.stringify((await send(stage, "GET", `/v1/events/${id}`))?.json ?? null).includes('"acked"');

async function refusals() {
  const page = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`)).text();
  return Number(/^pnh_link_refused_total\{reason="unproven-session"\} (\d+)/m.exec(page)?.[1]);
}

async function scene() {
  keys(`west ${west}`, `lost ${stolen}`);
  writeFileSync(join(stage.folder, "west.key"), `west ${west}\n`);
  stage.spawn();
  await stage.ready();
  const edge = await openEdge(stage, "edge-west", process.argv[2], undefined, { Pnh__Cluster__KeyFile: "west.key" });
  const ada = await openClient(stage, edge, "ada");
  await send(stage, "PUT", "/v1/users/bob/devices/tab", { platform: "web" });
  await send(stage, "POST", "/v1/events", { id: "unseen", to: { user: "bob" }, class: "message", ttl: 600, data: 1 });

  const [bob, thief] = [{ user: "bob", id: "s-bob" }, { user: "ada", id: "s-thief" }];
  const opened = [bob, thief].map((session, i) => keyOf(session)(new Item(kinds.opened).number(i + 1).number(i + 1)).text("").number(0).number(0));
  const reopen = keyOf(ada)(new Item(kinds.reopen).number(3)).text("").number(0).number(0).number(0).texts([]).texts([]);
  const reported = keyOf(bob)(new Item(kinds.reported)).text("").text("unseen").number(0).number(0);
  const claim = keyOf(ada)(new Item(kinds.claim).number(3)).text("").number(0).number(0);
  const link = await say(stolen, 5, ...opened, reopen, reported, claim);
  check("the stranger's link is greeted, and each session is answered", [kinds.hello, kinds.answer, kinds.close, kinds.claimed].every((kind) => link.kinds.includes(kind)) ? null : `${link.refusal} ${link.kinds}`);
  check("its sessions are counted as unproven", await refusals() === 5 ? null : `${await refusals()}`);
  check("an event that nobody saw is not acknowledged", await acked("unseen") ? "it is" : null);
  check("no session of bob's is there", (await send(stage, "GET", "/v1/users/bob/presence")).json.online ? "there is one" : null);
  const older = await say(stolen, 1, keyOf(ada)(new Item(kinds.reopen).number(1)).number(0).number(0).number(0).texts([]).texts([]).texts([]));
  check("a key with a name links no version that proves nothing", older.kinds.includes(kinds.notLinked) && !older.kinds.includes(kinds.hello) ? null : `${older.kinds}`);
  await send(stage, "POST", "/v1/events", { id: "first", to: { user: "ada" }, class: "message", ttl: 600, data: 1 });
  await until("the first event", () => ada.ids.includes("first"), Boolean, 10).catch(() => null);
  check("the client at the edge notices nothing", ada.closed === null && `${ada.ids}` === "first" ? null : `${ada.closed}, ${ada.ids}`);

  keys(`west ${west}`, nameless);
  await stage.stop();
  stage.spawn();
  await stage.ready();
  const revoked = await say(stolen, 5);
  check("a key whose line is gone links nothing", revoked.refusal === 401 ? null : `${revoked.refusal} ${revoked.kinds}`);
  await send(stage, "POST", "/v1/events", { id: "second", to: { user: "ada" }, class: "message", ttl: 600, data: 1 });
  await until("the second event", () => ada.ids.includes("second"), Boolean, 20).catch(() => null);
  check("the edge's session is proven to the hub's next process", ada.closed === null && `${ada.ids}` === "first,second" ? null : `${ada.closed}, ${ada.ids}`);

  await say(nameless, 1, keyOf(thief)(new Item(kinds.opened).number(1).number(1)).number(0).number(0));
  await until("the client is closed", () => ada.closed !== null, Boolean, 10).catch(() => null);
  check("a key without a name is believed, as edges of before are: remove its line", ada.closed === null ? "the client is still there" : null);
}

await play(stage, scene);
