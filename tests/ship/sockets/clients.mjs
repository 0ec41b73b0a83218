// WebSocket clients that are no part of the hub, behind one face: send(text), next() -> the next message, or {closed: code}; close(code); drop().
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "../../browser/node_modules/playwright-core/index.mjs";
import * as undici from "undici";
import Ws from "ws";

const children = [];

/** Name -> connect(url), which gives the open socket. `stop` ends what a client needs besides. */
export async function clients() {
  const browser = await chromium.launch({ executablePath: process.env.PNH_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  return {
    ws: connectWs,
    undici: (url) => connectStandard(new undici.WebSocket(url, "pnh.v1")),
    python: connectPython,
    chromium: (url) => connectPage(browser, url),
    stop: () => {
      children.forEach((child) => child.kill());
      return browser.close();
    },
  };
}

/** Messages in the order they came, for who asks one after the other. */
function inbox() {
  const waiting = [];
  const asking = [];
  return {
    put: (message) => (asking.shift() ?? ((m) => waiting.push(m)))(message),
    next: () => new Promise((resolve, reject) => {
      if (waiting.length > 0) {
        return resolve(waiting.shift());
      }

      const timer = setTimeout(() => reject(new Error("no message within 20 s")), 20_000);
      asking.push((message) => {
        clearTimeout(timer);
        resolve(message);
      });
    }),
  };
}

function connectWs(url) {
  const { put, next } = inbox();
  const socket = new Ws(url, "pnh.v1", { perMessageDeflate: true }); // offers compression, which the hub may leave out
  socket.on("message", (data, isBinary) => put(isBinary ? { binary: data } : { text: data.toString() }));
  socket.on("pong", (data) => put({ pong: data.toString() }));
  socket.on("close", (code) => put({ closed: code }));
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("open", () => resolve({
      next, protocol: socket.protocol, extensions: socket.extensions,
      send: (text) => socket.send(text),
      sendInPieces: (text) => [...text].forEach((c, i, all) => socket.send(c, { fin: i === all.length - 1 })),
      ping: (text) => socket.ping(text),
      close: (code) => socket.close(code),
      drop: () => socket.terminate(),
    }));
  });
}

function connectStandard(socket) {
  const { put, next } = inbox();
  socket.addEventListener("message", (e) => put(typeof e.data === "string" ? { text: e.data } : { binary: e.data }));
  socket.addEventListener("close", (e) => put({ closed: e.code }));
  return new Promise((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error("no connection")));
    socket.addEventListener("open", () => resolve({
      next, protocol: socket.protocol, extensions: socket.extensions,
      send: (text) => socket.send(text), close: (code) => socket.close(code),
    }));
  });
}

async function connectPython(url) {
  const child = spawn(process.env.PNH_PYTHON ?? "/usr/bin/python3", [fileURLToPath(new URL("client.py", import.meta.url)), url], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const { put, next } = inbox();
  createInterface({ input: child.stdout }).on("line", (line) => put(JSON.parse(line)));
  const order = (what) => child.stdin.write(`${JSON.stringify(what)}\n`);
  const opened = await next();
  return {
    next, ...opened,
    send: (text) => order({ send: text }),
    sendInPieces: (text) => order({ pieces: [...text] }),
    ping: (text) => order({ ping: text }),
    close: (code) => order({ close: code }),
    drop: () => child.kill("SIGKILL"),
  };
}

async function connectPage(browser, url) {
  const { put, next } = inbox();
  const page = await (await browser.newContext()).newPage();
  await page.exposeFunction("put", put);
  const { protocol, extensions } = await page.evaluate((address) => new Promise((resolve, reject) => {
    const socket = window.socket = new WebSocket(address, "pnh.v1");
    let last = Promise.resolve(); // one call after the other, or their order could be lost on the way out of the page
    const say = (message) => { last = last.then(() => window.put(message)); };
    socket.onmessage = (e) => say(typeof e.data === "string" ? { text: e.data } : { binary: true });
    socket.onclose = (e) => say({ closed: e.code });
    socket.onerror = () => reject(new Error("no connection"));
    socket.onopen = () => resolve({ protocol: socket.protocol, extensions: socket.extensions });
  }), url);
  return {
    next, protocol, extensions,
    send: (text) => page.evaluate((t) => window.socket.send(t), text),
    close: (code) => page.evaluate((c) => window.socket.close(c), code),
  };
}
