// The console of the published hub, clicked through in Chromium, and its client for browsers there. Usage: node browser.mjs PATH-OF-PUBLISHED-pnh [FOLDER-FOR-SCREENSHOTS]
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort, startHub } from "./hub.mjs";
import { checked, finish } from "./report.mjs";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../browser/console.mjs", import.meta.url));
const clientScript = fileURLToPath(new URL("../browser/client.mjs", import.meta.url));
const pushScript = fileURLToPath(new URL("../browser/push.mjs", import.meta.url));
const clusterPort = await freePort();
const files = mkdtempSync(join(tmpdir(), "pnh-browser-"));
const cluster = `--Pnh:Cluster:KeyFile=${join(files, "cluster.key")}`;
writeFileSync(join(files, "cluster.key"), randomBytes(32).toString("base64url"));
const hub = await startHub(process.argv[2], { settings: [`--Pnh:Cluster:Urls=http://127.0.0.1:${clusterPort}`, cluster] });
const edge = spawn(process.argv[2], [
  "serve", "--role", "edge", "--Pnh:Node=edge-1", "--Pnh:Urls=http://127.0.0.1:0", "--Pnh:OperationsUrls=http://127.0.0.1:0", `--Pnh:Hubs=http://127.0.0.1:${clusterPort}`, cluster,
  `--Pnh:Apps:demo:Tokens:Hs256Secret=${readFileSync(join(hub.data, "demo.hs256"), "utf8").trim()}`,
], { stdio: "ignore" });
const link = /http:\/\/\S+\/console\?ticket=\S+/.exec(hub.output)?.[0];
const walk = (script, ...args) => run(process.execPath, [script, ...args], { timeout: 180_000 }).catch((error) => {
  throw new Error(error.stdout?.trim() || error.message);
});

try {
  await checked("the console: send, phone shows it, tab shows it, counters moved", () => walk(script, link, ...process.argv.slice(3, 4)));
  await checked("the client of browsers: a reload goes on with its session, all tabs of a user share one socket", async () =>
    walk(clientScript, hub.url, hub.key, await hub.token("ada", "--topics", "room"), await hub.token("eve")));
  await checked("Web Push of the client: a page subscribes, its service worker shows what the hub sends, and no twin of what was seen", async () =>
    walk(pushScript, hub.url, hub.key, await hub.token("ada"), hub.fcm, join(hub.data, "sandbox", "ca.pem")));
  await checked("its link works once only", async () => {
    const answer = await fetch(link, { redirect: "manual" });
    if (answer.headers.get("set-cookie")) {
      throw new Error(`the used link gave a session again (${answer.status})`);
    }
  });
} finally {
  edge.kill("SIGKILL");
  rmSync(files, { recursive: true });
  await checked("the hub with an open console stops cleanly", () => hub.stop());
}

finish();
