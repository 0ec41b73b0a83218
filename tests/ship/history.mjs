// Programs of other commits of the clone's own history.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Publishes this commit into `folder`, after `edit(source folder)`; gives its program. Throws what a command printed. */
export function publish(commit, folder, edit = () => {}) {
  if (!has(commit)) {
    run("git", "fetch", "--quiet", "--unshallow");
  }

  run("mkdir", "-p", folder);
  run("git", "archive", "--output", join(folder, "source.tar"), commit);
  run("tar", "xf", join(folder, "source.tar"), "-C", folder);
  edit(folder);
  run("dotnet", "publish", join(folder, "src/Pnh.Api"), "-c", "Release", "-r", "linux-x64", "--self-contained", "false", "-p:PublishReadyToRun=false", "-o", join(folder, "published"));
  return join(folder, "published/pnh");
}

function has(commit) {
  try {
    run("git", "cat-file", "-e", `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

function run(command, ...args) {
  try {
    return execFileSync(command, args, { cwd: root, encoding: "utf8", timeout: 400_000, stdio: ["ignore", "pipe", "pipe"] });
  } catch (e) {
    throw new Error(`${command} ${args[0]}: ${(e.stdout || e.stderr || e.message).slice(-2000)}`);
  }
}
