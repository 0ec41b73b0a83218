// node incident.mjs PATH-OF-PUBLISHED-pnh: "why did Mia's phone not ring?", answered by commands, pages and the console of a published hub alone.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startHub } from "../ship/hub.mjs";
import { checked, finish } from "../ship/report.mjs";
import { until } from "../ship/until.mjs";
import { api, page, says, section } from "./pages.mjs";

const program = process.argv[2];
const run = promisify(execFile);
const hub = await startHub(program);
const pnh = async (...words) => (await run(program, [...words, "--hub", hub.url, "--key", hub.key], { timeout: 30_000 })).stdout;
const configured = async (...words) => (await run(program, [...words, `--Pnh:Data=${hub.data}`, `--Pnh:OperationsUrls=${hub.operations}`], { timeout: 30_000 })).stdout;

/** A delivery of the user's event once it has ended, by `pnh user`. */
const ending = (user, id) => until(`pnh user says how ${id} ended`, async () => {
  const one = JSON.parse(await pnh("user", user, "--json")).events.find((event) => event.id === id)?.deliveries[0];
  return one && one.state !== "pending" ? one : null;
});

const device = { platform: "ios", apns: { token: "00112233445566778899aabbccddeeff", environment: "production", topic: "com.example.other" } };
const event = (id) => ({ id, to: { user: "mia" }, class: "call", ttl: 60, notification: { title: "Mia, are you there?" } });

try {
  await api(hub, "PUT", "/v1/users/mia/devices/mias-phone", device);
  await api(hub, "POST", "/v1/events", event("call-1"));

  const lost = await checked("the page says how to ask for a person, and the command names state and reason", async () => {
    await says(hub, "operate", "pnh user ada");
    await says(hub, "why", "/v1/users/nobody/events");
    const one = await ending("mia", "call-1");
    if (one.state !== "failed" || !one.reason) {
      throw new Error(`state ${one.state}, reason ${one.reason}`);
    }

    return one;
  });
  await checked("the reason has a section that says what to do", async () => {
    const text = await section(hub, "why", lost.reason);
    if (!text.includes("topic") || !text.includes("environment")) {
      throw new Error(text);
    }
  });
  await checked("the console shows the same of the user", async () => {
    const link = /http\S+ticket=\S+/.exec(await configured("console"))[0];
    const cookie = (await fetch(link, { redirect: "manual" })).headers.get("set-cookie").split(";")[0];
    const user = await (await fetch(`${hub.operations}/console/users/mia?app=demo`, { headers: { cookie } })).json();
    const shown = user.events[0].deliveries[0];
    if (user.devices[0].device !== "mias-phone" || shown.reason !== lost.reason) {
      throw new Error(JSON.stringify(user));
    }
  });
  await checked("the user's own test push names the broken link", async () => {
    await says(hub, "devices", "/test");
    const answer = await api(hub, "POST", "/v1/users/mia/devices/mias-phone/test", undefined, await hub.token("mia"));
    const broken = answer.links.find((link) => !link.holds);
    if (broken?.link !== "account" || answer.sent) {
      throw new Error(JSON.stringify(answer));
    }
  });
  await checked("the cure of the page holds: the phone rings", async () => {
    const { apns } = JSON.parse(await pnh("user", "ada", "--json")).devices.find((one) => one.apns);
    await api(hub, "PUT", "/v1/users/mia/devices/mias-phone", { ...device, apns: { ...device.apns, environment: apns.environment, topic: apns.topic } });
    await api(hub, "POST", "/v1/events", event("call-2"));
    const one = await ending("mia", "call-2");
    if (one.state !== "accepted") {
      throw new Error(`state ${one.state}, reason ${one.reason}`);
    }

    if (!(await pnh("event", "call-2")).includes("mia/mias-phone  accepted, apns")) {
      throw new Error("pnh event does not say so");
    }
  });
  await checked("every state has its row on the page", async () => {
    const { text } = await page(hub, "why");
    const missing = ["pending", "acked", "accepted", "expired", "withdrawn", "suppressed", "failed", "unconfirmed"].filter((state) => !text.includes(state));
    if (missing.length > 0) {
      throw new Error(missing.join(", "));
    }
  });
} finally {
  await checked("the hub stops cleanly", () => hub.stop());
}

finish();
