// The processes of the kill loop: the stand-ins, which live through it, and a hub on one data folder and fixed ports that is killed and started again.
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay, freePort } from "../hub.mjs";

const readyLimit = 60_000;

/** `program`: the published `pnh`. `args`: of the hub. `settings`: more variables for it. `everywhere`: for it and the stand-ins. `sabotage`: every kill takes the journal with it. */
export async function openStage(program, { args = [], settings = {}, everywhere = {}, sabotage = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pnh-kill-"));
  const children = new Set();
  const [port, operationsPort, apnsPort, fcmPort] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const key = randomBytes(24).toString("base64url");
  const secret = randomBytes(32).toString("base64url");
  const ports = { Pnh__SandboxPorts__Apns: `${apnsPort}`, Pnh__SandboxPorts__Fcm: `${fcmPort}` };
  const sandbox = run(program, ["sandbox"], { Pnh__Data: join(folder, "sandbox"), ...ports });
  const providers = await exportsOf(sandbox);
  const variables = {
    ...providers, Pnh__Data: join(folder, "data"), Pnh__Urls: `http://127.0.0.1:${port}`, Pnh__OperationsUrls: `http://127.0.0.1:${operationsPort}`,
    Pnh__Apps__demo__Keys__0__Secret: key, Pnh__Apps__demo__Keys__0__Scopes: "send register read", Pnh__Apps__demo__Tokens__Hs256Secret: secret,
    Logging__LogLevel__Default: "Warning", ...settings,
  };

  function run(command, args, env) {
    const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...everywhere, ...env } });
    const process_ = { child, output: "", ended: new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal)).once("error", (e) => done(e.message))) };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => { process_.output = (process_.output + text).slice(-50_000); });
    }

    children.add(child);
    process_.ended.then(() => children.delete(child));
    return process_;
  }

  const stage = {
    key, secret, port, operationsPort, folder, run, url: `http://127.0.0.1:${port}`, fcm: `https://localhost:${fcmPort}`, ca: providers.SSL_CERT_FILE, hub: null,

    /** Starts the hub, or another build of it; does not wait. */
    spawn(build = program) {
      stage.hub = run(build, args, variables);
    },

    /** Waits until the hub answers /readyz; throws when it ends before, or after 60 s. */
    async ready() {
      const { hub } = stage;
      for (const end = Date.now() + readyLimit; Date.now() < end; await delay(10)) {
        const gone = await Promise.race([hub.ended, Promise.resolve(undefined)]);
        if (gone !== undefined) {
          throw new Error(`the hub ended at its start with ${gone}: ${hub.output.slice(-2000)}`);
        }

        if ((await fetch(`http://127.0.0.1:${operationsPort}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok) {
          return;
        }
      }

      throw new Error(`not ready after ${readyLimit / 1000} s: ${hub.output.slice(-2000)}`);
    },

    journalFiles() {
      const data = join(folder, "data");
      const entries = existsSync(data) ? readdirSync(data, { recursive: true, withFileTypes: true }) : [];
      return entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).filter((path, i) => entries[i].isFile() && path.startsWith(join(data, "journal")));
    },

    /** SIGKILL, and waits until the process is gone. */
    async kill() {
      stage.hub.child.kill("SIGKILL");
      await stage.hub.ended;
      for (const file of sabotage ? stage.journalFiles() : []) {
        rmSync(file);
      }
    },

    /** SIGTERM; gives the exit code, or "late" after 30 s. */
    async stop() {
      stage.hub.child.kill("SIGTERM");
      return await Promise.race([stage.hub.ended, delay(30_000).then(() => "late")]);
    },

    /** A client token made without the hub's code (RFC 7519). `topics`: that it may join; none unless given. `lifetime`: seconds; negative = it has expired. */
    token(user, topics, lifetime = 86_400) {
      return stage.tokenOf({ sub: user, topics, exp: Math.floor(Date.now() / 1000) + lifetime });
    },

    /** One with these claims, for the stage's app. */
    tokenOf(claims) {
      const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ aud: "demo", ...claims })}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    },

    /** Ends everything; `keep` leaves the data folder for a look at it. */
    async close(keep) {
      for (const child of children) {
        child.kill("SIGKILL");
      }

      if (keep) {
        console.log(`   kept ${folder}`);
      } else {
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
  process.once("exit", () => children.forEach((child) => child.kill("SIGKILL")));
  return stage;
}

/** The variables that the sandbox prints for a hub. */
async function exportsOf(sandbox) {
  for (const end = Date.now() + readyLimit; Date.now() < end; await delay(50)) {
    const found = [...sandbox.output.matchAll(/export (\w+)='?([^'\n]*)'?$/gm)];
    if (found.length >= 9) {
      return Object.fromEntries(found.map(([, name, value]) => [name, value]));
    }
  }

  throw new Error(`the sandbox did not start: ${sandbox.output}`);
}
