// A day's life in a minute: a hundred clients in JavaScript and a hundred in .NET, half of them at an edge, over wires that at random are cut, swallow, stand still and close, with a back-end that fails and tokens that end, while hub and edge are killed and told to stop.
import { delay } from "../../ship/hub.mjs";
import { generator } from "../../ship/random.mjs";
import { until } from "../../ship/until.mjs";
import { connect as connectDotnet, endDotnet } from "../dotnet.mjs";
import { postTo, Reader, world } from "../reader.mjs";

const clientCount = 200;
const publisherCount = 8;
const answersOfAFailingBackEnd = ["<html>502 Bad Gateway</html>", "", null];

/** Every event that was answered 202 is handled once, each join is in the end as the token says, nobody is closed, and nobody dials more than once a second. */
export async function aDaysLife() {
  const random = generator(world.seed);
  const now = { topics: ["room-*"], isCalm: false };
  const readers = await Promise.all(Array.from({ length: clientCount }, (_, n) => open(`day-${n}`, n % 4 < 2 ? world.edge.port : world.stage.port, random, now, n % 2 ? { connect: connectDotnet } : {})));
  const until_ = Date.now() + world.daySeconds * 1000;
  const posted = new Map(readers.map(({ user }) => [user, new Set()]));
  const working = [
    ...Array.from({ length: publisherCount }, (_, n) => publish(n, readers, posted, random, until_)), disturb(readers, random, until_), restart(random, until_), changeTokens(now, readers, until_),
  ];
  const from = Date.now();
  await Promise.all(working);
  now.isCalm = true;
  now.topics = ["hall"];
  for (const { wire } of readers) {
    Object.assign(wire, { swallows: false }).mend();
    wire.cut();
  }

  const count = [...posted.values()].reduce((sum, { size }) => sum + size, 0);
  await until("all are handled", () => readers.reduce((sum, { seen }) => sum + seen.size, 0) >= count, Boolean, 90).catch((error) => { throw new Error(`${error.message}; ${missing(readers, posted)}`); });
  await until("each is in the topic that its token allows, and in no other", () => readers.filter(({ client }) => client.joined.join() !== "hall").length, (left) => left === 0, 60);
  await delay(1000);
  const seconds = (Date.now() - from) / 1000;
  const dials = Math.max(...readers.map(({ wire }) => wire.count));
  console.log(`   ${count} events in ${seconds.toFixed()} s, ${readers.reduce((sum, { wire }) => sum + wire.count, 0)} connections, ${dials} of one client at most`);
  const wrong = readers.flatMap(({ user, twice, statuses, seen }) => [
    ...twice.map((id) => `${id} twice`), ...(statuses.some(({ status }) => status === "closed") ? [`${user} closed: ${JSON.stringify(statuses.at(-1))}`] : []), ...[...seen].filter((id) => !posted.get(user).has(id)).map((id) => `${id} of nobody`),
  ]);
  readers.forEach((reader) => reader.close());
  await endDotnet();
  if (wrong.length || dials > seconds || missing(readers, posted)) {
    throw new Error(`${wrong.slice(0, 5).join("; ")} ${dials} dials in ${seconds} s ${missing(readers, posted)}`);
  }
}

/** Of whom, how many and which first, and what the client said last. */
const missing = (readers, posted) => readers.map(({ user, seen, statuses, more, wire }) => ({ user, seen, statuses, more, wire, ids: [...posted.get(user)].filter((id) => !seen.has(id)) })).filter(({ ids }) => ids.length)
  .slice(0, 5).map(({ user, ids, statuses, more, wire }) => `${user}${more.connect ? " (.NET)" : ""}, ${wire.count} connections: ${ids.length} from ${ids[0]}, ${statuses.slice(-3).map(({ status, reason }) => `${status} ${reason ?? ""}`).join(", ")}`).join("; ");

async function open(user, port, random, now, client) {
  const reader = new Reader(user, { port, ...client, token: () => token(user, random, now) });
  Object.assign(reader, { isIdle: true, seen: new Set(), twice: [] });
  const failed = new Map();
  await reader.start();
  reader.client.on("event", async ({ id }) => {
    if (reader.seen.has(id)) reader.twice.push(id);
    await delay(random() * 20);
    // At the third time the client would give it up.
    const failures = failed.get(id) ?? 0;
    if (!now.isCalm && failures < 2 && random() < 0.01) {
      failed.set(id, failures + 1);
      throw new Error("not now");
    }

    failed.delete(id);
    reader.seen.add(id);
  });
  reader.client.join("hall", `room-${user}`);
  return reader;
}

/** A back-end that fails each fifth time, in one of its ways, and gives tokens that live 10 to 40 s more. */
async function token(user, random, now) {
  if (!now.isCalm && random() < 0.2) {
    await delay(random() * 2000);
    if (random() < 0.5) throw new Error("Failed to fetch");
    return answersOfAFailingBackEnd[Math.floor(random() * answersOfAFailingBackEnd.length)];
  }

  return world.stage.token(user, now.topics, now.isCalm ? 3600 : -50 + Math.floor(random() * 30));
}

async function publish(place, readers, posted, random, end) {
  for (let n = 0; Date.now() < end; n++) {
    const { user } = readers[Math.floor(random() * readers.length)];
    const id = `day-${place}-${n}`;
    await postTo({ user }, id, n, { class: random() < 0.2 ? "bulk" : "message" });
    posted.get(user).add(id);
    await delay(random() * 40);
  }
}

async function disturb(readers, random, end) {
  for (; Date.now() < end; await delay(random() * 100)) {
    const { wire } = readers[Math.floor(random() * readers.length)];
    const kind = Math.floor(random() * 4);
    if (kind === 0) {
      wire.cut();
    } else if (kind === 1) {
      wire.freeze(random() * 5000);
    } else if (kind === 2) {
      wire.swallows = true;
      wire.cut();
      setTimeout(() => { wire.swallows = false; }, random() * 3000);
    } else {
      wire.shut();
      setTimeout(() => wire.mend(), random() * 2000);
    }
  }
}

async function restart(random, end) {
  for (let n = 0; Date.now() + 12_000 < end; n++) {
    await delay(5000 + random() * 5000);
    if (n % 2) {
      world.edge.process.child.kill(random() < 0.5 ? "SIGKILL" : "SIGTERM");
      await world.edge.process.ended;
      await world.openEdge();
    } else {
      await world.stage[random() < 0.5 ? "kill" : "stop"]();
      world.stage.spawn();
      await world.stage.ready();
    }
  }
}

/** Half-way tokens allow other topics. */
async function changeTokens(now, readers, end) {
  await delay((end - Date.now()) / 2);
  now.topics = ["hall", "room-*"];
}
