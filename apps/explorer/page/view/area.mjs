// What a part of the timeline holds, added up.
import { make, replace } from './dom.mjs';
import { count, percent, shortName, time } from './format.mjs';
import { isWaiting } from './palette.mjs';

const mostNames = 10;

/** Time of every name between two times that are shown, in some tracks: {sums: [name, {ns, count}], busy, waits}. */
export function sumsOf(area, places, sides, nameOf) {
  const sums = new Map();
  let busy = 0;
  let waits = 0;
  for (const { side, row } of places) {
    const [from, to] = [area.from + sides[side].shift, area.to + sides[side].shift];
    const names = new Map(); // of what a slice is: one look-up each
    for (let i = 0; i < row.begin.length && row.begin[i] < to; ++i) {
      const ns = Math.min(row.end[i], to) - Math.max(row.begin[i], from);
      if (ns <= 0) continue;
      if (isWaiting(row.cls[i])) {
        waits += ns;
        continue;
      }
      busy += ns;
      const key = row.label[i] === -1 ? `w${sides[side].graph.work[row.task[i]]}` : row.label[i];
      if (!names.has(key)) names.set(key, nameOf(side, row, i).replace(/^\d+ \u00b7 (.*), micro-batch \d+$/, '$1'));
      const name = names.get(key);
      if (!sums.has(name)) sums.set(name, { ns: 0, count: 0 });
      const sum = sums.get(name);
      sum.ns += ns;
      sum.count += 1;
    }
  }
  return { sums: [...sums].sort((a, b) => b[1].ns - a[1].ns), busy, waits };
}

export function showArea(area, places, sides, nameOf) {
  const { sums, busy, waits } = sumsOf(area, places, sides, nameOf);
  const length = area.to - area.from;
  const rows = sums.slice(0, mostNames).map(([name, { ns, count: n }]) => make('tr', {}, make('td', { title: name.slice(0, 400) }, shortName(name)),
    make('td', {}, count(n)), make('td', {}, time(ns, length)), make('td', {}, percent(ns / length).replace('+', ''))));
  const left = sums.length - rows.length;
  replace('slice', make('h3', {}, `${time(length)} in ${places.length} ${places.length === 1 ? 'track' : 'tracks'}`),
    make('dl', {}, make('dt', {}, 'from'), make('dd', {}, time(area.from, length)), make('dt', {}, 'busy'), make('dd', {}, `${time(busy, length)}, the sum over the tracks`),
      make('dt', {}, 'waiting'), make('dd', {}, time(waits, length))),
    make('table', {}, make('thead', {}, make('tr', {}, ...['name', 'times', 'time', 'share'].map((text) => make('th', { scope: 'col' }, text)))), make('tbody', {}, ...rows)),
    left > 0 ? make('p', { class: 'hint' }, `${count(left)} more ${left === 1 ? 'name' : 'names'}`) : null);
}
