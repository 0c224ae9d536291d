// Brings the page to life: reads its graphs, simulates what is asked, shows it.
import { Document } from './model/document.mjs';
import { asRecorded, isAsRecorded } from './model/engine.mjs';
import { byId, make, replace } from './view/dom.mjs';
import { time } from './view/format.mjs';
import { classes } from './view/palette.mjs';
import { rowsOf } from './view/rows.mjs';
import { Timeline } from './view/timeline.mjs';
import { showAnswer } from './view/answer.mjs';
import { WhatIfs } from './view/what_ifs.mjs';
import { nameOf, showChanges, showSlice } from './view/details.mjs';

const mostCurves = 4;
const restAfter = 120; // ms

class Explorer {
  constructor(page) {
    this.page = page;
    this.facts = page.facts;
    this.state = { variant: null, factors: asRecorded(), title: '', range: null, samples: 1, commandWords: [] };
    this.whatIfs = new WhatIfs((change) => this.change(change));
    this.timeline = new Timeline(byId('timeline'), {
      choose: (mark) => this.choose(mark),
      nameOf: (side, row, i) => nameOf(this.runs[side], row, i, this.facts.strings, this.facts.labels),
    });
    this.serial = 0;
    this.pending = null;
  }

  /** A run with all that is shown of it. */
  async sideOf(variant, factors, title) {
    const side = await this.page.side(variant);
    const run = this.page.run(side, factors);
    const { rows, left } = rowsOf(run);
    const curves = this.page.memory(run).slice(0, mostCurves);
    const memory = curves.map((curve) => ({ ...curve,
      title: curves.length > 1 ? `memory, rank ${curve.rank}/${curve.device}` : 'live memory' }));
    const note = `${time(run.answer.step)}${run.answer.isSpan ? '' : ' per step'}`
      + `${left > 0 ? `, ${left} more lanes` : ''}`;
    return Object.assign(run, { rows, memory, title, note, breakdown: this.page.breakdown(run) });
  }

  async start() {
    this.now = await this.sideOf(null, asRecorded(), 'As recorded');
    this.restore();
    this.timeline.readTheme();
    await this.update(false);
    replace('classes', ...this.legend());
    window.addEventListener('hashchange', () => {
      this.restore();
      this.update(true);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.timeline.readTheme());
    document.documentElement.dataset.ready = 'yes';
  }

  legend() {
    const used = new Set(this.runs.flatMap((run) => run.rows.flatMap((row) => [...new Set(row.cls)])));
    return classes.map(([name, text], i) => (used.has(i)
      ? make('span', {}, make('i', { class: `swatch class-${name}` }), text) : null));
  }

  /** What a switch or a slider says; only the newest change is simulated. */
  change(change) {
    if ('variant' in change) this.state.variant = change.variant;
    if ('device' in change) this.state.factors.device = change.device;
    if ('host' in change) this.state.factors.host = change.host;
    if ('names' in change) this.state.factors.names = change.names;
    if (this.pending !== null) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      this.update(true);
    });
  }

  async update(keep) {
    const serial = ++this.serial;
    const { state } = this;
    const variant = state.variant === null ? null : this.page.variant(state.variant);
    state.title = variant ? variant.title : '';
    const changed = variant !== null || !isAsRecorded(state.factors);
    const then = changed ? await this.sideOf(state.variant, state.factors, 'Predicted') : this.now;
    if (serial !== this.serial) return;
    const plain = isAsRecorded(state.factors);
    state.range = variant && plain && variant.low_ns !== variant.high_ns
      ? { low: variant.low_ns, high: variant.high_ns } : null;
    state.samples = variant ? variant.samples : 1;
    state.commandWords = ['foretrace', 'whatif', ...this.facts.traces,
      ...(variant ? variant.apply.flatMap((text) => ['--apply', text]) : [])];
    this.runs = changed ? [this.now, then] : [this.now];
    this.timeline.show(this.runs, keep);
    this.whatIfs.show(state);
    showAnswer(this.now, then, state, this.facts.strings);
    if (!this.timeline.chosen || !this.timeline.chosen.keeps) this.choose(null);
    if (variant !== this.explained) replace('how', ...(variant ? this.howTo(variant) : []));
    this.explained = variant;
    this.afterwards(keep);
  }

  /** What may come a moment after the answer, so that a slider moves freely. */
  afterwards(waits) {
    clearTimeout(this.timer);
    const rest = () => {
      showChanges(this.runs.length > 1 ? this.runs : [this.now, this.now], this.facts.strings);
      this.save();
    };
    if (waits) this.timer = setTimeout(rest, restAfter);
    else rest();
  }

  howTo(variant) {
    return [make('h2', {}, `About ${variant.title}`), make('p', {}, variant.summary),
      ...(variant.how.length > 0 ? [make('h3', {}, 'How to do it'),
        make('ul', {}, ...variant.how.map((line) => make('li', {}, line)))] : []),
      make('p', { class: 'hint' }, variant.paper)];
  }

  choose(mark) {
    const found = mark ? { ...mark, keeps: false, twin: this.twinOf(mark) } : null;
    this.timeline.chosen = found;
    showSlice(found, this.runs, this.facts.strings, this.facts.labels, this.state, (name, value) => {
      if (value === 1) this.state.factors.names.delete(name);
      else this.state.factors.names.set(name, value);
      if (this.timeline.chosen) this.timeline.chosen.keeps = true;
      this.change({});
    });
  }

  /** The same task in the other run. */
  twinOf({ side, row, i }) {
    if (this.runs.length < 2 || row.label[i] !== -1) return null;
    const { origin } = this.runs[1].graph;
    const task = row.task[i];
    let other = task;
    if (origin) other = side === 1 ? origin[task] : origin.indexOf(task);
    if (other < 0) return null;
    for (const candidate of this.runs[1 - side].rows) {
      for (let k = 0; k < candidate.task.length; ++k) {
        if (candidate.task[k] === other && candidate.label[k] === -1) {
          return { side: 1 - side, row: candidate, i: k };
        }
      }
    }
    return null;
  }

  /** The view as part of the address: a link restores it. */
  save() {
    const { variant, factors } = this.state;
    const parts = new URLSearchParams();
    parts.set('apply', variant ?? '');
    for (const name of ['device', 'host']) if (factors[name] !== 1) parts.set(name, String(factors[name]));
    history.replaceState(null, '', `#${parts}`);
  }

  restore() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const asked = parts.has('apply') ? parts.get('apply') : this.facts.shown;
    this.state.variant = asked && this.page.variant(asked) ? asked : null;
    for (const name of ['device', 'host']) {
      const value = Number(parts.get(name) ?? 1);
      this.state.factors[name] = Number.isFinite(value) && value >= 0 && value <= 4 ? value : 1;
    }
  }
}

async function open() {
  try {
    const page = await Document.open((id) => byId(`block-${id}`).textContent);
    await new Explorer(page).start();
  } catch (error) {
    byId('trouble').hidden = false;
    byId('trouble').textContent = `This page cannot simulate here (${error.message}). What stands in it can be read.`;
    document.documentElement.dataset.ready = 'no';
  }
}
open();
