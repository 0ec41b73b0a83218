// Asks a Prometheus that scrapes a hub every question of the dashboard: each panel, annotation and variable.
// node check.mjs --prometheus http://127.0.0.1:9091 [--window 15s] [dashboard.json]
// One line per question, "ok …" or "not ok …"; exit code 1 when one was answered with an error, with nothing, or with NaN alone.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    prometheus: { type: "string" },
    // Takes the place of $__rate_interval, for which Grafana takes four scrape intervals.
    window: { type: "string", default: "15s" },
  },
});
if (!values.prometheus) {
  console.error("usage: node check.mjs --prometheus URL [--window 15s] [dashboard.json]");
  process.exit(2);
}

const file = positionals[0] ?? fileURLToPath(new URL("dashboard.json", import.meta.url));
const questions = questionsOf(JSON.parse(readFileSync(file, "utf8")));
let failed = 0;
for (const { title, expr } of questions) {
  const query = substitute(expr);
  const problem = query.includes("$") ? `unknown variable in ${query}` : await ask(query);
  failed += problem ? 1 : 0;
  console.log(problem ? `not ok dashboard: ${title}: ${problem}` : `ok dashboard: ${title}`);
}

if (questions.length === 0) {
  console.log(`not ok dashboard: ${file} asks nothing`);
}

process.exit(failed > 0 || questions.length === 0 ? 1 : 0);

/** Every expression of the dashboard with a title to report it by. A panel without one is an error of its own. */
function questionsOf(dashboard) {
  const found = [];
  for (const annotation of dashboard.annotations?.list ?? []) {
    if (annotation.expr) {
      found.push({ title: `annotation ${annotation.name}`, expr: annotation.expr });
    }
  }

  for (const variable of dashboard.templating?.list ?? []) {
    if (variable.type === "query") {
      const [, metric] = /^label_values\((.+), *\w+\)$/.exec(variable.query.query ?? variable.query) ?? [];
      found.push({ title: `variable ${variable.name}`, expr: metric ?? "$unreadable" });
    }
  }

  for (const panel of (dashboard.panels ?? []).flatMap((p) => [p, ...(p.panels ?? [])])) {
    if (panel.type === "row" || panel.type === "text") {
      continue;
    }

    const targets = panel.targets?.length ? panel.targets : [{ refId: "-", expr: "$nothing" }];
    found.push(...targets.map((t) => ({ title: `${panel.title} ${t.refId}`, expr: t.expr })));
  }

  return found;
}

function substitute(expr) {
  return expr.replaceAll("$__rate_interval", values.window).replaceAll(/\$\{?(instance|app)\}?/g, ".*");
}

/** Null when Prometheus answers with at least one number; otherwise what is wrong. */
async function ask(query) {
  const body = new URLSearchParams({ query });
  try {
    const response = await fetch(new URL("/api/v1/query", values.prometheus), { method: "POST", body, signal: AbortSignal.timeout(10_000) });
    const answer = await response.json();
    if (answer.status !== "success") {
      return `${answer.errorType}: ${answer.error} in ${query}`;
    }

    const numbers = answer.data.result.map((series) => Number(series.value[1]));
    if (numbers.length === 0) {
      return `no data for ${query}`;
    }

    return numbers.every(Number.isNaN) ? `only NaN for ${query}` : null;
  } catch (e) {
    return `${e.message} (is Prometheus at ${values.prometheus}?)`;
  }
}
