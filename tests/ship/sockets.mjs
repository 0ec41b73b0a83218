// The hub's sockets, used by clients that are no part of it: npm ws, undici, Python's websockets and Chromium, over each transport.
// Usage: node sockets.mjs PATH-OF-PUBLISHED-pnh [TRANSPORT,…]
import { startHub } from "./hub.mjs";
import { checked, finish } from "./report.mjs";
import { clients } from "./sockets/clients.mjs";

const makers = await clients();
const texts = ["plain", "Grüße, 你好, 🎺 and \\ \" \u2028", "x".repeat(125), "x".repeat(126), "y".repeat(40_000)];

for (const transport of (process.argv[3] ?? "Direct,Framework").split(",")) {
  const hub = await startHub(process.argv[2], { settings: [`--Pnh:Sockets:Transport=${transport}`] });
  try {
    for (const name of Object.keys(makers).filter((n) => n !== "stop")) {
      await checked(`${transport}, ${name}: hello, events of all sizes in order, acks, withdraw, close`, () => talk(hub, name));
      await checked(`${transport}, ${name}: a lost connection is resumed, and what was not acked comes again`, () => resume(hub, name));
      await checked(`${transport}, ${name}: what is no protocol is answered with its error and its code`, () => refuse(hub, name));
    }

    await checked(`${transport}: ws and python: pings are answered, a message may come in pieces`, async () => {
      await pingAndPieces(hub, "ws");
      await pingAndPieces(hub, "python");
    });
  } finally {
    await checked(`${transport}: the hub stops cleanly`, () => hub.stop());
  }
}

await makers.stop();
finish();

function expect(condition, what) {
  if (!condition) {
    throw new Error(what);
  }
}

async function open(hub, name, user, hello = {}) {
  const socket = await makers[name](`ws://localhost:${hub.port}/v1/socket`);
  expect(socket.protocol === "pnh.v1", `subprotocol ${socket.protocol}`);
  expect(!socket.extensions, `an extension nobody agreed on: ${socket.extensions}`);
  await socket.send(JSON.stringify({ type: "hello", token: await hub.token(user), device: "tab", state: "active", ...hello }));
  return { socket, welcome: await frame(socket, "welcome") };
}

async function frame(socket, type) {
  const message = await socket.next();
  const parsed = message.text === undefined ? message : JSON.parse(message.text);
  expect(parsed.type === type, `${type} expected, got ${JSON.stringify(message).slice(0, 300)}`);
  return parsed;
}

async function post(hub, path, body) {
  const answer = await fetch(`${hub.url}${path}`, {
    method: "POST", headers: { Authorization: `Bearer ${hub.key}`, "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  expect(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

function event(user, text, more = {}) {
  return { to: { user }, class: "message", data: { text }, ...more };
}

async function talk(hub, name) {
  const user = `talk-${name}`;
  const { socket } = await open(hub, name, user);
  for (const text of texts) {
    await post(hub, "/v1/events", event(user, text));
    await post(hub, "/v1/events", event(user, text, { class: "transient" }));
  }

  for (let i = 0; i < texts.length; i++) {
    const durable = await frame(socket, "event");
    expect(durable.seq === i + 1 && durable.data.text === texts[i], `event ${i}: ${JSON.stringify(durable).slice(0, 200)}`);
    const transient = await frame(socket, "event");
    expect(transient.seq === undefined && transient.data.text === texts[i], `transient ${i}: ${JSON.stringify(transient).slice(0, 200)}`);
  }

  await socket.send(JSON.stringify({ type: "ack", seq: texts.length - 1 }));
  await post(hub, "/v1/events", event(user, "taken back", { id: `back-${user}-${hub.port}` }));
  const back = await frame(socket, "event");
  await post(hub, `/v1/events/${back.id}/withdraw`, {});
  const withdraw = await frame(socket, "withdraw");
  expect(withdraw.id === back.id && withdraw.seq === back.seq + 1, JSON.stringify(withdraw));
  await socket.send(JSON.stringify({ type: "ack", seq: withdraw.seq }));
  await socket.close(1000);
  const end = await socket.next();
  expect(end.closed === 1000, JSON.stringify(end));
}

async function resume(hub, name) {
  const user = `resume-${name}`;
  const first = await open(hub, name, user);
  for (const text of ["a", "b", "c"]) {
    await post(hub, "/v1/events", event(user, text));
    await frame(first.socket, "event");
  }

  // undici and a page have no way to break a connection: a code that is no goodbye does as well.
  await (first.socket.drop ?? (() => first.socket.close(3000)))();
  const again = await open(hub, name, user, { resume: { session: first.welcome.session, seq: 1 } });
  expect(again.welcome.resumed === true && again.welcome.session === first.welcome.session, JSON.stringify(again.welcome));
  for (const [seq, text] of [[2, "b"], [3, "c"]]) {
    const repeated = await frame(again.socket, "event");
    expect(repeated.seq === seq && repeated.data.text === text, JSON.stringify(repeated));
  }

  await again.socket.close(1000);
}

async function refuse(hub, name) {
  const { socket } = await open(hub, name, `refuse-${name}`);
  await socket.send('{"type":"ack","seq":99}');
  const error = await frame(socket, "error");
  expect(error.code === "ack-of-the-future", JSON.stringify(error));
  const end = await socket.next();
  expect(end.closed >= 4500 && end.closed <= 4999, JSON.stringify(end));
}

async function pingAndPieces(hub, name) {
  const user = `pieces-${name}`;
  const { socket } = await open(hub, name, user);
  await socket.ping("are you there?");
  const pong = await socket.next();
  expect(pong.pong === "are you there?", JSON.stringify(pong));
  await post(hub, "/v1/events", event(user, "a"));
  await frame(socket, "event");
  await socket.sendInPieces('{"type":"ack","seq":1}');
  await socket.sendInPieces('{"type":"ack","seq":9}');
  const error = await frame(socket, "error");
  expect(error.code === "ack-of-the-future", JSON.stringify(error));
}
