// The .NET client with the members of the JavaScript one that scenes use, in a process of its own (tests/Pnh.ClientScenes): its sessions ask here for tokens, and their events are handled here.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../artifacts/bin/Pnh.ClientScenes/debug/Pnh.ClientScenes", import.meta.url));
const clients = new Map();
let running;

/** As `connect` of `clients/js` does, for one client a user. */
export function connect({ url, token, device }) {
  const client = new DotnetClient(url, token, device);
  setTimeout(() => client.open(), 0); // the caller has set its handlers, and the topics that it wants
  return client;
}

/** Ends the process, once its sessions have ended. */
export async function endDotnet() {
  running?.child.stdin.end();
  await running?.ended;
}

function order(line) {
  running ??= run();
  running.child.stdin.write(`${JSON.stringify(line)}\n`);
}

function run() {
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", (error) => { throw new Error(`the .NET client does not start (dotnet build makes it): ${error.message}`); });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const report = JSON.parse(line);
    clients.get(report.user).take(report);
  });
  return { child, ended: new Promise((done) => child.on("exit", done)) };
}

class DotnetClient {
  status = "connecting";
  joined = [];
  #handlers = { event: [], status: [] };
  #topics = [];

  constructor(url, token, device) {
    Object.assign(this, { url, token, device, user: `${device}@${new URL(url).port}` });
    clients.set(this.user, this);
  }

  on(type, handler) {
    this.#handlers[type]?.push(handler);
  }

  join(...topics) {
    this.#topics.push(...topics);
  }

  open() {
    order({ do: "open", user: this.user, url: this.url, device: this.device, topics: this.#topics });
  }

  close() {
    order({ do: "close", user: this.user });
  }

  async take({ is, id, topics, ...status }) {
    if (is === "token") {
      order({ do: "token", user: this.user, id, token: await new Promise((given) => given(this.token())).catch(() => null) });
    } else if (is === "joined") {
      this.joined = topics;
    } else if (is === "status") {
      this.status = status.status;
      this.#handlers.status.forEach((handler) => handler(status));
    } else {
      const hasFailed = await Promise.all(this.#handlers.event.map((handler) => handler({ id }))).then(() => false, () => true);
      order({ do: "handled", user: this.user, id, hasFailed });
    }
  }
}
