// What the console costs: node bench/console.mjs PATH-OF-PUBLISHED-pnh [--seconds 40]. Writes bench/results/console.md. Needs perf.
// 10,000 sessions that get two broadcasts a second, 20,000 deliveries/s, and one viewer. Hub on core 0, everything else on core 1. Build the load tester first:
// dotnet build src/Pnh.LoadTest -c Release. The bars: a viewer takes less than 2 % of the hub's CPU, and no update of the page keeps it busy for 100 ms.
// The share is counted in stacks that perf takes of the hub. The difference between windows with and without a viewer says nothing: the machine moves by 20 % meanwhile.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startHub } from "../tests/ship/hub.mjs";

const { values, positionals: [program] } = parseArgs({ allowPositionals: true, options: { seconds: { type: "string", default: "40" } } });
const root = fileURLToPath(new URL("..", import.meta.url));
const sessions = 10_000;
const rate = 2;
const seconds = Number(values.seconds);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { chromium } = createRequire(join(root, "tests/browser/console.mjs"))("playwright-core");

// Code that was compiled ahead has no names in the map, and perf looks for none of code in memory that is mapped twice.
const names = { DOTNET_PerfMapEnabled: "1", DOTNET_ReadyToRun: "0", DOTNET_EnableWriteXorExecute: "0" };
// Clients are served by the hub's own loops: the framework's server serves the console, two POSTs and no more.
const ofTheConsole = /Pnh\.Api\.WebConsole|Microsoft\.AspNetCore/;
const ofTheRest = /\[Pnh\.|\b__send\b/; // the system's library ends a stack: 20,000 sends a second are the clients', some ten the console's

execFileSync("taskset", ["-p", "-c", "1", String(process.pid)]);
const hub = await startHub(program, { wrap: ["taskset", "-c", "0"], env: names });
const profile = mkdtempSync(join(tmpdir(), "pnh-console-"));
const load = spawn(join(root, "artifacts/bin/Pnh.LoadTest/release/Pnh.LoadTest"), ["broadcast", "--sessions", `${sessions}`, "--rate", `${rate}`, "--warm", "20",
  "--seconds", `${seconds + 180}`, "--port", `${hub.port}`, "--operations-port", `${hub.operationsPort}`, "--key", hub.key,
  "--secret-file", join(hub.data, "demo.hs256"), "--server", `${hub.pid}`], { stdio: ["ignore", "inherit", "inherit"] });

/** Stacks of the hub in the next seconds, each a text of its frames. */
async function takeStacks() {
  const file = join(profile, "perf.data");
  const taking = spawn("perf", ["record", "-F", "1999", "-g", "-p", `${hub.pid}`, "-o", file, "--", "sleep", `${seconds}`], { stdio: "ignore" });
  const code = await new Promise((resolve) => taking.once("exit", resolve).once("error", (e) => resolve(e.message)));
  if (code !== 0) {
    throw new Error(`perf record ended with ${code}`);
  }

  const text = execFileSync("perf", ["script", "-i", file, "-F", "comm,ip,sym"], { encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] });
  return text.split("\n\n").filter((stack) => stack.trim());
}

let failed = false;
try {
  for (let live = 0; live < sessions; await wait(500)) {
    const page = await (await fetch(`${hub.operations}/metrics`)).text();
    live = [...page.matchAll(/^pnh_sessions\{.*\} (\d+)/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
  }
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  const page = await context.newPage();
  await page.goto(/http:\/\/\S+\/console\?ticket=\S+/.exec(hub.output)[0]);
  await wait(75_000); // the runtime compiles what it has seen 30 times; the page asks once a second
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: false });
  });
  await wait(seconds * 1000); // without perf, which keeps the core busy when it begins
  const long = await page.evaluate(() => globalThis.long);
  const stacks = await takeStacks();
  const deliveries = await page.locator("#stat-deliveries dd span").first().textContent();
  await context.close();
  const ours = stacks.filter((stack) => ofTheConsole.test(stack)).length;
  const unnamed = stacks.filter((stack) => /^\s*\.NET TP Worker/.test(stack) && !ofTheConsole.test(stack) && !ofTheRest.test(stack)).length;
  const share = ours / stacks.length;
  const longest = Math.max(0, ...long);
  failed = share >= 0.02 || longest >= 100 || ours === 0;
  const report = `# What the console costs
\`node bench/console.mjs\`: ${sessions} sessions, ${rate} broadcasts a second to all of them, one viewer in Chromium; its page shows ${deliveries.trim()} deliveries a second.

Of ${stacks.length} stacks that \`perf\` took of the hub in ${seconds} s, ${ours} are of the console, or of the framework's server, which serves the console and two POSTs a second here: ${(100 * share).toFixed(2)} % of the hub's CPU
(bar 2 %: ${share < 0.02 ? "met" : "MISSED"}). ${unnamed} more (${(100 * unnamed / stacks.length).toFixed(1)} %) do not say whose they are: threads of the pool that wake or fall asleep, some ten of 150 times a second for the console.
Not in it: the console's sends, some ten a second beside 20,000 to clients, and what the collector does for its garbage.

The longest task of the page took ${longest.toFixed(0)} ms, of ${long.length} over 50 ms (bar 100 ms: ${longest < 100 ? "met" : "MISSED"}).
`;
  writeFileSync(join(root, "bench/results/console.md"), report);
  console.log(report);
} finally {
  load.kill("SIGKILL");
  await hub.stop().catch((e) => console.error(e.message));
  rmSync(profile, { recursive: true, force: true });
  for (const name of ["perf", "perfinfo"]) rmSync(`/tmp/${name}-${hub.pid}.map`, { force: true });
}
process.exit(failed ? 1 : 0);
