// node description.mjs: the description of the API, held against the linter's recommended rules. What it does not meet stands with its reason in .redocly.lint-ignore.yaml.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { check, finish } from "./report.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const { stdout, stderr } = spawnSync(
  "node_modules/.bin/redocly", ["lint", "../../src/Pnh.Api/Endpoints/openapi.json", "--extends=recommended", "--format=json"],
  { cwd: folder, encoding: "utf8", timeout: 60_000, env: { ...process.env, REDOCLY_TELEMETRY: "off" } });
const found = /^\{[^]*^\}/m.exec(stdout);
check("the linter read the description", found ? null : `${stdout} ${stderr}`);
const { totals, problems } = found ? JSON.parse(found[0]) : { problems: [] };
check("it has no warning", problems.length === 0 ? null : problems.map((one) => `${one.ruleId} at ${one.location?.[0]?.pointer}`).join(", "));
check("of its rules three are not met, each with a reason", totals?.ignored === 3 ? null : `${totals?.ignored} are left out`);
finish();
