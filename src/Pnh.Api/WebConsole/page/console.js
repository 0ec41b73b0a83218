// The page: takes a snapshot a second from the stream and hands it to the panels.
import { byId, counted, setText, span } from '/console/dom.js';
import { showDeliveries, showEvents, showMemory, showNodes, showSessions, showStats } from '/console/stats.js';
import { showPhones } from '/console/phones.js';
import { watchHour } from '/console/hour.js';
import { watchNewest } from '/console/newest.js';
import { showApps, startFinding } from '/console/find.js';
import { showTrouble } from '/console/trouble.js';
import { startPublishing } from '/console/publish.js';
import { startTab } from '/console/tab.js';

function showLive(state, text, troubles = 0) {
  byId('live').dataset.state = troubles ? 'wait' : state;
  setText(byId('live-text'), text);
  // Figures that nobody renews must not look like those of this moment.
  document.querySelector('main').toggleAttribute('data-stale', state !== 'on');
}

let previous = null;
let isWatching = false;

function show(snapshot) {
  const totals = snapshot.totals;
  totals.time = Date.parse(totals.at);
  const seconds = previous ? (totals.time - previous.time) / 1000 : 0;
  // A hub that restarted counts from zero: rates start again.
  const before = previous && seconds > 0 && totals.served >= previous.served ? previous : null;
  setText(byId('version'), snapshot.version);
  setText(byId('publish-app'), snapshot.app ? `as a publisher of ${snapshot.app}` : 'no app is configured');
  setText(byId('uptime'), span(totals.time - Date.parse(snapshot.startedAt)));
  showStats(totals, before, seconds, snapshot.sessionCount);
  showDeliveries(totals, before, seconds);
  showEvents(totals);
  showMemory(snapshot.memory);
  showNodes(snapshot.nodes);
  showSessions(snapshot, totals.time);
  showPhones(snapshot.phones, totals.time);
  showApps(snapshot.apps);
  if (!isWatching && snapshot.apps.length) {
    isWatching = true;
    watchNewest();
  }
  const troubles = showTrouble(snapshot.troubles, totals);
  showLive('on', troubles ? `live, ${counted(troubles, 'trouble')}` : 'live', troubles);
  if (!previous || seconds > 0) previous = totals;
}

/** The browser does not tell what came instead of a stream, so it is asked for once more; 0 = nothing came. */
async function lookAtAnswer() {
  const looking = new AbortController();
  try {
    const answer = await fetch('/console/stream', { signal: looking.signal });
    return { status: answer.status, detail: answer.ok ? '' : (await answer.json().catch(() => null))?.detail };
  } catch {
    return { status: 0 };
  } finally {
    looking.abort();
  }
}

async function explainEnd() {
  const { status, detail } = await lookAtAnswer();
  if (status === 401) {
    showLive('off', 'signed out: open the console again');
    return;
  }
  if (status !== 200) showLive('wait', `${status === 0 ? 'hub not reachable' : detail ?? `the hub answers ${status}`}, trying again`);
  setTimeout(open, status === 200 ? 500 : 5000);
}

function open() {
  const stream = new EventSource('/console/stream');
  stream.addEventListener('open', () => showLive('on', 'live'));
  stream.addEventListener('snapshot', (message) => {
    show(JSON.parse(message.data));
  });
  stream.addEventListener('error', () => {
    showLive('wait', 'hub not reachable, trying again');
    // A lost connection the browser renews itself; after any other answer than a stream it gives up.
    if (stream.readyState === EventSource.CLOSED) explainEnd();
  });
}

open();
startPublishing();
watchHour();
startFinding();
startTab();
