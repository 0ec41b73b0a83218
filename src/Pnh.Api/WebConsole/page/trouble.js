// The strip below the header: what an operator has to look at now. Nothing is wrong = it is not there.
import { byId, counted, make } from '/console/dom.js';

const minute = 60_000;
const watched = [
  { text: (channel, n) => `${channel}: ${counted(n, 'push', 'pushes')} refused for the account's settings in the last minute`, read: (totals) => byChannel(totals, 'misconfigured') },
  { text: (_, n) => `${counted(n, 'delivery', 'deliveries')} too late in the last minute`, read: (totals) => ({ '': totals.deadlinesMissed }) },
  { text: (name, n) => `${counted(n, 'event', 'events')} of class ${name} refused in the last minute: too many came`, read: (totals) => byClass(totals, ['overloaded', 'unavailable']) },
];

const kept = [];

function byChannel(totals, status) {
  return Object.fromEntries(totals.deliveries.filter((row) => row.status === status).map((row) => [row.channel, row.count]));
}

function byClass(totals, results) {
  const found = {};
  for (const row of totals.events.filter(({ result }) => results.includes(result))) found[row.class] = (found[row.class] ?? 0) + row.count;
  return found;
}

/** What was counted within the last minute; a hub that restarted counts from zero. */
function risen(now) {
  const figures = watched.map((one) => one.read(now));
  kept.push({ time: now.time, served: now.served, figures });
  while (kept[0].time < now.time - minute || kept[0].served > now.served) kept.shift();
  return watched.flatMap((one, index) => Object.entries(figures[index])
    .map(([channel, value]) => ({ channel, more: value - (kept[0].figures[index][channel] ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ channel, more }) => one.text(channel, more)));
}

/** Gives how many there are. */
export function showTrouble(troubles, totals) {
  const lines = [...(troubles ?? []), ...risen(totals)];
  const strip = byId('trouble');
  if (strip.dataset.lines !== lines.join('\n')) {
    strip.dataset.lines = lines.join('\n');
    strip.firstElementChild.replaceChildren(...lines.map((line) => make('li', {}, line)));
    strip.hidden = lines.length === 0;
  }
  return lines.length;
}
