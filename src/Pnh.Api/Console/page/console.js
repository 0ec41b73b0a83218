// The page: takes a snapshot a second from the stream and hands it to the panels.
import { byId, setText, span } from '/console/dom.js';
import { showDeliveries, showEvents, showSessions, showStats } from '/console/stats.js';
import { showPhones } from '/console/phones.js';
import { startPublishing } from '/console/publish.js';
import { startTab } from '/console/tab.js';

function showLive(state, text) {
  byId('live').dataset.state = state;
  setText(byId('live-text'), text);
}

let previous = null;

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
  showSessions(snapshot, totals.time);
  showPhones(snapshot.phones, totals.time);
  if (!previous || seconds > 0) previous = totals;
}

const stream = new EventSource('/console/stream');
stream.addEventListener('open', () => showLive('on', 'live'));
stream.addEventListener('snapshot', (message) => {
  showLive('on', 'live');
  show(JSON.parse(message.data));
});
stream.addEventListener('error', () => {
  if (stream.readyState === EventSource.CLOSED) showLive('off', 'signed out: open the console again');
  else showLive('wait', 'hub not reachable, trying again');
});

startPublishing();
startTab();
