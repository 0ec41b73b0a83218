// A wire between a client and a hub that can be cut, held still and closed: TCP on both sides.
import { connect, createServer } from "node:net";

export class Wire {
  #pairs = new Set();
  #server;
  isOpen = true;
  count = 0; // of connections
  swallows = false; // takes them, and nothing passes

  constructor(port) {
    this.target = port;
  }

  /** Listens on a free port. */
  open() {
    this.#server = createServer((near) => this.#join(near));
    return new Promise((done) => this.#server.listen(0, "127.0.0.1", () => {
      this.port = this.#server.address().port;
      done(this);
    }));
  }

  /** All connections break, as by a lost network. New ones are taken unless the wire is shut. */
  cut() {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  shut() {
    this.isOpen = false;
    this.cut();
  }

  mend() {
    this.isOpen = true;
  }

  /** Nothing passes, and nobody hears that: for so many ms. */
  async freeze(ms) {
    const held = [...this.#pairs];
    held.forEach(({ near, far }) => { near.pause(); far.pause(); });
    await new Promise((done) => setTimeout(done, ms));
    held.forEach(({ near, far }) => { near.resume(); far.resume(); });
  }

  close() {
    this.shut();
    this.#server.close();
  }

  #join(near) {
    this.count++;
    if (!this.isOpen) {
      near.destroy();
      return;
    }

    if (this.swallows) {
      near.on("error", () => {}).resume();
      return;
    }

    const far = connect(this.target, "127.0.0.1");
    const pair = { near, far };
    this.#pairs.add(pair);
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on("data", (bytes) => other.write(bytes));
      one.on("end", () => other.end());
      one.on("error", () => other.destroy());
      one.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
