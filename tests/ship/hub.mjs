// Starts the published hub on free loopback ports with data of its own, as a first start: app demo, secrets made, sandbox as its providers.
import { execFile, spawn } from "node:child_process";
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `program`: path of the published `pnh`. `wrap`: command that starts it, such as ["taskset", "-c", "0"]. `key`: of the app that the settings configure; without one it is a first start. */
export async function startHub(program, { settings = [], wrap = [], env = {}, key = undefined } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "pnh-ship-"));
  const [port, operationsPort, apnsPort, fcmPort] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const configuration = [
    `--Pnh:Data=${join(folder, "data")}`, `--Pnh:Urls=http://localhost:${port}`, `--Pnh:OperationsUrls=http://localhost:${operationsPort}`,
    `--Pnh:SandboxPorts:Apns=${apnsPort}`, `--Pnh:SandboxPorts:Fcm=${fcmPort}`, ...settings,
  ];
  const [command, ...args] = [...wrap, program, ...configuration];
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const hub = {
    url: `http://localhost:${port}`, operations: `http://localhost:${operationsPort}`, port, operationsPort,
    fcm: `https://localhost:${fcmPort}`, data: join(folder, "data"), pid: child.pid, output: "",
    ended: new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)).once("error", (e) => resolve(e.message))),
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => { hub.output = (hub.output + text).slice(-200_000); });
  }

  /** A client token for a user, from the program's own command. */
  hub.token = async (user, ...more) => (await run(program, ["token", "--app", "demo", "--user", user, ...configuration, ...more], { cwd: folder, timeout: 30_000 })).stdout.trim();

  /** SIGTERM; gives the exit code, or throws when the hub does not end within 30 s. */
  hub.stop = async () => {
    child.kill("SIGTERM");
    const code = await Promise.race([hub.ended, delay(30_000).then(() => "late")]);
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
    if (code !== 0) {
      throw new Error(`the hub ended with ${code}: ${hub.output.slice(-1000)}`);
    }
  };

  try {
    await ready(hub);
    hub.key = key ?? /Authorization: Bearer ([^\s'"\\]+)/.exec(hub.output)?.[1];
    if (!hub.key) {
      throw new Error(`the start printed no curl with a key: ${hub.output}`);
    }
  } catch (e) {
    await hub.stop().catch(() => {});
    throw e;
  }

  return hub;
}

export const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref());

/**
 * A port that a program of this script can listen on, also when it is ended and started again. It lies outside the range from which the kernel gives ports to connections, so no connection
 * takes it meanwhile; and each script begins at a place of its own, so two scripts beside each other take different ones.
 */
export async function freePort() {
  const [low, high] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
  const [first, count] = low > 14_000 ? [12_000, low - 12_000] : [high + 1, 65_535 - high];
  for (let tries = 0; tries < count; tries++) {
    const port = first + ((process.pid * 61 + given++) % count);
    if (await canListen(port)) {
      return port;
    }
  }

  throw new Error("every port outside the range of connections is taken");
}

let given = 0;

/** On every address, as a listener on any one of them would be in the way. */
function canListen(port) {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/** Polls /readyz for at most 60 s. */
async function ready(hub) {
  for (const end = Date.now() + 60_000; Date.now() < end; await Promise.race([hub.ended, new Promise((r) => setTimeout(r, 100))])) {
    const gone = await Promise.race([hub.ended, Promise.resolve(undefined)]);
    if (gone !== undefined) {
      throw new Error(`the hub ended at its start with ${gone}: ${hub.output.slice(-2000)}`);
    }

    const answer = await fetch(`${hub.operations}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answer?.ok && / is running/.test(hub.output)) {
      return;
    }
  }

  throw new Error(`not ready after 60 s: ${hub.output.slice(-2000)}`);
}
