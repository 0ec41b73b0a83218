// node kill.mjs PROGRAM [--rounds 30] [--seed N] [--segment-bytes N] [--seconds N] [--keep] [--sabotage] [--sabotage-mailbox]: the real hub under load, killed with SIGKILL
// at random points, also while it starts and recovers, and started again. Books outside say whether everything that got a 202 reached its client, or has an end in its timeline.
// --sabotage removes the journal after every kill, --sabotage-mailbox lets mailboxes hold three events, to see that the checks can fail.
import { Agent } from "node:http";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Phones, Tab } from "./kill/clients.mjs";
import { delay } from "./hub.mjs";
import { Ledger } from "./kill/ledger.mjs";
import { Publisher, post, send } from "./kill/publishers.mjs";
import { generator } from "./random.mjs";
import { check, finish } from "./report.mjs";
import { openStage } from "./kill/stage.mjs";
import { settle } from "./kill/timeline.mjs";

const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "30" }, seed: { type: "string", default: `${Date.now() % 1_000_000}` }, "segment-bytes": { type: "string" },
    seconds: { type: "string" }, keep: { type: "boolean", default: false }, sabotage: { type: "boolean", default: false },
    "sabotage-mailbox": { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds);
const random = generator(Number(options.seed));
const started = Date.now();
const kinds = { load: 0, start: 0, recovery: 0 };
// Tabs, phones, and phones whose app is open too: three kinds of one device each, so that an event has one place to arrive.
const perKind = 16;
// A topic of 20 pages, in which they come last: those who have a session get its events at once, the phones with their page. The others have no device.
const strangers = 5000;

const stage = await openStage(resolve(program), {
  settings: {
    ...(options["segment-bytes"] && { Pnh__Journal__SegmentBytes: options["segment-bytes"] }), ...(options["sabotage-mailbox"] && { Pnh__Mailbox__Items: "3" }),
  },
  sabotage: options.sabotage,
});
const ledger = new Ledger();
let clean = false;
try {
  stage.spawn();
  await stage.ready();
  const { tabs, phones, users } = await register();
  const publishers = Array.from({ length: 8 }, (_, i) => new Publisher(stage, ledger, `p${i}`, users.filter((_, n) => n % 8 === i), random));
  publishers.push(new Publisher(stage, ledger, "hall", users, random, { topic: "hall", rest: 400 }));
  tabs.forEach((tab) => tab.open());
  const working = [phones.run(), ...publishers.map((publisher) => publisher.run())];
  const done = await killRounds();
  publishers.forEach((publisher) => { publisher.stopped = true; });
  await Promise.all(working.slice(1));
  await quiet(30_000);
  await report(done, tabs, phones);
  phones.stopped = true;
  tabs.forEach((tab) => tab.stop());
  await working[0];
  const code = await stage.stop();
  check("the hub that survived ends cleanly on SIGTERM", code === 0 ? null : `it ended with ${code}: ${stage.hub.output.slice(-500)}`);
  clean = ledger.violations.length === 0;
} catch (e) {
  check("the hub comes back after every kill", e.stack ?? e);
} finally {
  await stage.close(options.keep && !clean);
}

finish();
process.exit();

async function killRounds() {
  let startTime = 700;
  for (let round = 0; round < rounds; round++) {
    if (options.seconds && Date.now() - started > Number(options.seconds) * 1000) {
      return round;
    }

    const kind = kindOf(round);
    kinds[kind]++;
    if (kind === "load") {
      await askAgain();
      await delay(100 + (random() * 1200));
    } else {
      await kill();
      stage.spawn();
      await delay(kind === "start" ? random() * startTime : startTime * (0.7 + (random() * 0.5)));
    }

    await kill();
    const from = Date.now();
    stage.spawn();
    await stage.ready();
    startTime = (0.8 * startTime) + (0.2 * (Date.now() - from));
  }

  return rounds;
}

async function kill() {
  await stage.kill();
  ledger.killed();
}

/** Two of three under load; else during the start, or near its end, when the hub reads its journal and begins to send. */
function kindOf(round) {
  return round % 3 === 2 ? (random() < 0.5 ? "start" : "recovery") : "load";
}

