// node configuration.mjs PROGRAM: the settings that kustomize renders, given to real nodes as their pods would. The committed placeholders must
// stop a node with a line for each; with real values it must start and take the publisher's key, and an edge must be linked to its hub.
import { execFileSync, spawn } from "node:child_process";
import { createHash, createHmac, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import WebSocket from "ws";
import { parseAllDocuments } from "yaml";
import { delay, freePort } from "./hub.mjs";
import { check, checked, finish } from "./report.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = resolve(process.argv[2]);
const key = randomBytes(24).toString("base64url");
const secret = randomBytes(48).toString("base64");
const mounts = mkdtempSync(join(tmpdir(), "pnh-mounts-"));
process.once("exit", () => rmSync(mounts, { recursive: true, force: true }));
writeProviderFiles(join(mounts, "providers"));
const example = render("k8s/overlays/example");
const overlay = render("k8s/overlays/edges");

await checked("the hub refuses the example's placeholders, each in a line", async () => {
  refuses(await run(podOf(example, "StatefulSet"), (hub) => hub.ended), ["Keys:0:SecretHash", "Tokens:Hs256Secret"]);
});

await checked("the hub starts with the example's settings filled in, and takes the key", async () => {
  const { code, output } = await run(filled(podOf(example, "StatefulSet")), async (hub) => {
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

await checked("hub and edge refuse the placeholders of the overlay of edges, each in a line", async () => {
  writeClusterPlaceholders(join(mounts, "cluster"));
  refuses(await run(podOf(overlay, "StatefulSet"), (hub) => hub.ended), ["Keys:0:SecretHash", "Tokens:Hs256Secret", "Cluster:KeyFile"]);
  refuses(await run(podOf(overlay, "Deployment"), (edge) => edge.ended), ["Tokens:Hs256Secret", "Cluster:KeyFile"]);
});

await checked("hub and edge start with the overlay of edges filled in, and an event that is posted at the hub comes to the edge's socket", async () => {
  makeClusterFiles(join(mounts, "cluster"));
  const hub = filled(podOf(overlay, "StatefulSet"));
  const edge = filled(podOf(overlay, "Deployment"));
  const links = `https://localhost:${await freePort()}`;
  [hub.variables.Pnh__Cluster__Urls, edge.variables.Pnh__Hubs] = [links, links];
  await run(hub, (running) => run(edge, async (beside) => {
    await ready(running);
    await ready(beside);
    await arrives(running, beside);
  }));
});
finish();
process.exit();

function render(folder) {
  const text = execFileSync("kubectl", ["kustomize", join(root, folder)], { encoding: "utf8", timeout: 60_000 });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** What the container of a workload would get: arguments, the image's own variables, those of its ConfigMaps and Secrets, and its own. */
function podOf(objects, kind) {
  const [container] = objects.find((object) => object.kind === kind).spec.template.spec.containers;
  const plain = (object) => Object.fromEntries(Object.entries(object.data).map(([name, value]) => [name, object.kind === "Secret" ? Buffer.from(value, "base64").toString() : value]));
  const named = (wanted, name) => plain(objects.find((object) => object.kind === wanted && object.metadata.name === name));
  const image = Object.fromEntries([...readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^(?:ENV|   ) (\w+)=(\S+)/gm)].map(([, name, value]) => [name, value]));
  const from = (container.envFrom ?? []).map((e) => (e.configMapRef ? named("ConfigMap", e.configMapRef.name) : named("Secret", e.secretRef.name)));
  const own = (container.env ?? []).map(({ name, value, valueFrom }) => [
    name, valueFrom?.secretKeyRef ? named("Secret", valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key] : valueFrom ? "pnh-pod-1" : value,
  ]);
  return { args: container.args ?? [], variables: Object.assign({}, image, ...from, Object.fromEntries(own)) };
}

/** With values where the placeholders are; the mounted files get real keys. Only what is there is filled in. */
function filled(pod) {
  const values = {
    Pnh__Apps__demo__Keys__0__SecretHash: createHash("sha256").update(key).digest("hex"),
    Pnh__Apps__demo__Tokens__Hs256Secret: secret,
    Pnh__Apps__demo__Apns__0__TeamId: "ABCDE12345",
    Pnh__Apps__demo__Apns__0__KeyId: "FGHIJ67890",
  };
  return { ...pod, variables: { ...pod.variables, ...Object.fromEntries(Object.entries(values).filter(([name]) => name in pod.variables)) } };
}

function refuses({ code, output }, names) {
  for (const name of names) {
    if (!output.includes(name)) {
      throw new Error(`nothing is said of ${name}: ${output}`);
    }
  }

  if (typeof code !== "number" || code === 0 || /\n\s+at .+\(/.test(output)) {
    throw new Error(`ended with ${code}: ${output}`);
  }
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

function writeClusterPlaceholders(folder) {
  mkdirSync(folder);
  for (const [name, value] of Object.entries(overlay.find((object) => object.metadata.name.startsWith("pnh-cluster-") && object.kind === "Secret").data)) {
    writeFileSync(join(folder, name), Buffer.from(value, "base64"));
  }
}

/** By the commands of k8s/README.md; the certificate is good for this machine too. */
function makeClusterFiles(folder) {
  const [commands] = /(?<=```sh\n)head -c 32[^`]+(?=```)/.exec(readFileSync(join(root, "k8s/README.md"), "utf8"));
  execFileSync("sh", ["-e", "-c", commands.replace("DNS:pnh-cluster", "DNS:pnh-cluster,DNS:localhost")], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  execFileSync("mv", ["cluster.key", "key"], { cwd: folder });
}

/** Runs a node until `body` is done. Addresses are of this machine, mounted files those of `mounts`. */
async function run({ args, variables }, body) {
  const folder = mkdtempSync(join(tmpdir(), "pnh-configuration-"));
  const [port, operationsPort] = [await freePort(), await freePort()];
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replace("/etc/pnh", mounts)]));
  const own = {
    PATH: process.env.PATH, HOME: folder, Pnh__Data: env.Pnh__Data && join(folder, "data"),
    Pnh__Urls: `http://localhost:${port}`, Pnh__OperationsUrls: `http://localhost:${operationsPort}`,
  };
  const child = spawn(program, args, { cwd: folder, env: { ...env, ...own }, stdio: ["ignore", "pipe", "pipe"] });
  const node = { child, url: `http://localhost:${port}`, operations: `http://localhost:${operationsPort}`, output: "" };
  node.ended = new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal)).once("error", (e) => done(e.message)));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => { node.output += text; });
  }

  try {
    await Promise.race([body(node), delay(60_000).then(() => Promise.reject(new Error(`not done within a minute: ${node.output}`)))]);
    child.kill("SIGKILL");
    return { code: await node.ended, output: node.output };
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ready(node) {
  for (let i = 0; i < 150; i++) {
    const answer = await fetch(`${node.operations}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answer?.ok) {
      return;
    }

    if ((await Promise.race([node.ended, new Promise((r) => setTimeout(r, 200, "running"))])) !== "running") {
      break;
    }
  }

  throw new Error(`not ready: ${node.output}`);
}

async function presence(hub, credential) {
  const answer = await fetch(`${hub.url}/v1/users/ada/presence`, { headers: { authorization: `Bearer ${credential}` }, signal: AbortSignal.timeout(5000) });
  return answer.status;
}

/** A client at the edge gets what a publisher posts at the hub. */
async function arrives(hub, edge) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: "ada", aud: "demo", exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  const token = `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  const socket = new WebSocket(`${edge.url.replace("http", "ws")}/v1/socket`);
  const frames = [];
  const saw = async (type) => {
    for (const end = Date.now() + 10_000; Date.now() < end; await delay(20)) {
      if (frames.find((frame) => frame.type === type)) {
        return;
      }
    }

    throw new Error(`no ${type}; came: ${JSON.stringify(frames)}`);
  };
  socket.on("message", (text) => frames.push(JSON.parse(text)));
  socket.on("error", () => {});
  socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token, device: "tab", state: "active" })));
  await saw("welcome");
  const answer = await fetch(`${hub.url}/v1/events`, {
    method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify({ to: { user: "ada" }, data: { n: 1 } }), signal: AbortSignal.timeout(5000),
  });
  if (answer.status !== 202) {
    throw new Error(`the hub answered ${answer.status}: ${await answer.text()}`);
  }

  await saw("event");
  socket.terminate();
}
