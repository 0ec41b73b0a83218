// Providers that answer late or never.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { randomBytes } from "node:crypto";
import { send, post } from "../../tests/ship/kill/publishers.mjs";
import { statesOf, until, withHub } from "./rig.mjs";

const transports = ["Framework", "Direct"];

export const providers = [
  { name: "late-answer", what: "APNs takes a message and answers after 6, 12 and 20 s, over each transport", run: late },
  { name: "never-answered", what: "APNs takes a message and never answers (TTL 180 s), over each transport", run: never },
];

async function late(program) {
  const seen = [];
  for (const transport of transports) {
    for (const seconds of [6, 12, 20]) {
      seen.push(await one(program, transport, { kind: "slow", delay: seconds, times: 0 }, 75_000, (states) => states[0]?.startsWith("accepted")));
    }
  }

  const shown = seen.map((each) => each.shown).join(", ");
  return { times: seen.length, wrong: seen.some((each) => !each.settled || each.shown !== 1), happened: `shown ${shown} times; ended ${[...new Set(seen.map((each) => each.states.join()))].join(" / ")}` };
}

async function never(program) {
  const seen = await Promise.all(transports.map((transport) => one(program, transport, { kind: "slow", delay: 600, times: 0 }, 150_000, (states) => states[0]?.startsWith("unconfirmed"))));
  return {
    times: seen.length, wrong: seen.some((each) => !each.settled || each.asked > 3),
    happened: `asked ${seen.map((each) => each.asked).join(" and ")} times, ended ${[...new Set(seen.map((each) => each.states.join()))].join(" / ")}`,
  };
}

function one(program, transport, script, limit, isEnd) {
  return withHub(program, async (stage) => {
    const token = randomBytes(32).toString("hex");
    await send(stage, "PUT", "/v1/users/ada/devices/phone", { platform: "ios", apns: { token, environment: "sandbox" } });
    await sandbox(stage, "PUT", `/sandbox/scripts/${token}`, script);
    const answer = await post(stage, { id: "late", to: { user: "ada" }, class: "message", ttl: 180, notification: { title: "Late", body: "once" } });
    let states = [];
    const settled = answer?.status === 202 && await until(limit, async () => isEnd(states = (await statesOf(stage, "late")) ?? []));
    const phone = ((await sandbox(stage, "GET", "/sandbox/phones")) ?? []).find((each) => each.address === token);
    const timeline = (await send(stage, "GET", "/v1/events/late"))?.json;
    const attempts = Math.max(0, ...(timeline?.deliveries ?? []).flatMap((each) => (each.milestones ?? []).map((milestone) => milestone.attempts ?? milestone.attempt ?? 0)));
    return { settled, states, shown: phone?.received ?? 0, asked: Math.max(attempts, phone?.received ?? 0) };
  }, { Pnh__Lanes__Transport: transport });
}

function sandbox(stage, method, path, body) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const asked = request(stage.fcm + path, { method, ca: readFileSync(stage.ca), headers: { "content-type": "application/json", "content-length": Buffer.byteLength(text) } }, (answer) => {
      let said = "";
      answer.setEncoding("utf8").on("data", (part) => { said += part; });
      answer.on("end", () => (answer.statusCode < 300 ? resolve(said ? JSON.parse(said) : null) : reject(new Error(`${path}: ${answer.statusCode} ${said}`))));
    });
    asked.on("error", reject).end(text);
  });
}
