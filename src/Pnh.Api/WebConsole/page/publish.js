// The form: sends an event, shows the hub's answer and the plan with its reasons.
import { byId, clockSeconds, make, post } from '/console/dom.js';
import { clearTimeline, timelineButton } from '/console/timeline.js';

function readEvent() {
  const error = byId('data-error');
  error.textContent = '';
  const event = { to: { user: byId('user').value }, class: byId('class').value };
  const title = byId('title').value;
  const body = byId('body').value;
  if (title || body) event.notification = { ...(title && { title }), ...(body && { body }) };
  const data = byId('data').value.trim();
  if (data) {
    try {
      event.data = JSON.parse(data);
    } catch (problem) {
      error.textContent = `Data is no JSON: ${problem.message}`;
      byId('data').focus();
      return null;
    }
  }
  return event;
}

function showAnswer({ status, json, milliseconds }) {
  clearTimeline();
  const good = status >= 200 && status < 300;
  const details = [];
  if (json?.id) details.push(json.id);
  if (json?.durable === false) details.push('not durable');
  if (json?.duplicate) details.push('duplicate');
  if (json?.title) details.push(json.title);
  if (json?.detail) details.push(json.detail);
  for (const error of json?.errors ?? []) details.push(`${error.pointer}: ${error.detail}`);
  byId('answer').replaceChildren(
    make('span', { class: `pill ${good ? 'accepted' : 'refused'}`, id: 'answer-status' }, status || 'no answer'),
    make('span', {}, `${milliseconds.toFixed(0)} ms`), make('code', {}, details.join(' · ')),
    // Only what was sent and is kept has one.
    status === 202 && json?.durable ? timelineButton(json.id) : '');
}

const when = { 'now': 'now', 'unless-acked': 'unless acked here', 'unless-acked-elsewhere': 'unless acked elsewhere', 'held-until': 'held until' };

function step(one) {
  const after = one.after ? `after ${one.after} s ` : '';
  const until = one.until ? ` ${clockSeconds(new Date(one.until))}` : '';
  return `${one.channel} ${after}${when[one.when] ?? one.when}${until}`;
}

function device(plan) {
  const steps = (plan.steps ?? []).map(step).join(', ');
  const kept = plan.mailbox ? 'waits for the next session until it is done' : '';
  const held = plan.pushHeld ? `, push held: ${plan.pushHeld}` : '';
  return make('div', { class: 'device' },
    make('b', {}, plan.device), make('span', {}, [steps, kept].filter(Boolean).join('; ') || 'nothing'),
    make('span', { class: 'reason' }, plan.platform), make('span', { class: 'reason' }, `because ${plan.reason}${held}`));
}

function showPlan({ status, json }) {
  if (status !== 200 || !json?.users) {
    byId('plan').replaceChildren();
    return;
  }
  const parts = json.users.flatMap((user) => [
    make('h3', {}, `Plan for ${user.user}${user.devices?.length ? '' : `: ${user.outcome}`}`), ...(user.devices ?? []).map(device)]);
  byId('plan').replaceChildren(...parts);
}

async function run(send) {
  const event = readEvent();
  if (!event) return;
  const buttons = [byId('send'), byId('explain')];
  buttons.forEach((button) => { button.disabled = true; });
  try {
    // The plan first: it is the plan of this moment, and sending may change who is active.
    const plan = await post('/console/explain', event);
    showPlan(plan);
    showAnswer(send ? await post('/console/events', event) : plan);
  } catch (problem) {
    showAnswer({ status: 0, json: { detail: `The hub did not answer: ${problem.message}` }, milliseconds: 0 });
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

export function startPublishing() {
  byId('publish-form').addEventListener('submit', (event) => {
    event.preventDefault();
    run(true);
  });
  byId('explain').addEventListener('click', () => run(false));
}
