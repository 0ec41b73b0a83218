// node payloads.mjs PROGRAM [--sabotage apple|google|types|browser]: pushes as they go to a provider, judged by code nobody here wrote: npm firebase-admin's validator and types, @parse/node-apn's notification of the same fields, http_ece.
// --sabotage changes a member of what this one judges, and must fail.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { startHub } from "./hub.mjs";
import * as apple from "./payloads/apple.mjs";
import * as browser from "./payloads/browser.mjs";
import * as google from "./payloads/google.mjs";
import { deviceToken, openProviders, registration, topic, voipToken } from "./payloads/providers.mjs";
import { shapes } from "./payloads/shapes.mjs";
import { check, checked, finish } from "./report.mjs";
import { until } from "./until.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: { sabotage }, positionals: [program] } = parseArgs({ allowPositionals: true, options: { sabotage: { type: "string" } } });
const lives = { call: 30, message: 86_400, bulk: 21_600 };
const key = randomBytes(24).toString("base64url");
const providers = await openProviders();
const hub = await startHub(resolve(program), {
  key, env: { SSL_CERT_FILE: providers.certificate },
  settings: [...providers.settings, `--Pnh:Apps:demo:Keys:0:Secret=${key}`, "--Pnh:Apps:demo:Keys:0:Scopes=send register read", `--Pnh:Apps:demo:Tokens:Hs256Secret=${randomBytes(32).toString("base64url")}`],
});

try {
  await register("ios", { apns: { token: deviceToken, voipToken } });
  await register("android", { fcm: { token: registration } });
  const { browser: { ecdh, auth, endpoint } } = providers;
  await register("web", { webpush: { endpoint, keys: { p256dh: ecdh.getPublicKey("base64url"), auth: auth.toString("base64url") } } });
  const messages = {};
  for (const [name, shape] of Object.entries(shapes)) {
    await checked(name, async () => {
      const { ios, android, web } = await push(`payloads-${Object.keys(messages).length}`, shape, messages, name);
      alike("aps", ios.json.aps, apple.aps(shape));
      alike("headers to Apple", pick(ios.headers, /^apns-(topic|push-type|priority|collapse-id)$/), apple.headers(shape, topic, collapseId(ios.id, shape)));
      alike("apns-expiration", expires(ios.headers["apns-expiration"], shape), true);
      alike("the message to Google", google.sent(google.ofSdk(android)), google.canonical(android));
      alike("the body in the browser", web.json, browser.flat(ios.id, shape));
      alike("headers to the push service", browser.problemOfHeaders(web.headers, providers.url, shape.ttl ?? lives[shape.class ?? "message"]), null);
    });
  }

  check(`${Object.keys(messages).length} messages to Google have the types of the SDK`, Object.keys(messages).length < 30 ? "there are fewer than 30" : problemOfTypes(messages));
} finally {
  await checked("the hub ends cleanly", () => hub.stop());
  providers.close();
  finish();
}

/** What went out for an event: the push to Apple, the message to Google, the push to the browser. */
async function push(id, { large: _, ...shape }, messages, name) {
  const from = providers.requests.length;
  await call("POST", "/v1/events", { id, to: { user: "ada" }, ...shape });
  await until("a push to each provider", () => providers.requests.length, (count) => count >= from + 3);
  const [ios, android, web] = [/^\/3\/device\//, /^\/v1\/projects\/demo\/messages:send$/, /^\/push\//].map((path) => providers.requests.slice(from).find((request) => path.test(request.path)));
  const message = JSON.parse(android.body).message;
  const pushes = { ios: { id, headers: ios.headers, json: JSON.parse(ios.body) }, android: message, web: { headers: web.headers, json: browser.open(web.body, providers.browser) } };
  switch (sabotage) {
    case "apple": pushes.ios.json.aps["mutable_content"] = 1; break;
    case "google": message.data.n = 1; break;
    case "types": message.android.collapse_keys = "x"; break;
    case "browser": pushes.web.json.titel = "x"; break;
  }

  messages[name] = google.ofSdk(message);
  return pushes;
}

/** Fields that the SDK's types do not have, and values that are not of theirs; null = none. */
function problemOfTypes(messages) {
  const folder = mkdtempSync(join(here, "node_modules/.payloads-"));
  try {
    const lines = Object.entries(messages).map(([name, message]) => `export const ${JSON.stringify(name).replaceAll(/\W/g, "_")}: Message = ${JSON.stringify(message)};`);
    const file = join(folder, "messages.ts");
    writeFileSync(file, `import type { Message } from ${JSON.stringify(google.types)};\n${lines.join("\n")}\n`);
    execFileSync(join(here, "node_modules/.bin/tsc"), ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--module", "nodenext", "--target", "es2022", "--types", "", file], { cwd: folder, encoding: "utf8", stdio: "pipe" });
    return null;
  } catch (e) {
    return e.stdout || e.message;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function collapseId(id, { collapseKey }) {
  return !collapseKey ? id : /^[!-~]{1,64}$/.test(collapseKey) ? collapseKey : createHash("sha256").update(collapseKey).digest("base64url");
}

/** Whether APNs keeps it for as long as the event lives, to 5 s. */
function expires(header, { ttl, class: eventClass = "message" }) {
  return ttl === 0 ? header === "0" : Math.abs(Number(header) - Date.now() / 1000 - (ttl ?? lives[eventClass])) < 5;
}

function alike(what, is, wanted) {
  if (!isDeepStrictEqual(is, wanted)) {
    const differs = (one, other) => one === null || typeof one !== "object" ? one : Object.fromEntries(Object.entries(one).filter(([name, value]) => !isDeepStrictEqual(value, other?.[name])));
    throw new Error(`${what}: ${JSON.stringify(differs(is, wanted))}, not ${JSON.stringify(differs(wanted, is))}`);
  }
}

function pick(headers, names) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}

function register(platform, addresses) {
  return call("PUT", `/v1/users/ada/devices/${platform}`, { platform, locale: "de", ...addresses });
}

async function call(method, path, body) {
  const answer = await fetch(hub.url + path, { method, headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
}
