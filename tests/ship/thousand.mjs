// 1,000 users with mixed devices, driven by curl and by a WebSocket client that is no part of the hub: every delivery exactly once, where the
// plan said before. Usage: node thousand.mjs PATH-OF-PUBLISHED-pnh
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import WebSocket from "ws";
import { delay, startHub } from "./hub.mjs";
import { checked, finish } from "./report.mjs";

const users = 1000;
const kinds = ["iphone", "android", "iphone + active tab", "android + background tab", "both + active tab", "active tab", "muted", "nothing"];
const kindOf = (i) => kinds[i % kinds.length];

const lines = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
const hex = (i) => i.toString(16).padStart(64, "0");

const events = [];
for (let i = 0; i < users; i++) {
  for (const className of ["message", "call"]) {
    events.push({ id: `${className}-${i}`, to: { user: `u${i}` }, class: className, data: { i }, notification: { title: `To u${i}`, body: className } });
  }
}

// An active tab has longer than usual to acknowledge for the user's phone: the burst is more than two cores do at once.
const hub = await startHub(process.argv[2], { settings: ["--Pnh:Classes:message:PushAfter=00:00:10"] });
const secret = (await readFile(`${hub.data}/demo.hs256`, "ascii")).trim();
const got = new Map(); // "where id" -> how often
const count = (where, id) => got.set(`${where} ${id}`, (got.get(`${where} ${id}`) ?? 0) + 1);

try {
  await checked("1,000 users are imported by curl", importDevices);
  const sockets = await checked("every tab says hello and is welcomed", openTabs);
  const expected = await checked("explain plans every event", expectations);
  await checked("every event is answered 202 with its id", sendAll);
  await checked("every delivery arrives exactly once, and none that was not planned", () => compare(expected));
  sockets?.forEach((socket) => socket.close());
} finally {
  await checked("the hub stops cleanly", () => hub.stop());
}

finish();

function curl(path, { body, type = "application/json", method, url = hub.url } = {}) {
  const args = ["-sS", "--fail-with-body", "--max-time", "120", `${url}${path}`, "-H", `Authorization: Bearer ${hub.key}`];
  if (url !== hub.url) {
    args.push("--cacert", `${hub.data}/sandbox/ca.pem`);
  }

  if (method) {
    args.push("-X", method);
  }

  if (body !== undefined) {
    args.push("-H", `Content-Type: ${type}`, "--data-binary", "@-");
  }

  return new Promise((resolve, reject) => {
    const child = execFile("curl", args, { maxBuffer: 256 * 1024 * 1024 }, (e, out, err) => (e ? reject(new Error(`${err} ${out}`)) : resolve(out)));
    child.stdin.end(body ?? "");
  });
}

async function importDevices() {
  const devices = [];
  for (let i = 0; i < users; i++) {
    const kind = kindOf(i);
    if (/iphone|both|muted/.test(kind)) {
      devices.push({ user: `u${i}`, device: "iphone", platform: "ios", apns: { token: hex(i), environment: "sandbox" } });
    }

    if (/android|both/.test(kind)) {
      devices.push({ user: `u${i}`, device: "android", platform: "android", fcm: { token: `fcm:${i}` } });
    }

    if (kind === "muted") {
      await curl(`/v1/users/u${i}/settings`, { method: "PUT", body: '{"mutedClasses":["message","call"]}' });
    }
  }

  const answer = lines(await curl("/v1/devices:import", { body: devices.map((d) => JSON.stringify(d)).join("\n"), type: "application/x-ndjson" }));
  const end = answer.at(-1);
  if (!end.done || end.imported !== devices.length || end.refused !== 0) {
    throw new Error(JSON.stringify(end));
  }
}

// A client token made without the hub's code (RFC 7519).
function token(user) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: user, aud: "demo", exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

function openTabs() {
  const opening = [];
  for (let i = 0; i < users; i++) {
    if (/tab/.test(kindOf(i))) {
      opening.push(openTab(`u${i}`, /active/.test(kindOf(i)) ? "active" : "background"));
    }
  }

  return Promise.all(opening);
}

function openTab(user, state) {
  const socket = new WebSocket(`${hub.url.replace("http", "ws")}/v1/socket`);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${user}: no welcome within 60 s`)), 60_000);
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`${user}: closed with ${code}`)));
    socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token: token(user), device: "tab", state })));
    socket.on("message", (data) => {
      const frame = JSON.parse(data);
      if (frame.type === "welcome") {
        clearTimeout(late);
        resolve(socket);
      } else if (frame.type === "event") {
        count(`${user} tab`, frame.id);
        socket.send(JSON.stringify({ type: "ack", seq: frame.seq }));
      }
    });
  });
}

// What must arrive: sockets and pushes at once; a push that waits for an ack must not go out, because the tabs acknowledge.
async function expectations() {
  const expected = new Map();
  const sample = new Map();
  for (const event of events) {
    const key = `${event.class} ${kindOf(Number(event.id.split("-")[1]))}`;
    let plan = sample.get(key);
    if (!plan) {
      plan = JSON.parse(await curl("/v1/events:explain", { body: JSON.stringify(event) })).users[0].devices;
      sample.set(key, plan);
    }

    for (const device of plan) {
      for (const step of device.steps.filter((s) => s.when === "now")) {
        expected.set(`${event.to.user} ${step.channel === "websocket" ? "tab" : device.device} ${event.id}`, 1);
      }
    }
  }

  if (expected.size < users) {
    throw new Error(`only ${expected.size} deliveries planned`);
  }

  return expected;
}

async function sendAll() {
  const body = events.map((e) => JSON.stringify(e)).join("\n");
  const answer = lines(await curl("/v1/events?receipts=all", { body, type: "application/x-ndjson" }));
  const ids = new Set(answer.map((line) => line.id).filter(Boolean));
  const end = answer.at(-1);
  if (!end.done || end.accepted !== events.length || end.refused !== 0 || ids.size !== events.length) {
    throw new Error(JSON.stringify(end));
  }
}

async function compare(expected) {
  let phones = [];
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(500)) {
    phones = JSON.parse(await curl("/sandbox/phones", { url: hub.fcm }));
    if (phones.reduce((sum, p) => sum + p.received, 0) + got.size >= expected.size) {
      break;
    }
  }

  // Longer than any ack deadline: what must not come has had its chance.
  await delay(12_000);
  phones = JSON.parse(await curl("/sandbox/phones", { url: hub.fcm }));
  for (const phone of phones) {
    const i = phone.platform === "ios" ? parseInt(phone.address, 16) : Number(phone.address.split(":")[1]);
    for (const shown of phone.lockScreen) {
      count(`u${i} ${phone.platform === "ios" ? "iphone" : "android"}`, shown.eventId);
    }
  }

  const wrong = [];
  for (const [delivery] of expected) {
    const times = got.get(delivery) ?? 0;
    if (times !== 1) {
      wrong.push(`${delivery}: ${times} times`);
    }
  }

  for (const [delivery, times] of got) {
    if (!expected.has(delivery)) {
      wrong.push(`${delivery}: not planned, came ${times} times`);
    }
  }

  console.log(`   ${expected.size} deliveries planned, ${got.size} arrived, ${wrong.length} wrong`);
  if (wrong.length > 0) {
    throw new Error(wrong.slice(0, 10).join("; "));
  }
}
