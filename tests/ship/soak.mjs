// node soak.mjs PROGRAM [--seconds 600] [--seed N]: the hub under load on a small disk, killed at random moments in what it rarely does: an erasure, a backup, a restore, members in bulk, the
// retirement of segments, a clock that is set, a full disk. Nothing that was accepted is lost, nothing comes after its time, nothing twice but under its id. By hand; needs root (a tmpfs) and faketime.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { delay } from "./hub.mjs";
import { Phones, Tab } from "./kill/clients.mjs";
import { Ledger } from "./kill/ledger.mjs";
import { Publisher, post, send } from "./kill/publishers.mjs";
import { openStage } from "./kill/stage.mjs";
import { settle } from "./kill/timeline.mjs";
import { generator } from "./random.mjs";
import { check, finish } from "./report.mjs";

const { values: options, positionals: [path] } = parseArgs({
  allowPositionals: true, options: { seconds: { type: "string", default: "600" }, seed: { type: "string", default: `${Date.now() % 1_000_000}` } },
});
const program = resolve(path);
const random = generator(Number(options.seed));
const briefTtl = 5; // seconds
const slack = 2_000; // ms: a phone is read each 150 ms, on two busy cores
const scratch = mkdtempSync(join(tmpdir(), "pnh-soak-"));
const [disk, clock, copies] = ["disk", "clock", "copies"].map((name) => join(scratch, name));
[disk, copies].forEach((folder) => mkdirSync(folder));
execFileSync("mount", ["-t", "tmpfs", "-o", "size=300m", "tmpfs", disk]);
const library = readdirSync("/usr/lib").map((entry) => join("/usr/lib", entry, "faketime/libfaketimeMT.so.1")).find(existsSync);
setClock(0);

/** Knows the calls of a few seconds besides: they may be over before they come, and never come after. */
class Books extends Ledger {
  brief = new Map(); // key -> when its 202 was read
  came = 0;

  arrive(user, id, key, channel) {
    if (!key?.startsWith("brief-")) {
      return super.arrive(user, id, key, channel);
    }

    this.came++;
    const late = Date.now() - (this.brief.get(key) ?? Date.now()) - briefTtl * 1000;
    if (late > slack) {
      this.violate(`${key} of ${briefTtl} s came to ${user} by ${channel} ${late} ms after its time`);
    }
  }
}

const ledger = new Books();
const stage = await openStage(program, {
  settings: {
    Pnh__Data: join(disk, "data"), Pnh__Journal__Retention: "00:00:30", Pnh__Journal__SegmentBytes: "1048576", Pnh__Mailbox__Items: "10000", Pnh__Apps__demo__Keys__0__Scopes: "send register read admin",
    LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1",
  },
});
const done = {};
let n = 0;
const scenes = { load, erasure, members, backup, restore, retirement, clockIsSet, fullDisk };
let clean = false;
try {
  await up();
  const { tabs, phones, users } = await register();
  const publishers = Array.from({ length: 4 }, (_, i) => new Publisher(stage, ledger, `p${i}`, users.filter((_, at) => at % 4 === i), random, { rest: 30 }));
  tabs.forEach((tab) => tab.open());
  const working = [phones.run(), ...publishers.map((publisher) => publisher.run()), callBriefly(users, publishers)];
  for (const end = Date.now() + Number(options.seconds) * 1000; Date.now() < end;) {
    const [name, scene] = Object.entries(scenes)[Math.floor(random() * Object.keys(scenes).length)];
    await scene().catch((e) => ledger.violate(`${name}: ${e.message}`));
    done[name] = (done[name] ?? 0) + 1;
    await look();
    await delay(random() * 1000);
  }

  publishers.forEach((publisher) => { publisher.stopped = true; });
  await Promise.all(working.slice(1));
  for (const end = Date.now() + 60_000; ledger.waiting > 0 && Date.now() < end; await delay(100)) {
    // The clients fill the books.
  }

  await phones.read();
  await look();
  const { lost, ended } = await settle(stage, ledger, ledger.missing().filter((entry) => !entry.taken));
  console.log(`   seed ${options.seed}, ${JSON.stringify(done)}, ${ledger.kills.length} kills`);
  console.log(`   ${ledger.counts.accepted} accepted, ${ledger.counts.arrived} arrived (${ledger.counts.bySocket} by socket, ${ledger.counts.byPush} by push), ${ended} ended otherwise, ${ledger.counts.duplicates} again under their id; ${ledger.brief.size} brief calls accepted, ${ledger.came} came`);
  const unseen = ledger.missing().filter((entry) => entry.taken).length;
  console.log(`   ${unseen} taken by a provider and not seen on a screen, which keeps 20; the screens say that they missed ${phones.unseen}`);
  check("what a provider took was shown, or fell off a screen unseen", unseen <= phones.unseen ? null : `${unseen} of ${phones.unseen}`);
  check("nothing that was accepted is lost", lost.length === 0 ? null : `${lost.length}: ${lost.slice(0, 5).map((e) => `${e.id} for ${e.user}, ${e.timeline.slice(0, 300)}`).join("; ")}`);
  check("nothing late, nothing that nobody posted, every answer kept", ledger.violations.length === 0 ? null : `${ledger.violations.length}: ${ledger.violations.slice(0, 5).join("; ")}`);
  check("the load was real", ledger.counts.accepted > 1000 && ledger.came > 50 && Object.keys(done).length === Object.keys(scenes).length ? null : `${ledger.counts.accepted} accepted, ${ledger.came} brief`);
  phones.stopped = true;
  tabs.forEach((tab) => tab.stop());
  await working[0];
  check("the hub ends cleanly", (await stage.stop()) === 0 ? null : stage.hub.output.slice(-500));
  clean = true;
} catch (e) {
  check("the hub comes back each time", e.stack ?? e);
} finally {
  if (!clean) {
    console.log(stage.hub?.output.slice(-3000));
  }

  await stage.close(false);
  execFileSync("umount", ["-l", disk]);
  rmSync(scratch, { recursive: true, force: true });
}

