// Numbers: the tiles at the top, and the tables of deliveries, events and sessions.
import { Sparkline, byId, counted, latency, make, number, setText, span, tableParts } from '/console/dom.js';

const sum = (rows, matches) => rows.reduce((total, row) => (matches(row) ? total + row.count : total), 0);
const accepted = (totals) => sum(totals.events, (row) => row.result === 'accepted');
const attempts = (totals) => sum(totals.deliveries, (row) => row.isAttempt);

const tiles = {};

// Where a tile's figure comes from.
const behind = { q: 'hour-panel', cpu: 'hour-panel', latency: 'hour-panel', sessions: 'sessions-panel', events: 'newest-panel', deliveries: 'deliveries-panel' };

/** A click goes to that panel; who works with the keyboard goes on from there. Of failures, those of the channel. */
const leading = (panel, text, channel) => make('button', { type: 'button', class: 'link lead', 'data-leads': panel, ...(channel && { 'data-channel': channel }) }, text);

document.addEventListener('click', ({ target }) => {
  const panel = target.dataset?.leads && byId(target.dataset.leads);
  if (!panel) return;
  if (target.dataset.channel) {
    byId('failures-channel').value = target.dataset.channel;
    byId('failures-channel').dispatchEvent(new Event('change'));
  }
  panel.scrollIntoView({ block: 'start' });
  panel.querySelector('[tabindex]').focus({ preventScroll: true });
});

function tile(id, name) {
  if (!tiles[id]) {
    const parts = { value: make('span'), unit: make('small'), note: make('span', { class: 'note' }), spark: new Sparkline() };
    const list = make('dl', { class: id === 'q' ? 'stat first' : 'stat', id: `stat-${id}` },
      make('dt', {}, behind[id] ? leading(behind[id], name) : name), make('dd', {}, parts.value, parts.unit, parts.spark.element, parts.note));
    byId('stats').append(list);
    tiles[id] = parts;
  }
  return tiles[id];
}

function showTile(id, name, value, text, unit, note) {
  const parts = tile(id, name);
  setText(parts.value, text);
  setText(parts.unit, unit);
  setText(parts.note, note);
  if (value !== null) parts.spark.push(value);
}

/** Rates need two snapshots; until then a tile shows a dash. */
export function showStats(totals, before, seconds, sessionCount) {
  const rate = (read) => (before ? (read(totals) - read(before)) / seconds : null);
  const text = (value) => (value === null ? '–' : number(value));
  const cpu = rate((t) => t.cpuSeconds);
  const events = rate(accepted);
  const deliveries = rate(attempts);
  // Nothing was served for a minute: that is no figure.
  showTile('q', 'Q-factor', totals.qFactor, totals.qFactor ? number(totals.qFactor) : '–', 'served / CPU s', `${number(totals.served)} served in all`);
  showTile('cpu', 'CPU', cpu, cpu === null ? '–' : (cpu * 100).toFixed(1), '% of a core', `pool delay p99 ${latency(totals.threadPoolDelayP99)}`);
  showTile('sessions', 'Sessions', sessionCount, number(sessionCount), 'live',
    `${number(totals.activeSessions)} active, ${number(totals.backgroundSessions)} background`);
  showTile('events', 'Events', events, text(events), '/ s', `${number(accepted(totals))} accepted`);
  showTile('deliveries', 'Deliveries', deliveries, text(deliveries), '/ s', `${number(attempts(totals))} attempts`);
  showTile('latency', 'Accept to frame, p99', totals.acceptToFrameP99 ?? 0, latency(totals.acceptToFrameP99), '',
    `journal sync p99 ${latency(totals.journalSyncP99)}`);
}

const good = ['sent', 'accepted', 'acked'];
const warn = ['throttled', 'unavailable', 'not_connected', 'expired', 'unconfirmed', 'suppressed'];
const tone = (status) => (good.includes(status) ? 'good' : warn.includes(status) ? 'warn' : 'bad');
const order = ['sent', 'acked', 'accepted', 'throttled', 'unavailable', 'not_connected', 'expired', 'unconfirmed', 'suppressed', 'address_dead', 'rejected', 'misconfigured'];
const label = (word) => word.replaceAll('_', ' ');

const drawn = new Map();

/** A cell of a row: what it says, its class, and an element to stand in it: instead of text, or around it. */
const cell = (text, className = null, element = null) => ({ text, className, element });

/** Rows that stay are changed in place, and only where they changed: what is selected or scrolled to stays so, and a quiet hub costs the page nothing. */
function fill(table, heads, rows, emptyText) {
  const shape = JSON.stringify([heads, rows.map((row) => row.key)]);
  let known = drawn.get(table);
  if (known?.shape !== shape) {
    const bodies = rows.map((row) => make('tr', { 'data-key': row.key }, row.cells.map((one, column) => make(column ? 'td' : 'th', column ? {} : { scope: 'row' }, one.element))));
    table.replaceChildren(...tableParts(heads, bodies, emptyText));
    known = { shape, cells: bodies.map((body) => [...body.children]), rows };
    drawn.set(table, known);
  }
  rows.forEach((row, index) => row.cells.forEach((one, column) => {
    const place = known.cells[index][column];
    if (one.className !== null && place.className !== one.className) place.className = one.className;
    if (one.text !== null) setText(known.rows[index].cells[column].element ?? place, one.text);
  }));
}

