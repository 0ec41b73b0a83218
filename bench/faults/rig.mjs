// What the kinds share: a hub on a folder of its own that can be stopped, started and asked.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay } from "../../tests/ship/hub.mjs";
import { openStage } from "../../tests/ship/kill/stage.mjs";
import { post, send } from "../../tests/ship/kill/publishers.mjs";

/** Runs `body` with a hub that is ready, and ends everything after it. */
export async function withHub(program, body, settings = {}) {
  const stage = await openStage(program, { settings: { Pnh__Apps__demo__Keys__0__Scopes: "send register read admin", ...settings } });
  try {
    stage.spawn();
    await stage.ready();
    return await body(stage);
  } finally {
    await stage.close(false);
  }
}

/** A device without any address: what is for it waits in its mailbox, so its events stay open. */
export const registerQuiet = (stage, user, device = "tablet") => send(stage, "PUT", `/v1/users/${user}/devices/${device}`, { platform: "desktop" });

/** Ids of events that were answered 202. */
export async function postMany(stage, count, of = (i) => ({ id: `e${i}`, to: { user: "ada" }, class: "message", ttl: 86_400, data: { i } })) {
  const ids = [];
  for (let i = 0; i < count; i++) {
    const answer = await post(stage, of(i));
    if (answer?.status === 202) {
      ids.push(answer.json.id);
    }
  }

  return ids;
}

/** Every delivery's state in the event's timeline; null = the hub does not know the event. */
export async function statesOf(stage, id) {
  const answer = await send(stage, "GET", `/v1/events/${encodeURIComponent(id)}`);
  return answer?.status === 200 ? (answer.json.deliveries ?? []).map((each) => each.state + (each.reason ? `: ${each.reason}` : "")) : null;
}

/** Starts the hub; "ready", or the line with which it refused. */
export async function start(stage) {
  stage.spawn();
  try {
    await stage.ready();
    return "ready";
  } catch {
    return stage.hub.output.trim().split("\n").filter(Boolean).at(-1) ?? "ended without a word";
  }
}

export async function metric(stage, name) {
  const text = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`)).text();
  return text.split("\n").filter((line) => line.startsWith(name) && !line.startsWith("#")).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

export async function ready(stage) {
  return (await fetch(`http://127.0.0.1:${stage.operationsPort}/readyz`).catch(() => ({ status: 0 }))).status;
}

export async function until(milliseconds, isTrue) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await delay(100)) {
    if (await isTrue()) {
      return true;
    }
  }

  return false;
}

/** A copy of the folder for one trial, put back after it. */
export function backup(from) {
  const kept = join(mkdtempSync(join(tmpdir(), "pnh-faults-")), "data");
  cpSync(from, kept, { recursive: true });
  return {
    restore() {
      rmSync(from, { recursive: true, force: true });
      cpSync(kept, from, { recursive: true });
    },
    drop: () => rmSync(join(kept, ".."), { recursive: true, force: true }),
  };
}