finish();
process.exit();

/** What waits longer than its push should take is looked up while its timeline is there: a burst of pushes shows more than a screen keeps. */
async function look() {
  for (const entry of ledger.missing().filter((one) => !one.taken && !(one.looked > Date.now() - 5_000)).slice(-500)) {
    entry.looked = Date.now();
    const answer = await send(stage, "GET", `/v1/events/${encodeURIComponent(entry.id)}?user=${entry.user}`);
    entry.taken = answer?.json?.deliveries?.some(({ user, state }) => user === entry.user && state === "accepted") ?? false;
  }
}

async function load() {
  await delay(random() * 1500);
  await again();
}

/** The user is erased in part, then whole; the receipt stays the same, and a token of before does not count. */
async function erasure() {
  const user = `gone-${n++}`;
  const token = stage.token(user, undefined, 864_000);
  await sent("PUT", `/v1/users/${user}/devices/phone`, { platform: "android", fcm: { token: `fcm:${user}` } });
  await sent("PUT", `/v1/topics/erased/members/${user}`);
  await sent("POST", "/v1/events", { id: `for-${user}`, to: { users: [user, "user-0"] }, class: "message", ttl: 3600, data: { key: "brief-erased" } });
  const first = send(stage, "DELETE", `/v1/users/${user}`);
  await delay(random() * 30);
  await again();
  const cut = await first;
  const whole = await sent("DELETE", `/v1/users/${user}`);
  must(!cut?.json?.id || cut.json.id === whole.json.id, `two receipts of one erasure: ${cut?.text} and ${whole.text}`);
  must((await sent("DELETE", `/v1/users/${user}`)).text === whole.text, "another receipt the third time");
  must((await sent("GET", `/v1/users/${user}`)).json.devices.length === 0, "a device is left");
  const answer = await fetch(`${stage.url}/v1/users/${user}/settings`, { headers: { authorization: `Bearer ${token}` } });
  must(answer.status === 401, `a token of before was answered ${answer.status}`);
}

async function members() {
  const topic = `crowd-${n++}`;
  const adds = [0, 1, 2].map((part) => ({ add: Array.from({ length: 1000 }, (_, i) => `m-${part}-${i}`) }));
  const first = Promise.all(adds.map((add) => send(stage, "POST", `/v1/topics/${topic}/members`, add)));
  await delay(random() * 60);
  await again();
  const answers = await first;
  for (const [part, add] of adds.entries()) {
    const { json } = await sent("POST", `/v1/topics/${topic}/members`, add);
    must(answers[part]?.status !== 200 || json.added === 0, `members that were answered are gone: ${json.added}`);
  }

  must((await sent("POST", `/v1/topics/${topic}/members`, { remove: adds[0].add })).json.removed === 1000, "not all were there");
}

/** Either the hub or the copy is killed; a copy that has its name can be restored. */
async function backup() {
  const copy = join(copies, `copy-${n++}`);
  const running = stage.run(program, ["backup", copy], { Pnh__Data: join(disk, "data") });
  await delay(random() * 400);
  if (random() < 0.5) {
    running.child.kill("SIGKILL");
    await running.ended;
  } else {
    await again();
    await running.ended;
  }

  if (existsSync(copy) && readdirSync(copy).length > 0) {
    await restored(copy, join(copies, `restored-${n++}`));
  }

  rmSync(copy, { recursive: true, force: true });
  rmSync(`${copy}.unfinished`, { recursive: true, force: true });
}

