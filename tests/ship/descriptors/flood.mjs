// Holds COUNT connections open to PORT without any credential: nothing sent, half a head, or an upgrade without hello. What the hub closes is opened again.
// Usage: node flood.mjs PORT COUNT FROM PER-SECOND   (FROM: the last byte of the loopback address that they come from). Ends with its standard input.
import { createConnection } from "node:net";

const [port, count, from, perSecond] = process.argv.slice(2).map(Number);
const says = [
  "",
  "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Le",
  "GET /v1/socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
];
let opened = 0;
let closed = 0;
let open = 0;
let number = 0;

function connect() {
  const kind = number++ % says.length;
  const socket = createConnection({ port, host: "127.0.0.1", localAddress: `127.0.0.${from}` });
  open++;
  socket.on("connect", () => { opened++; socket.write(says[kind]); });
  socket.on("data", () => {});
  socket.on("error", () => {});
  socket.on("close", () => { closed++; open--; });
}

// As many as are missing.
let due = 0;
const timer = setInterval(() => {
  for (due = Math.min(due + perSecond / 100, perSecond); due >= 1 && open < count; due--) {
    connect();
  }
}, 10);
const report = setInterval(() => process.stdout.write(`${JSON.stringify({ open, opened, closed })}\n`), 250);
process.stdin.on("end", () => { clearInterval(timer); clearInterval(report); process.exit(0); }).resume();
