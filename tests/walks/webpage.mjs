// node webpage.mjs PATH-OF-PUBLISHED-pnh: a site gets Web Push, with the key, the script and the settings that the hub's own pages give, in Chromium.
// Chromium's push service is elsewhere: the subscription is one of the sandbox's browsers, and what the sandbox decrypted is given to the page's service worker.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask, launch, openTab, pushOf, startSite } from "../browser/site.mjs";
import { startHub } from "../ship/hub.mjs";
import { checked, finish } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { api, blocks, says, section } from "./pages.mjs";

const program = process.argv[2];
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "pnh-webpage-"));
const hub = await startHub(program);
const ca = readFileSync(join(hub.data, "sandbox", "ca.pem"));
const browser = await launch();
let site;

try {
  const [make, ...rest] = await blocks(hub, "webpush");
  const script = rest.find((block) => block.language === "js");
  await checked("the page's command makes a key that the configuration takes", async () => {
    await run("bash", ["-ec", make.text], { cwd: folder, timeout: 20_000 });
    await says(hub, "webpush", "Apps:{app}:WebPush:0:KeyFile");
    const shop = "--Pnh:Apps:shop:WebPush:0:";
    const { stdout } = await run(program, ["config", "check", `--Pnh:Data=${join(folder, "data")}`, `${shop}KeyFile=${join(folder, "vapid.pem")}`, `${shop}Subject=mailto:ops@example.com`,
      "--Pnh:Apps:shop:Tokens:Hs256Secret=a-secret-of-thirty-two-characters-or-more"], { timeout: 30_000 });
    if (!stdout.includes("the configuration is good")) {
      throw new Error(stdout);
    }
  });

  // The hub is behind the site, as the page says it is best: so its address is the site's.
  const text = script.text.replaceAll("https://push.example.com", "").replaceAll("\"wss://push.example.com/v1/socket\"", "location.origin.replace(\"http\", \"ws\") + \"/v1/socket\"");
  site = await startSite(hub.url, {
    "/": `<!doctype html><title>shop</title><button>Tell me</button><script type="module">const button = document.querySelector("button");\n${text}\nglobalThis.client = client;</script>`,
    "/push-token": { text: await hub.token("mia"), type: "text/plain" },
  });
  const { tab, deliver, shown } = await openTab(browser, site.origin, await ask(`${hub.fcm}/sandbox/browsers/mias-browser`, ca));
  const registered = async () => (await api(hub, "GET", "/v1/users/mia")).devices.find((one) => one.webpush);
  const said = [];
  tab.on("console", (message) => said.push(message.text()));

  await checked("the page's script, as it stands, asks the user and registers the browser", async () => {
    await until("the client is open", () => tab.evaluate(() => globalThis.client?.status === "open"));
    await tab.click("button");
    await until("the script says that the user allowed it", () => said.includes("granted"));
    await until("the hub has the subscription", registered);
  });
  await checked("explain says that the browser would be reached", async () => {
    await says(hub, "webpush", "/v1/events:explain");
    const plan = await api(hub, "POST", "/v1/events:explain", { to: { user: "mia" }, class: "call" });
    if (!JSON.stringify(plan).includes("\"channel\":\"webpush\"")) {
      throw new Error(JSON.stringify(plan));
    }
  });
  await checked("an event rings the browser: the service worker shows it", async () => {
    await says(hub, "send", "channels");
    await api(hub, "POST", "/v1/events", { id: "sale", to: { user: "mia" }, channels: ["webpush"], notification: { title: "Sale", body: "Until six." } });
    await deliver(await until("the sandbox's browser has it", () => pushOf(hub.fcm, ca, "sale")));
    await until("it is shown", async () => (await shown()).some(({ id, title, body }) => id === "sale" && title === "Sale" && body === "Until six."));
  });
  await checked("a service worker of the site's own is one line, as the page has it", async () => {
    const line = rest.filter((block) => block.language === "js").find((block) => block.text.includes("importScripts")).text;
    const own = await startSite(hub.url, { "/": "<!doctype html><title>own</title>", "/push.js": { text: line.replaceAll("https://push.example.com", ""), type: "text/javascript" } });
    try {
      await tab.goto(own.origin);
      const state = await tab.evaluate(async () => (await navigator.serviceWorker.register("/push.js"), (await navigator.serviceWorker.ready).active !== null));
      if (!state) {
        throw new Error("it is not active");
      }
    } finally {
      own.close();
    }
  });
  await checked("what may be wrong has its section on the page of reasons", async () => {
    for (const reason of ["no-address", "no-provider", "vapid-key-mismatch", "shows-nothing", "not-clearable"]) {
      await says(hub, "webpush", reason);
      await section(hub, "why", reason);
    }
  });
} finally {
  await browser.close();
  site?.close();
  rmSync(folder, { recursive: true });
  await checked("the hub stops cleanly", () => hub.stop());
}

finish();
