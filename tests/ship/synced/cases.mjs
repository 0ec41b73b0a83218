// Small traces that the reading of traces must judge right. `problem`: what must be found; null = nothing may be.
const write = '7 1.0 pwrite64(9</data/journal>, "..\\"id\\":\\"e-1\\"..", 40, 0) = 40';
const sync = "7 1.1 fdatasync(9</data/journal>) = 0";
const answer = '8 1.2 sendto(20<socket:[1]>, "HTTP/1.1 202 Accepted\\r\\n\\r\\n{\\"id\\":\\"e-1\\",\\"durable\\":true}", 60, 0, NULL, 0) = 60';
const early = /e-1: 202 sent before the sync/;

export const cases = [
  { name: "written, synced, answered", trace: lines(write, sync, answer), problem: null },
  { name: "with [pid …] in front", trace: lines(write, sync, answer).replaceAll(/^(\d+) /gm, "[pid  $1] "), problem: null },
  { name: "answered before the sync", trace: lines(write, answer, sync), problem: early },
  { name: "never synced", trace: lines(write, answer), problem: early },
  { name: "never written", trace: lines(sync, answer), problem: /e-1: 202 sent before it was written/ },
  { name: "another event was written", trace: lines(write.replace("e-1", "e-2"), sync, answer), problem: /before it was written/ },
  { name: "another file was synced", trace: lines(write, sync.replace("journal", "registry"), answer), problem: early },
  { name: "the sync failed", trace: lines(write, sync.replace("= 0", "= -1 EIO (Input/output error)"), answer), problem: early },
  { name: "the write failed", trace: lines(write.replace("= 40", "= -1 ENOSPC (No space left on device)"), sync, answer), problem: /before it was written/ },
  { name: "written outside the data folder", trace: lines(write.replace("/data/", "/tmp/"), sync, answer), problem: /before it was written/ },
  {
    name: "the sync began before the write was done", problem: early,
    trace: lines("7 1.0 fdatasync(9</data/journal> <unfinished ...>", write.replace("7 1.0", "6 1.0"), "7 1.1 <... fdatasync resumed>) = 0", answer),
  },
  {
    name: "the write was done while another sync ran, and then synced", problem: null,
    trace: lines("7 1.0 fdatasync(9</data/journal> <unfinished ...>", write.replace("7 1.0", "6 1.0"), "7 1.1 <... fdatasync resumed>) = 0", sync, answer),
  },
  {
    name: "the answer began before the sync returned", problem: early,
    trace: lines(write, "7 1.1 fsync(9</data/journal> <unfinished ...>", answer, "7 1.3 <... fsync resumed>) = 0"),
  },
  {
    name: "the answer's call was interrupted after the sync", problem: null,
    trace: lines(write, sync, answer.replace(/, 60, 0, NULL, 0\) = 60$/, " <unfinished ...>"), "8 1.4 <... sendto resumed>, 60, 0, NULL, 0) = 60"),
  },
  {
    name: "the id follows the 202 in a second piece, sent after the sync", problem: early,
    trace: lines(write, '8 1.2 sendmsg(20<TCP:[a->b]>, {msg_iov=[{iov_base="HTTP/1.1 202 Accepted\\r\\n"}]}, 0) = 24', sync,
      '8 1.3 sendmsg(20<TCP:[a->b]>, {msg_iov=[{iov_base="{\\"id\\":\\"e-1\\"}"}]}, 0) = 12'),
  },
  { name: "two answers in one piece, one of them not synced", problem: /e-2: 202 sent before it was written/, trace: lines(write, sync, answer.replace('true}"', 'true}HTTP/1.1 202 {\\"id\\":\\"e-2\\"}"')) },
];

function lines(...list) {
  return list.join("\n");
}
