// node pages.mjs PROGRAM [--pages 60] [--rounds 3]: pages as the README shows them, without a registered device, while a single hub is told to stop and killed: every event that was answered 202 is handled once, and none
// is said to be for nobody.
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "../../clients/js/pnh.js";
import { delay } from "./hub.mjs";
import { openStage } from "./kill/stage.mjs";
import { check, checked, finish } from "./report.mjs";
import { until } from "./until.mjs";

const WebSocket = createRequire(import.meta.url)("ws");
const { values, positionals: [program] } = parseArgs({ allowPositionals: true, options: { pages: { type: "string", default: "60" }, rounds: { type: "string", default: "3" } } });
const [count, rounds] = [Number(values.pages), Number(values.rounds)];
const stage = await openStage(resolve(program));
const [sent, handled, forNobody] = [new Map(), new Map(), []];
let isPosting = true;

try {
  stage.spawn();
  await stage.ready();
  const pages = Array.from({ length: count }, (_, n) => openPage(`u${n}`));
  await until("all pages are open", () => pages.every((page) => page.status === "open"));
  const posting = Promise.all(Array.from({ length: 4 }, (_, n) => post(n)));
  for (let round = 0; round < rounds; round++) {
    for (const end of [() => stage.stop(), () => stage.kill()]) {
      await delay(1500);
      await end();
      stage.spawn();
      await stage.ready();
    }
  }

  await delay(1500);
  isPosting = false;
  await posting;
  const late = () => [...sent.keys()].filter((id) => !handled.has(id));
  await until("everything is handled", () => late().length === 0, Boolean, 90).catch(() => {});
  check(`${sent.size} events were answered 202 over ${rounds} stops and ${rounds} kills, and every one was handled`, late().length && `${late().length} of ${sent.size} were not: ${await endsOf(late().slice(0, 5))}`);
  check("none was handled twice", [...handled.values()].some((times) => times > 1) && `${[...handled.values()].filter((times) => times > 1).length} were`);
  check("none was said to be for nobody", forNobody.length && `${forNobody.length} were`);
  pages.forEach((page) => page.close());
  await checked("the hub ends cleanly", async () => {
    const code = await stage.stop();
    if (code !== 0) throw new Error(`it ended with ${code}`);
  });
} finally {
  await stage.close(false);
  finish();
}

function openPage(user) {
  const page = connect({ url: `${stage.url.replace("http", "ws")}/v1/socket`, token: () => stage.token(user), WebSocket });
  page.on("event", ({ id }) => handled.set(id, (handled.get(id) ?? 0) + 1));
  return page;
}

/** Each id until it is answered. */
async function post(n) {
  for (let i = 0; isPosting; i++) {
    const id = randomUUID();
    const body = JSON.stringify({ id, to: { user: `u${(i * 4 + n) % count}` }, data: { n: i } });
    for (let answer; answer !== 202;) {
      const response = await fetch(`${stage.url}/v1/events`, { method: "POST", body, headers: { authorization: `Bearer ${stage.key}`, "content-type": "application/json" }, signal: AbortSignal.timeout(5000) }).catch(() => null);
      answer = response?.status;
      const json = await response?.json().catch(() => null);
      if (answer === 202) {
        sent.set(id, Date.now());
        if (json?.devices === 0) forNobody.push(id);
      } else {
        await delay(50);
      }
    }

    await delay(10);
  }
}

async function endsOf(ids) {
  const ends = await Promise.all(ids.map(async (id) => {
    const { outcome, deliveries = [] } = await (await fetch(`${stage.url}/v1/events/${id}`, { headers: { authorization: `Bearer ${stage.key}` } })).json();
    return outcome ?? deliveries.map(({ state, reason }) => `${state} ${reason ?? ""}`).join(", ");
  }));
  return ends.join("; ");
}
