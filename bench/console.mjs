// What the console costs: node bench/console.mjs PATH-OF-PUBLISHED-pnh [--windows 10] [--seconds 8]. Writes bench/results/console.md.
// 10,000 sessions that get two broadcasts a second, 20,000 deliveries/s; a viewer comes and goes. Hub on core 0, everything else on core 1. Build the load tester first:
// dotnet build src/Pnh.LoadTest -c Release. The bars: a viewer takes less than 2 % of the hub's CPU, and no update of the page keeps it busy for 100 ms.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startHub } from "../tests/ship/hub.mjs";

const { values, positionals: [program] } = parseArgs({ allowPositionals: true, options: { windows: { type: "string", default: "10" }, seconds: { type: "string", default: "8" } } });
const root = fileURLToPath(new URL("..", import.meta.url));
const sessions = 10_000;
const rate = 2;
const windows = Number(values.windows);
const seconds = Number(values.seconds);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { chromium } = createRequire(join(root, "tests/browser/console.mjs"))("playwright-core");

execFileSync("taskset", ["-p", "-c", "1", String(process.pid)]);
const hub = await startHub(program, { wrap: ["taskset", "-c", "0"] });
const profile = mkdtempSync(join(tmpdir(), "pnh-console-"));
const load = spawn(join(root, "artifacts/bin/Pnh.LoadTest/release/Pnh.LoadTest"), ["broadcast", "--sessions", `${sessions}`, "--rate", `${rate}`, "--warm", "20",
  "--seconds", `${2 * windows * (seconds + 4) + 60}`, "--port", `${hub.port}`, "--operations-port", `${hub.operationsPort}`, "--key", hub.key,
  "--secret-file", join(hub.data, "demo.hs256"), "--server", `${hub.pid}`], { stdio: ["ignore", "inherit", "inherit"] });

/** Milliseconds of CPU that the hub takes in a second of the window. */
async function window() {
  const ticks = () => {
    const fields = readFileSync(`/proc/${hub.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const [before, began] = [ticks(), performance.now()];
  await wait(seconds * 1000);
  return ((ticks() - before) * 10_000) / (performance.now() - began);
}

const middle = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return (sorted[Math.floor((list.length - 1) / 2)] + sorted[Math.ceil((list.length - 1) / 2)]) / 2;
};
let failed = false;
try {
  for (let live = 0; live < sessions; await wait(500)) {
    const page = await (await fetch(`${hub.operations}/metrics`)).text();
    live = [...page.matchAll(/^pnh_sessions\{.*\} (\d+)/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
  }
  await wait(40_000); // the runtime compiles
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  const page = await context.newPage();
  // A first visit, so that what the console needs is compiled.
  await page.goto(/http:\/\/\S+\/console\?ticket=\S+/.exec(hub.output)[0]);
  const address = `${hub.operations}/console`;
  await wait(8_000);
  const [without, watched, long] = [[], [], []];
  for (let n = 0; n < windows; n++) {
    await page.goto("about:blank");
    await wait(4_000);
    without.push(await window());
    await page.goto(address);
    await page.evaluate(() => {
      globalThis.long = [];
      new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: false });
    });
    await wait(4_000);
    watched.push(await window());
    long.push(...await page.evaluate(() => globalThis.long));
  }
  const deliveries = await page.locator("#stat-deliveries dd span").first().textContent();
  await context.close();
  const share = watched.map((value, n) => (value - without[n]) / without[n]);
  const longest = Math.max(0, ...long);
  failed = middle(share) >= 0.02 || longest >= 100;
  const line = (name, list) => `| ${name} | ${middle(list).toFixed(1)} | ${Math.min(...list).toFixed(1)} to ${Math.max(...list).toFixed(1)} |`;
  const report = `# What the console costs
\`node bench/console.mjs\`: ${sessions} sessions, ${rate} broadcasts a second to all of them, ${windows} pairs of windows of ${seconds} s; the page shows ${deliveries.trim()} deliveries a second.

| CPU of the hub, ms a second | middle | all |
|---|---|---|
${line("nobody watches", without)}
${line("one viewer in Chromium", watched)}

A viewer takes ${(100 * middle(share)).toFixed(1)} % more (pairs: ${share.map((one) => `${(100 * one).toFixed(1)} %`).join(", ")}; bar 2 %: ${middle(share) < 0.02 ? "met" : "MISSED"}).
The longest task of the page took ${longest.toFixed(0)} ms, of ${long.length} over 50 ms (bar 100 ms: ${longest < 100 ? "met" : "MISSED"}).
`;
  writeFileSync(join(root, "bench/results/console.md"), report);
  console.log(report);
} finally {
  load.kill("SIGKILL");
  await hub.stop().catch((e) => console.error(e.message));
  rmSync(profile, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
