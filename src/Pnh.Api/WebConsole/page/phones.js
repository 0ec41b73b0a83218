// The sandbox's phones, drawn with their lock screens.
import { byId, clock, counted, make, setText, span } from '/console/dom.js';

// What fits on a screen; the rest is a number.
const shownCards = 3;

const systems = { ios: 'iPhone', android: 'Android', web: 'Browser' };
const drawn = new Map();

function draw(phone) {
  const parts = {
    clock: make('div', { class: 'clock' }), date: make('div', { class: 'date' }),
    cards: make('div', { class: 'cards' }), about: make('span'), known: null, times: [],
  };
  parts.figure = make('figure', { class: `phone ${phone.platform}`, 'data-phone': phone.name },
    make('div', { class: 'shell' },
      make('div', { class: 'screen' }, make('div', { class: 'hole', 'aria-hidden': 'true' }), parts.clock, parts.date, parts.cards)),
    make('figcaption', {}, make('b', {}, phone.name), parts.about));
  byId('phones').append(parts.figure);
  return parts;
}

const ago = (at, now) => (now - at < 5000 ? 'now' : span(now - at));
const key = (item) => `${item.id}|${item.at}|${item.title}|${item.body}`;

function fillCards(parts, items, now) {
  const keys = items.map(key);
  if (parts.known && parts.known.join() === keys.join()) {
    parts.times.forEach(({ element, at }) => setText(element, ago(at, now)));
    return;
  }
  const known = new Set(parts.known ?? keys);
  parts.times = [];
  const cards = items.slice(0, shownCards).map((item) => {
    const at = Date.parse(item.at);
    const time = make('time', { datetime: item.at }, ago(at, now));
    parts.times.push({ element: time, at });
    const kind = item.pushType === 'voip' ? ' call' : '';
    return make('article', { class: `card${kind}${known.has(key(item)) ? '' : ' new'}`, 'data-event': item.id ?? null },
      make('span', { class: 'app', 'aria-hidden': 'true' }),
      make('b', {}, item.title || (item.pushType === 'voip' ? 'Incoming call' : 'PNH demo')), time, make('p', {}, item.body));
  });
  if (items.length > shownCards) cards.push(make('div', { class: 'more' }, `+ ${items.length - shownCards} more`));
  parts.cards.replaceChildren(...(cards.length ? cards : [make('div', { class: 'quiet' }, 'no notifications')]));
  parts.known = keys;
}

export function showPhones(phones, now) {
  byId('phones-panel').hidden = !phones || phones.length === 0;
  // By key: two addresses without a name may have one caption.
  const keys = new Set((phones ?? []).map((phone) => phone.key));
  for (const [known, parts] of drawn) {
    if (!keys.has(known)) {
      parts.figure.remove();
      drawn.delete(known);
    }
  }
  for (const phone of phones ?? []) {
    if (!drawn.has(phone.key)) drawn.set(phone.key, draw(phone));
    const parts = drawn.get(phone.key);
    const date = new Date(now);
    setText(parts.clock, clock(date));
    setText(parts.date, date.toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' }));
    setText(parts.about, `${systems[phone.platform]}, ${counted(phone.received, 'push', 'pushes')}`);
    fillCards(parts, phone.lockScreen, now);
  }
}
