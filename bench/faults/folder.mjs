// The data folder: a registry that is another's, damaged files, a full disk.
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { delay } from "../../tests/ship/hub.mjs";
import { send, post } from "../../tests/ship/kill/publishers.mjs";
import { generator } from "../../tests/ship/random.mjs";
import { backup, metric, postMany, ready, registerQuiet, start, statesOf, until, withHub } from "./rig.mjs";

const corruptions = 200;

export const folder = [
  { name: "registry-gone", what: "`registry.db` removed beside a journal with 100 open events, the hub started, the file put back, started again", run: registryGone },
  { name: "corruptions", what: "one random corruption (bit, byte, block, zeros, truncation, swap, append, delete) of a file of a stopped folder with 300 accepted events", run: corrupt },
  { name: "registry-pages", what: "pages of `registry.db` overwritten while stopped", run: registryPages },
  { name: "full-disk", what: "the disk of the data folder filled under load, the hub restarted on it, then room made", run: fullDisk },
];

function registryGone(program) {
  return withHub(program, async (stage) => {
    await registerQuiet(stage, "ada");
    const ids = await postMany(stage, 100);
    await stage.stop();
    const data = join(stage.folder, "data");
    const registry = readdirSync(data).filter((file) => file.startsWith("registry.db")).map((file) => join(data, file));
    const kept = registry.map((file) => [file, readFileSync(file)]);
    registry.forEach((file) => rmSync(file));
    const said = await start(stage);
    const refused = said !== "ready";
    await delay(1000);
    await stage.stop();
    readdirSync(data).filter((file) => file.startsWith("registry.db")).forEach((file) => rmSync(join(data, file)));
    kept.forEach(([file, bytes]) => writeFileSync(file, bytes));
    const again = await start(stage);
    const failed = (await Promise.all(ids.map((id) => statesOf(stage, id)))).filter((states) => states === null || states.some((state) => state.startsWith("failed")));
    return {
      times: 1, wrong: !refused || again !== "ready" || failed.length > 0,
      happened: `${refused ? "refused" : "STARTED"}: “${said.slice(0, 220)}”; with the file back ${again}, ${failed.length} of ${ids.length} events failed`,
    };
  });
}

function corrupt(program) {
  return withHub(program, async (stage) => {
    await registerQuiet(stage, "ada");
    const padding = "x".repeat(3000); // several segments
    const ids = await postMany(stage, 300, (i) => ({ id: `e${i}`, to: { user: "ada" }, class: "message", ttl: 86_400, data: { i, padding } }));
    await stage.stop();
    const data = join(stage.folder, "data");
    const kept = backup(data);
    const seed = Date.now() % 1_000_000;
    const random = generator(seed);
    const seen = { refused: 0, quarantined: 0, whole: 0 };
    const silent = [];
    for (let round = 0; round < corruptions; round++) {
      const done = spoil(data, random);
      const said = await start(stage);
      if (said !== "ready") {
        seen.refused++;
      } else if (await metric(stage, "pnh_journal_damaged_records_total") > 0) {
        seen.quarantined++;
      } else if ((await Promise.all(ids.map((id) => statesOf(stage, id)))).every((states) => states !== null && !states.some((state) => state.startsWith("failed")))) {
        seen.whole++;
      } else {
        silent.push(done);
      }

      stage.hub.child.kill("SIGKILL");
      await stage.hub.ended;
      kept.restore();
    }

    kept.drop();
    return {
      times: corruptions, wrong: silent.length > 0,
      happened: `${seen.refused} refused, ${seen.quarantined} quarantined and counted, ${seen.whole} with nothing missing, ${silent.length} less in silence (seed ${seed}) ${silent.slice(0, 3).join("; ")}`,
    };
  }, { Pnh__Journal__SegmentBytes: "262144" });
}

