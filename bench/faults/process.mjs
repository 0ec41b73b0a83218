// The process: few descriptors, little memory, large topics, publishers of few connections.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { delay } from "../../tests/ship/hub.mjs";
import { post, send } from "../../tests/ship/kill/publishers.mjs";
import { metric, ready, registerQuiet, statesOf, until, withHub } from "./rig.mjs";

const other = "k".repeat(40); // the other app's key

export const process_ = [
  { name: "descriptors", what: "twice as many connections without a credential as `ulimit -n` (256, 400, 1,024, 20,000) allows, upgrades, a scrape and publishers beside, both transports", run: descriptors },
  { name: "memory", what: "events for a device that is away, at a GC heap limit of 200 MB, until they are refused; then all withdrawn", run: memory },
  { name: "memory-of-one-app", what: "the same by one app on one connection, calls and messages in turn, until it is refused; then 250 events of another app, one after the other", run: memoryOfOneApp },
  { name: "large-topic", what: "a durable event to a topic of 200,000 members with a device each, calls beside it, then a `transient` one", run: largeTopic },
  { name: "few-publishers", what: "16 connections that wait for each answer, 4,000 events each time at a hub that has just started", run: fewPublishers },
  { name: "two-apps", what: "1,500 connections of one app with as many calls in each pipeline as it takes, whatever is answered (a process on its own core), and one call after the other of another app", run: twoApps },
];

async function descriptors(program) {
  const script = join(import.meta.dirname, "../../tests/ship/descriptors.mjs");
  const run = spawnSync("node", [script, program, "--limits", "256,400,1024,20000", "--rounds", "5"], { encoding: "utf8", timeout: 900_000, maxBuffer: 1 << 26 });
  const [good, bad] = [run.stdout.match(/^ok /gm)?.length ?? 0, run.stdout.match(/^not ok .*/gm) ?? []];
  const happened = `${good} checks held (alive, /healthz, the scrape, accepted events arrived, one log line a second), ${bad.length} did not${bad.length > 0 ? `: ${bad[0]}` : ""}`;
  return { times: 40, wrong: run.status !== 0 || bad.length > 0 || good === 0, happened };
}

function memory(program) {
  return withHub(program, async (stage) => {
    await registerQuiet(stage, "ada");
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    const [first, ids] = [{}, []];
    const padding = "x".repeat(200);
    const users = 2_000;
    for (let i = 0; i < users; i++) {
      await send(stage, "PUT", `/v1/users/away-${i}/devices/tablet`, { platform: "desktop" }, agent);
    }

    let n = 0;
    const isOver = () => ["bulk", "message", "call"].every((each) => first[each] !== undefined) || n > 1_500_000;
    await Promise.all(Array.from({ length: 32 }, async () => {
      while (!isOver()) {
        const id = n++;
        const class_ = ["bulk", "message", "call"].find((each) => first[each] === undefined) ?? "call";
        const answer = await post(stage, { id: `m${id}`, to: { user: `away-${id % users}` }, class: class_, ttl: 86_400, data: { padding } }, agent);
        if (answer?.status === 202) {
          ids.push(answer.json.id);
        } else if (answer?.status === 429 || answer?.status === 503) {
          first[class_] ??= ids.length;
        } else if (answer === null && stage.hub.child.exitCode !== null) {
          throw new Error(`the hub ended after ${ids.length} events: ${stage.hub.output.slice(-300)}`);
        }
      }
    }));
    const readyFull = await ready(stage);
    const read = await statesOf(stage, ids[0]);
    for (let at = 0; at < ids.length; at += 32) {
      await Promise.all(ids.slice(at, at + 32).map((id) => send(stage, "POST", `/v1/events/${id}/withdraw`, {}, agent)));
    }

    const again = await until(60_000, async () => (await post(stage, { to: { user: "away-1" }, class: "bulk", data: {} }, agent))?.status === 202);
    agent.destroy();
    return {
      times: 1, wrong: !isOver() || read === null || !again,
      happened: `bulk refused after ${first.bulk}, message after ${first.message}, call after ${first.call} waiting events; /readyz ${readyFull}, reads went on; after ${ids.length} withdrawals bulk was ${again ? "taken again" : "NOT taken"}`,
    };
  }, { DOTNET_GCHeapHardLimit: "0xC800000" });
}

