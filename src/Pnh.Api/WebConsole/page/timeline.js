// What became of an event: one block a device, its milestones in their order, with the time since the hub took it.
import { byId, clockSeconds, get, make } from '/console/dom.js';

const lookAgain = 2000;

/** A state with its channel and its reason, in words. */
export const about = (one) => [one.state, one.channel && `over ${one.channel}`, one.reason && `because ${one.reason}`].filter(Boolean).join(' ');

function since(at, start) {
  const milliseconds = Date.parse(at) - Date.parse(start);
  return milliseconds < 10_000 ? `+${milliseconds} ms` : `+${(milliseconds / 1000).toFixed(1)} s`;
}

function milestone(one, start) {
  const next = one.nextAttemptAt ? `, again at ${clockSeconds(new Date(one.nextAttemptAt))}` : '';
  return make('span', { class: 'reason' }, `${since(one.at, start)} ${one.kind} ${about(one)}${next}`);
}

function delivery(one, start) {
  return make('div', { class: 'device' },
    make('b', {}, `${one.user}/${one.device}`), make('span', {}, `${about(one)}${one.mailbox ? '; in its mailbox' : ''}`),
    make('span'), make('div', { class: 'milestones' }, one.milestones.map((each) => milestone(each, start))));
}

function show(place, { status, json }) {
  if (status !== 200) {
    place.replaceChildren(make('h3', {}, json?.detail ?? `No timeline: ${status}`));
    return;
  }
  const withdrawn = (json.withdrawn ?? []).map((one) => `, withdrawn${one.user ? ` from ${one.user}` : ''}: ${one.reason}`);
  place.replaceChildren(
    make('h3', {}, `Timeline of ${json.id}, taken ${clockSeconds(new Date(json.acceptedAt))}: ${json.state}${json.outcome ? `, ${json.outcome}` : ''}${withdrawn.join('')}`),
    ...json.deliveries.map((one) => delivery(one, json.acceptedAt)));
}

const look = (path) => get(path).catch((problem) => ({ status: 0, json: { detail: problem.message } }));

/** Shows an event's timeline in the element, and looks again while it is open; gives what ends that. */
export function watchTimeline(place, path) {
  let timer = null;
  let isOver = false;
  const again = async () => {
    const answer = await look(path);
    if (isOver) return;
    show(place, answer);
    if (answer.json?.state === 'open') timer = setTimeout(again, lookAgain);
  };
  again();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

export function clearTimeline() {
  byId('timeline').replaceChildren();
}

/** A click shows the event's timeline as it is now; another looks again. */
export function timelineButton(id) {
  const button = make('button', { type: 'button', id: 'show-timeline' }, 'Timeline');
  button.addEventListener('click', () => look(`/console/events/${encodeURIComponent(id)}`).then((answer) => show(byId('timeline'), answer)));
  return button;
}
