// node firstday.mjs PATH-OF-PUBLISHED-pnh: a back-end developer's first day, by what the start prints, the hub's own pages and commands alone.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startHub } from "../ship/hub.mjs";
import { checked, finish } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { says, section } from "./pages.mjs";

const program = process.argv[2];
const run = promisify(execFile);
const hub = await startHub(program);
const own = [`--Pnh:Data=${hub.data}`, `--Pnh:Urls=${hub.url}`, `--Pnh:OperationsUrls=${hub.operations}`];
const pnh = async (...words) => (await run(program, words, { timeout: 30_000 })).stdout.trim();
const asPublisher = (...words) => pnh(...words, "--hub", hub.url, "--key", hub.key);

async function post(body, key = hub.key) {
  const answer = await fetch(`${hub.url}/v1/events`, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body) });
  return { status: answer.status, json: await answer.json() };
}

try {
  const id = await checked("what the start printed is pasted, and the hub answers with an id", async () => {
    const printed = hub.output.slice(hub.output.indexOf("curl"));
    const lines = printed.split("\n");
    const last = lines.findIndex((line) => !line.trimEnd().endsWith("\\"));
    const { stdout } = await run("bash", ["-c", lines.slice(0, last + 1).join("\n")], { timeout: 20_000 });
    const { id } = JSON.parse(/\{.*\}/.exec(stdout)[0]);
    if (!id) {
      throw new Error(stdout);
    }

    return id;
  });
  await checked("the command of the page says what became of it, for each phone", async () => {
    await says(hub, "operate", "pnh event");
    await until("both phones are accepted", async () => (await asPublisher("event", id)).match(/accepted/g)?.length >= 2);
  });
  await checked("GET / says where things are, and each page that it leads to is there", async () => {
    const root = await (await fetch(`${hub.url}/`)).text();
    const index = await (await fetch(`${hub.url}/docs`)).text();
    const links = [...`${root}${index}`.matchAll(/href="(\/?docs[^"#]*|[a-z]+)"/g)].map(([, href]) => new URL(href, `${hub.url}/docs/`).pathname);
    if (!root.includes("docs") || new Set(links).size < 10) {
      throw new Error(`${links}`);
    }

    for (const path of new Set(links)) {
      const answer = await fetch(hub.url + path);
      if (answer.status !== 200) {
        throw new Error(`${path} is answered with ${answer.status}`);
      }
    }
  });
  await checked("a mistake is named by its member, and its help is a section of a page", async () => {
    const { status, json } = await post({ to: { usr: "ada" }, clas: "call" });
    const { pathname, hash } = new URL(json.help, hub.url);
    if (status !== 400 || json.errors.length < 2 || !json.errors.every((error) => error.pointer && error.detail)) {
      throw new Error(JSON.stringify(json));
    }

    await section(hub, pathname.split("/").at(-1), hash.slice(1));
  });
  await checked("a key of one's own, as the page makes it, sends and does nothing else", async () => {
    await says(hub, "start", "key add --app shop --scope send,register,read");
    const key = await pnh("key", "add", "--app", "demo", "--scope", "send", ...own);
    const sent = await post({ to: { user: "ada" }, notification: { title: "Hello" } }, key);
    const refused = await fetch(`${hub.url}/v1/users/ada`, { headers: { authorization: `Bearer ${key}` } });
    if (sent.status !== 202 || refused.status !== 403) {
      throw new Error(`${sent.status}, ${refused.status}`);
    }
  });
  await checked("one event to a device that nothing reaches says so", async () => {
    await says(hub, "start", "\"platform\":\"desktop\"");
    await fetch(`${hub.url}/v1/users/mia/devices/laptop`, {
      method: "PUT", headers: { authorization: `Bearer ${hub.key}`, "content-type": "application/json" }, body: JSON.stringify({ platform: "desktop" }),
    });
    await post({ id: "order-1", to: { user: "mia" }, notification: { title: "Thank you" } });
    const delivery = await until("it is planned", async () => JSON.parse(await asPublisher("user", "mia", "--json")).events[0]?.deliveries[0]);
    if (delivery.state !== "pending" || delivery.reason !== "no-address") {
      throw new Error(JSON.stringify(delivery));
    }

    await section(hub, "why", delivery.reason);
  });
  await checked("the API describes itself, with an address for each thing that the pages name", async () => {
    const description = await (await fetch(`${hub.url}/v1/openapi.json`)).json();
    await says(hub, "clients", "/v1/openapi.json");
    const missing = ["/v1/events", "/v1/users/{user}/devices/{device}", "/v1/events:explain", "/v1/topics/{topic}/members/{user}"].filter((path) => !description.paths[path]);
    if (missing.length > 0) {
      throw new Error(missing.join(", "));
    }
  });
} finally {
  await checked("the hub stops cleanly", () => hub.stop());
}

finish();
