// A client at an edge: one connection for the whole run, which acknowledges late, so that a kill finds frames unacknowledged. When its edge is killed it goes to another, and when that tells it to, it resumes there.
import { createRequire } from "node:module";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");

/** When the first frame came since it was set to 0. */
export const arrivals = { first: 0 };

export class Client {
  constructor(stage, ledger, edge, user, random) {
    Object.assign(this, { stage, ledger, edge, user, random, seq: 0, closes: [], moves: [], expected: new Map(), stopped: false });
  }

  /** Resolves with the welcome. */
  open() {
    const resume = this.session ? { resume: { session: this.session, seq: this.seq } } : {};
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${this.edge.replace("http", "ws")}/v1/socket`, { handshakeTimeout: 20_000 });
      this.socket = socket;
      socket.on("error", reject);
      socket.on("close", (code) => this.#closed(code));
      socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token: this.stage.token(this.user), device: "device", state: "active", ...resume })));
      socket.on("message", (data) => this.#take(JSON.parse(data), resolve));
    });
  }

  #closed(code) {
    if (this.drain && !this.stopped) {
      const { after, resume } = this.drain;
      this.drain = undefined;
      this.edge = this.edges.find((url) => url !== this.edge);
      this.moves.push({ code, resume, resumed: undefined });
      this.moving = new Promise((resolve) => setTimeout(resolve, after * 1000)).then(() => this.open());
    } else if (this.refuge && !this.stopped) {
      this.edge = this.refuge;
      this.refuge = undefined;
      this.moving = new Promise((resolve) => setTimeout(resolve, this.pause ?? 200 + (this.random() * 1000))).then(() => this.open());
    } else if (!this.stopped) {
      this.closes.push(code);
    }
  }

  #take(frame, welcomed) {
    if (frame.type === "welcome") {
      this.seq = frame.seq;
      this.session = frame.session;
      if (this.moves.length > 0) {
        this.moves.at(-1).resumed ??= frame.resumed;
      }

      welcomed();
    } else if (frame.type === "drain") {
      this.drain = frame;
    } else if (frame.type === "event") {
      arrivals.first ||= Date.now();
      if (frame.seq !== this.seq + 1) {
        this.ledger.violate(`${this.user}: seq ${frame.seq} after ${this.seq}`);
      }

      this.seq = frame.seq;
      this.ledger.arrive(this.user, frame.id, frame.data?.key, "socket");
      this.expected.get(frame.data?.key)?.();
      setTimeout(() => this.socket.readyState === WebSocket.OPEN && this.socket.send(JSON.stringify({ type: "ack", seq: frame.seq })), this.random() * 40);
    } else {
      this.ledger.violate(`${this.user}: ${JSON.stringify(frame)}`);
    }
  }

  stop() {
    this.stopped = true;
    this.socket?.terminate();
  }
}