// One of eight kinds, at a random place of a random file.
function spoil(data, random) {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name)).filter((file) => /journal|registry/.test(file)).sort();
  const pick = (length) => Math.floor(random() * length);
  const file = files[pick(files.length)];
  const bytes = readFileSync(file);
  const used = Math.max(1, bytes.length - trailingZeros(bytes));
  const at = pick(used);
  const kind = pick(8);
  const length = Math.min(used - at, 1 + pick(4096));
  switch (kind) {
    case 0: bytes[at] ^= 1 << pick(8); break;
    case 1: bytes[at] = pick(256); break;
    case 2: for (let i = 0; i < length; i++) { bytes[at + i] = pick(256); } break;
    case 3: bytes.fill(0, at, at + length); break;
    case 4: truncateSync(file, at); break;
    case 5: copyFileSync(files[pick(files.length)], file); break;
    case 6: appendFileSync(file, Buffer.alloc(length, pick(256))); break;
    default: rmSync(file); break;
  }

  if (kind < 4) {
    writeFileSync(file, bytes);
  }

  return `kind ${kind} at ${at} of ${file.slice(data.length + 1)}`;
}

function trailingZeros(bytes) {
  let zeros = 0;
  while (zeros < bytes.length && bytes[bytes.length - 1 - zeros] === 0) {
    zeros++;
  }

  return zeros;
}

function registryPages(program) {
  return withHub(program, async (stage) => {
    for (let i = 0; i < 200; i++) {
      await registerQuiet(stage, `user-${i}`);
    }

    await stage.stop();
    const file = join(stage.folder, "data", "registry.db");
    const bytes = readFileSync(file);
    bytes.fill(0xAA, 4096, bytes.length);
    writeFileSync(file, bytes);
    const said = await start(stage);
    if (said !== "ready") {
      const lines = stage.hub.output.trim().split("\n").length;
      return { times: 1, wrong: lines > 1 || (await stage.hub.ended) !== 1, happened: `refused in ${lines} line: “${said.slice(0, 200)}”` };
    }

    const answer = await send(stage, "GET", "/v1/users/user-7");
    const health = (await fetch(`http://127.0.0.1:${stage.operationsPort}/healthz`)).status;
    return { times: 1, wrong: answer?.status === 404 || health !== 503, happened: `a read is answered ${answer?.status}, then /healthz ${health}` };
  });
}

async function fullDisk(program) {
  return await withHub(program, async (stage) => {
    await stage.stop();
    const data = join(stage.folder, "data");
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=0700", "pnh-faults", data]);
    try {
      await start(stage);
      await registerQuiet(stage, "ada");
      const before = await postMany(stage, 50);
      writeUntilFull(join(data, "filler"));
      let refused = 0;
      await until(60_000, async () => (await post(stage, { to: { user: "ada" }, data: { x: "x".repeat(60_000) } }))?.status === 503 && ++refused >= 3);
      const readsFull = (await Promise.all(before.map((id) => statesOf(stage, id)))).filter(Boolean).length;
      const readyFull = await ready(stage);
      await stage.stop();
      const again = await start(stage);
      const readsAgain = again === "ready" || stage.hub.child.exitCode === null ? (await Promise.all(before.map((id) => statesOf(stage, id)))).filter(Boolean).length : 0;
      rmSync(join(data, "filler"));
      const healed = await until(90_000, async () => await ready(stage) === 200 && (await post(stage, { to: { user: "ada" }, data: {} }))?.status === 202);
      await stage.stop();
      return {
        times: 1, wrong: refused < 3 || readsFull < before.length || readyFull !== 503 || readsAgain < before.length || !healed,
        happened: `durable events 503, /readyz ${readyFull}, ${readsFull} of ${before.length} timelines read; after a restart on the full disk ${readsAgain}; with room again ${healed ? "202 and /readyz 200" : "NOT taken"}`,
      };
    } finally {
      execFileSync("umount", ["-l", data]);
    }
  }, { Pnh__Journal__SegmentBytes: "1048576" });
}

function writeUntilFull(file) {
  try {
    for (;;) {
      appendFileSync(file, Buffer.alloc(65_536, 1));
    }
  } catch {
    // Full.
  }
}
