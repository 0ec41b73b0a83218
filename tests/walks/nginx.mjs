// node nginx.mjs PROGRAM: the block for nginx of docs/operate.md, as it stands there, in front of a hub: an upload of 8 MB passes, a socket is answered, and the feed comes line by line.
// nginx stops passing a body on when its answer begins (seen with 1.22, one upload of two stood still), so the hub answers an upload through it at its end.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { delay, freePort, startHub } from "../ship/hub.mjs";
import { check, checked, finish } from "../ship/report.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
const page = readFileSync(new URL("../../docs/operate.md", import.meta.url), "utf8");
const block = /```nginx\n([\s\S]*?)```/.exec(page)[1];
const hub = await startHub(resolve(process.argv[2]), { settings: ["--Pnh:Limits:ConnectionsPerAddress=0"] });
const folder = mkdtempSync(join(tmpdir(), "pnh-nginx-"));
const port = await freePort();
writeFileSync(join(folder, "nginx.conf"), `
daemon off; pid ${folder}/pid; error_log stderr;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port}; ${block.replace("127.0.0.1:8080", `localhost:${hub.port}`)} }
}`);
await promisify(execFile)("/usr/sbin/nginx", ["-t", "-p", folder, "-c", join(folder, "nginx.conf")]).catch((e) => check("nginx takes the block", e.stderr));
const nginx = spawn("/usr/sbin/nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: ["ignore", "ignore", "inherit"] });
const front = { host: "127.0.0.1", port };
const bearer = { authorization: `Bearer ${hub.key}` };

try {
  for (let i = 0; i < 100 && !(await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.ok; i++) {
    await delay(50);
  }

  for (let n = 1; n <= 5; n++) {
    await checked(`an upload of 8 MB passes, number ${n}`, () => upload((bytes) => ({ "content-length": bytes })));
    await checked(`a chunked upload of 8 MB passes, number ${n}`, () => upload(() => ({ "transfer-encoding": "chunked" })));
  }

  await checked("a socket is opened, and gets what is sent", socket);
  await checked("the feed comes while it is followed", feed);
} finally {
  nginx.kill("SIGTERM");
  await checked("the hub stops cleanly", () => hub.stop());
  rmSync(folder, { recursive: true, force: true });
}

finish();

function upload(framing) {
  const line = `${JSON.stringify({ to: { user: "nobody" }, class: "bulk", data: { text: "x".repeat(900) } })}\n`;
  const lines = Math.ceil(8_000_000 / line.length);
  return new Promise((done, fail) => {
    const post = request({ ...front, method: "POST", path: "/v1/events", headers: { ...bearer, "content-type": "application/x-ndjson", ...framing(line.length * lines) } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => { text += part; }).on("end", () => (answer.statusCode === 207 && text.includes(`"accepted":${lines}`) ? done() : fail(new Error(`${answer.statusCode} ${text.slice(-300)}`))));
    });
    post.on("error", fail);
    post.end(line.repeat(lines));
  });
}

async function socket() {
  const token = await hub.token("mia");
  const client = new WebSocket(`ws://127.0.0.1:${port}/v1/socket`);
  await new Promise((done, fail) => client.once("open", done).once("error", fail));
  const next = () => new Promise((done) => client.once("message", (data) => done(JSON.parse(data))));
  let coming = next();
  client.send(JSON.stringify({ type: "hello", token, device: "tab", state: "active" }));
  const { type } = await coming;
  coming = next();
  await fetch(`http://127.0.0.1:${port}/v1/events`, { method: "POST", headers: { ...bearer, "content-type": "application/json" }, body: '{"to":{"user":"mia"},"class":"call","data":{}}' });
  const event = await Promise.race([coming, delay(10_000)]);
  client.terminate();
  if (type !== "welcome" || event?.type !== "event") {
    throw new Error(`${type}, then ${JSON.stringify(event)}`);
  }
}

async function feed() {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/feed`, { headers: bearer, signal: AbortSignal.timeout(20_000) });
  const reader = answer.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  if (!value?.length) {
    throw new Error("nothing came");
  }
}
