// The app's newest events, and what did not arrive: each line leads to its event or to its user.
import { byId, clockSeconds, get, make, tableParts } from '/console/dom.js';
import { showFound } from '/console/find.js';
import { about } from '/console/timeline.js';

const shown = 15;
const channels = ['websocket', 'apns', 'fcm', 'webpush', 'none'];
const good = ['acked', 'accepted', 'pending'];
const panels = [
  { id: 'newest', path: 'events', every: 3_000, heads: ['Taken', 'Event', 'To', 'Class', 'What became of it'], rows: (events) => events.map(eventRow), empty: 'No event, as far back as the log goes.' },
  { id: 'failures', path: 'failures', every: 10_000, heads: ['Ended', 'User and device', 'How', 'Class', 'Event'], rows: (events) => events.flatMap((event) => event.deliveries.filter(isChosen).map((one) => failureRow(event, one))),
    empty: 'Nothing, as far back as the log goes.' },
];

const channel = () => byId('failures-channel').value;

/** The event may have other deliveries besides. */
function isChosen(one) {
  return !channel() || (one.channel ?? 'none') === channel();
}

/** What is found stands in the panel "Find". */
function leading(text, what) {
  const button = make('button', { type: 'button', class: 'link' }, text);
  button.addEventListener('click', () => showFound(what));
  return button;
}

const time = (text) => make('td', {}, clockSeconds(new Date(text)));

function failureRow(event, one) {
  return make('tr', {}, time(one.milestones.at(-1).at), make('th', { scope: 'row' }, leading(`${one.user}/${one.device}`, one.user)), make('td', { class: 'bad' }, about(one)),
    make('td', {}, event.class), make('td', {}, leading(event.id, event.id)));
}

function whom(event) {
  if (event.topic) return `topic ${event.topic}`;
  const users = [...new Set([...event.deliveries, ...event.milestones].map((one) => one.user).filter(Boolean))];
  if (users.length === 0) return '–';
  return users.length === 1 ? leading(users[0], users[0]) : `${users[0]} and ${users.length - 1} more`;
}

/** Deliveries that ended alike are one line, with their number. */
function endings(event) {
  if (event.partial) return 'under way, or to many: see its timeline';
  if (event.deliveries.length === 0) return event.outcome ?? 'not planned yet';
  const alike = Map.groupBy(event.deliveries, about);
  return [...alike].map(([words, all]) => make('div', { class: `tone ${good.includes(all[0].state) ? '' : 'warn'}` }, all.length > 1 ? `${all.length} × ${words}` : words));
}

function eventRow(event) {
  return make('tr', {}, time(event.acceptedAt), make('th', { scope: 'row' }, leading(event.id, event.id)), make('td', {}, whom(event)), make('td', {}, event.class), make('td', {}, endings(event)));
}

async function look(panel) {
  if (document.hidden) return;
  const path = `/console/${panel.path}?${new URLSearchParams({ app: byId('find-app').value, channel: panel.id === 'failures' ? channel() : '' })}`;
  panel.asked = path;
  const { status, json } = await get(path).catch(() => ({ status: 0 }));
  const text = JSON.stringify(json);
  if (status !== 200 || panel.asked !== path || text === panel.drawn) return;
  panel.drawn = text;
  byId(panel.id).replaceChildren(...tableParts(panel.heads, panel.rows(json.events).slice(0, shown), panel.empty));
}

/** Looks once the apps are known, and again and again while somebody may see it. */
export function watchNewest() {
  byId('failures-channel').append(...channels.map((name) => make('option', {}, name)));
  byId('failures-channel').addEventListener('change', () => look(panels.find((panel) => panel.id === 'failures')));
  for (const panel of panels) {
    look(panel);
    setInterval(look, panel.every, panel);
    byId('find-app').addEventListener('change', () => look(panel));
  }
}
