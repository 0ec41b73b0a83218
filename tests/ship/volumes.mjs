// node volumes.mjs PROGRAM: the published hub as a user of its own on folders as Kubernetes hands them out: which are taken, with which warning, and what the hub makes in them.
// Needs root, to be another user and to give files away; without it says so and is skipped, except in CI (PNH_REQUIRE_ALL).
import { spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { delay, freePort } from "./hub.mjs";
import { check, finish } from "./report.mjs";

const user = 1654;
const group = 2000; // fsGroup
const stranger = 4711;
let folders = 0;
if (process.getuid() !== 0) {
  if (process.env.PNH_REQUIRE_ALL) {
    check("root is there", "this user cannot give files away");
  } else {
    console.log("   skipped: needs root, to run the hub as another user");
  }

  finish();
  process.exit();
}

const scratch = mkdtempSync(join(tmpdir(), "pnh-volumes-"));
chmodSync(scratch, 0o755);
// The published folder may stand where another user cannot look.
cpSync(dirname(resolve(process.argv[2])), join(scratch, "program"), { recursive: true });
const program = join(scratch, "program", "pnh");

try {
  await taken("local-path and hostPath: root's, 0777", { owner: 0, group: 0, mode: 0o777 }, /can be written by every user of this machine/);
  await taken("after fsGroup: root's, 2775", { owner: 0, group, mode: 0o2775 });
  await taken("root's, another group may write", { owner: 0, group: stranger, mode: 0o777 }, /can be written by every user of this machine/);
  await taken("the hub's own, made wide by fsGroup: 2770", { owner: user, group, mode: 0o2770 }, null, 0o700);
  await taken("the hub's own, 0777", { owner: user, group: user, mode: 0o777 }, null, 0o700);
  await refused("of a third user", { owner: stranger, group, mode: 0o2777 }, () => {}, /belongs to another user \(uid 4711\)/);
  await refused("root's, with a planted registry", { owner: 0, group: 0, mode: 0o777 }, (folder) => plant(folder, "registry.db", stranger), /registry\.db belongs to another user \(uid 4711\)/);
  await refused("root's, with a planted journal", { owner: 0, group: 0, mode: 0o777 }, (folder) => {
    mkdirSync(join(folder, "journal"));
    chownSync(join(folder, "journal"), user, group);
    plant(join(folder, "journal"), "00000001.log", stranger);
  }, /00000001\.log belongs to another user \(uid 4711\)/);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

finish();

/** A hub starts on it, stops, and starts again after fsGroup has widened everything; the second start narrows it. */
async function taken(name, how, warning = null, mode = null) {
  const folder = make(how);
  const first = await start(folder);
  check(`${name}: is taken`, first.problem);
  const warned = first.output.split("\n").filter((line) => /can be written by/.test(line));
  check(`${name}: ${warning ? "one warning" : "no warning"}`, warned.length === (warning ? 1 : 0) && (!warning || warning.test(warned[0])) ? null : first.output);
  check(`${name}: what the hub made is its own alone`, wide(folder));
  if (mode !== null) {
    check(`${name}: the folder is narrowed`, (lstatSync(folder).mode & 0o7777) === mode ? null : `it has ${(lstatSync(folder).mode & 0o7777).toString(8)}`);
  }

  for (const path of [...entries(folder)]) {
    chownSync(path, user, group);
    chmodSync(path, lstatSync(path).isDirectory() ? 0o2770 : 0o660);
  }

  const second = await start(folder);
  check(`${name}: comes back after fsGroup`, second.problem ?? wide(folder));
}

async function refused(name, how, fill, reason) {
  const folder = make(how);
  fill(folder);
  const { code, output } = await start(folder);
  const lines = output.trim().split("\n");
  check(`${name}: is refused in one line`, code === 1 && lines.length === 1 && reason.test(output) ? null : `it ended with ${code}: ${output}`);
}

function make({ owner, group: of, mode }) {
  const folder = join(scratch, `data${folders++}`);
  mkdirSync(folder);
  chownSync(folder, owner, of);
  chmodSync(folder, mode);
  // What a fresh ext4 volume holds.
  mkdirSync(join(folder, "lost+found"), { mode: 0o700 });
  return folder;
}

function plant(folder, name, owner) {
  writeFileSync(join(folder, name), "planted");
  chownSync(join(folder, name), owner, owner);
  chmodSync(join(folder, name), 0o666);
}

function* entries(folder) {
  for (const entry of readdirSync(folder).filter((entry) => entry !== "lost+found")) {
    const path = join(folder, entry);
    yield path;
    if (lstatSync(path).isDirectory()) {
      yield* entries(path);
    }
  }
}

/** Null, or what others may do. */
function wide(folder) {
  const found = [...entries(folder)].filter((path) => (lstatSync(path).mode & 0o077) !== 0);
  return found.length === 0 ? null : found.map((path) => `${path} ${(lstatSync(path).mode & 0o777).toString(8)}`).join(", ");
}

/** Until it is ready, then SIGTERM; or until it has ended. */
async function start(folder) {
  const [port, operations] = [await freePort(), await freePort()];
  const child = spawn("setpriv", [
    `--reuid=${user}`, `--regid=${user}`, `--groups=${group}`, program, `--Pnh:Data=${folder}`, `--Pnh:Urls=http://127.0.0.1:${port}`,
    `--Pnh:OperationsUrls=http://127.0.0.1:${operations}`, "--Pnh:SandboxPorts:Apns=0", "--Pnh:SandboxPorts:Fcm=0",
  ], { cwd: scratch, env: { ...process.env, HOME: scratch }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => { output += text; });
  }

  const ended = new Promise((done) => child.once("close", (code, signal) => done(code ?? signal)).once("error", (e) => done(e.message)));
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    // The pause alone keeps no program running: one that has ended is heard of first.
    const code = await Promise.race([ended, delay(50)]);
    if (code !== undefined) {
      return { code, output, problem: `it ended with ${code}: ${output}` };
    }

    if ((await fetch(`http://127.0.0.1:${operations}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok) {
      child.kill("SIGTERM");
      const after = await Promise.race([ended, delay(20_000).then(() => "late")]);
      child.kill("SIGKILL");
      return { code: after, output, problem: after === 0 ? null : `it stopped with ${after}: ${output}` };
    }
  }

  child.kill("SIGKILL");
  return { code: "late", output, problem: `not ready after 30 s: ${output}` };
}
