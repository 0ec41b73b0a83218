// Small pieces that the page's modules share.

/** An element with attributes and children; a string child becomes text, so nothing from outside is ever parsed as HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Head and body of a table; a head is a text, or { text, number: true }. Without rows it says so in one line. */
export const tableParts = (heads, rows, empty) => [
  make('thead', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col', class: head.number && 'number' }, head.text ?? head)))),
  make('tbody', {}, rows.length ? rows : make('tr', {}, make('td', { colspan: heads.length, class: 'empty' }, empty))),
];

export const byId = (id) => document.getElementById(id);

/** Sets text only when it changed, so that screen readers and selections are left alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });

/** 0, 0.4, 12, 1,234, 1.235M. */
export function number(value) {
  if (value === 0) return '0';
  if (Math.abs(value) < 10 && !Number.isInteger(value)) return value.toFixed(1);
  return Math.abs(value) < 1e6 ? whole.format(value) : short.format(value);
}

/** 1 push, 2 pushes, 1,234 deliveries. */
export const counted = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** Seconds as a person reads a latency. */
export function latency(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(1)} s`;
}

/** A span of milliseconds as "now", "12 s", "4 min", "2 h 5 min", "3 d". */
export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

export const clock = (date) => date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
export const clockSeconds = (date) => date.toLocaleTimeString('en-GB');

const svg = 'http://www.w3.org/2000/svg';

/** An image that fills its place, whatever its shape; what it shows is said elsewhere. */
export function image(width, height, ...paths) {
  const element = document.createElementNS(svg, 'svg');
  element.setAttribute('viewBox', `0 0 ${width} ${height}`);
  element.setAttribute('preserveAspectRatio', 'none');
  element.setAttribute('aria-hidden', 'true');
  element.append(...paths);
  return element;
}

export function path(className, d = '') {
  const element = document.createElementNS(svg, 'path');
  element.setAttribute('class', className);
  element.setAttribute('d', d);
  return element;
}

/** The last 60 values as a line over its area; the colour is the text's. */
export class Sparkline {
  constructor() {
    this.values = [];
    [this.area, this.line] = ['area', 'line'].map((name) => path(name));
    this.element = image(60, 20, this.area, this.line);
    this.element.setAttribute('class', 'spark');
  }

  push(value) {
    this.values.push(value);
    if (this.values.length > 60) this.values.shift();
    const top = Math.max(...this.values, 1e-9);
    const start = 60 - this.values.length;
    const points = this.values.map((v, i) => `${start + i + 0.5},${(18.5 - (v / top) * 16.5).toFixed(2)}`);
    if (points.length === 1) points.unshift(`${start - 0.5},${points[0].split(',')[1]}`);
    this.line.setAttribute('d', `M${points.join('L')}`);
    this.area.setAttribute('d', `M${points.join('L')}L59.5,20L${points[0].split(',')[0]},20Z`);
  }
}

/** GETs JSON from the console: the answer's status and its JSON (null when there is none). */
export async function get(path) {
  const response = await fetch(path);
  const json = await response.json().catch(() => null);
  return { status: response.status, json };
}

/** POSTs JSON to the console; the answer's status, its JSON (null when there is none) and the time it took. */
export async function post(path, body) {
  const started = performance.now();
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: body === undefined ? '{}' : JSON.stringify(body) });
  const text = await response.text();
  let json = null;
  try { json = JSON.parse(text); } catch { /* An answer without JSON is shown by its status. */ }
  return { status: response.status, json, milliseconds: performance.now() - started };
}