/** What was promised before a kill is remembered after it: same id and body the first answer, other body 409. */
async function askAgain() {
  for (const entry of ledger.sample(random, 3)) {
    const [same, other] = [await post(stage, entry.body), await post(stage, { ...entry.body, ttl: 1800 })];
    if (same && !(same.status === 202 && same.json.id === entry.id && same.json.duplicate === true)) {
      ledger.violate(`${entry.id} posted again was answered ${same.status} ${same.text}`);
    }

    if (other && other.status !== 409) {
      ledger.violate(`${entry.id} posted again with another body was answered ${other.status} ${other.text}`);
    }
  }
}

async function register() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tabs = [];
  const addresses = new Map();
  const users = [];
  for (let i = 0; i < 3 * perKind; i++) {
    const user = `user-${i}`;
    const kind = Math.floor(i / perKind);
    const address = i % 2 === 0 ? (i + 1).toString(16).padStart(64, "a") : `fcm:kill-${i}`;
    const push = i % 2 === 0 ? { platform: "ios", apns: { token: address, environment: "sandbox" } } : { platform: "android", fcm: { token: address } };
    const answer = await send(stage, "PUT", `/v1/users/${user}/devices/device`, kind === 0 ? { platform: "web" } : push);
    if (!answer || answer.status >= 300) {
      throw new Error(`registering ${user}: ${answer?.status} ${answer?.text}`);
    }

    users.push(user);
    addresses.set(address, user);
    if (kind !== 1) {
      tabs.push(new Tab(stage, ledger, user, "device", random));
    }
  }

  const strange = Array.from({ length: strangers }, (_, i) => `stranger-${i}`);
  for (const user of [...strange, ...users]) {
    const answer = await send(stage, "PUT", `/v1/topics/hall/members/${user}`, undefined, agent);
    if (answer?.status !== 204) {
      throw new Error(`${user} became no member: ${answer?.status} ${answer?.text}`);
    }
  }

  agent.destroy();
  return { tabs, phones: new Phones(stage, ledger, addresses), users };
}

/** Until everything promised has arrived, at most so long. */
async function quiet(limit) {
  for (const end = Date.now() + limit; ledger.waiting > 0 && Date.now() < end; await delay(100)) {
    // Nothing else to do: the clients fill the books.
  }
}

async function report(done, tabs, phones) {
  await phones.read();
  const { counts } = ledger;
  const missing = ledger.missing();
  const { lost, ended, asked, forgotten } = await settle(stage, ledger, missing);
  const sum = (name) => tabs.reduce((total, tab) => total + tab[name], 0);
  console.log(`   seed ${options.seed}, ${done} rounds (${kinds.load} under load, ${kinds.start} during the start, ${kinds.recovery} during recovery), ${((Date.now() - started) / 1000).toFixed(0)} s`);
  console.log(`   ${counts.posted} posted, ${counts.accepted} accepted, ${counts.arrived} arrived (${counts.bySocket} by socket, ${counts.byPush} by push), ${ended} ended otherwise, ${lost.length} lost`);
  console.log(`   ${counts.duplicates} arrived again under the same id; ${counts.acceptedTwice} answers were lost in a kill and given again, ${counts.acceptedAnew} events had not been kept and were taken anew`);
  console.log(`   done with before a kill (acknowledged, or pushed) and come again after it: ${ledger.repeated()}`);

  console.log(`   ${counts.outOfOrder} first arrivals out of order${ledger.overtaken.slice(0, 3).map((text) => ` (${text})`)}; ${sum("welcomes")} welcomes, ${sum("resumed")} resumed; ${phones.unseen} pushes not seen on a screen; ${asked} timelines read; ${stage.journalFiles().length} journal files`);
  console.log(`   the stand-ins counted ${JSON.stringify(await phones.violations())}`);
  check(`${done} kills: everything accepted arrived or has an end`, lost.length === 0 ? null : `${lost.length} lost: ${lost.slice(0, 5).map((e) => `${e.id} for ${e.user} (${e.class}), ${e.timeline.slice(0, 600)}`).join("; ")}`);
  check("no client got what nobody posted, and every answer kept to its promise", ledger.violations.length === 0 ? null : `${ledger.violations.length}: ${ledger.violations.slice(0, 5).join("; ")}`);
  check("every event that arrived is known by its id", forgotten.length === 0 ? null : `${forgotten.length} unknown: ${forgotten.slice(0, 5)}`);
  const toHall = ledger.arrivedOf("hall");
  check("the load was real", counts.accepted > 20 * done && counts.bySocket > 0 && counts.byPush > 0 && toHall > 20 * done ? null : `${JSON.stringify(counts)}, ${toHall} of the topic`);
}
