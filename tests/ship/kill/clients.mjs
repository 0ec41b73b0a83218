// Clients that live through the kills: tabs that reconnect and resume, and phones behind the stand-ins, read over the sandbox's own address.
import { readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import WebSocket from "ws";
import { delay } from "../hub.mjs";

/**
 * A device with a socket: it reconnects, resumes, and acknowledges late, so that kills find frames unacknowledged. Every third connection it breaks off itself
 * and stays away for a while, so that a recovery finds a mailbox.
 */
export class Tab {
  constructor(stage, ledger, user, device, random) {
    Object.assign(this, { stage, ledger, user, device, random, session: null, seq: 0, welcomes: 0, resumed: 0, stopped: false });
  }

  open() {
    if (this.stopped) {
      return;
    }

    const socket = new WebSocket(`${this.stage.url.replace("http", "ws")}/v1/socket`, { handshakeTimeout: 5000 });
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("close", (code) => {
      if (code >= 4500) {
        this.ledger.violate(`${this.user}: the hub closed its socket for good with ${code}`);
      }

      setTimeout(() => this.open(), 30 + (this.random() * (this.leaves ? 3000 : 100)));
    });
    socket.on("open", () => {
      const resume = this.session === null ? {} : { resume: { session: this.session, seq: this.seq } };
      this.leaves = this.random() < 0.33;
      if (this.leaves) {
        setTimeout(() => (this.random() < 0.5 ? socket.terminate() : socket.close(4000)), this.random() * 1500);
      }

      socket.send(JSON.stringify({ type: "hello", token: this.stage.token(this.user), device: this.device, state: "active", ...resume }));
    });
    socket.on("message", (data) => this.#take(socket, JSON.parse(data)));
  }

  #take(socket, frame) {
    if (frame.type === "welcome") {
      this.welcomes++;
      this.resumed += frame.resumed ? 1 : 0;
      this.session = frame.session;
      this.seq = frame.seq;
    } else if (frame.type === "event") {
      if (frame.seq <= this.seq) {
        this.ledger.violate(`${this.user}: seq ${frame.seq} after ${this.seq}`);
      }

      this.seq = frame.seq;
      this.ledger.arrive(this.user, frame.id, frame.data?.key, "socket");
      this.#acknowledge(socket, frame.seq, frame.data?.key);
    } else if (frame.type === "error") {
      this.ledger.violate(`${this.user}: error frame ${JSON.stringify(frame)}`);
    }
  }

  #acknowledge(socket, seq, key) {
    setTimeout(() => {
      if (socket.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify({ type: "ack", seq }));
        this.ledger.acknowledge(this.user, key);
      }
    }, this.random() * 40);
  }

  stop() {
    this.stopped = true;
    this.socket?.terminate();
  }
}

/** Reads the lock screens over and over; a phone keeps its last 20, so nothing falls off unseen at a few pushes a second. */
export class Phones {
  constructor(stage, ledger, users) {
    Object.assign(this, { stage, ledger, users, seen: new Map(), unseen: 0, stopped: false });
    this.agent = new Agent({ keepAlive: true, ca: readFileSync(stage.ca) });
  }

  async run() {
    while (!this.stopped) {
      await this.read();
      await delay(150);
    }

    this.agent.destroy();
  }

  async read() {
    for (const phone of (await readJson(`${this.stage.fcm}/sandbox/phones`, this.agent)) ?? []) {
      const user = this.users.get(phone.address);
      const before = this.seen.get(phone.address) ?? 0;
      const fresh = phone.lockScreen.slice(0, phone.received - before);
      this.unseen += phone.received - before - fresh.length;
      this.seen.set(phone.address, phone.received);
      for (const shown of fresh.reverse()) {
        const data = phone.platform === "ios" ? shown.payload.data : JSON.parse(shown.payload.data);
        this.ledger.arrive(user, shown.eventId, data?.key, "push");
      }
    }
  }

  violations() {
    return readJson(`${this.stage.fcm}/sandbox/violations`, this.agent);
  }
}

/** What the stand-ins say at that address; null when they say nothing. */
export function readJson(url, agent) {
  return new Promise((resolve) => {
    get(url, { agent, timeout: 10_000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => { text += part; });
      answer.on("end", () => resolve(answer.statusCode === 200 ? JSON.parse(text) : null)).on("error", () => resolve(null));
    }).on("error", () => resolve(null));
  });
}
