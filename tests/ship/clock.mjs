// node clock.mjs PROGRAM: the machine's clock is set back or forward by a day (faketime answers for it) while a hub runs, and while it is down. Nothing that is over is delivered, nothing alive is
// dropped, and the hub says that the clock was set.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import WebSocket from "ws";
import { delay } from "./hub.mjs";
import { openStage } from "./kill/stage.mjs";
import { post, send } from "./kill/publishers.mjs";
import { check, checked, finish } from "./report.mjs";

const program = resolve(process.argv[2]);
const day = 86_400;
const callTtl = 6; // seconds
const folder = mkdtempSync(join(tmpdir(), "pnh-clock-"));
const machine = join(folder, "clock");
const library = libraryOf("libfaketimeMT.so.1");

try {
  if (!library) {
    throw new Error("faketime is not installed");
  }

  for (const by of [-day, day]) {
    await checked(`the clock is set ${by < 0 ? "back" : "forward"} by a day while the hub runs`, () => scene(by, false));
    await checked(`the clock is set ${by < 0 ? "back" : "forward"} by a day while the hub is down`, () => scene(by, true));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

finish();

/** A call that ends and a message that does not wait for a phone, the clock is set, the call's time passes, the phone comes. */
async function scene(by, isDown) {
  set(0);
  const stage = await openStage(program, {
    settings: { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: machine, FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" },
  });
  try {
    stage.spawn();
    await stage.ready();
    await send(stage, "PUT", "/v1/users/ada/devices/phone", { platform: "desktop" });
    const [call, message] = [randomUUID(), randomUUID()];
    for (const [id, kind, ttl] of [[call, "call", callTtl], [message, "message", 3_600]]) {
      const answer = await post(stage, { id, to: { user: "ada" }, class: kind, ttl, data: {} });
      must(answer?.status === 202, `a ${kind} was answered ${answer?.status}`);
    }

    if (isDown) {
      await stage.kill();
    }

    set(by);
    await delay((callTtl + 1) * 1000);
    if (isDown) {
      stage.spawn();
      await stage.ready();
    }

    const came = await deliveredTo(stage, stage.token("ada", undefined, 3 * day));
    must(came.includes(message), "the message that was alive did not come");
    must(!came.includes(call), `the call of ${callTtl} s came after its time`);
    const told = (await (await fetch(`${stage.url}/v1/events/${call}`, { headers: { Authorization: `Bearer ${stage.key}` } })).json()).deliveries?.[0]?.state;
    must(told === "expired", `the call's delivery is ${told}`);
    must(isDown ? /The hub's clock goes on from the hub before/.test(stage.hub.output) : /The machine's clock was set by -?86\d+ s/.test(stage.hub.output), `no line says so: ${stage.hub.output.slice(-500)}`);
    const metrics = await (await fetch(`http://127.0.0.1:${stage.operationsPort}/metrics`)).text();
    const ahead = Number(/^pnh_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
    must(Math.abs(ahead + by) < 5, `pnh_clock_ahead_seconds is ${ahead}`);
    must(Number(/^pnh_clock_steps_total (\S+)$/m.exec(metrics)?.[1]) === (isDown ? 0 : 1), "pnh_clock_steps_total is wrong");
    must(await stage.stop() === 0, "the hub did not end cleanly");
  } finally {
    await stage.close(false);
  }
}

/** The ids of what a client is given within two seconds. */
async function deliveredTo(stage, token) {
  const socket = new WebSocket(`${stage.url.replace("http", "ws")}/v1/socket`, "pnh.v1");
  const [ids, frames] = [[], []];
  socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token, device: "phone", state: "active" }));
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    frames.push(frame.type === "error" ? data : frame.type);
    if (frame.type === "event") {
      ids.push(frame.id);
    }
  };
  socket.onerror = () => {};
  await delay(2000);
  socket.close();
  must(frames.includes("welcome"), `the client was not welcome: ${frames}`);
  return ids;
}

function set(seconds) {
  writeFileSync(machine, `${seconds < 0 ? "" : "+"}${seconds}\n`);
}

function must(isSo, problem) {
  if (!isSo) {
    throw new Error(problem);
  }
}

function libraryOf(name) {
  const libraries = "/usr/lib";
  return readdirSync(libraries).map((entry) => join(libraries, entry, "faketime", name)).find(existsSync);
}
