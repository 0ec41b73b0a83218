// node bench/faults.mjs PROGRAM [--only NAME,…] [--report bench/results/faults.md]: the real hub under faults and strangers, one line for each kind: what was done, how often,
// what happened. Some ten minutes; loopback only. A kind that goes wrong says WRONG in its line and makes the exit code 1. Full disks need root (a tmpfs of their own), two apps h2load.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { fanouts } from "./faults/fanouts.mjs";
import { folder } from "./faults/folder.mjs";
import { process_ } from "./faults/process.mjs";
import { providers } from "./faults/providers.mjs";
import { readers } from "./faults/readers.mjs";
import { strangers } from "./faults/strangers.mjs";

const { values: options, positionals: [program] } = parseArgs({ allowPositionals: true, options: { only: { type: "string" }, report: { type: "string" } } });
if (!program || !existsSync(program)) {
  console.error("There is no such program: give the published hub, such as out/pnh.");
  process.exit(2);
}

process.setMaxListeners(0); // each stage ends its processes with this one

const all = [...folder, ...providers, ...process_, ...fanouts, ...strangers, ...readers];
const kinds = all.filter(({ name }) => !options.only || options.only.split(",").includes(name));
const rows = [];
for (const kind of kinds) {
  let row;
  try {
    row = await kind.run(resolve(program));
  } catch (e) {
    row = { times: 0, happened: (e.message ?? `${e}`).replaceAll(/\s+/g, " ").slice(0, 300), wrong: true };
  }

  rows.push({ ...kind, ...row });
  console.log(`${row.wrong ? "not ok" : "ok"} ${kind.name}: ${row.times} x ${kind.what}: ${row.happened}`);
}

if (options.report) {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  writeFileSync(options.report, `# The hub under faults and strangers
\`node bench/faults.mjs PROGRAM --report bench/results/faults.md\`; with \`--only\` the other lines stay.

| what was done | times | what happened | commit |
|---|---|---|---|
${lines(commit).join("\n")}
`);
}

function lines(commit) {
  const former = options.only && existsSync(options.report) ? readFileSync(options.report, "utf8").split("\n") : [];
  return all.flatMap((kind) => {
    const row = rows.find(({ name }) => name === kind.name);
    return row
      ? `| ${row.what} | ${row.times} | ${row.wrong ? "**WRONG** " : ""}${row.happened.replaceAll("|", "\\|").replaceAll(/\/\S*\/data\//g, "")} | ${commit} |`
      : former.filter((line) => line.startsWith(`| ${kind.what} |`));
  });
}

process.exit(rows.some((row) => row.wrong) ? 1 : 0);
