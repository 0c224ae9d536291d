// Search over what a run does: kernels, operators, layers, regions of the host.
import { isDevice } from '../model/engine.mjs';
import { byId, make, replace } from './dom.mjs';
import { count, shortName, time } from './format.mjs';
import { rowsOf } from './rows.mjs';

const mostFound = 40;
const kinds = ['kernel', 'operator', 'layer', 'region', 'call'];

/** Every name of a run once by kind, with what it takes together and where its slices are: {kind, name, ns, marks: [row, i, ...]}. */
export function searchNames(run, rows, strings, layers) {
  const known = new Map();
  const add = (kind, name, ns, row, i) => {
    if (!name) return;
    const key = kind + name;
    let entry = known.get(key);
    if (!entry) known.set(key, entry = { kind: kinds[kind], name, ns: 0, marks: [] });
    entry.ns += ns;
    entry.marks.push(row, i);
  };
  rows.forEach((row, r) => {
    for (let i = 0; i < row.begin.length; ++i) {
      const ns = row.end[i] - row.begin[i];
      const label = row.label[i];
      if (label >= 0) add(3, strings[run.labels[label]], ns, r, i);
      if (label !== -1) continue;
      const work = run.works[run.graph.work[row.task[i]]];
      if (!isDevice(work.kind)) {
        add(4, strings[work.name], ns, r, i);
        continue;
      }
      add(0, strings[work.name], ns, r, i);
      add(1, strings[work.operator], ns, r, i);
      for (const name of layers?.namesOf(row.task[i]) ?? []) add(2, name, ns, r, i);
    }
  });
  return [...known.values()].sort((a, b) => b.ns - a.ns);
}

/** Names that hold every word, those that begin with the first one before others, then by their time. */
export function found(names, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = names.filter(({ name, kind }) => {
    const low = `${kind} ${name}`.toLowerCase();
    return words.every((word) => low.includes(word));
  });
  const begins = ({ name }) => Number(words.length > 0 && name.toLowerCase().startsWith(words[0]));
  return hits.sort((a, b) => begins(b) - begins(a) || b.ns - a.ns);
}

export class Search {
  /** `run` gives the recorded run, whose names are searched in all lanes; `go(row, i)` shows a slice of it. */
  constructor(run, strings, layers, go) {
    Object.assign(this, { run, strings, layers, go, at: 0, shown: [], last: null, names: null });
    this.box = byId('search');
    this.input = byId('search-text');
    this.input.addEventListener('input', () => this.show());
    this.input.addEventListener('keydown', (event) => this.onKey(event));
    byId('ask-search').hidden = false;
    byId('ask-search').addEventListener('click', () => this.open());
  }

  open() {
    this.rows ??= rowsOf(this.run(), true).rows;
    this.names ??= searchNames(this.run(), this.rows, this.strings, this.layers);
    this.box.showModal();
    this.input.select();
    this.show();
  }

  show() {
    const all = found(this.names, this.input.value);
    this.shown = all.slice(0, mostFound);
    this.at = 0;
    replace('found', ...this.shown.map((entry, k) => {
      const item = make('li', { role: 'option', id: `found-${k}`, title: entry.name.slice(0, 400) }, make('span', { class: 'kind' }, entry.kind),
        make('bdi', {}, shortName(entry.name)), make('span', { class: 'sum' }, `${count(entry.marks.length / 2)} \u00d7, ${time(entry.ns)}`));
      item.addEventListener('click', () => this.take(k));
      return item;
    }));
    replace('found-count', all.length === 0 ? 'no match' : `${count(all.length)} ${all.length === 1 ? 'name' : 'names'}${all.length > mostFound ? `, the first ${mostFound} are shown` : ''}`);
    this.mark();
  }

  mark() {
    [...byId('found').children].forEach((item, k) => item.setAttribute('aria-selected', String(k === this.at)));
    this.input.setAttribute('aria-activedescendant', this.shown.length > 0 ? `found-${this.at}` : '');
    byId(`found-${this.at}`)?.scrollIntoView?.({ block: 'nearest' });
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.at = Math.max(0, Math.min(this.shown.length - 1, this.at + step));
    else if (event.key === 'Enter') this.take(this.at);
    else return;
    event.preventDefault();
    this.mark();
  }

  take(k) {
    if (!this.shown[k]) return;
    this.box.close();
    this.last = { entry: this.shown[k], at: 0 };
    this.showSlice();
    byId('timeline').focus();
  }

  /** The first slice of the step that is shown at first, or one behind it. */
  showSlice() {
    const { entry: { marks }, at } = this.last;
    const { one } = this.run();
    const count = marks.length / 2;
    let first = 0;
    while (one && first < count && this.rows[marks[2 * first]].begin[marks[2 * first + 1]] < one.begin) first += 1;
    const k = (first + at) % count;
    this.go(this.rows[marks[2 * k]], marks[2 * k + 1]);
  }

  /** The next slice of the name that was searched last. */
  next() {
    if (!this.last) return;
    this.last.at = (this.last.at + 1) % (this.last.entry.marks.length / 2);
    this.showSlice();
  }
}
