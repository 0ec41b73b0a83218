// node older.mjs PROGRAM [--hub PROGRAM] [--edge PROGRAM]: a hub whose events may have one member more than any edge knows (today's code with a member `next`), with an edge of 27 November 2026 (links of version 3) and one of PROGRAM.
// Every client gets every event, at once or when it comes back, and no link ends. Without --hub and --edge both are made from the clone's own history.
import { deepStrictEqual } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { publish } from "../ship/history.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { linksOf, openCluster, openEdge, play } from "./nodes.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
const { values: options, positionals: [program] } = parseArgs({ allowPositionals: true, options: { hub: { type: "string" }, edge: { type: "string" } } });
const scratch = mkdtempSync(join(tmpdir(), "pnh-older-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
const stage = await openCluster(options.hub ?? publish("HEAD", join(scratch, "hub"), takeNext));
const data = { text: "ä", list: [1, null, { a: [] }] };
const full = { title: "T", body: "B", badge: 2, locales: { de: { title: "U" } }, channel: "news", link: "https://example.com/x" };
const known = { title: "T", body: "B", badge: 2, locales: { de: { title: "U" } } };

/** The member `next`, which no edge's reader takes. */
function takeNext(source) {
  const file = join(source, "src/Pnh.Core/Events/EventReader.cs");
  const place = "            else\n            {\n                ReadOverride(";
  const code = readFileSync(file, "utf8");
  if (code.split(place).length !== 2) {
    throw new Error(`the place for the member next is not in ${file}`);
  }

  writeFileSync(file, code.replace(place, () => `            else if (name.SequenceEqual("next"u8))\n            {\n                cursor.ReadRaw("/next");\n            }\n${place}`));
}

class Client {
  constructor(edge, user) {
    Object.assign(this, { edge, user, frames: [] });
  }

  open() {
    return new Promise((done, fail) => {
      this.socket = new WebSocket(`${this.edge.url.replace("http", "ws")}/v1/socket`);
      this.socket.on("error", fail);
      this.socket.on("open", () => this.say({ type: "hello", token: stage.token(this.user, ["room"]), device: "tab", state: "active" }));
      this.socket.on("message", (text) => {
        const frame = JSON.parse(text);
        if (frame.type === "welcome") {
          this.say({ type: "join", topics: ["room"] });
          done();
        } else if (frame.type === "event" && frame.data === "probe") {
          this.isInRoom = true;
        } else if (frame.type === "event") {
          this.frames.push(frame);
          if (frame.seq) {
            this.say({ type: "ack", seq: frame.seq });
          }
        }
      });
    });
  }

  say(frame) {
    this.socket.send(JSON.stringify(frame));
  }

  close() {
    this.socket.terminate();
  }
}

async function post(members) {
  const answer = await send(stage, "POST", "/v1/events", { ttl: members.class === "transient" ? undefined : 60, data, notification: full, next: { of: ["any", 1] }, ...members });
  if (answer?.status !== 202) {
    throw new Error(`the POST of ${JSON.stringify(members)} was answered ${JSON.stringify(answer)}`);
  }
}

async function scene() {
  stage.spawn();
  await stage.ready();
  const edges = [
    { ...await openEdge(stage, "edge-old", options.edge ?? publish("54c5887", join(scratch, "edge"))), isOld: true },
    await openEdge(stage, "edge-new", program),
  ];
  const links = await Promise.all(edges.map((edge) => linksOf(stage, edge.node)));
  const clients = edges.flatMap((edge) => [0, 1].map((i) => new Client(edge, `${edge.node}-${i}`)));
  await Promise.all(clients.map((client) => client.open()));
  await until("every client is in the room", async () => {
    await post({ to: { topic: "room" }, class: "transient", data: "probe", notification: undefined });
    return clients.every((client) => client.isInRoom);
  });
  for (const [n, { user }] of clients.entries()) {
    await post({ id: `live-${n}`, to: { user }, class: "message", priority: "now", collapseKey: "k" });
    await post({ id: `call-${n}`, to: { user }, class: "call", ttl: 30 });
    await post({ id: `transient-${n}`, to: { user }, class: "transient", notification: undefined });
  }

  await post({ id: "room", to: { topic: "room" }, class: "message" });
  await until("what was sent to clients that are here", () => clients.every((client) => client.frames.length >= 4), Boolean, 20).catch(() => null);
  clients.forEach((client, n) => verify(client, [`live-${n}`, `call-${n}`, `transient-${n}`, "room"]));

  const away = clients.filter((_, n) => n % 2 === 0);
  away.forEach((client) => client.close());
  await until("they are away", async () => (await Promise.all(away.map(({ user }) => send(stage, "GET", `/v1/users/${user}/presence`)))).every((answer) => answer?.json.online === false));
  for (const client of away) {
    client.frames = [];
    await post({ id: `away-${client.user}`, to: { user: client.user }, class: "message" });
  }

  await Promise.all(away.map((client) => client.open()));
  await until("what waited", () => away.every((client) => client.frames.length >= 1), Boolean, 20).catch(() => null);
  away.forEach((client) => verify(client, [`away-${client.user}`]));
  const ended = stage.hub.output.split("\n").filter((line) => line.includes("A link of edge"));
  check("no link ended", ended.length === 0 ? null : ended.join("; "));
  check("each edge has the links that it had", JSON.stringify(await Promise.all(edges.map((edge) => linksOf(stage, edge.node)))) === JSON.stringify(links) && links.every((count) => count > 0) ? null : `not ${links}`);
}

/** It got these, each once, with all that its edge's version carries. */
function verify({ edge, user, frames }, ids) {
  const got = frames.map(({ id }) => id).sort();
  check(`${user} got ${ids.join(", ")}`, JSON.stringify(got) === JSON.stringify([...ids].sort()) ? null : `it got ${got.join(", ")}`);
  const wrong = frames.filter((frame) => !isAs(frame.data, data) || !isAs(frame.notification, frame.class === "transient" ? undefined : edge.isOld ? known : full)
    || frame.topic !== (frame.id === "room" ? "room" : undefined) || frame.collapseKey !== (frame.id.startsWith("live") ? "k" : undefined));
  check(`${user} got them whole`, wrong.length === 0 ? null : JSON.stringify(wrong));
}

function isAs(value, expected) {
  try {
    deepStrictEqual(value, expected);
    return true;
  } catch {
    return false;
  }
}

await play(stage, scene);
