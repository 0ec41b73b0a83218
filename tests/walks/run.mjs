// node run.mjs: carries out the command blocks of README.md and docs/ as they stand, in their order, in the folder of the repository, as a reader would.
// The comment before a block says how: <!-- walk: prints "…" -->, <!-- walk: in the background, until it prints "…" -->, or <!-- walk: left to …, why -->.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, checked, finish } from "../ship/report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const ports = [8080, 9090, 8381, 9381];
const pages = ["README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const left = ["pnh-data", "listen.mjs", "pnh-cluster", "pnh-shop", "shop.log", "pnh-backup", "pnh-restored", "devices.ndjson"];
const buildSeconds = 400;
const blockSeconds = 60;
const endSeconds = 30;
const background = [];

check("the README's picture has at most 200 kB", statSync(join(root, "docs/console.png")).size <= 200_000 ? null : "it is larger");
const stands = left.filter((name) => existsSync(join(root, name)));
const taken = (await Promise.all(ports.map(async (port) => (await answers(port)) ? port : null))).filter(Boolean);
check("nothing of an earlier walk stands here", stands.length + taken.length === 0 ? null : `move away ${stands.join(", ")}; stop what listens on ${taken.join(", ")}`);
if (stands.length + taken.length === 0) {
  try {
    for (const page of pages) {
      await walk(page);
    }
  } finally {
    await Promise.all(background.map(end));
    left.forEach((name) => rmSync(join(root, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  }
}

finish();

/** One shell for a page, so that a block finds the variables of the one before. */
async function walk(page) {
  const blocks = read(page);
  if (blocks.length === 0) {
    return;
  }

  const ports = blocks.flatMap(({ text }) => text.split("\n")).filter((text) => /localhost:\d/.test(text) && !text.startsWith("hub=${Pnh__Urls:-"));
  check(`${page} names a port in one variable alone`, ports.length === 0 ? null : ports[0]);
  const shell = start("bash", ["-e"]);
  background.push(shell);
  for (const { line, how, text } of blocks) {
    const [, expected] = /prints "([^"]+)"/.exec(how ?? "") ?? [];
    const name = `${page}:${line}`;
    if (!how) {
      check(name, "no comment says how it is walked");
    } else if (how.startsWith("left ")) {
      console.log(`# ${name} is ${how}`);
    } else if (how.startsWith("in the background")) {
      const program = start("bash", ["-c", text]);
      background.push(program);
      await checked(`${name}, in the background, prints "${expected}"`, () => until(program, (output) => output.includes(expected), buildSeconds));
    } else {
      const from = shell.output.length;
      const mark = `walked ${line}`;
      shell.process.stdin.write(`${text}\necho '${mark}'\n`);
      await checked(`${name} prints "${expected}"`, async () => {
        await until(shell, (output) => output.slice(from).includes(mark), blockSeconds);
        await until(shell, (output) => output.slice(from).includes(expected), 5);
      });
    }
  }
}

/** The blocks of shell commands, with the comment before each. */
function read(page) {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const blocks = [];
  for (let i = 0; i < lines.length; i++) {
    if (/^```(sh|bash|shell|console)$/.test(lines[i])) {
      const close = lines.indexOf("```", i);
      blocks.push({ line: i + 1, how: /^<!-- walk: (.*) -->$/.exec(lines[i - 1] ?? "")?.[1], text: lines.slice(i + 1, close).join("\n") });
      i = close;
    }
  }

  return blocks;
}

function start(command, args) {
  const process = spawn(command, args, { cwd: root, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const program = { process, output: "", ended: null };
  process.once("exit", (code, signal) => { program.ended = code ?? signal; });
  process.stdin.on("error", () => {});
  for (const stream of [process.stdout, process.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => { program.output += text; });
  }

  return program;
}

async function until(program, accept, seconds) {
  for (const limit = Date.now() + seconds * 1000; ; await new Promise((done) => setTimeout(done, 100))) {
    if (accept(program.output)) {
      return;
    }

    if (program.ended !== null || Date.now() > limit) {
      throw new Error(`${program.ended === null ? `not within ${seconds} s` : `ended with ${program.ended}`}: ${program.output.slice(-1500)}`);
    }
  }
}

/** Ends the program and what it started, and waits until none of them is left: they may still write. */
async function end(program) {
  const group = -program.process.pid;
  try {
    process.kill(group, "SIGTERM");
    for (const limit = Date.now() + endSeconds * 1000; Date.now() < limit; await new Promise((done) => setTimeout(done, 50))) {
      process.kill(group, 0);
    }
  } catch {
    // All are gone.
  }
}

function answers(port) {
  return new Promise((done) => {
    const socket = createConnection({ port, host: "localhost" }, () => { socket.destroy(); done(true); });
    socket.once("error", () => done(false));
  });
}
