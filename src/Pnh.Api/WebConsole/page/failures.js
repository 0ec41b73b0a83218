// What did not arrive, newest first; each line leads to its user.
import { byId, clockSeconds, get, make } from '/console/dom.js';
import { find } from '/console/find.js';
import { about } from '/console/timeline.js';

const every = 10_000;
const shown = 15;
let drawn = '';

function row(event, one) {
  const who = make('button', { type: 'button', class: 'link' }, `${one.user}/${one.device}`);
  who.addEventListener('click', () => find(one.user).then(() => byId('find').scrollIntoView({ block: 'start' })));
  return make('tr', {}, make('td', {}, clockSeconds(new Date(one.milestones.at(-1).at))), make('th', { scope: 'row' }, who), make('td', { class: 'bad' }, about(one)), make('td', {}, event.class), make('td', {}, event.id));
}

async function look() {
  if (document.hidden) return;
  const { status, json } = await get(`/console/failures?${new URLSearchParams({ app: byId('find-app').value })}`).catch(() => ({ status: 0 }));
  const text = JSON.stringify(json);
  if (status !== 200 || text === drawn) return;
  drawn = text;
  const rows = json.events.flatMap((event) => event.deliveries.map((one) => row(event, one))).slice(0, shown);
  byId('failures').replaceChildren(
    make('thead', {}, make('tr', {}, ['Ended', 'User and device', 'How', 'Class', 'Event'].map((head) => make('th', { scope: 'col' }, head)))),
    make('tbody', {}, rows.length ? rows : make('tr', {}, make('td', { colspan: 5, class: 'empty' }, 'Nothing, as far back as the log goes.'))));
}

/** Looks once the apps are known, and again and again while somebody may see it. */
export function watchFailures() {
  look();
  setInterval(look, every);
  byId('find-app').addEventListener('change', look);
}
