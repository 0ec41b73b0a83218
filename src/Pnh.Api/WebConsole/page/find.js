// "Why did Ada's phone not ring?": a user's devices and last events, or one event, by what is typed into the field.
import { byId, clockSeconds, counted, get, make, span, tableParts } from '/console/dom.js';
import { about, watchTimeline } from '/console/timeline.js';

const channels = ['apns', 'fcm', 'webpush'];
const app = () => byId('find-app').value;
const path = (kind, id, query = {}) => `/console/${kind}/${encodeURIComponent(id)}?${new URLSearchParams({ app: app(), ...query })}`;

let stopWatching = () => {};

/** An event that is asked for by its id goes below the field; one of the user's below its row. */
function openEvent(id, place) {
  stopWatching();
  place.hidden = false;
  stopWatching = watchTimeline(place, path('events', id));
}

function device(one, sessions) {
  const here = sessions.filter((session) => session.device === one.device).map((session) => session.state);
  const reached = channels.filter((channel) => one[channel]);
  const lost = (one.removed ?? []).map((address) => `${address.channel} removed ${span(Date.now() - Date.parse(address.at))} ago${address.reason ? ` because ${address.reason}` : ''}`);
  return make('tr', {}, make('th', { scope: 'row' }, one.device), make('td', {}, one.platform),
    make('td', {}, here.length ? make('span', { class: `pill ${here[0]}` }, here[0]) : 'no socket'),
    make('td', { class: reached.length ? null : 'warn' }, [...reached, ...lost].join(', ') || 'no push address'),
    make('td', { class: 'number' }, `${span(Date.now() - Date.parse(one.registeredAt))} ago`));
}

function ending(one) {
  const tone = { acked: 'good', accepted: 'good', pending: null, suppressed: 'warn', withdrawn: 'warn' };
  return make('div', {}, make('b', {}, one.device), ' ', make('span', { class: `tone ${one.state in tone ? tone[one.state] ?? '' : 'bad'}` }, about(one)), one.mailbox ? '; in its mailbox' : '');
}

function row(one) {
  const button = make('button', { type: 'button', class: 'link', 'aria-expanded': 'false' }, one.id);
  const place = make('div', { class: 'plan', hidden: true });
  button.addEventListener('click', () => {
    const isOpen = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!isOpen));
    if (isOpen) {
      stopWatching();
      place.hidden = true;
    } else {
      openEvent(one.id, place);
    }
  });
  const what = one.deliveries.length ? one.deliveries.map(ending) : [one.outcome ?? 'nothing was planned'];
  return make('tr', { 'data-event': one.id }, make('td', {}, clockSeconds(new Date(one.acceptedAt))), make('th', { scope: 'row' }, button, place), make('td', {}, one.class), make('td', {}, what));
}

const table = (heads, rows, empty) => make('div', { class: 'scroll', tabindex: '0' }, make('table', {}, tableParts(heads, rows, empty)));

function muted(settings) {
  const parts = [settings.mutedClasses?.length && `mutes ${settings.mutedClasses.join(', ')}`, settings.mutedTopics?.length && `mutes topics ${settings.mutedTopics.join(', ')}`,
    settings.quietHours && `quiet from ${settings.quietHours.from} to ${settings.quietHours.to} ${settings.quietHours.timeZone}`,
    settings.doNotDisturbUntil && Date.parse(settings.doNotDisturbUntil) > Date.now() && `not to be disturbed until ${clockSeconds(new Date(settings.doNotDisturbUntil))}`,
    settings.mode === 'drop' && 'drops what comes meanwhile'];
  return parts.filter(Boolean).join('; ');
}

function userPage(user) {
  const unregistered = user.sessions.filter((session) => !user.devices.some((one) => one.device === session.device));
  const rows = make('div', {});
  const older = make('button', { type: 'button' }, 'Older events');
  const wishes = muted(user.settings);
  const show = (page) => {
    rows.append(table(['Taken', 'Event', 'Class', 'What became of it'], page.events.map(row), 'No event in the log.'));
    older.hidden = !page.next;
    older.onclick = async () => show((await get(path('users', user.user, { before: page.next }))).json);
  };
  show(user);
  return make('div', { id: 'found-user' },
    make('h3', {}, make('b', {}, user.user), ` in ${user.app}: ${user.sessions.length === 0 ? 'not online' : counted(user.sessions.length, 'session')}${wishes ? `; ${wishes}` : ''}`),
    table(['Device', 'Platform', 'Socket', 'Push by', 'Registered'], [...user.devices.map((one) => device(one, user.sessions)),
      ...unregistered.map((session) => device({ device: session.device, platform: 'not registered', registeredAt: session.since }, user.sessions))], 'No device is registered, and no socket is open: nothing reaches this user.'),
    rows, make('div', { class: 'buttons' }, older));
}

const isKnown = (user) => user && (user.devices.length > 0 || user.sessions.length > 0 || user.events.length > 0);

async function readUser(text) {
  const whole = (await get(path('users', text))).json;
  const slash = text.lastIndexOf('/');
  if (isKnown(whole) || whole?.isEvent || slash < 1) return whole;
  return (await get(path('users', text.slice(0, slash), { device: text.slice(slash + 1) }))).json;
}

/** Looks for a user, for one of a user's devices ("ada/ada-iphone"), and for an event of that id. */
async function find(text) {
  byId('find-text').value = text;
  stopWatching();
  const user = await readUser(text);
  const place = make('div', { class: 'plan', id: 'found-event' });
  const found = [user?.isEvent ? place : null, isKnown(user) ? userPage(user) : null].filter(Boolean);
  byId('found').replaceChildren(...(found.length ? found : [make('p', { class: 'hint' }, `Nothing is known of a user or an event “${text}” in ${app()}.`)]));
  if (user?.isEvent) openEvent(text, place);
}

/** The same, and the panel comes into sight. */
export async function showFound(text) {
  await find(text);
  byId('find').scrollIntoView({ block: 'start' });
}

/** The apps to look into; drawn once. */
export function showApps(apps) {
  if (byId('find-app').children.length === 0) byId('find-app').append(...apps.map((name) => make('option', {}, name)));
  byId('find-app').parentElement.hidden = apps.length < 2;
}

export function startFinding() {
  byId('find-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (byId('find-text').value.trim()) find(byId('find-text').value.trim());
  });
  byId('sessions').addEventListener('click', ({ target }) => {
    if (!target.dataset.user) return;
    byId('find-app').value = target.dataset.app;
    showFound(target.dataset.user);
  });
}
