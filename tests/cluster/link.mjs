// A link's other end, as far as a scene needs it: an edge that says sessions which nobody holds. What goes over a link: src/Pnh.Channels/Links/README.md.
import { createRequire } from "node:module";
import { delay } from "../ship/hub.mjs";

const WebSocket = createRequire(new URL("../ship/package.json", import.meta.url))("ws");
export const kinds = { opened: 1, close: 16, answer: 17, hello: 19, notLinked: 20, beat: 21, reopen: 22, synced: 23, recovered: 24, reported: 25, claim: 27, claimed: 28 };
const batchBytes = 64 * 1024;

/** Writes members as the hub reads them: numbers of seven bits a byte, a text behind its length. */
export class Item {
  constructor(kind) {
    this.bytes = [0, 0, 0, 0, kind];
  }

  number(value) {
    for (; value > 127; value = Math.floor(value / 128)) {
      this.bytes.push((value % 128) | 128);
    }

    this.bytes.push(value);
    return this;
  }

  text(value) {
    const bytes = Buffer.from(value);
    this.number(bytes.length).bytes.push(...bytes);
    return this;
  }

  texts(values) {
    this.number(values.length);
    values.forEach((value) => this.text(value));
    return this;
  }

  /** The item with its length before it. */
  end() {
    const item = Buffer.from(this.bytes);
    item.writeInt32LE(item.length - 4);
    return item;
  }
}

export const hello = (node, version = 1) => new Item(kinds.hello).number(version).number(version).text(node).number(Date.now()).number(0).text("").number(0).texts(["demo"]).text("simulated").end();
const reopen = (handle, user) => new Item(kinds.reopen).number(handle).text("demo").text(user).text("tab").text(`s-${user}`).number(0).number(0).number(0).texts([]).texts([]).texts([]).end();

/** An edge that dials until it is linked, says its sessions on each connection, and beats. */
export class SimulatedEdge {
  constructor(node, url, key, users) {
    Object.assign(this, { node, url, key, recoveredAt: 0, stopped: false });
    this.batches = batchesOf([...users.map((user, i) => reopen(i + 1, user)), new Item(kinds.synced).end()]);
  }

  async run() {
    while (!this.stopped) {
      await this.#carry();
      await delay(50);
    }
  }

  #carry() {
    return new Promise((done) => {
      const socket = new WebSocket(this.url, { headers: { authorization: `Bearer ${this.key}` }, perMessageDeflate: false });
      this.socket = socket;
      const beat = setInterval(() => socket.readyState === WebSocket.OPEN && socket.send(new Item(kinds.beat).end()), 1000);
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(beat);
        done();
      });
      socket.on("open", () => socket.send(hello(this.node)));
      socket.on("message", (batch) => this.#take(socket, batch));
    });
  }

  #take(socket, batch) {
    for (let at = 0; at < batch.length; at += 4 + batch.readInt32LE(at)) {
      const kind = batch[at + 4];
      if (kind === kinds.hello) {
        this.batches.forEach((each) => socket.send(each));
      } else if (kind === kinds.recovered) {
        this.recoveredAt = Date.now();
      } else if (kind === kinds.notLinked) {
        throw new Error(`${this.node} is refused: ${batch.subarray(at + 5)}`);
      }
    }
  }
}

function batchesOf(items) {
  const batches = [];
  for (let from = 0, to = 0; from < items.length; from = to) {
    for (let bytes = 0; to < items.length && bytes < batchBytes; to++) {
      bytes += items[to].length;
    }

    batches.push(Buffer.concat(items.slice(from, to)));
  }

  return batches;
}
