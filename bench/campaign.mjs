// A call over APNs while a bulk campaign runs, and the campaign with and without the calls, with a provider that answers after 20 ms: nginx with its
// echo module (Debian: nginx, libnginx-mod-http-echo), which costs far less than the stand-in, so that the wire is the limit and not the cores. The hub has the first core, all else the second (taskset).
// Usage: node bench/campaign.mjs PATH-OF-PUBLISHED-pnh [--events 200000] [--users 20000] [--calls 400] [--lanes Framework|Direct] [--output FILE] [--title TEXT]
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../tests/ship/hub.mjs";
import { openStage } from "../tests/ship/kill/stage.mjs";

const { values: options, positionals: [program] } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: "string", default: "200000" }, users: { type: "string", default: "20000" }, calls: { type: "string", default: "400" },
    lanes: { type: "string", default: "Framework" },
    output: { type: "string" }, title: { type: "string", default: "" },
  },
});
const [events, users, calls] = [Number(options.events), Number(options.users), Number(options.calls)];
const callEvery = 50;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const hex = (i) => i.toString(16).padStart(64, "0");

// Provider and publisher stand for other machines: they have the second core, and the hub the first.
execFileSync("taskset", ["-a", "-p", "-c", "1", `${process.pid}`]);
const provider = await slowProvider();
const stage = await openStage(onOneCore(program), {
  settings: {
    Pnh__Apps__demo__Keys__0__Scopes: "send register read admin", Pnh__Apps__demo__Apns__0__BaseAddress: provider.url, SSL_CERT_FILE: provider.ca,
    Pnh__Lanes__Transport: options.lanes,
  },
});
try {
  stage.spawn();
  await stage.ready();
  await importDevices();
  await callFor("warm", 40);
  await campaign("warm", Math.min(events, 20_000));

  const idle = await callFor("idle", calls);
  const solo = await campaign("solo", events);
  let running = true;
  const together = campaign("with", events).finally(() => { running = false; });
  const busy = await callFor("busy", Infinity, () => running);
  const withCalls = await together;
  report(idle, busy, solo, withCalls);
} finally {
  await stage.close(false);
  provider.close();
}

