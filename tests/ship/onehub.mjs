// node onehub.mjs PROGRAM: a second hub on one data folder, with a kernel that answers for flock as network file systems do (strace answers in its place): without locks no hub starts; where the lock is
// granted twice the hub that came first ends, and every event that either of the two accepted is there afterwards.
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { delay, startHub } from "./hub.mjs";
import { check, checked, finish } from "./report.mjs";

const program = resolve(process.argv[2]);
const answering = (answer) => ["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", `inject=flock:${answer}`];

for (const error of ["ENOLCK", "EOPNOTSUPP", "ENOSYS"]) {
  const said = await refusal({ wrap: answering(`error=${error}`) });
  check(`flock says ${error}: the start is refused in one line that names the file system and what to do`,
    /ended at its start with 1: pnh: The data folder \S+ cannot be locked \([^)]+\).*file system is \S+, mounted at \S+: give Pnh:Data a volume[^\n]*\n$/.test(said) ? null : said);
}

const first = await startHub(program);
try {
  const said = await refusal({ settings: [`--Pnh:Data=${first.data}`], env: { DOTNET_SYSTEM_IO_DISABLEFILELOCKING: "1" } });
  check("the second hub is refused, also with .NET's file locks switched off", /is in use by another hub \(pid \d+\)/.test(said) ? null : said);
} finally {
  await checked("the first hub stops cleanly", () => first.stop());
}

const older = await startHub(program, { wrap: answering("retval=0") });
const accepted = [];
const refused = [];
let newer;
try {
  let isGone = false;
  older.ended.then(() => { isGone = true; });
  const publishers = Array.from({ length: 8 }, () => publish(older, () => isGone));
  await delay(500);
  newer = await startHub(program, { wrap: answering("retval=0"), settings: [`--Pnh:Data=${older.data}`] });
  const byNewer = publish(newer, () => isGone);
  const code = await Promise.race([older.ended, delay(20_000).then(() => "late")]);
  isGone = true;
  await Promise.all([...publishers, byNewer]);
  check("the lock is granted twice: the hub that came first ends with 3", code === 3 ? null : `it ended with ${code}: ${older.output.slice(-1000)}`);
  check("it says why in one line", older.output.match(/Another hub has taken the data folder \S+: this one/g)?.length === 1 ? null : older.output.slice(-1000));
  const others = refused.filter((status) => status !== 503);
  check("it refuses events with 503 until it has ended", refused.length > 0 && others.length === 0 ? null : `${refused.length} refused, ${others} among them`);
  const lost = [];
  for (const id of accepted) {
    const answer = await fetch(`${newer.url}/v1/events/${id}`, { headers: { Authorization: `Bearer ${newer.key}` } });
    if (answer.status !== 200) {
      lost.push(`${id} ${answer.status}`);
    }
  }

  check("every accepted event is there", accepted.length > 10 && lost.length === 0 ? null : `${lost.length} of ${accepted.length} are lost: ${lost.slice(0, 5)}`);
  console.log(`   ${accepted.length} accepted, ${refused.length} refused`);
} finally {
  await checked("the hub that came later stops cleanly", () => newer?.stop());
  await older.stop().catch(() => {});
}

finish();

/** What a hub says that does not start. */
async function refusal(options) {
  try {
    await (await startHub(program, options)).stop();
    return "it started";
  } catch (e) {
    return e.message;
  }
}

/** One event after the other, until the first hub is gone. */
async function publish(hub, isOver) {
  while (!isOver()) {
    const id = randomUUID();
    try {
      const answer = await fetch(`${hub.url}/v1/events`, {
        method: "POST", headers: { Authorization: `Bearer ${hub.key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ id, to: { user: "nobody" }, class: "message", data: { text: "x" } }), signal: AbortSignal.timeout(10_000),
      });
      await answer.arrayBuffer();
      answer.status === 202 ? accepted.push(id) : refused.push(answer.status);
    } catch {
      // No answer: nothing was promised.
      await delay(5);
    }
  }
}
