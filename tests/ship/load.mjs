// Traffic of every kind: users with sockets, iPhones and Android phones; all classes; refused and repeated events. Loopback only.
import { randomBytes } from "node:crypto";
import WebSocket from "ws";

const classes = ["call", "message", "bulk", "transient"];
const users = 12;

/** Drives a hub for `seconds`; gives what the publisher and the sockets saw. `closed`: sockets that the hub closed. `sabotage`: one user is kicked on the way. */
export async function drive(hub, seconds, { sabotage = false } = {}) {
  const seen = { accepted: 0, refused: 0, frames: 0, statuses: {}, closed: 0 };
  const sockets = [];
  for (let i = 0; i < users; i++) {
    await register(hub, i);
    // A third of the users has no session: theirs goes by push at once.
    if (i % 3 !== 2) {
      sockets.push(await open(hub, i, seen));
    }
  }

  if (sabotage) {
    await call(hub, "DELETE", "/v1/users/user-0/sessions");
  }

  const end = Date.now() + seconds * 1000;
  await Promise.all([0, 1, 2, 3].map((worker) => publish(hub, worker, end, seen)));
  const { closed } = seen; // from here on they are closed from this side
  for (const socket of sockets) {
    socket.close();
  }

  return { ...seen, closed };
}

async function register(hub, i) {
  const token = randomBytes(32).toString("hex");
  const devices = {
    [`iphone-${i}`]: { platform: "ios", apns: { token, environment: "sandbox" } },
    [`android-${i}`]: { platform: "android", fcm: { token: `android:${token}` } },
  };
  for (const [device, body] of Object.entries(devices)) {
    const answer = await call(hub, "PUT", `/v1/users/user-${i}/devices/${device}`, body);
    if (!answer.ok) {
      throw new Error(`registering ${device}: ${answer.status} ${await answer.text()}`);
    }
  }
}

async function open(hub, i, seen) {
  const token = await hub.token(`user-${i}`);
  const socket = new WebSocket(`${hub.url.replace("http", "ws")}/v1/socket`);
  return await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("no welcome within 10 s")), 10_000);
    socket.on("error", reject);
    socket.on("close", (code, reason) => {
      seen.closed++;
      reject(new Error(`socket closed: ${code} ${reason}`));
    });
    socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token, device: `tab-${i}`, state: i % 3 === 0 ? "active" : "background" })));
    socket.on("message", (data) => {
      const frame = JSON.parse(data);
      if (frame.type === "welcome") {
        clearTimeout(late);
        resolve(socket);
      } else if (frame.type === "event") {
        seen.frames++;
        if (frame.seq !== undefined) {
          socket.send(JSON.stringify({ type: "ack", seq: frame.seq }));
        }
      }
    });
  });
}

async function publish(hub, worker, end, seen) {
  for (let n = 0; Date.now() < end; n++) {
    const body = {
      id: `load-${worker}-${n}`, to: { user: `user-${(n * 4 + worker) % users}` }, class: classes[n % classes.length],
      data: { n }, notification: { title: "Load", body: `number ${n}` },
    };
    if (body.class === "transient") {
      delete body.notification;
    }

    await send(hub, body, seen);
    if (n % 20 === 0) {
      await send(hub, body, seen);
      await send(hub, { ...body, data: { n, other: true } }, seen);
      await send(hub, { to: { user: "user-0" }, class: "no-such-class" }, seen);
    }

    // Some hundred events a second in all: enough for every series, little enough for two shared cores.
    await new Promise((r) => setTimeout(r, 10));
  }
}

async function send(hub, body, seen) {
  const answer = await call(hub, "POST", "/v1/events", body);
  await answer.arrayBuffer();
  seen.statuses[answer.status] = (seen.statuses[answer.status] ?? 0) + 1;
  answer.status === 202 ? seen.accepted++ : seen.refused++;
}

function call(hub, method, path, body) {
  const headers = { authorization: `Bearer ${hub.key}`, "content-type": "application/json" };
  return fetch(hub.url + path, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
}