function memoryOfOneApp(program) {
  return withHub(program, async (stage) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const users = 4_000;
    for (let i = 0; i < users; i++) {
      await send(stage, "PUT", `/v1/users/away-${i}/devices/tablet`, { platform: "desktop" }, agent);
    }

    const padding = "x".repeat(200);
    let [taken, refused] = [0, null];
    const from = Date.now();
    while (refused === null && Date.now() - from < 240_000) {
      const lines = Array.from({ length: 500 }, (_, i) => JSON.stringify({ to: { user: `away-${(taken + i) % users}` }, class: i % 2 ? "call" : "message", ttl: 86_400, data: { padding } }));
      const answer = await upload(stage, lines, agent);
      taken += answer.accepted;
      refused = answer.problem;
    }

    const seconds = Math.round((Date.now() - from) / 1000);
    const quiet = { ...stage, key: other };
    await send(quiet, "PUT", "/v1/users/bea/devices/tablet", { platform: "desktop" }, agent);
    let denied = 0;
    for (let i = 0; i < 250; i++) {
      denied += (await post(quiet, { to: { user: "bea" }, class: ["bulk", "message", "call"][i % 3], data: {} }, agent))?.status === 202 ? 0 : 1;
    }

    const transient = (await post(stage, { to: { user: "away-1" }, class: "transient", data: {} }, agent))?.status;
    const isReady = await ready(stage);
    agent.destroy();
    return {
      times: 1, wrong: refused?.code !== "memory-full" || denied > 0 || transient !== 202 || isReady !== 200,
      happened: `refused after ${taken} waiting events and ${seconds} s (${refused?.code}: ${refused?.detail?.split(":")[0]}); of the other app ${denied} of 250 refused; the first one's transient ${transient}, /readyz ${isReady}`,
    };
  }, { DOTNET_GCHeapHardLimit: "0xC800000", Pnh__Apps__other__Keys__0__Secret: other, Pnh__Apps__other__Keys__0__Scopes: "send register" });
}

// How many of the lines were taken, and the first line's problem that was not.
function upload(stage, lines, agent) {
  return new Promise((resolve, reject) => {
    const message = request({
      host: "127.0.0.1", port: stage.port, method: "POST", path: "/v1/events", agent, headers: { authorization: `Bearer ${stage.key}`, "content-type": "application/x-ndjson" },
    }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => { text += part; }).on("end", () => {
        const read = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
        resolve({ accepted: read.at(-1)?.accepted ?? 0, problem: read.find((line) => line.problem)?.problem ?? (answer.statusCode >= 400 ? read[0] : null) });
      });
    });
    message.on("error", reject);
    message.end(lines.join("\n"));
  });
}

