// The console of the published hub, clicked through in Chromium. Usage: node browser.mjs PATH-OF-PUBLISHED-pnh [FOLDER-FOR-SCREENSHOTS]
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startHub } from "./hub.mjs";
import { checked, finish } from "./report.mjs";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../browser/console.mjs", import.meta.url));
const hub = await startHub(process.argv[2]);
const link = /http:\/\/\S+\/console\?ticket=\S+/.exec(hub.output)?.[0];
const click = (...args) => run(process.execPath, [script, ...args], { timeout: 120_000 });

try {
  await checked("the console: send, phone shows it, tab shows it, counters moved", () => click(link, ...process.argv.slice(3, 4)));
  await checked("its link works once only", async () => {
    const answer = await fetch(link, { redirect: "manual" });
    if (answer.headers.get("set-cookie")) {
      throw new Error(`the used link gave a session again (${answer.status})`);
    }
  });
} finally {
  await checked("the hub with an open console stops cleanly", () => hub.stop());
}

finish();