async function restore() {
  const copy = join(copies, `copy-${n++}`);
  const made = stage.run(program, ["backup", copy], { Pnh__Data: join(disk, "data") });
  must(await made.ended === 0, `a backup ended with ${await made.ended}: ${made.output.slice(-500)}`);
  const cut = stage.run(program, ["restore", copy], { Pnh__Data: join(copies, `cut-${n++}`) });
  await delay(random() * 400);
  cut.child.kill("SIGKILL");
  await cut.ended;
  await restored(copy, join(copies, `restored-${n++}`));
  rmSync(copy, { recursive: true, force: true });
}

async function restored(copy, folder) {
  const run = stage.run(program, ["restore", copy], { Pnh__Data: folder });
  const code = await run.ended;
  must(code === 0 && /read once/.test(run.output), `a restore ended with ${code}: ${run.output.slice(-500)}`);
  rmSync(folder, { recursive: true, force: true });
}

/** Segments leave 30 s after their last record: the kill comes while some do. */
async function retirement() {
  await delay(3_000 + random() * 3_000);
  await again();
}

/** Off by up to three hours, and right again a little later: providers refuse tokens of another time, so that for long nothing would be pushed. */
async function clockIsSet() {
  setClock(Math.round((random() - 0.5) * 6 * 3600));
  await delay(random() * 1500);
  if (random() < 0.5) {
    await again();
  }

  setClock(0);
}

/** What is taken meanwhile is refused, and a start on the full disk says so or works. */
async function fullDisk() {
  const filler = join(disk, "filler");
  const { bavail, bsize } = statfsSync(disk);
  try {
    try {
      writeFileSync(filler, Buffer.alloc(Number(bavail) * Number(bsize)));
    } catch (e) {
      must(e.code === "ENOSPC", e.message); // the hub wrote meanwhile: it is full all the same
    }

    await delay(500 + random() * 1500);
    if (random() < 0.5) {
      await kill();
      stage.spawn();
      await Promise.race([stage.hub.ended, delay(random() * 1500)]);
    }
  } finally {
    rmSync(filler, { force: true });
  }

  if ((await Promise.race([stage.hub.ended, Promise.resolve(undefined)])) !== undefined) {
    stage.spawn();
  }

  await stage.ready();
}

async function kill() {
  await stage.kill();
  ledger.killed();
}

async function again() {
  await kill();
  await up();
}

async function up() {
  stage.spawn();
  await stage.ready();
}

/** Sends until the answer is none of a hub that is away or takes nothing. */
async function sent(method, url, body) {
  for (const end = Date.now() + 20_000; ; await delay(50)) {
    const answer = await send(stage, method, url, body);
    if (answer && answer.status < 300) {
      return answer;
    }

    must((!answer || answer.status === 503 || answer.status === 429) && Date.now() < end, `${method} ${url} was answered ${answer?.status} ${answer?.text}`);
  }
}

async function callBriefly(users, publishers) {
  for (let i = 0; publishers.some((publisher) => !publisher.stopped); i++) {
    const key = `brief-${i}`;
    const answer = await post(stage, { id: key, to: { user: users[i % users.length] }, class: "call", ttl: briefTtl, data: { key }, notification: { title: "Soak", body: key } });
    if (answer?.status === 202) {
      ledger.brief.set(key, Date.now());
    }

    await delay(100);
  }
}

async function register() {
  const addresses = new Map();
  const [tabs, users] = [[], []];
  for (let i = 0; i < 24; i++) {
    const user = `user-${i}`;
    const address = i % 2 === 0 ? (i + 1).toString(16).padStart(64, "b") : `fcm:soak-${i}`;
    const push = i % 2 === 0 ? { platform: "ios", apns: { token: address, environment: "sandbox" } } : { platform: "android", fcm: { token: address } };
    await sent("PUT", `/v1/users/${user}/devices/device`, i < 12 ? { platform: "web" } : push);
    users.push(user);
    addresses.set(address, user);
    if (i < 12) {
      tabs.push(new Tab(stage, ledger, user, "device", random));
    }
  }

  return { tabs, phones: new Phones(stage, ledger, addresses), users };
}

/** By how many seconds the machine's clock is off, for the hub. */
function setClock(seconds) {
  writeFileSync(clock, `${seconds < 0 ? "" : "+"}${seconds}\n`);
}

function must(isSo, problem) {
  if (!isSo) {
    throw new Error(problem);
  }
}