function largeTopic(program) {
  return withHub(program, async (stage) => {
    const members = 200_000;
    const agent = new Agent({ keepAlive: true, maxSockets: 64 });
    for (let at = 0; at < members; at += 64) {
      await Promise.all(Array.from({ length: Math.min(64, members - at) }, async (_, i) => {
        await send(stage, "PUT", `/v1/users/u${at + i}/devices/tablet`, { platform: "desktop" }, agent);
        await send(stage, "PUT", `/v1/topics/all/members/u${at + i}`, undefined, agent);
      }));
    }

    const idle = await calls(stage, agent, 200);
    const before = peak(stage);
    const started = Date.now();
    const answer = await post(stage, { id: "wide", to: { topic: "all" }, class: "message", ttl: 3600, data: {} }, agent);
    const answered = Date.now() - started;
    const beside = await calls(stage, agent, 200);
    const isDone = await until(120_000, async () => await metric(stage, 'pnh_ledger_planned_total{app="demo",class="message"}') >= members);
    const grew = Math.round((peak(stage) - before) / 1024);
    const took = ((Date.now() - started) / 1000).toFixed(1);
    await until(2000, () => false);
    const cpu = cpuOf(stage);
    await post(stage, { to: { topic: "all" }, class: "transient", data: {} }, agent);
    await until(500, () => false);
    const transient = cpuOf(stage) - cpu;
    agent.destroy();
    return {
      times: 1, wrong: answer?.status !== 202 || answered > 1000 || !isDone,
      happened: `202 after ${answered} ms, all ${isDone ? "planned" : "NOT planned"} after ${took} s; peak of memory +${grew} MB, what waits included; a call's POST p99 ${beside} ms beside it, ${idle} ms before; ${transient.toFixed(2)} CPU s in the half second of the transient one`,
    };
  });
}

async function calls(stage, agent, count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    await post(stage, { to: { user: "nobody" }, class: "call", data: {} }, agent);
    times.push(performance.now() - from);
  }

  return times.sort((a, b) => a - b)[Math.floor(count * 0.99)].toFixed(1);
}

async function fewPublishers(program) {
  const starts = 10;
  let [sent, refused] = [0, 0];
  for (let round = 0; round < starts; round++) {
    await withHub(program, async (stage) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });
      await Promise.all(Array.from({ length: 16 }, async () => {
        for (let i = 0; i < 250; i++) {
          sent++;
          refused += (await post(stage, { to: { user: "ada" }, class: ["message", "bulk", "transient"][i % 3], data: {} }, agent))?.status === 202 ? 0 : 1;
        }
      }));
      agent.destroy();
    });
  }

  return { times: starts, wrong: refused > 0, happened: `${refused} of ${sent} refused` };
}

async function twoApps(program) {
  return await withHub(program, async (stage) => {
    const pid = `${stage.hub.child.pid}`;
    execFileSync("taskset", ["-acp", "0", pid]);
    execFileSync("taskset", ["-acp", "1", `${process.pid}`]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await callsOf(stage, other, agent, 100);
    const idle = await callsOf(stage, other, agent, 300);
    const greedy = spawn(process.execPath, [join(import.meta.dirname, "pipelines.mjs"), `${stage.port}`, stage.key, "1500", "10"], { stdio: "ignore" });
    const ended = new Promise((done) => greedy.once("exit", done));
    await until(2500, () => false);
    const beside = await callsOf(stage, other, agent, 250);
    await ended;
    agent.destroy();
    execFileSync("taskset", ["-acp", "0,1", `${process.pid}`]);
    return {
      times: 1, wrong: idle.refused + beside.refused > 0 || beside.p50 > 10,
      happened: `the other's call p50 ${idle.p50.toFixed(2)} ms before, ${beside.p50.toFixed(2)} ms beside (p90 ${beside.p90.toFixed(1)}); ${beside.refused} of its ${beside.count} refused; hub on one core`,
    };
  }, { Pnh__Apps__other__Keys__0__Secret: other, Pnh__Apps__other__Keys__0__Scopes: "send" });
}

async function callsOf(stage, key, agent, count) {
  const times = [];
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    refused += (await post({ ...stage, key }, { to: { user: "bea" }, class: "call", data: "x" }, agent))?.status === 202 ? 0 : 1;
    times.push(performance.now() - from);
    await delay(10 + (Math.random() * 10));
  }

  times.sort((a, b) => a - b);
  return { count, refused, p50: times[count >> 1], p90: times[Math.floor(count * 0.9)] };
}

const peak = (stage) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${stage.hub.child.pid}/status`, "utf8"))[1]);

function cpuOf(stage) {
  const fields = readFileSync(`/proc/${stage.hub.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
