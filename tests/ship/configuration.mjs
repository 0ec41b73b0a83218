// node configuration.mjs PROGRAM: the settings that kustomize renders, given to the real hub as a pod would. The committed placeholders must
// stop it with a line for each; with real values it must start and take the publisher's key.
import { execFileSync, spawn } from "node:child_process";
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { delay, freePort } from "./hub.mjs";
import { check, checked, finish } from "./report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = resolve(process.argv[2]);
const mounted = "/etc/pnh/providers";
const key = randomBytes(24).toString("base64url");

await checked("the hub refuses the example's placeholders, each in a line", async () => {
  const { code, output } = await run(environment(), (hub) => hub.ended);
  for (const name of ["Keys:0:SecretHash", "Tokens:Hs256Secret"]) {
    if (!output.includes(name)) {
      throw new Error(`nothing is said of ${name}: ${output}`);
    }
  }

  if (typeof code !== "number" || code === 0 || /\n\s+at .+\(/.test(output)) {
    throw new Error(`ended with ${code}: ${output}`);
  }
});

await checked("the hub starts with the example's settings filled in, and takes the key", async () => {
  const { code, output } = await run(filled(environment()), async (hub) => {
    await ready(hub);
    const answers = [await presence(hub, key), await presence(hub, "another")];
    hub.child.kill("SIGTERM");
    await Promise.race([hub.ended, delay(30_000)]);
    check("the key opens the API, another does not", answers[0] === 200 && answers[1] === 401 ? null : `answered ${answers}`);
  });
  if (code !== 0) {
    throw new Error(`ended with ${code}: ${output}`);
  }
});
finish();

/** What the container of the example would see: its ConfigMap and Secret, and the image's own variables. */
function environment() {
  const text = execFileSync("kubectl", ["kustomize", join(root, "k8s/overlays/example")], { encoding: "utf8", timeout: 60_000 });
  const variables = { DOTNET_EnableDiagnostics: "0" };
  for (const object of parseAllDocuments(text).map((document) => document.toJS())) {
    const isSettings = ["pnh-settings", "pnh-secrets"].some((name) => object.metadata.name.startsWith(`${name}-`));
    for (const [name, value] of Object.entries((isSettings && object.data) || {})) {
      variables[name] = object.kind === "Secret" ? Buffer.from(value, "base64").toString() : value;
    }
  }

  return variables;
}

/** With values where the placeholders are; the mounted files get real keys. */
function filled(variables) {
  return {
    ...variables,
    Pnh__Apps__demo__Keys__0__SecretHash: createHash("sha256").update(key).digest("hex"),
    Pnh__Apps__demo__Tokens__Hs256Secret: randomBytes(48).toString("base64"),
    Pnh__Apps__demo__Apns__0__TeamId: "ABCDE12345",
    Pnh__Apps__demo__Apns__0__KeyId: "FGHIJ67890",
  };
}

function writeProviderFiles(folder) {
  mkdirSync(folder);
  const pkcs8 = { type: "pkcs8", format: "pem" };
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pkcs8);
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pkcs8);
  writeFileSync(join(folder, "apns.p8"), ec, { mode: 0o600 });
  writeFileSync(join(folder, "fcm.json"), JSON.stringify({
    type: "service_account", project_id: "demo-project", private_key_id: "1", private_key: rsa,
    client_email: "pnh@demo-project.iam.gserviceaccount.com", token_uri: "https://oauth2.googleapis.com/token",
  }), { mode: 0o600 });
}

/** Runs the hub until `body` is done; files of the mount are found in a folder of this run. */
async function run(variables, body) {
  const folder = mkdtempSync(join(tmpdir(), "pnh-configuration-"));
  writeProviderFiles(join(folder, "providers"));
  const [port, operationsPort] = [await freePort(), await freePort()];
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replace(mounted, join(folder, "providers"))]));
  const own = {
    PATH: process.env.PATH, HOME: folder, Pnh__Data: join(folder, "data"),
    Pnh__Urls: `http://localhost:${port}`, Pnh__OperationsUrls: `http://localhost:${operationsPort}`,
  };
  const child = spawn(program, [], { cwd: folder, env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const hub = { child, url: `http://localhost:${port}`, operations: `http://localhost:${operationsPort}`, output: "" };
  hub.ended = new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal)).once("error", (e) => done(e.message)));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => { hub.output += text; });
  }

  try {
    await Promise.race([body(hub), delay(45_000)]);
    child.kill("SIGKILL");
    return { code: await hub.ended, output: hub.output };
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ready(hub) {
  for (let i = 0; i < 150; i++) {
    const answer = await fetch(`${hub.operations}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answer?.ok) {
      return;
    }

    if ((await Promise.race([hub.ended, new Promise((r) => setTimeout(r, 200, "running"))])) !== "running") {
      break;
    }
  }

  throw new Error(`not ready: ${hub.output}`);
}

async function presence(hub, secret) {
  const answer = await fetch(`${hub.url}/v1/users/ada/presence`, { headers: { authorization: `Bearer ${secret}` }, signal: AbortSignal.timeout(5000) });
  return answer.status;
}
