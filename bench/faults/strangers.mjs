// Clients that keep no rule.
import { connect } from "node:net";
import { generator } from "../../tests/ship/random.mjs";
import { withHub } from "./rig.mjs";

const requests = 2_000;

// Kestrel's own answer, and RFC 9110's: src/Pnh.Api/Routing/README.md says why it stays.
const noVersion = "505 to a version that is none";

export const strangers = [
  { name: "raw-requests", what: "raw requests with wrong chunk sizes, lengths, heads, targets and endings, to each transport", run: raw },
];

async function raw(program) {
  const seed = Date.now() % 1_000_000;
  const statuses = {};
  let [lines, seconds] = [0, 0];
  for (const transport of ["Direct", "Framework"]) {
    await withHub(program, async (stage) => {
      const random = generator(seed);
      const from = Date.now();
      for (let i = 0; i < requests; i += 16) {
        for (const status of await Promise.all(Array.from({ length: 16 }, () => outcome(stage.port, mad(random, stage.key))))) {
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      }

      seconds += (Date.now() - from) / 1000;
      lines += stage.hub.output.split("\n").filter((line) => /^(warn|fail|crit)|"LogLevel":"(Warning|Error|Critical)"/.test(line)).length;
      const alive = await fetch(`http://127.0.0.1:${stage.operationsPort}/healthz`);
      if (alive.status !== 200) {
        throw new Error(`/healthz ${alive.status}`);
      }
    }, { Pnh__Sockets__Transport: transport });
  }

  const broken = Object.entries(statuses).filter(([status]) => status.startsWith("5") && status !== noVersion);
  return {
    times: requests * 2, wrong: broken.length > 0 || lines > seconds,
    happened: `answers ${Object.entries(statuses).map(([status, count]) => `${status}: ${count}`).join(", ")}; ${lines} lines at Warning or above in ${seconds.toFixed(0)} s (seed ${seed})`,
  };
}

function mad(random, key) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const body = pick(["{}", "{\"to\":{\"user\":\"ada\"},\"class\":\"transient\",\"data\":{}}", "[", " ".repeat(200), "\0\0"]);
  const size = pick(["80000000", "7fffffff", "ffffffff", "ffffffffffffffff", "0x10", "-1", body.length.toString(16), "00000000000000000001", "g", ";a=b", "2;\n", "7FFFFFFFFFFFFFFF"]);
  const target = pick(["/v1/events", "/v1/events", "/v1/events?x=%", "//", "*", "/v1/../v1/events", "http://x/v1/events", "/v1/events\t", "/\u00ff"]);
  const framing = pick([
    `Transfer-Encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`, `Transfer-Encoding: chunked\r\n\r\n${size}\r\n${body}`, `Content-Length: ${body.length}\r\n\r\n${body}`,
    `Content-Length: ${pick(["-1", "1e3", "99999999999999999999", "2147483648", "4 2", "+2"])}\r\n\r\n${body}`, `Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, `Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `Expect: ${pick(["100-continue", "nothing"])}\r\nContent-Length: 2\r\n\r\n{}`, "\r\n", `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${pick(["", "x", "dGhlIHNhbXBsZSBub25jZQ=="])}\r\n\r\n`,
  ]);
  const end = pick(["\r\n", "\r\n", "\n"]);
  return Buffer.from([`${pick(["POST", "POST", "GET", "P\0ST", "post"])} ${target} HTTP/${pick(["1.1", "1.1", "1.0", "2.0", "9"])}`, pick(["Host: localhost", "Host: localhost", "Host:", "Host: a\r\nHost: b", "X: y"]),
    `Authorization: Bearer ${key}`, "Content-Type: application/json", ""].join(end) + framing, "latin1");
}

async function outcome(port, bytes) {
  const status = await ask(port, bytes);
  const version = / HTTP\/(\S*)$/.exec(bytes.toString("latin1").split(/\r?\n/, 1)[0])?.[1];
  return status === "505" && version !== "1.1" && version !== "1.0" ? noVersion : status;
}

// The status of the answer; "closed" without one; "open" when neither came within 500 ms.
function ask(port, bytes) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const late = setTimeout(() => done("open"), 500);
    let said = "";
    const done = (status) => {
      clearTimeout(late);
      socket.destroy();
      resolve(status);
    };
    socket.on("error", () => done(said ? said.slice(9, 12) : "closed")).on("close", () => done(said ? said.slice(9, 12) : "closed"));
    socket.on("data", (data) => {
      said += data.toString("latin1");
      if (said.length >= 12 && said.slice(9, 12) !== "100") {
        done(said.slice(9, 12));
      }
    });
    socket.write(bytes);
  });
}
