// node run.mjs PROGRAM [--seconds 10] [--away 1000] [--day 60] [--seed N] [--scene NAME]: the JavaScript client (clients/js) against a real hub and an edge of it, over a wire that is cut, held still and closed.
// Every event that the hub took is handled once, in the hub's order; nothing else is.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { openEdge } from "../cluster/nodes.mjs";
import { freePort } from "../ship/hub.mjs";
import { openStage } from "../ship/kill/stage.mjs";
import { check, checked, finish } from "../ship/report.mjs";
import { world } from "./reader.mjs";
import * as day from "./scenes/day.mjs";
import * as ends from "./scenes/ends.mjs";
import * as handlers from "./scenes/handlers.mjs";
import * as topics from "./scenes/topics.mjs";
import * as wire from "./scenes/wire.mjs";

const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true, options: { seconds: { type: "string", default: "10" }, away: { type: "string", default: "1000" }, day: { type: "string", default: "60" }, seed: { type: "string", default: `${Date.now() % 1_000_000}` }, scene: { type: "string" } },
});
const largest = 8000;
const away = Number(options.away);
const clusterPort = await freePort();
const stage = await openStage(resolve(program), {
  settings: { Pnh__Mailbox__Items: `${Math.min(10_000, away + 100)}`, Pnh__Cluster__Urls: `http://127.0.0.1:${clusterPort}`, Pnh__Cluster__KeyFile: "cluster.key" },
});
writeFileSync(join(stage.folder, "cluster.key"), randomBytes(32).toString("base64url"));
stage.clusterPort = clusterPort;
Object.assign(world, { stage, away, seconds: Number(options.seconds), daySeconds: Number(options.day), seed: Number(options.seed), openEdge: async () => { world.edge = await openEdge(stage, "edge", program, world.edge?.port); } });
const scenes = { ...wire, ...ends, ...topics, ...handlers, ...day };
try {
  stage.spawn();
  await stage.ready();
  await world.openEdge();
  const modules = [...(await modulesOf("pnh.js")).values()];
  const size = modules.reduce((sum, { length }) => sum + length, 0);
  check(`the client as it is served has less than ${largest} bytes compressed`, size < largest ? null : `${size}`);
  console.log(`   ${modules.length} modules, ${size} bytes`);
  for (const [name, scene] of Object.entries(scenes).filter(([name]) => !options.scene || name === options.scene)) {
    await checked(name, scene);
  }
} finally {
  await stage.close(false);
}

finish();
process.exit();

/** The module, and what it loads by itself, compressed. */
async function modulesOf(name, known = new Map()) {
  const answer = await fetch(`${stage.url}/${name}`);
  const text = await answer.text();
  check(`the hub serves ${name}`, answer.ok ? null : answer.status);
  known.set(name, gzipSync(text, { level: 9 }));
  for (const [, module] of text.matchAll(/from '\.\/([^']+)'/g)) {
    if (!known.has(module)) await modulesOf(module, known);
  }

  return known;
}
