// Readers of history beside another app's calls. Run with arguments it is the process of the readers: node readers.mjs PORT KEY PATH CONNECTIONS.
import { spawn } from "node:child_process";
import { Agent, get } from "node:http";
import { fileURLToPath } from "node:url";
import { delay } from "../../tests/ship/hub.mjs";
import { post, send } from "../../tests/ship/kill/publishers.mjs";
import { withHub } from "./rig.mjs";

const other = "k".repeat(40); // the other app's key
const connections = 64;
const events = 200_000;
const perUpload = 20_000;
const calls = 500;
const most = 3; // times the p99 of the idle hub

export const readers = [{
  name: "readers",
  what: `${connections} connections of one app to each endpoint that reads history, one request after the other (a process of their own), on a log of ${events} events of it; and one call after the other of another app`,
  run: run,
}];

function run(program) {
  return withHub(program, async (stage) => {
    await fill(stage);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await callsOf(stage, agent); // warm
    const idle = [];
    const beside = [];
    for (const path of ["/v1/events?limit=100", "/v1/events?state=failed&limit=100", "/v1/events?user=u1&limit=100", "/v1/events/e77", "/v1/feed?follow=false", "/v1/devices:export", "/v1/topics/all/members"]) {
      const before = await callsOf(stage, agent);
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), stage.port, stage.key, path, connections], { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      child.stdout.on("data", (data) => { said += data; });
      await delay(1500);
      const during = await callsOf(stage, agent);
      child.kill("SIGTERM");
      await new Promise((done) => child.once("close", done));
      idle.push(before);
      beside.push({ path, ms: during, said: said.trim() });
      await delay(500);
    }

    agent.destroy();
    const usual = idle.sort((a, b) => a - b)[Math.floor(idle.length / 2)];
    return {
      times: beside.length, wrong: beside.some(({ ms, said }) => ms > most * usual || said === ""),
      happened: `a call's p99 is ${usual.toFixed(1)} ms idle; beside ${beside.map(({ path, ms, said }) => `${path} ${ms.toFixed(1)} (${said})`).join(", ")}`,
    };
  }, { Pnh__Apps__other__Keys__0__Secret: other, Pnh__Apps__other__Keys__0__Scopes: "send register" });
}

async function fill(stage) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  await Promise.all(Array.from({ length: 2_000 }, async (_, i) => {
    await send(stage, "PUT", `/v1/users/u${i}/devices/tab`, { platform: "desktop" }, agent);
    await send(stage, "PUT", `/v1/topics/all/members/u${i}`, undefined, agent);
  }));
  agent.destroy();
  for (let from = 0; from < events; from += perUpload) {
    const lines = Array.from({ length: perUpload }, (_, i) => JSON.stringify({ id: `e${from + i}`, to: { user: `u${(from + i) % 4_000}` }, class: "message", ttl: 3600, data: { text: "x".repeat(300) } }));
    const answer = await fetch(`${stage.url}/v1/events`, { method: "POST", headers: { Authorization: `Bearer ${stage.key}`, "Content-Type": "application/x-ndjson" }, body: lines.join("\n") });
    await answer.text();
  }
}

/** The p99 in ms. */
async function callsOf(stage, agent) {
  const times = [];
  for (let i = 0; i < calls; i++) {
    const from = performance.now();
    const answer = await post({ ...stage, key: other }, { to: { user: "nobody" }, class: "call", data: {} }, agent);
    if (answer?.status !== 202) {
      throw new Error(`a call was answered ${answer?.status}`);
    }

    times.push(performance.now() - from);
  }

  return times.sort((a, b) => a - b)[Math.floor(calls * 0.99)];
}

function read([port, key, path, count]) {
  const agent = new Agent({ keepAlive: true, maxSockets: Number(count) });
  const statuses = {};
  const next = () => get({ host: "127.0.0.1", port, path, agent, headers: { authorization: `Bearer ${key}` } }, (answer) => {
    statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
    answer.on("end", next).on("error", () => {}).resume();
  }).on("error", () => setTimeout(next, 100));
  Array.from({ length: Number(count) }, next);
  process.on("SIGTERM", () => {
    console.log(Object.entries(statuses).map(([status, times]) => `${status}: ${times}`).join(" "));
    process.exit();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  read(process.argv.slice(2));
}