const count = (value, className, element = null) => cell(number(value), `number ${value === 0 ? 'zero' : className}`, element);
const isFailure = (status) => !good.includes(status) && !['throttled', 'unavailable', 'not_connected', 'suppressed'].includes(status);
const channelSparks = {};

export function showDeliveries(totals, before, seconds) {
  const seen = new Set(totals.deliveries.map((row) => row.status));
  // A status that this page does not know yet is shown all the same, as trouble.
  const statuses = [...order.filter((status) => good.includes(status) || seen.has(status)), ...[...seen].filter((status) => !order.includes(status))];
  const channels = [...new Set(totals.deliveries.map((row) => row.channel))];
  const rows = channels.map((channel) => {
    const of = (t) => sum(t.deliveries, (row) => row.channel === channel && row.isAttempt);
    const rate = before ? (of(totals) - of(before)) / seconds : 0;
    const spark = (channelSparks[channel] ??= new Sparkline());
    spark.push(rate);
    return {
      key: channel,
      cells: [
        cell(channel),
        ...statuses.map((status) => count(sum(totals.deliveries, (row) => row.channel === channel && row.status === status), tone(status), isFailure(status) ? leading('failures-panel', '', channel) : null)),
        cell(number(rate), 'number'),
        cell(null, null, spark.element),
      ],
    };
  });
  fill(byId('deliveries'), [{ text: 'Channel' }, ...statuses.map((status) => ({ text: label(status), number: true })), { text: 'per s', number: true }, { text: '60 s' }],
    rows, 'Nothing was delivered yet. Send an event with the form.');
}

/** What is refused for want of memory; nothing for nothing. */
export function showMemory(text) {
  setText(byId('memory'), text ?? '');
}

export function showEvents(totals) {
  const results = ['accepted', 'duplicate', 'conflict', 'invalid', 'overloaded', 'unavailable'];
  const classes = ['call', 'message', 'bulk', 'transient'].filter((name) => totals.events.some((row) => row.class === name));
  const rows = classes.map((name) => ({
    key: name,
    cells: [
      cell(name),
      ...results.map((result) => count(sum(totals.events, (row) => row.class === name && row.result === result), result === 'accepted' ? 'good' : 'warn', result === 'accepted' ? leading('newest-panel', '') : null)),
    ],
  }));
  setText(byId('deadlines'), totals.deadlinesMissed ? `${counted(totals.deadlinesMissed, 'delivery', 'deliveries')} too late` : '');
  fill(byId('events'), [{ text: 'Class' }, ...results.map((result) => ({ text: result, number: true }))], rows, 'No event came in yet.');
}

const megabytes = (bytes) => (bytes === undefined ? '–' : `${number(bytes / 1048576)} MiB`);

/** The hub and its edges; a hub that takes no links has no such panel. */
export function showNodes(nodes) {
  byId('nodes-panel').hidden = !nodes;
  if (!nodes) return;
  const figure = (value, text = number) => cell(value === undefined ? '–' : text(value), 'number');
  const edges = nodes.filter((node) => node.role === 'edge');
  setText(byId('nodes-count'), `${counted(edges.filter((node) => node.links > 0).length, 'edge')} linked, ${counted(nodes.reduce((all, node) => all + (node.sessions ?? 0), 0), 'session')}`);
  fill(byId('nodes'), [{ text: 'Node' }, { text: 'Role' }, { text: 'Links', number: true }, { text: 'Sessions', number: true }, { text: 'CPU, 60 s', number: true },
    { text: 'Memory', number: true }, { text: 'Q-factor', number: true }, { text: 'Version' }],
  nodes.map((node) => ({
    key: node.name,
    cells: [
      cell(node.name), cell(node.role), node.links || node.role !== 'edge' ? figure(node.links) : cell('gone', 'number bad'), figure(node.sessions),
      figure(node.cores, (cores) => `${(cores * 100).toFixed(1)} %`), cell(megabytes(node.memoryBytes), 'number'),
      // Nothing was served for a minute: that is no figure.
      figure(node.qFactor || undefined), cell(node.version || '–'),
    ],
  })), 'No node is known.');
}

export function showSessions(snapshot, now) {
  const shown = snapshot.sessions.length;
  setText(byId('sessions-count'), shown < snapshot.sessionCount ? `the newest ${shown} of ${number(snapshot.sessionCount)}` : `${number(shown)} live`);
  const rows = snapshot.sessions.map((session) => ({
    key: `${session.app} ${session.user} ${session.session} ${session.state}`,
    cells: [
      cell(null, null, make('button', { type: 'button', class: 'link', 'data-user': session.user, 'data-app': session.app }, session.user)),
      cell(session.device),
      cell(null, null, make('span', { class: `pill ${session.state}` }, session.state)),
      cell(session.platform),
      cell(session.app),
      cell(span(now - Date.parse(session.since)), 'number'),
    ],
  }));
  fill(byId('sessions'), [{ text: 'User' }, { text: 'Device' }, { text: 'State' }, { text: 'Platform' }, { text: 'App' }, { text: 'Since', number: true }],
    rows, 'No session is open.');
}
