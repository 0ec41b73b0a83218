// A client of a scene: one connection, acknowledged events, and what became of it.
import { createRequire } from "node:module";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");

/** A client of the user, welcomed. `ids`: of the events that came; `id`: its session; `closed`: the code of its end, null until then. `topics`: that its token lets it join; null = none. */
export function openClient(stage, edge, user, topics) {
  const client = { user, id: "", ids: [], joined: new Set(), closed: null, socket: new WebSocket(`${edge.url.replace("http", "ws")}/v1/socket`) };
  client.say = (frame) => client.socket.send(JSON.stringify(frame));
  return new Promise((done, fail) => {
    client.socket.on("error", fail);
    client.socket.on("close", (code) => { client.closed = code; });
    client.socket.on("open", () => client.say({ type: "hello", token: stage.token(user, topics), device: "tab", state: "active", knows: ["joined"] }));
    client.socket.on("message", (text) => {
      const frame = JSON.parse(text);
      if (frame.type === "welcome") {
        client.id = frame.session;
        done(client);
      } else if (frame.type === "joined") {
        frame.topics.forEach((topic) => client.joined.add(topic));
      } else if (frame.type === "event") {
        client.ids.push(frame.id);
        if (frame.seq) {
          client.say({ type: "ack", seq: frame.seq });
        }
      }
    });
  });
}
