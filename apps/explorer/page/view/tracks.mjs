// The tracks of a timeline: which there are, in what order, and their names beside them. Names are elements, so that they can be
// read, cut with an ellipsis and folded; what they name is on the canvas.
import { make } from './dom.mjs';
import { bytes } from './format.mjs';
import { isSeveral } from './rows.mjs';

const titleHeight = 34;
const groupHeight = 22;
const rowHeight = { device: 28, host: 20, folded: 12 };
const memoryHeight = 44;
const gap = 3;
const littleBusy = 0.005; // of the time that is shown: such a track is low at first

/** How tracks are arranged: pinned ones first, folded ones low, of a folded rank its busiest one alone. All of it is part of a link. */
export class Tracks {
  constructor() {
    this.every = false;
    this.opened = new Set(); // ranks of which all lanes are shown
    this.pinned = new Set();
    this.turned = new Set(); // tracks and ranks that are not as they were at first
    this.late = new Map(); // by rank: how long others wait for it
  }

  /** Ranks of a run that has several. */
  static ranksOf(side) {
    if (!isSeveral(side.lanes) || side.isPlanned) return [];
    return [...new Set(side.rows.map((row) => row.rank))];
  }

  /** At first the ranks are open that are late, or wait most; of many, no others. */
  isOpen(rank, ranks) {
    const first = this.late.size > 0 ? this.late.has(rank) || rank === this.longest : rank === ranks.find((each) => each >= 0);
    return (ranks.length <= 2 || first || rank < 0) !== this.turned.has(`r${rank}`);
  }

  /** As the recorded run has it, in both. */
  isFolded(own, sides, s) {
    const recorded = sides[0].rows.find(({ key }) => key === own.key);
    const [row, side] = recorded ? [recorded, sides[0]] : [own, sides[s]];
    const isIdle = !row.isHost && row.busy < littleBusy * side.span && !side.isPlanned;
    return isIdle !== this.turned.has(row.key);
  }

  /** Opens what hides a row. */
  show(row, side) {
    const ranks = Tracks.ranksOf(side);
    if (ranks.length > 1 && !this.isOpen(row.rank, ranks)) this.turn(`r${row.rank}`);
  }

  turn(key) {
    if (!this.turned.delete(key)) this.turned.add(key);
  }

  pin(key) {
    if (!this.pinned.delete(key)) this.pinned.add(key);
  }

  get state() {
    return [this.every ? 'all' : '', [...this.opened].join(' '), [...this.pinned].join(' '), [...this.turned].join(' ')].join('~').replace(/~+$/, '');
  }

  set state(text) {
    const [every, ...sets] = text.split('~');
    const [opened, pinned, turned] = [0, 1, 2].map((k) => new Set((sets[k] ?? '').split(' ').filter(Boolean)));
    Object.assign(this, { every: every === 'all', opened: new Set([...opened].map(Number)), pinned, turned });
  }

  /** Where everything stands: {places, height}; a place is of a row, a curve, a rank or the title of a side. */
  layout(sides, top) {
    const places = [];
    let y = top;
    const put = (height, place) => {
      places.push({ ...place, y, height });
      y += height + gap;
    };
    sides.forEach((side, s) => {
      side.top = y;
      const row = (each, isNamed) => {
        const isFolded = this.isFolded(each, sides, s);
        const height = isFolded ? rowHeight.folded : each.isHost ? rowHeight.host : rowHeight.device;
        put(height, { side: s, row: each, key: each.key, isFolded, title: isNamed && each.rank >= 0 ? `rank ${each.rank}, ${each.title}` : each.title });
      };
      const curves = (rank) => {
        for (const curve of side.memory) if (rank === null || curve.rank === rank) put(memoryHeight, { side: s, curve, title: curve.title });
      };
      put(titleHeight - gap, { side: s, isTitle: true });
      const ranks = Tracks.ranksOf(side);
      const isGrouped = ranks.length > 1;
      for (const each of side.rows) if (this.pinned.has(each.key)) row(each, isGrouped);
      const others = side.rows.filter((each) => !this.pinned.has(each.key));
      for (const rank of isGrouped ? ranks : []) {
        const own = others.filter((each) => each.rank === rank);
        const isOpen = this.isOpen(rank, ranks);
        const busiest = own.filter((each) => !each.isHost).reduce((most, each) => (most && most.busy >= each.busy ? most : each), null);
        put(groupHeight, { side: s, group: rank, left: side.leftOf?.get(rank) ?? 0, isFolded: !isOpen, key: `r${rank}`,
          title: rank < 0 ? 'between ranks' : `rank ${rank}`, ...(isOpen ? {} : { row: busiest }) });
        if (!isOpen) continue;
        for (const each of own) row(each, false);
        curves(rank);
      }
      if (!isGrouped) {
        for (const each of others) row(each, false);
        curves(null);
      }
      side.bottom = y;
      y += 8;
    });
    return { places, height: y };
  }
}

/** A lane's name: on narrow screens what its group or its number tells already is left out. */
function laneName(title) {
  const [, wide, rest] = title.match(/^((?:rank \d+, )?(?:GPU(?: \d+)?, |python\d* |autograd ))(.+)$/) ?? [null, '', title];
  return make('span', { title }, ...(wide ? [make('i', { class: 'wide' }, wide)] : []), rest);
}

/** The name of a place, with what folds and pins it. They are for pointers: the keys C, P and G do the same to the track of a chosen slice. */
export function nameOfPlace(place, side, tracks, changed) {
  const { title, key } = place;
  if (place.isTitle) return box(place, 'side', make('b', {}, side.title), make('span'));
  if (place.curve) return box(place, 'curve', make('span', { title }, title), make('small', {}, `peak ${bytes(place.curve.peak)}`));
  const press = (label, text, attributes, act) => {
    const button = make('button', { type: 'button', tabindex: '-1', 'aria-label': `${label} ${title}`, title: `${label} ${title}`, ...attributes }, text);
    button.addEventListener('click', () => {
      act();
      changed();
    });
    return button;
  };
  const fold = press(place.isFolded ? 'Open' : 'Fold', place.isFolded ? '\u25b8' : '\u25be', { 'aria-expanded': String(!place.isFolded) }, () => tracks.turn(key));
  if (place.group !== undefined) {
    const late = place.side === 0 ? tracks.late.get(place.group) : undefined; // as recorded
    const more = place.left > 0 && !place.isFolded
      ? press(`+${place.left}: show all lanes of`, `+${place.left}`, { class: 'more' }, () => tracks.opened.add(place.group)) : null;
    return box(place, 'group', fold, make('b', {}, title), more, late ? make('em', { title: `the others wait ${late} for it` }, make('i', { class: 'wide' }, 'late '), make('i', { class: 'narrow' }, '+'), late) : null);
  }
  const isPinned = tracks.pinned.has(key);
  return box(place, 'track', fold, laneName(title),
    press(isPinned ? 'Unpin' : 'Pin', isPinned ? '\u2605' : '\u2606', { class: 'pin', 'aria-pressed': String(isPinned) }, () => tracks.pin(key)));
}

/** What stands below the title of a side; it changes with every slider. */
export function tellNote(element, { note, noteAt }) {
  const line = element.querySelector('span');
  line.textContent = line.title = note;
  line.setAttribute('data-at', noteAt ?? 'graph');
}

function box({ y, height }, name, ...children) {
  const element = make('div', { class: `lane lane-${name}` }, ...children);
  Object.assign(element.style, { top: `${y}px`, height: `${height}px` });
  return element;
}