/** HTTP/2 that answers 200 after 20 ms. */
async function slowProvider() {
  const folder = mkdtempSync(join(tmpdir(), "pnh-campaign-"));
  const [port, ca] = [await freePort(), join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=DNS:localhost", "-keyout", join(folder, "key.pem"), "-out", ca], { stdio: "ignore" });
  writeFileSync(join(folder, "nginx.conf"), `
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} ssl http2; listen [::1]:${port} ssl http2; ssl_certificate ${ca}; ssl_certificate_key ${folder}/key.pem;
    keepalive_requests 100000000; http2_max_concurrent_streams 1000;
    location / { echo_sleep 0.02; echo_exec @empty; }
    location @empty { echo -n ""; }
  }
}`);
  const child = spawn("/usr/sbin/nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  return { url: `https://localhost:${port}`, ca, folder, close: () => { child.kill("SIGTERM"); rmSync(folder, { recursive: true, force: true }); } };
}

/** A program that runs it on the first core, from its first instruction on: the runtime counts its cores only then. */
function onOneCore(path) {
  const wrapper = join(provider.folder, "pnh");
  writeFileSync(wrapper, `#!/bin/sh\nexec taskset -c 0 ${path} "$@"\n`, { mode: 0o755 });
  return wrapper;
}

function send(method, path, body, type = "application/json") {
  return new Promise((done, fail) => {
    request(stage.url + path, { method, headers: { Authorization: `Bearer ${stage.key}`, "Content-Type": type } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => { text += part; }).on("end", () => done({ status: answer.statusCode, text }));
    }).on("error", fail).end(body);
  });
}

async function importDevices() {
  const lines = [];
  for (let i = 0; i < users; i++) {
    lines.push(JSON.stringify({ user: `b${i}`, device: "phone", platform: "ios", apns: { token: hex(i), environment: "sandbox" } }));
  }

  lines.push(JSON.stringify({ user: "callee", device: "phone", platform: "ios", apns: { token: hex(users), environment: "sandbox" } }));
  const answer = await send("POST", "/v1/devices:import", lines.join("\n"), "application/x-ndjson");
  if (answer.status !== 200 && answer.status !== 207) {
    throw new Error(`import: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
}

/** Bulk pushes that APNs has accepted so far, by the hub's own counter. */
async function accepted() {
  const text = await new Promise((done, fail) => {
    request(`http://127.0.0.1:${stage.operationsPort}/metrics`, (answer) => {
      let all = "";
      answer.setEncoding("utf8").on("data", (part) => { all += part; }).on("end", () => done(all));
    }).on("error", fail).end();
  });
  return Number(/^pnh_deliveries_total\{channel="apns",class="bulk",status="accepted"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

/** Posts the campaign at once; gives pushes per second between the 10th and the 90th percent of it. */
async function campaign(name, count) {
  const before = await accepted();
  const body = [];
  for (let i = 0; i < count; i++) {
    body.push(JSON.stringify({ to: { user: `b${i % users}` }, class: "bulk", data: { i }, notification: { title: name, body: "An offer" } }));
  }

  const posting = (async () => {
    for (let at = 0; at < count; at += 20_000) {
      const answer = await send("POST", "/v1/events", body.slice(at, at + 20_000).join("\n"), "application/x-ndjson");
      if (answer.status !== 207 || /"refused":[1-9]/.test(answer.text)) {
        throw new Error(`campaign: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
    }
  })();
  let [from, to] = [null, null];
  for (let done = 0; done < count; await wait(100)) {
    done = (await accepted()) - before;
    const now = { at: performance.now(), done };
    from ??= done >= count * 0.1 ? now : null;
    to ??= done >= count * 0.9 ? now : null;
  }

  await posting;
  return ((to.done - from.done) / (to.at - from.at)) * 1000;
}

/** A call every 50 ms; from its 202's acceptance to the provider's answer in ms, as the timeline has it. */
async function callFor(name, count, goesOn = () => true) {
  const ids = [];
  for (let i = 0; i < count && goesOn(); i++) {
    const due = performance.now() + callEvery;
    const answer = await send("POST", "/v1/events", JSON.stringify({ to: { user: "callee" }, class: "call", notification: { title: name } }));
    if (answer.status !== 202) {
      throw new Error(`call: ${answer.status} ${answer.text}`);
    }

    ids.push(JSON.parse(answer.text).id);
    await wait(Math.max(0, due - performance.now()));
  }

  await wait(1000);
  const times = [];
  for (const id of ids) {
    const timeline = JSON.parse((await send("GET", `/v1/events/${id}`)).text);
    const delivery = timeline.deliveries?.[0];
    const answered = delivery?.milestones?.find((m) => m.state === "accepted" || m.status === "accepted" || m.kind === "attempted");
    times.push(answered ? Date.parse(answered.at) - Date.parse(timeline.acceptedAt) : Infinity);
  }

  return times.sort((a, b) => a - b);
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function report(idle, busy, solo, withCalls) {
  const [idle99, busy99] = [percentile(idle, 0.99), percentile(busy, 0.99)];
  const kept = (withCalls / solo) * 100;
  const row = (name, times) => `| ${name} | ${times.length} | ${percentile(times, 0.5)} | ${percentile(times, 0.99)} | ${times.at(-1)} |`;
  const text = `# A call during a bulk campaign

${options.title}
The hub on one core; nginx, which answers every push after 20 ms, and the publisher on another; Lanes:Transport ${options.lanes}. The campaign: ${events} bulk events by NDJSON to ${users} users with one iPhone each. A call every ${callEvery} ms to
one user; ms from its acceptance to the provider's answer, by the hub's timeline (whole ms).

| calls | how many | p50, ms | p99, ms | max, ms |
|---|---|---|---|---|
${row("on an idle hub", idle)}
${row("during the campaign", busy)}

| campaign | pushes/s |
|---|---|
| alone | ${solo.toFixed(0)} |
| with the calls | ${withCalls.toFixed(0)} |

- ${busy99 - idle99 <= 10 ? "met" : "MISSED"}: p99 of a call within 10 ms of the same on an idle hub: ${busy99 - idle99} ms more
- ${kept >= 80 ? "met" : "MISSED"}: the campaign keeps at least 80 % of its rate: ${kept.toFixed(0)} %
`;
  process.stdout.write(text);
  if (options.output) {
    writeFileSync(options.output, text);
  }
}
