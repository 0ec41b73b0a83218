// The processes of a scene: a hub that listens for links, and edges in front of it.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { delay, freePort } from "../ship/hub.mjs";
import { openStage } from "../ship/kill/stage.mjs";
import { check, finish } from "../ship/report.mjs";

const readyLimit = 30_000;

/** A stage whose hub is of role hub, on the same port for links whenever it is started. */
export async function openCluster(program, { settings = {}, sabotage = false } = {}) {
  const clusterPort = await freePort();
  const stage = await openStage(resolve(program), {
    args: ["serve", "--role", "hub"], sabotage,
    settings: { Pnh__Cluster__Urls: `http://127.0.0.1:${clusterPort}`, Pnh__Cluster__KeyFile: "cluster.key", ...settings },
  });
  writeFileSync(join(stage.folder, "cluster.key"), randomBytes(32).toString("base64url"));
  return { ...stage, clusterPort, get hub() { return stage.hub; } };
}

/** An edge that is linked; on the port that it had, when it is given. `settings`: more variables for it. */
export async function openEdge(stage, node, program, port, settings = {}) {
  const operationsPort = await freePort();
  port ??= await freePort();
  const edge = stage.run(resolve(program), ["serve", "--role", "edge"], {
    Pnh__Node: node, Pnh__Urls: `http://127.0.0.1:${port}`, Pnh__OperationsUrls: `http://127.0.0.1:${operationsPort}`, Pnh__Hubs: `http://127.0.0.1:${stage.clusterPort}`,
    Pnh__Cluster__KeyFile: "cluster.key", Pnh__Apps__demo__Tokens__Hs256Secret: stage.secret, Logging__LogLevel__Default: "Warning", ...settings,
  });
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + readyLimit; Date.now() < end; await delay(20)) {
    if ((await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok) {
      return { node, port, url, operationsPort, process: edge };
    }
  }

  throw new Error(`${node} is not ready: ${edge.output.slice(-2000)}`);
}

/** Plays a scene, closes the stage, and ends the program with what was checked. */
export async function play(stage, scene) {
  try {
    await scene();
  } catch (e) {
    check("the cluster stays up", e.stack ?? e);
  } finally {
    await stage.close(false);
  }

  finish();
  process.exit();
}

/** Resident memory of a process in MB: now and at most. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]) / 1024;
  return { now: read("VmRSS"), peak: read("VmHWM") };
}

/** Links of an edge that the hub has, as its metrics say. */
export async function linksOf(stage, node) {
  const page = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
  return Number(new RegExp(`^pnh_links\\{node="${node}",state="linked"\\} (\\d+)`, "m").exec(page)?.[1] ?? 0);
}
