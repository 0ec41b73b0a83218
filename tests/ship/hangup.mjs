// node hangup.mjs PROGRAM: SIGHUP at a hub. With a terminal it ends with its drain and 0; under nohup nothing happens; without a terminal it goes on and shows the certificate that was put into its file. A
// certificate is also taken without a signal, and a file that is none leaves the one before. Keys of client tokens go the same way.
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect } from "node:tls";
import { delay, freePort, startHub } from "./hub.mjs";
import { check, checked, finish } from "./report.mjs";

const program = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "pnh-hangup-"));
const [path, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];

try {
  await checked("with a terminal a SIGHUP is a SIGTERM: drained, 0", withTerminal);
  await checked("under nohup nothing happens", underNohup);
  await checked("without a terminal the keys of client tokens are read again", readsKeys);
  await checked("without a terminal the certificate is read again, at a signal and by itself, and a bad one is refused", readsAgain);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

finish();

async function withTerminal() {
  const hub = await startHub(program, { wrap: ["sh", "-c", 'exec script -qefc "$*" /dev/null', "sh"] });
  process.kill(pidOf(hub), "SIGHUP");
  const code = await Promise.race([hub.ended, delay(20_000).then(() => "late")]);
  must(code === 0, `it ended with ${code}: ${hub.output.slice(-500)}`);
  must(/The terminal is closed/.test(hub.output), `it did not say so: ${hub.output.slice(-500)}`);
}

async function underNohup() {
  const hub = await startHub(program, { wrap: ["setsid", "nohup"] });
  process.kill(pidOf(hub), "SIGHUP");
  await delay(1000);
  must((await fetch(`${hub.url}/healthz`)).ok, "it does not answer");
  must(!/SIGHUP/.test(hub.output), "it heard the signal");
  await hub.stop();
}

async function readsAgain() {
  write("first");
  const port = await freePort();
  const hub = await startHub(program, {
    wrap: ["setsid"],
    settings: [`--Pnh:Urls=https://127.0.0.1:${port}`, `--Kestrel:Certificates:Default:Path=${path}`, `--Kestrel:Certificates:Default:KeyPath=${keyPath}`],
  });
  must(await shownAt(port) === "first", "it does not show its certificate");
  write("second");
  process.kill(pidOf(hub), "SIGHUP");
  await until(async () => await shownAt(port) === "second", 3_000, "the certificate was not taken at the signal");

  writeFileSync(path, "none");
  await until(async () => /cannot be read .*the one before is shown/.test(hub.output), 15_000, "a file that is no certificate is not said");
  must(await shownAt(port) === "second", "the certificate before is not shown");

  write("third");
  await until(async () => await shownAt(port) === "third", 15_000, "the certificate was not taken by itself");
  const metrics = await (await fetch(`${hub.operations}/metrics`)).text();
  const left = Number(/^pnh_certificate_left_seconds (\S+)$/m.exec(metrics)?.[1]);
  must(left > 86_400 * 29 && left < 86_400 * 31, `pnh_certificate_left_seconds is ${left}`);
  await hub.stop();
}

async function readsKeys() {
  const file = join(folder, "tokens.pem");
  const [first, second] = [generateKeyPairSync("ec", { namedCurve: "P-256" }), generateKeyPairSync("ec", { namedCurve: "P-256" })];
  const put = (keys) => writeFileSync(file, keys.publicKey.export({ type: "spki", format: "pem" }));
  put(first);
  const hub = await startHub(program, { wrap: ["setsid"], key: "none", settings: [`--Pnh:Apps:demo:Tokens:PublicKeyFile=${file}`] });
  const answers = async (keys) => (await fetch(`${hub.url}/v1/users/mia/settings`, { headers: { authorization: `Bearer ${signed(keys.privateKey)}` } })).status;
  must(await answers(first) === 200 && await answers(second) === 401, "the first key is not the one that counts");

  put(second);
  process.kill(pidOf(hub), "SIGHUP");
  await until(async () => await answers(second) === 200, 3_000, "the second key was not taken at the signal");
  must(await answers(first) === 401, "the first key still counts");
  await hub.stop();
}

function signed(key) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "ES256" })}.${part({ aud: "demo", sub: "mia", exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** The process of the hub itself, whatever started it. */
function pidOf(hub) {
  const found = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).find((name) => {
    try {
      const [first, ...args] = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return first === program && args.includes(`--Pnh:Data=${hub.data}`);
    } catch {
      return false;
    }
  });
  must(found, "the hub's process is not found");
  return Number(found);
}

async function until(isSo, ms, problem) {
  for (const end = Date.now() + ms; !(await isSo()); await delay(100)) {
    must(Date.now() < end, problem);
  }
}

function must(isSo, problem) {
  if (!isSo) {
    throw new Error(problem);
  }
}

function write(name) {
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", keyPath, "-out", path, "-days", "30", "-subj", `/CN=${name}`], { stdio: "ignore" });
}

function shownAt(port) {
  return new Promise((done, fail) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"] }, () => {
      must(socket.alpnProtocol === "http/1.1", `ALPN is ${socket.alpnProtocol}`);
      done(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    }).once("error", fail);
  });
}
