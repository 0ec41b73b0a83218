// node clone.mjs: a clone whose folder's path holds a folder named src, and a space, builds as any other and rewrites no file of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checked, finish } from "./report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "pnh-clone-"));
const clone = join(scratch, "src", "a clone");
const run = (command, ...args) => {
  try {
    return execFileSync(command, args, { cwd: args[0] === "clone" ? root : clone, encoding: "utf8", timeout: 240_000, stdio: ["ignore", "pipe", "pipe"] });
  } catch (e) {
    throw new Error((e.stdout || e.stderr || e.message).slice(-2000));
  }
};

try {
  run("git", "clone", "--quiet", "--depth", "1", `file://${root}`, clone);
  await checked("a clone below a folder named src builds a project of src and its tests", () => run("dotnet", "build", "tests/Pnh.Sandbox.Tests"));
  await checked("no file of that clone is rewritten", () => {
    const changed = run("git", "status", "--porcelain");
    if (changed !== "") {
      throw new Error(changed);
    }
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

finish();
