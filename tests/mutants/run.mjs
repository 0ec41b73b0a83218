// node tests/mutants/run.mjs [--check] [--only NAME,…] [--table FILE] [--seconds N]: one-line faults that would hurt a user, and whether the tests see each.
// The tracked tree is copied to artifacts/mutants, every fault is written in as "fault or code", switched by PNH_MUTANT, and all is built once. Then each test project
// runs once without a fault, and the tests named by each fault run with it. --check: each fault still has its place in the code (text only, a second).
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { apply, faults } from "./faults.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, only: { type: "string" }, table: { type: "string" }, seconds: { type: "string", default: "300" } },
});
const root = resolve(import.meta.dirname, "../..");
const copy = join(root, "artifacts/mutants");
const read = (file) => readFileSync(join(root, file), "utf8");
const { texts, lost } = apply(faults, read);
for (const each of lost) {
  console.log(`not ok mutant ${each.name}: ${each.why}`);
}

if (options.check) {
  console.log(lost.length === 0 ? `ok ${faults.length} mutants have their place` : `${lost.length} of ${faults.length} mutants have lost their place`);
  process.exit(lost.length === 0 ? 0 : 1);
}

const chosen = faults.filter((fault) => (!options.only || options.only.split(",").includes(fault.name)) && !lost.includes(fault));
copyTree();
run("dotnet", ["build", "Pnh.slnx", "-p:RunAnalyzers=false", "-p:TreatWarningsAsErrors=false", "-v", "quiet"], {}, 1800_000, true);
const rows = [...sound(chosen), ...chosen.map(tryFault)];
const bad = rows.filter((row) => row.verdict !== "caught" && row.verdict !== "sound");
if (options.table) {
  writeFileSync(options.table, table(rows.filter((row) => row.hurts)));
}

console.log(`${rows.length - bad.length} passed, ${bad.length + lost.length} failed`);
process.exit(bad.length + lost.length === 0 ? 0 : 1);

// What no fault switches on must pass, or a red test would prove nothing.
function sound(all) {
  const filters = new Map();
  for (const { tests } of all) {
    const [project, filter] = split(tests);
    filters.set(project, new Set([...(filters.get(project) ?? []), ...filter.split("|")]));
  }

  return [...filters].map(([project, parts]) => {
    const result = test(project, [...parts].join("|"), "");
    const row = { name: `none in ${project}`, verdict: result.code === 0 && result.passed > 0 ? "sound" : "RED WITHOUT A FAULT", seen: result.failed[0] ?? "" };
    console.log(`${row.verdict === "sound" ? "ok" : "not ok"} ${row.name}: ${result.passed} tests passed ${row.seen}`);
    return row;
  });
}

function tryFault(fault) {
  const [project, filter] = split(fault.tests);
  const result = test(project, filter, fault.name);
  const verdict = result.failed.length > 0 ? "caught" : result.code === null ? "HANGS" : result.code !== 0 && result.passed === 0 ? "NO TEST RAN" : "NOT CAUGHT";
  console.log(`${verdict === "caught" ? "ok" : "not ok"} ${fault.name}: ${verdict} ${result.failed[0] ?? ""}`);
  return { ...fault, verdict, seen: result.failed[0] ?? "", count: result.failed.length };
}

function test(project, filter, fault) {
  const dll = join(copy, `artifacts/bin/${project}/debug/${project}.dll`);
  const names = filter.split("|").map((part) => `FullyQualifiedName~${part}`).join("|");
  const done = run("dotnet", ["vstest", dll, `--TestCaseFilter:${names}`, "--logger:console;verbosity=normal"], { PNH_MUTANT: fault }, Number(options.seconds) * 1000, false);
  const failed = [...done.stdout.matchAll(/^\s*Failed (\S+)/gm)].map((match) => match[1].replace(/^Pnh\.\w+\.Tests\./, ""));
  return { code: done.status, failed, passed: [...done.stdout.matchAll(/^\s*Passed (\S+)/gm)].length };
}

function run(command, words, environment, milliseconds, mustPass) {
  const done = spawnSync(command, words, {
    cwd: copy, encoding: "utf8", timeout: milliseconds, killSignal: "SIGKILL", maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, DOTNET_NOLOGO: "1", DOTNET_CLI_TELEMETRY_OPTOUT: "1", ...environment },
  });
  if (mustPass && done.status !== 0) {
    console.log(done.stdout.split("\n").filter((line) => line.includes("error")).slice(0, 20).join("\n"));
    console.log("not ok the tree with all faults in it is built");
    process.exit(1);
  }

  return done;
}

// Only what differs is written, so that a second run builds little.
function copyTree() {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const former = existsSync(join(copy, "files.json")) ? JSON.parse(readFileSync(join(copy, "files.json"), "utf8")) : [];
  for (const gone of former.filter((file) => !files.includes(file))) {
    rmSync(join(copy, gone), { force: true });
  }

  for (const file of files.filter((each) => existsSync(join(root, each)))) {
    put(file, texts.has(file) ? Buffer.from(texts.get(file)) : readFileSync(join(root, file)));
  }

  put("src/Pnh.Core/Mutant.cs", Buffer.from(`namespace Pnh.Core;

/// <summary>Which fault is switched on.</summary>
public static class Mutant
{
    private static readonly string? Name = System.Environment.GetEnvironmentVariable("PNH_MUTANT");

    /// <summary>True for the one.</summary>
    public static bool Is(string name) => Name == name;
}
`));
  writeFileSync(join(copy, "files.json"), JSON.stringify(files));
}

function put(file, bytes) {
  const path = join(copy, file);
  if (!existsSync(path) || !readFileSync(path).equals(bytes)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

function split(tests) {
  const at = tests.indexOf(":");
  return [tests.slice(0, at), tests.slice(at + 1)];
}

function table(all) {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  const caught = all.filter((row) => row.verdict === "caught").length;
  return `# One-line faults, and the tests that see them
\`node tests/mutants/run.mjs --table bench/results/mutants.md\` at ${commit}: ${caught} of ${all.length} caught.

| fault | what it would do to a user | verdict | tests that failed, and the first |
|---|---|---|---|
${all.map((row) => `| \`${row.name}\` | ${row.hurts} | ${row.verdict} | ${row.count}: \`${row.seen.replace(/\(.*$/, "")}\` |`).join("\n")}
`;
}
