// Long topics: what the fan-outs of some apps cost another app's event to its own topic.
import { Agent } from "node:http";
import { delay } from "../../tests/ship/hub.mjs";
import { post, send } from "../../tests/ship/kill/publishers.mjs";
import { metric, withHub } from "./rig.mjs";

const members = 60_000;
const own = 3_000;
const bar = 0.5;
const greedy = ["greedy-1", "greedy-2", "greedy-3"];
const keyOf = (app) => `${app}-key-0123456789abcdef0123456789abcdef`;
const settings = Object.fromEntries([...greedy, "quiet"].flatMap((app) => [
  [`Pnh__Apps__${app}__Keys__0__Secret`, keyOf(app)], [`Pnh__Apps__${app}__Keys__0__Scopes`, "send register read"],
]));

export const fanouts = [
  { name: "fan-outs", what: `an app's \`message\` to its topic of ${own} members, whose devices have no address, beside fan-outs of one and of three other apps to topics of ${members}: 2.4 calls a second to four topics; 64 messages at once`, run: beside },
];

function beside(program) {
  return withHub(program, async (stage) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 64 });
    const of = (app) => ({ ...stage, key: keyOf(app) });
    await fill(of("quiet"), agent, own, ["own"]);
    for (const app of greedy) {
      await fill(of(app), agent, members, app === greedy[0] ? ["t0", "t1", "t2", "t3"] : ["t0", "t1"]);
    }

    const idle = await measure(stage, of("quiet"), agent, 5, 500);
    const said = [`idle ${idle.worst.toFixed(2)} s`];
    let wrong = idle.count === 0;
    for (const apps of [greedy.slice(0, 1), greedy]) {
      // What waits in mailboxes ends first: a heap of millions is another trial.
      await settled(stage, 180_000);
      const stopCalls = calls(apps.map(of), agent);
      await delay(3_000);
      const withCalls = await measure(stage, of("quiet"), agent, 5, 3_000);
      const called = await stopCalls();
      await settled(stage, 180_000);
      let sent = 0;
      for (let i = 0; i < 64; i++) {
        sent += (await post(of(apps[i % apps.length]), { to: { topic: `t${i % 2}` }, class: "message", ttl: 60, data: {} }, agent))?.status === 202 ? 1 : 0;
      }

      const underWay = await metric(stage, 'pnh_queue_items{queue="fan-out"');
      const withMessages = await measure(stage, of("quiet"), agent, 5, 3_000);
      wrong ||= withCalls.worst > idle.worst + bar || withMessages.worst > idle.worst + bar;
      wrong ||= called < 20 || underWay < 30;
      said.push(`beside ${apps.length} app${apps.length > 1 ? "s" : ""} ${withCalls.worst.toFixed(2)} s with their ${called} calls, ${withMessages.worst.toFixed(2)} s with ${underWay} of their ${sent} messages under way`);
    }

    agent.destroy();
    return { times: 25, wrong, happened: `until the last of its members had it, the slowest of five: ${said.join("; ")}` };
  }, settings);
}

async function fill(stage, agent, count, topics) {
  for (let at = 0; at < count; at += 64) {
    await Promise.all(Array.from({ length: Math.min(64, count - at) }, async (_, i) => {
      await send(stage, "PUT", `/v1/users/u${at + i}/devices/tablet`, { platform: "desktop" }, agent);
      for (const topic of topics) {
        await send(stage, "PUT", `/v1/topics/${topic}/members/u${at + i}`, undefined, agent);
      }
    }));
  }
}

// Seconds from the POST until each member's delivery is in the books.
async function measure(stage, publisher, agent, times, pause) {
  let [worst, count] = [0, 0];
  for (let i = 0; i < times; i++) {
    const before = await planned(stage);
    const from = performance.now();
    const answer = await post(publisher, { to: { topic: "own" }, class: "message", ttl: 3600, collapseKey: "k", data: {} }, agent);
    while (answer?.status === 202 && await planned(stage) < before + own && performance.now() - from < 60_000) {
      await delay(10);
    }

    worst = Math.max(worst, answer?.status === 202 ? (performance.now() - from) / 1000 : Infinity);
    count++;
    await delay(pause);
  }

  return { worst, count };
}

const planned = (stage) => metric(stage, 'pnh_ledger_planned_total{app="quiet",class="message"}');

// Gives how many were taken. 2.4 a second in all, of these apps and their topics in turn.
function calls(publishers, agent) {
  let [n, taken] = [0, 0];
  const timer = setInterval(() => {
    const publisher = publishers[n % publishers.length];
    void post(publisher, { to: { topic: `t${n++ % (publishers.length === 1 ? 4 : 2)}` }, class: "call", ttl: 10, data: {} }, agent).then((answer) => { taken += answer?.status === 202 ? 1 : 0; });
  }, 1000 / 2.4);
  return async () => {
    clearInterval(timer);
    await delay(1000);
    return taken;
  };
}

async function settled(stage, most) {
  for (const end = Date.now() + most; Date.now() < end && await metric(stage, 'pnh_queue_items{queue="fan-out"') + await metric(stage, 'pnh_ledger_in_flight{app="greedy') > 0; await delay(250)) {
    // until no fan-out is under way and nothing of one waits
  }
}
