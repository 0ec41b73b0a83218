// Reads an strace (-f -y -ttt) and judges one promise: what a 202 speaks of was written, and a sync of that file that began after the write has returned, before the 202 leaves.

const line = /^(?:\[pid\s+)?(\d+)\]?\s+(?:\d+\.\d+\s+)?(.*)$/;
const unfinished = /^(\w+)\((.*) <unfinished \.\.\.>$/s;
const resumed = /^<\.\.\. (\w+) resumed>(.*)$/s;
const whole = /^(\w+)\((.*)\)\s+= (-?\d+)(.*)$/s;
const descriptor = /^(\d+)<([^>]*)>/;
const answer = /HTTP\/1\.1 202/;
const eventId = /\\?"id\\?":\\?"([A-Za-z0-9._:~@-]{1,64})\\?"/g;

/**
 * `folder`: files below it are the hub's data. Gives `problems` as lines, `judged` the ids whose 202 was seen, `syncs` how many succeeded in the folder. Order is that of
 * the trace's lines: a call counts as begun with its first line and as done with its last.
 */
export function judge(trace, folder) {
  const state = { folder, files: new Map(), pending: new Map(), answers: new Map(), problems: [], judged: new Set(), syncs: 0 };
  for (const text of trace.split("\n")) {
    const [, pid, rest] = line.exec(text) ?? [];
    if (rest === undefined) {
      continue;
    }

    const begun = unfinished.exec(rest);
    const ending = resumed.exec(rest);
    if (begun) {
      state.pending.set(pid, begin(state, begun[1], begun[2]));
    } else if (ending) {
      const call = state.pending.get(pid);
      state.pending.delete(pid);
      const result = /\)\s+= (-?\d+)[^)]*$/s.exec(ending[2]);
      if (call && result) {
        end(state, call, Number(result[1]), call.args + ending[2]);
      }
    } else {
      const call = whole.exec(rest);
      if (call) {
        end(state, begin(state, call[1], call[2]), Number(call[3]), call[2]);
      }
    }
  }

  return state;
}

/** The moment before the kernel acts: bytes of an answer are as good as sent, and a sync covers what is written by now. */
function begin(state, name, args) {
  const [, fd, path] = descriptor.exec(args) ?? [];
  const call = { name, args, path, covers: null };
  if (path === undefined) {
    return call;
  }

  if (/^f(data)?sync$/.test(name)) {
    call.covers = fileOf(state, path).written.length;
  } else if (!path.startsWith("/")) {
    send(state, `${fd} ${path}`, args);
  }

  return call;
}

function end(state, call, result, args) {
  if (call.path === undefined || result < 0 || !call.path.startsWith(state.folder)) {
    return;
  }

  const file = fileOf(state, call.path);
  if (call.covers !== null) {
    state.syncs++;
    file.written.slice(file.synced, call.covers).forEach((bytes) => { bytes.synced = true; });
    file.synced = Math.max(file.synced, call.covers);
  } else if (result > 0) {
    file.written.push({ text: args, synced: false });
  }
}

/** A 202 whose id comes in a later piece on the same connection is judged by what was synced when the 202 left. */
function send(state, connection, args) {
  const unsynced = answer.test(args) ? snapshot(state) : state.answers.get(connection);
  if (!unsynced) {
    return;
  }

  const ids = [...args.matchAll(eventId)].map(([, id]) => id);
  ids.length === 0 ? state.answers.set(connection, unsynced) : state.answers.delete(connection);
  for (const id of ids) {
    state.judged.add(id);
    const writes = unsynced.filter((bytes) => bytes.text.includes(id));
    if (!writes.some((bytes) => bytes.synced)) {
      state.problems.push(writes.length === 0 ? `${id}: 202 sent before it was written` : `${id}: 202 sent before the sync of its write returned`);
    }
  }
}

/** All writes with what was synced at this moment. */
function snapshot(state) {
  return [...state.files.values()].flatMap((file) => file.written.map((bytes, i) => ({ text: bytes.text, synced: i < file.synced })));
}

function fileOf(state, path) {
  let file = state.files.get(path);
  if (!file) {
    state.files.set(path, file = { written: [], synced: 0 });
  }

  return file;
}
