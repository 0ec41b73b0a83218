// node pipelines.mjs PORT KEY CONNECTIONS SECONDS: calls on many connections, as many as each takes, whatever is answered: the answers are thrown away. A process of its own, since it takes a core.
import { connect } from "node:net";

const [port, key, connections, seconds] = process.argv.slice(2);
const body = JSON.stringify({ to: { user: "ada" }, class: "call", data: "x" });
const one = `POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const block = Buffer.from(one.repeat(64));
const sockets = [];
let answered = 0;

function flood() {
  const socket = connect({ port: Number(port), host: "127.0.0.1" }, () => write(socket));
  socket.on("data", (bytes) => { answered += bytes.length; }).on("drain", () => write(socket)).on("error", () => {});
  sockets.push(socket);
}

function write(socket) {
  while (socket.writable && socket.write(block)) {
    // until the kernel has no room
  }
}

for (let i = 0; i < Number(connections); i++) {
  flood();
}

setTimeout(() => {
  sockets.forEach((socket) => socket.destroy());
  console.log(`${answered} bytes of answers`);
  process.exit(0);
}, Number(seconds) * 1000);
