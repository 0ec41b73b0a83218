// The Dockerfile, without an engine: linted, and held against what k8s/base and the solution expect of it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, checked, finish } from "./report.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const text = readFileSync(join(root, "Dockerfile"), "utf8");
const instructions = text.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n/g, " ").split("\n").map((line) => line.trim()).filter(Boolean);
const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));
const has = (line) => last.some((l) => l.replaceAll(/\s+/g, " ").includes(line));

await checked("Dockerfile passes dockerfilelint", () => {
  const answer = execFileSync(join(here, "node_modules/.bin/dockerfilelint"), ["-o", "json", join(root, "Dockerfile")],
    { encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] });
  const { totalIssues, files } = JSON.parse(answer);
  if (totalIssues !== 0) {
    throw new Error(JSON.stringify(files));
  }
});
check("Dockerfile runs as user 1654", has("USER 1654") ? null : "no USER 1654 in the last stage");
check("Dockerfile keeps data in /data", has('VOLUME ["/data"]') && has("Pnh__Data=/data") && has("--chown=1654:1654") ? null : "volume, setting or owner is missing");
check("Dockerfile listens on 8080 and 9090", has("EXPOSE 8080 9090") && has("Pnh__Urls=http://+:8080") && has("Pnh__OperationsUrls=http://+:9090")
  ? null : "ports or addresses are missing");
check("Dockerfile switches diagnostics off", has("DOTNET_EnableDiagnostics=0") ? null : "DOTNET_EnableDiagnostics=0 is missing");
check("Dockerfile brings time zones, old names included", has("COPY --from=build /image/zoneinfo/ /usr/share/zoneinfo/")
  && instructions.some((l) => /^RUN .*apt-get install .*\btzdata tzdata-legacy\b.*cp -a \/usr\/share\/zoneinfo \/image\//.test(l))
  ? null : "the chiseled base has no /usr/share/zoneinfo, so the build stage's must be copied");
check("Dockerfile needs no shell", last.every((l) => !/^(RUN|HEALTHCHECK|SHELL)\b/.test(l)) && last.some((l) => /^ENTRYPOINT \["/.test(l))
  ? null : "the last stage has no shell: no RUN, no HEALTHCHECK, ENTRYPOINT as an array");

const copied = instructions.filter((l) => l.startsWith("COPY ") && !l.includes("--from")).flatMap((l) => l.split(/\s+/).slice(1, -1));
const missing = copied.filter((path) => !existsSync(join(root, path)));
check("Dockerfile copies files that exist", missing.length ? missing.join(" ") : null);

// The last rule that fits decides; a name without a wildcard stands for what is below it too.
const rules = readFileSync(join(root, ".dockerignore"), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
const isIgnored = (path) => rules.reduce((ignored, rule) => {
  const [takes, name] = rule.startsWith("!") ? [false, rule.slice(1)] : [true, rule];
  const below = name === "*" || path === name || path.startsWith(`${name}/`) || (name.startsWith("**/") && path.split("/").includes(name.slice(3)));
  return below ? takes : ignored;
}, false);
const kept = copied.filter((path) => isIgnored(path.replace(/\/$/, "")));
check("what the Dockerfile copies reaches the builder", kept.length ? `.dockerignore keeps out ${kept.join(" ")}` : null);

const projects = [...readFileSync(join(root, "Pnh.slnx"), "utf8").matchAll(/Path="(src\/[^"]+)"/g)].map(([, path]) => path);
const used = projects.flatMap((path) => [...readFileSync(join(root, path), "utf8").matchAll(/<ProjectReference Include="([^"]+)"/g)].map(([, to]) => join(path, "..", to)));
const properties = ["Directory.Build.props", "src/Directory.Build.props"];
const forgotten = [...new Set([...projects, ...used, ...properties])].filter((path) => !copied.includes(path));
const embedded = projects.flatMap((path) => [...readFileSync(join(root, path), "utf8").matchAll(/<EmbeddedResource Include="([^"]+)"/g)].map(([, file]) => join(path, "..", file)));
const uncopied = embedded.filter((path) => !copied.some((folder) => path.startsWith(folder)));
check("Dockerfile copies what projects embed", uncopied.length ? uncopied.join(" ") : null);
check("Dockerfile restores every project of src, with what they use and their properties", forgotten.length ? forgotten.join(" ") : null);
finish();
