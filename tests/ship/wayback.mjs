// node wayback.mjs PROGRAM [OLDER-PROGRAM]: an older build is started on a folder of today's, after a clean stop and after SIGKILL under load; it writes, is killed under load, and today's
// comes back: everything that either of them answered with 202 is known, and waits in the inbox. Without OLDER-PROGRAM it is the oldest build that CHANGELOG promises, made from the clone's own history.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { publish } from "./history.mjs";
import { delay } from "./hub.mjs";
import { openStage } from "./kill/stage.mjs";
import { check, finish } from "./report.mjs";

// Of 24 November 2026: all builds since then start on today's folder. A step that ends this moves it, and says so in CHANGELOG.
const oldest = "1404019834934bd57b6fbdd65d5a93914b5ada03";
const scratch = mkdtempSync(join(tmpdir(), "pnh-wayback-"));
const program = resolve(process.argv[2]);
const older = process.argv[3] ? resolve(process.argv[3]) : build();
const users = Array.from({ length: 100 }, (_, i) => `u${i}`);
for (const how of ["a clean stop", "SIGKILL under load"]) {
  const stage = await openStage(program);
  const taken = new Map(); // id -> user
  try {
    stage.spawn();
    await stage.ready();
    await register(stage, "tab");
    await load(stage, taken, "today", 3_000, how === "SIGKILL under load");
    if (how === "a clean stop") {
      check("today's hub stops", (await stage.stop()) === 0 ? null : stage.hub.output.slice(-500));
    }

    stage.spawn(older);
    await stage.ready();
    check(`after ${how}: the older hub starts`, null);
    await register(stage, "other");
    await load(stage, taken, "older", 3_000, true);
    stage.spawn();
    await stage.ready();
    check(`after ${how}: today's hub comes back`, null);
    await verify(stage, taken, how);
    check(`after ${how}: and stops`, (await stage.stop()) === 0 ? null : stage.hub.output.slice(-500));
  } catch (e) {
    check(`after ${how}: each hub starts on what the other left`, e.stack ?? e);
  } finally {
    await stage.close(false);
  }
}

rmSync(scratch, { recursive: true, force: true });
finish();

/** The oldest build's program. */
function build() {
  try {
    return publish(oldest, scratch);
  } catch (e) {
    rmSync(scratch, { recursive: true, force: true });
    check(`the build of ${oldest} is made`, e.message);
    finish();
    process.exit();
  }
}

async function register(stage, device) {
  for (const user of users) {
    const answer = await call(stage, "PUT", `/v1/users/${user}/devices/${device}`, { platform: "web" });
    if (!answer.ok) {
      throw new Error(`PUT of ${user}'s ${device} was answered ${answer.status}`);
    }
  }
}

/** Eight publishers; with `killed` the hub gets SIGKILL while they post. Notes what was answered with 202. */
async function load(stage, taken, name, ms, killed) {
  let stopped = false;
  let refused = 0;
  const posting = Array.from({ length: 8 }, async (_, p) => {
    for (let i = 0; !stopped; i++) {
      const id = `${name}-${p}-${i}`;
      const user = users[(p + 8 * i) % users.length];
      const answer = await call(stage, "POST", "/v1/events", { id, to: { user }, class: "message", ttl: 3600, data: { i } }).catch(() => null);
      if (answer?.status === 202) {
        taken.set(id, user);
      } else if (answer !== null) {
        refused++;
      }

      // No mailbox fills up.
      await delay(20);
    }
  });
  await delay(ms);
  if (killed) {
    await stage.kill();
  }

  stopped = true;
  await Promise.all(posting);
  check(`${name}: nothing was refused`, refused === 0 ? null : `${refused} were`);
}

async function verify(stage, taken, how) {
  const waiting = new Map();
  for (const user of users) {
    const ids = new Set();
    for (let after = ""; ;) {
      const answer = await fetch(`${stage.url}/v1/inbox?device=tab${after}`, { headers: { Authorization: `Bearer ${stage.token(user)}` } });
      const body = await answer.json();
      body.events.forEach((event) => ids.add(event.id));
      if (!body.next) {
        break;
      }

      after = `&after=${encodeURIComponent(body.next)}`;
    }

    waiting.set(user, ids);
  }

  const lost = [];
  const missing = [];
  for (const [id, user] of taken) {
    const answer = await call(stage, "GET", `/v1/events/${id}`);
    if (!answer.ok) {
      lost.push(`${id} ${answer.status}`);
    } else if (!waiting.get(user).has(id)) {
      missing.push(id);
    }
  }

  console.log(`   after ${how}: ${taken.size} events were answered with 202`);
  check(`after ${how}: every event is known`, lost.length === 0 ? null : `${lost.length} are not, such as ${lost[0]}`);
  check(`after ${how}: every event waits in its inbox`, missing.length === 0 ? null : `${missing.length} do not, such as ${missing.slice(0, 3)}`);
}

function call(stage, method, path, body) {
  return fetch(`${stage.url}${path}`, {
    method, headers: { Authorization: `Bearer ${stage.key}`, "Content-Type": "application/json" }, ...(body && { body: JSON.stringify(body) }), signal: AbortSignal.timeout(10_000),
  });
}
