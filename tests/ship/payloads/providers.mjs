// APNs, FCM, Google's OAuth and a push service on one TLS port, which take everything and keep each request as it came. Nothing here is the project's own reading of a provider.
import { execFileSync } from "node:child_process";
import { createECDH, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const topic = "com.example.demo";
export const [deviceToken, voipToken, registration] = ["ab".repeat(32), "cd".repeat(32), "fcm-0123456789abcdef"];

/** `requests`: each with `path`, `headers`, `body` (a Buffer), in the order in which they came. `settings`: arguments that point a hub's app `demo` at it. `browser`: keys of the browser behind the push service. */
export async function openProviders() {
  const folder = mkdtempSync(join(tmpdir(), "pnh-payloads-"));
  const [certificate, key] = [join(folder, "ca.pem"), join(folder, "key.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const requests = [];
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate), allowHTTP1: true, settings: { maxConcurrentStreams: 100 } }, (request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      if (request.url === "/token") {
        answer(response, 200, { access_token: "of-the-check", token_type: "Bearer", expires_in: 3600 });
        return;
      }

      requests.push({ path: request.url, headers: { ...request.headers }, body: Buffer.concat(parts) });
      request.url.startsWith("/v1/projects/") ? answer(response, 200, { name: `projects/demo/messages/${requests.length}` }) : answer(response, request.url.startsWith("/3/") ? 200 : 201);
    });
  });
  await new Promise((listening) => server.listen(0, "localhost", listening));
  const sessions = new Set();
  server.on("session", (session) => sessions.add(session.once("close", () => sessions.delete(session))));

  const url = `https://localhost:${server.address().port}`;
  const file = (name, text) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const pem = (kind, options) => generateKeyPairSync(kind, options).privateKey.export({ type: "pkcs8", format: "pem" });
  const account = { type: "service_account", project_id: "demo", private_key_id: "k1", private_key: pem("rsa", { modulusLength: 2048 }), client_email: "hub@demo.example.com", token_uri: `${url}/token` };
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  const browser = { ecdh, auth: randomBytes(16), endpoint: `${url}/push/one-browser` };
  const app = "--Pnh:Apps:demo:";
  return {
    requests, browser, url, folder, certificate,
    settings: [
      `${app}Apns:0:TeamId=ABCDE12345`, `${app}Apns:0:KeyId=FGHIJ67890`, `${app}Apns:0:KeyFile=${file("apns.p8", pem("ec", { namedCurve: "P-256" }))}`, `${app}Apns:0:Topic=${topic}`, `${app}Apns:0:BaseAddress=${url}`,
      `${app}Fcm:0:ServiceAccountFile=${file("account.json", JSON.stringify(account))}`, `${app}Fcm:0:BaseAddress=${url}`,
      `${app}WebPush:0:Subject=mailto:ops@example.com`, `${app}WebPush:0:KeyFile=${file("vapid.pem", pem("ec", { namedCurve: "P-256" }))}`, `${app}WebPush:0:AllowedHosts=${new URL(url).host}`, `${app}WebPush:0:AllowLoopback=true`,
    ],
    close() {
      sessions.forEach((session) => session.destroy());
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answer(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body && JSON.stringify(body));
}
