// What became of an event that was sent from here: one block a device, its milestones in their order.
import { byId, clockSeconds, get, make } from '/console/dom.js';

const about = (one) => [one.state, one.channel && `over ${one.channel}`, one.reason && `because ${one.reason}`].filter(Boolean).join(' ');

function milestone(one) {
  const next = one.nextAttemptAt ? `, again at ${clockSeconds(new Date(one.nextAttemptAt))}` : '';
  return make('span', { class: 'reason' }, `${clockSeconds(new Date(one.at))} ${one.kind} ${about(one)}${next}`);
}

function delivery(one) {
  return make('div', { class: 'device' },
    make('b', {}, one.device), make('span', {}, `${about(one)}${one.mailbox ? '; in its mailbox' : ''}`),
    make('span'), make('div', { class: 'milestones' }, one.milestones.map(milestone)));
}

function show({ status, json }) {
  if (status !== 200) {
    byId('timeline').replaceChildren(make('h3', {}, json?.detail ?? `No timeline: ${status}`));
    return;
  }
  const withdrawn = (json.withdrawn ?? []).map((one) => `, withdrawn${one.user ? ` from ${one.user}` : ''}: ${one.reason}`);
  byId('timeline').replaceChildren(
    make('h3', {}, `Timeline: ${json.state}${json.outcome ? `, ${json.outcome}` : ''}${withdrawn.join('')}`), ...json.deliveries.map(delivery));
}

export function clearTimeline() {
  byId('timeline').replaceChildren();
}

/** A click shows the event's timeline as it is now; another looks again. */
export function timelineButton(id) {
  const button = make('button', { type: 'button', id: 'show-timeline' }, 'Timeline');
  button.addEventListener('click', () => get(`/console/events/${encodeURIComponent(id)}`).then(show, (problem) => show({ status: 0, json: { detail: problem.message } })));
  return button;
}
