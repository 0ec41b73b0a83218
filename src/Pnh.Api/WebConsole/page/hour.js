// Charts of the last hour, as the hub keeps it: they are there after a reload and after a restart.
import { byId, get, image, latency, make, number, path } from '/console/dom.js';

const every = 10_000;
const reach = 3600;
const width = 360;
const height = 100;
const percent = (cores) => `${number(cores * 100)} %`;
const charts = [
  { id: 'q', name: 'Q-factor', unit: 'served / CPU s', at: 1, text: number },
  { id: 'cpu', name: 'CPU', unit: 'of a core', at: 2, text: percent },
  { id: 'sessions', name: 'Sessions', unit: 'live', at: 3, text: number },
  { id: 'events', name: 'Events', unit: '/ s', at: 4, text: number },
  { id: 'deliveries', name: 'Deliveries', unit: '/ s', at: 5, text: number },
  { id: 'latency', name: 'Accept to frame, p99', unit: '', at: 6, text: latency },
];

/** The next of 1, 2 and 5 times a power of ten. */
function roof(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 5, 10].map((n) => n * power).find((top) => top >= value);
}

/** A line for each stretch of which there are points: none where the hub did not run, or the figure was not known. */
function stretches(points, at, step) {
  const found = [];
  let last = null;
  for (const point of points) {
    if (point[at] === null) {
      last = null;
      continue;
    }
    if (last === null || point[0] - last > 2.5 * step) found.push([]);
    found.at(-1).push(point);
    last = point[0];
  }
  return found;
}

function draw({ id, name, unit, at, text }, points, step, now) {
  const values = points.map((point) => point[at]).filter((value) => value !== null);
  const top = roof(Math.max(...values, 0));
  const x = (point) => ((point[0] - now + reach) / reach) * width;
  const place = (point) => `${x(point).toFixed(1)},${(height - (point[at] / top) * height).toFixed(1)}`;
  const plot = image(width, height, path('grid', `M0,0H${width}M0,${height / 2}H${width}M0,${height}H${width}`));
  for (const stretch of stretches(points, at, step)) {
    // One point alone is a short line.
    const line = stretch.length > 1 ? stretch.map(place).join('L') : `${place(stretch[0])}h2`;
    plot.append(path('area', `M${x(stretch[0]).toFixed(1)},${height}L${line}V${height}Z`), path('line', `M${line}`));
  }
  const said = values.length ? `last ${text(values.at(-1))}, at most ${text(Math.max(...values))}` : 'not known yet';
  const clock = (ago) => new Date((now - ago) * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return make('div', { class: 'chart', id: `hour-${id}`, role: 'img', 'aria-label': `${name}, last hour: ${said}` },
    make('div', { class: 'caption' }, name, make('small', {}, unit), make('span', { class: 'said' }, said)),
    make('div', { class: 'plot' }, make('div', { class: 'scale' }, make('span', {}, text(top)), make('span', {}, text(top / 2)), make('span', {}, '0')), plot),
    make('div', { class: 'times' }, make('span', {}, clock(reach)), make('span', {}, clock(reach / 2)), make('span', {}, clock(0))));
}

async function look() {
  if (document.hidden) return;
  const { status, json } = await get('/console/hour').catch(() => ({ status: 0 }));
  if (status !== 200) return;
  const now = Math.max(Date.now() / 1000, json.points.at(-1)?.[0] ?? 0);
  byId('hour').replaceChildren(...charts.map((chart) => draw(chart, json.points, json.step, now)));
}

/** Draws them, and again and again while somebody may see it. */
export function watchHour() {
  look();
  setInterval(look, every);
  document.addEventListener('visibilitychange', look);
}
