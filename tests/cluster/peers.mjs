// node peers.mjs PROGRAM: what one peer does keeps no other from its hub. 600 connections that show no key are held at the hub's port for links while a second edge links; and a session in 6,000 topics, whose names are some
// 700 kB together, comes over when the hub is killed and started again.
import { connect } from "node:net";
import { delay } from "../ship/hub.mjs";
import { send } from "../ship/kill/publishers.mjs";
import { check } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { linksOf, openCluster, openEdge, play } from "./nodes.mjs";
import { openClient } from "./socket.mjs";

const strangers = 600;
const topics = Array.from({ length: 6000 }, (_, i) => `room-${i}-${"x".repeat(110)}`);
const stage = await openCluster(process.argv[2], { settings: { Pnh__Sockets__MaxTopics: "10000" } });
const edges = { Pnh__Sockets__MaxTopics: "10000", Pnh__Sockets__MessagesPerSecond: "1000" };
const post = (id, to, members = {}) => send(stage, "POST", "/v1/events", { id, to, class: "message", ttl: 600, data: 1, ...members });
const cameTo = (client, id) => until(id, () => client.ids.includes(id), Boolean, 20).then(() => null, () => `${client.closed}, ${client.ids}`);

/** Connections that say nothing, each made again as soon as it is ended. */
function holdIdle(count) {
  const held = { sockets: new Set(), ended: 0, stopped: false };
  const open = () => {
    const socket = connect(stage.clusterPort, "127.0.0.1");
    held.sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      held.sockets.delete(socket);
      held.ended++;
      setTimeout(() => held.stopped || open(), 20);
    });
  };
  Array.from({ length: count }, open);
  held.stop = () => {
    held.stopped = true;
    held.sockets.forEach((socket) => socket.destroy());
  };
  return held;
}

/** Joins all of them, a portion after the answer to the one before. */
async function join(client) {
  for (let from = 0; from < topics.length; from += 100) {
    client.say({ type: "join", topics: topics.slice(from, from + 100) });
    await until("a portion of topics", () => client.joined.size, (count) => count >= Math.min(from + 100, topics.length), 20);
  }
}

async function scene() {
  stage.spawn();
  await stage.ready();
  const west = await openEdge(stage, "edge-west", process.argv[2], undefined, edges);
  const ada = await openClient(stage, west, "ada", ["*"]);

  const idle = holdIdle(strangers);
  await delay(1000);
  const begun = Date.now();
  const east = await openEdge(stage, "edge-east", process.argv[2], undefined, edges);
  const took = Date.now() - begun;
  const bob = await openClient(stage, east, "bob");
  await post("to-bob", { user: "bob" });
  check("an edge links while strangers hold connections", await cameTo(bob, "to-bob"));
  check("the hub ends strangers' connections", idle.ended > strangers / 2 ? null : `only ${idle.ended} of ${strangers}`);
  check("the linked edge keeps its link", ada.closed === null && await linksOf(stage, "edge-west") > 0 ? null : `${ada.closed}`);
  idle.stop();
  console.log(`an edge was ready ${took} ms after its start, beside ${strangers} strangers`);

  await join(ada);
  await post("last-topic", { topic: topics.at(-1) });
  check("a session in 6,000 topics gets an event of the last", await cameTo(ada, "last-topic"));
  await stage.kill();
  stage.spawn();
  await stage.ready();
  await until("the edge's link", () => linksOf(stage, "edge-west").catch(() => 0), (links) => links > 0, 20);
  for (const [name, topic] of [["first", topics[0]], ["middle", topics[3000]], ["last", topics.at(-1)]]) {
    await post(`${name}-again`, { topic });
    check(`the hub's next process knows that it is in the ${name}`, await cameTo(ada, `${name}-again`));
  }

  check("nobody was closed", ada.closed === null && bob.closed === null ? null : `${ada.closed}, ${bob.closed}`);
}

await play(stage, scene);
