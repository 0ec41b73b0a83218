// node observe.mjs PROGRAM [--sabotage]: the published hub under load, scraped by a real Prometheus with the project's rules. Checks the page of metrics
// with promtool, the series of the contract, and every question of the dashboard. --sabotage kicks a user, to see that a closed socket is noticed.
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { delay, freePort, startHub } from "./hub.mjs";
import { drive } from "./load.mjs";
import { check, checked, finish, forward } from "./report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
// Every name that users' dashboards hold on to; a histogram is named by its count.
const contract = [
  "pnh_events_total", "pnh_deliveries_total", "pnh_accept_to_frame_seconds_count", "pnh_accept_to_provider_seconds_count", "pnh_ack_seconds_count",
  "pnh_sessions", "pnh_queue_items", "pnh_queue_age_seconds", "pnh_provider_connections", "pnh_provider_in_flight",
  "pnh_journal_sync_seconds_count", "pnh_deadline_missed_total", "pnh_threadpool_delay_seconds_count", "pnh_q_factor", "pnh_build_info",
  "pnh_requests_served_total", "process_cpu_seconds_total", "pnh_ledger_planned_total", "pnh_ledger_settled_total", "pnh_ledger_in_flight", "pnh_ledger_held",
  "pnh_journal_dropped_notes_total", "pnh_journal_damaged_records_total", "pnh_provider_dials_total", "pnh_provider_connection_ends_total",
  "pnh_provider_breakers_open", "pnh_provider_credential_left_seconds", "pnh_provider_credential_reloads_total", "pnh_provider_clock_skew_seconds",
  "pnh_addresses_stale", "pnh_direct_connections", "pnh_ready", "pnh_store_closed",
];
const loadSeconds = 25;

const hub = await checked("the published hub starts", () => startHub(resolve(process.argv[2])));
if (hub) {
  const prometheus = await checked("prometheus starts", () => startPrometheus(hub));
  try {
    if (prometheus) {
      await watch(prometheus);
    }
  } finally {
    await prometheus?.stop();
    await checked("the hub ends with 0 on SIGTERM", hub.stop);
  }
}

finish();

async function watch(prometheus) {
  const load = checked("load runs through", () => drive(hub, loadSeconds, { sabotage: process.argv.includes("--sabotage") }));
  // The dashboard is asked while the load runs: rates over a quiet window would be 0 or nothing.
  await Promise.race([load, delay((loadSeconds - 4) * 1000)]);
  checkPage(await (await fetch(`${hub.operations}/metrics`)).text());
  await askDashboard(prometheus.url);
  await checkRules(prometheus.url);
  const seen = await load;
  if (seen) {
    const { statuses } = seen;
    check("events were accepted, repeated and refused as they should", statuses[202] > 500 && statuses[409] > 0 && statuses[400] > 0 && !statuses[500]
      ? null : JSON.stringify(seen));
    check("frames arrived", seen.frames > 100 ? null : JSON.stringify(seen));
    check("no socket was closed by the hub", seen.closed === 0 ? null : `${seen.closed} were`);
  }
}

function checkPage(page) {
  try {
    execFileSync("promtool", ["check", "metrics"], { input: page, timeout: 30_000, stdio: ["pipe", "pipe", "pipe"], encoding: "utf8" });
    check("promtool check metrics", null);
  } catch (e) {
    check("promtool check metrics", `${e.stdout}${e.stderr}`);
  }

  for (const name of contract) {
    const values = [...page.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, "gm"))].map(([, value]) => Number(value));
    check(`/metrics has ${name}`, values.length > 0 && values.every(Number.isFinite) ? null : `values ${values}`);
  }

  for (const channel of ["websocket", "apns", "fcm"]) {
    const good = channel === "websocket" ? "sent" : "accepted";
    const sum = [...page.matchAll(new RegExp(`^pnh_deliveries_total\\{channel="${channel}",.*status="${good}"\\} (\\S+)`, "gm"))]
      .reduce((total, [, value]) => total + Number(value), 0);
    check(`${channel} delivered`, sum > 0 ? null : `no delivery was ${good}`);
  }
}

async function askDashboard(url) {
  const script = join(root, "k8s/grafana/check.mjs");
  const answer = await promisify(execFile)(process.execPath, [script, "--prometheus", url, "--window", "10s"], { timeout: 120_000 }).catch((e) => e);
  forward(answer.stdout ?? "");
  if (answer.stderr) {
    check("dashboard is asked", answer.stderr);
  }
}

async function checkRules(url) {
  const { data } = await (await fetch(`${url}/api/v1/rules`)).json();
  const rules = data.groups.flatMap((group) => group.rules);
  const sick = rules.filter((rule) => rule.health !== "ok");
  check("every rule is evaluated without an error", rules.length > 0 && sick.length === 0 ? null : JSON.stringify(sick));
  const critical = rules.filter((rule) => rule.state === "firing" && rule.labels.severity === "critical");
  check("no critical alert fires on a healthy hub", critical.length === 0 ? null : JSON.stringify(critical.flatMap((rule) => rule.alerts)));
}

/** With the project's rules and scrape settings, pointed at the hub instead of at a cluster's DNS, every second. */
async function startPrometheus(hub) {
  const folder = mkdtempSync(join(tmpdir(), "pnh-prometheus-"));
  const port = await freePort();
  const settings = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${join(root, "k8s/prometheus/rules.yml")}]
scrape_configs:
  - job_name: pnh
    static_configs: [{ targets: ["localhost:${hub.operationsPort}"] }]
`;
  writeFileSync(join(folder, "prometheus.yml"), settings);
  const child = spawn("prometheus", [`--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`, "--log.level=warn"], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => { errors += text; });
  const ended = new Promise((done) => child.once("exit", done).once("error", (e) => { errors += e.message; done(); }));
  const stop = async () => {
    child.kill("SIGTERM");
    await Promise.race([ended, delay(10_000)]);
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  for (let i = 0; i < 100; i++) {
    const url = `http://127.0.0.1:${port}`;
    if ((await fetch(`${url}/-/ready`).catch(() => null))?.ok) {
      return { url, stop };
    }

    await new Promise((r) => setTimeout(r, 200));
  }

  await stop();
  throw new Error(`prometheus is not ready: ${errors}`);
}
