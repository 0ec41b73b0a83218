// node compose.mjs PROGRAM: compose.yaml as far as it can be looked at without containers: what it mounts is there, names and ports meet, and its settings are taken by the real program.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { check, checked, finish } from "./report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = process.argv[2];
const read = (file) => parse(readFileSync(join(root, file), "utf8"));
const compose = read("compose.yaml");
const { hub, prometheus, grafana } = compose.services;
const scratch = mkdtempSync(join(tmpdir(), "pnh-compose-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

for (const [name, service] of Object.entries(compose.services)) {
  const mounts = service.volumes.map((volume) => volume.split(":"));
  const missing = mounts.filter(([from]) => from.startsWith("./") ? !existsSync(join(root, from)) : !(from in compose.volumes)).map(([from]) => from);
  check(`what ${name} mounts is there`, missing.length === 0 ? null : missing.join(", "));
  check(`${name} is of a fixed version`, service.build || /:[v\d][\d.]+$/.test(service.image) ? null : service.image);
}

check("only sockets and API are open to other machines",
  Object.values(compose.services).flatMap((service) => service.ports).filter((port) => !port.startsWith("127.0.0.1:")).join() === "8080:8080" ? null : "a port more is");
check("Prometheus asks the hub where it listens", read("k8s/compose/prometheus.yml").scrape_configs[0].static_configs[0].targets.join() === `hub:${hub.ports[1].split(":").at(-1)}` ? null : "another address");
check("the dashboard finds its alerts' job", read("k8s/compose/prometheus.yml").scrape_configs[0].job_name === "pnh" ? null : "the rules ask for job pnh");
check("Grafana asks Prometheus", new URL(read("k8s/compose/grafana/datasource.yml").datasources[0].url).hostname in compose.services ? null : "another host");
check("Grafana's dashboards are where they are mounted",
  grafana.volumes.some((volume) => volume.split(":")[1] === `${read("k8s/compose/grafana/dashboards.yml").providers[0].options.path}/dashboard.json`) ? null : "elsewhere");
check("the hub has its data on a volume, and may write nowhere else", hub.read_only && hub.volumes.join() === "data:/data" && prometheus ? null : "not so");

await checked("promtool takes the scrape settings with the cluster's rules", () => {
  copyFileSync(join(root, "k8s/compose/prometheus.yml"), join(scratch, "prometheus.yml"));
  copyFileSync(join(root, "k8s/prometheus/rules.yml"), join(scratch, "rules.yml"));
  execFileSync("promtool", ["check", "config", join(scratch, "prometheus.yml")], { stdio: "pipe" });
});

await checked("the program takes the hub's settings, and refuses a name that it does not know", () => {
  const own = Object.fromEntries(Object.entries(hub.environment).map(([name, value]) => [name, value.startsWith("${PNH_SECRET") ? "0123456789abcdef0123456789abcdef" : value]));
  const image = { Pnh__Data: join(scratch, "data"), Pnh__Urls: "http://+:8080", Pnh__OperationsUrls: "http://+:9090" };
  const tried = (more) => execFileSync(program, ["config", "check"], { stdio: "pipe", env: { ...process.env, ...image, ...own, ...more } });
  tried({});
  try {
    tried({ Pnh__Secret: "x" });
  } catch {
    return;
  }

  throw new Error("it takes Pnh__Secret");
});

finish();
