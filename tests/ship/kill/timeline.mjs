// Asks the hub's own timeline about what did not arrive, and whether it knows what did.
import { send } from "./publishers.mjs";

// The one end of an event that reached nobody which this loop can rightly cause: a phone acknowledges nothing, so its mailbox fills, and of too many the least needed goes.
// No other: an hour does not pass, nobody withdraws or mutes, every user has one device, and the clients and stand-ins keep what they took.
const evicted = { state: "failed", reason: "evicted" };
const mailboxItems = 500; // Pnh:Mailbox:Items, where it is not set
const sampled = 200;

/**
 * `lost`: promised, not arrived and without an honest end in the timeline. `ended`: not arrived, with one. `forgotten`: arrived under an id that the hub does not know. `asked`:
 * timelines that were read; 0 when this hub has none.
 */
export async function settle(stage, ledger, missing) {
  const lost = [];
  let [ended, asked] = [0, 0];
  for (const entry of missing) {
    const answer = await read(stage, entry);
    asked += answer.status === 200 ? 1 : 0;
    hasEnd(answer.json, entry.user, ledger.promisedTo(entry.user)) ? ended++ : lost.push({ ...entry, timeline: answer.status === 200 ? answer.text : `${answer.status}` });
  }

  const forgotten = [];
  // Those whose id the hub gave come first: nobody could post them again, so only the journal can know them.
  const arrived = [...ledger.entries.values()].filter((entry) => entry.arrivals > 0).sort((a, b) => a.given - b.given || b.n - a.n).slice(0, sampled);
  for (const entry of arrived) {
    const answer = await read(stage, entry);
    asked += answer.status === 200 ? 1 : 0;
    if (answer.status === 404) {
      forgotten.push(entry.id);
    }
  }

  return { lost, ended, asked, forgotten };
}

async function read(stage, { id, user }) {
  return (await send(stage, "GET", `/v1/events/${encodeURIComponent(id)}?user=${user}`)) ?? { status: 0, json: null };
}

/** `count`: what its user was promised in all; a mailbox that could not be full evicts nothing. */
function hasEnd(timeline, user, count) {
  const deliveries = (timeline?.deliveries ?? []).filter((delivery) => delivery.user === user);
  return deliveries.length > 0 && count > mailboxItems && deliveries.every(({ state, reason }) => state === evicted.state && reason === evicted.reason);
}
