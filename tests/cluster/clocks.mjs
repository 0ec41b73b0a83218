// node clocks.mjs PROGRAM: a hub and edges whose clocks are 40 s ahead of its own and 40 s behind (faketime). Transient events, calls, messages and a TTL of 0 come to the clients of each; what is over while a client is away comes to none.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { openCluster, openEdge, play } from "./nodes.mjs";
import { openClient } from "./socket.mjs";

const library = readdirSync("/usr/lib").map((entry) => join("/usr/lib", entry, "faketime/libfaketimeMT.so.1")).find(existsSync);
const stage = await openCluster(process.argv[2]);

async function post(user, id, members) {
  const answer = await send(stage, "POST", "/v1/events", { id, to: { user }, data: 1, ...members });
  if (answer?.status !== 202) {
    throw new Error(`${id} was answered ${JSON.stringify(answer)}`);
  }
}

async function scene() {
  if (!library) {
    throw new Error("faketime is not installed");
  }

  stage.spawn();
  await stage.ready();
  for (const [name, offset] of [["ahead", "+40s"], ["behind", "-40s"]]) {
    const edge = await openEdge(stage, `edge-${name}`, process.argv[2], undefined, { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1" });
    const client = await openClient(stage, edge, name);
    await post(name, `${name}-transient`, { class: "transient" });
    await post(name, `${name}-call`, { class: "call", ttl: 30 });
    await post(name, `${name}-message`, { class: "message", ttl: 20 });
    await post(name, `${name}-now`, { class: "message", ttl: 0 });
    await until(`four events, ${name}`, () => client.ids.length >= 4, Boolean, 20).catch(() => null);
    check(`${name}: each came once`, ["call", "message", "now", "transient"].every((kind) => client.ids.filter((id) => id === `${name}-${kind}`).length === 1) ? null : `only ${client.ids}`);

    client.socket.terminate();
    await until("the client is away", async () => (await send(stage, "GET", `/v1/users/${name}/presence`))?.json.online === false);
    await send(stage, "PUT", `/v1/users/${name}/devices/tab`, { platform: "web" });
    await post(name, `${name}-short`, { class: "message", ttl: 2 });
    await post(name, `${name}-waits`, { class: "message", ttl: 600 });
    await delay(3500);
    const back = await openClient(stage, edge, name);
    await until(`what waited, ${name}`, () => back.ids.length > 0, Boolean, 20).catch(() => null);
    await delay(500);
    check(`${name}: what waited comes, what is over does not`, `${back.ids}` === `${name}-waits` ? null : `${back.ids}`);
    back.socket.terminate();
  }
}

await play(stage, scene);
