// The page of one run: simulates what is asked and shows it.
import { sideOfDocument, sideOfPlan, sideOfRun } from './model/answer.mjs';
import { addFactors, commandOf, readFactors, readStack } from './model/asked.mjs';
import { asRecorded, isAsRecorded } from './model/engine.mjs';
import { breathe, byId, replace } from './view/dom.mjs';
import { showArea } from './view/area.mjs';
import { Added, byLayer, byRegion } from './view/added.mjs';
import { Cards } from './view/cards.mjs';
import { addView, markOf, readView } from './view/link.mjs';
import { Layers } from './model/layers.mjs';
import { keysOfTimeline } from './view/pointer.mjs';
import { Search } from './view/search.mjs';
import { time } from './view/format.mjs';
import { lateRank, legendOf, noteOf, shownRun } from './view/shown_run.mjs';
import { rowsOf } from './view/rows.mjs';
import { Timeline } from './view/timeline.mjs';
import { showAnswer, sourceOf } from './view/answer.mjs';
import { WhatIfs } from './view/what_ifs.mjs';
import { hoverOf, nameOf, showChanges } from './view/details.mjs';
import { Selection } from './view/selection.mjs';
import { Stack } from './view/stack.mjs';
import { Asking, ofEngine } from './source/asking.mjs';
import { runAsked } from './source/server.mjs';

const restAfter = 120; // ms
const saveAfter = 150; // ms

export class Explorer {
  /** `server`, `known`: of a page that has an engine behind it; else null. */
  constructor(page, server, known) {
    this.page = page;
    this.facts = page.facts;
    this.server = server;
    this.state = { variant: null, on: new Set(), factors: asRecorded(), title: '', range: null, samples: 1, commandWords: [] };
    this.whatIfs = new WhatIfs((change) => this.change(change), server !== null, this.facts.before ?? 'as recorded');
    this.stack = server ? new Stack(known, () => this.change({ stack: true })) : null;
    this.asking = server ? new Asking(server, page, this.stack, () => this.update(true)) : null;
    this.cards = new Cards(page, this.facts.shown);
    const { strings } = this.facts;
    const named = (side, row, i) => nameOf(this.runs[side], row, i, strings);
    this.layers = new Layers(this.facts.base, strings);
    this.timeline = new Timeline(byId('timeline'), { choose: (mark) => this.choose(mark), nameOf: named, moved: () => this.saveSoon(),
      hover: ({ side, row, i }) => hoverOf(this.runs[side], row, i, strings), arranged: () => this.arranged(),
      measure: (area, places) => showArea(area, places, this.runs, named), search: () => this.search.open(), next: () => this.search.next() });
    this.selection = new Selection(this.timeline, this.layers, strings, () => this, () => this.change({}));
    this.tracks = this.timeline.tracks;
    this.search = new Search(() => this.now, this.facts.strings, this.layers, (row, i) => this.goTo(row, i));
    this.added = new Added(() => this.showAdded());
    replace('keys', ...keysOfTimeline().flat());
    this.serial = 0;
    this.seen = new WeakSet(); // sides that were shown
    byId('every-lane').addEventListener('click', () => {
      this.tracks.every = !this.tracks.every;
      this.arranged();
    });
    this.frame = null; // a change was simulated in it
    this.last = null; // what sideOf() made: {side, key, run}
    this.isBehind = false; // another one came since
  }

  /** A run with all that is shown of it; null if it is no longer asked for. */
  async sideOf(variant, factors, title, serial = this.serial) {
    const side = await this.page.side(variant);
    const isNew = !this.seen.has(side); // unpacked just now: each of its pieces is a task of its own
    if (isNew) await breathe();
    if (serial !== this.serial) return null;
    this.seen.add(side);
    const key = JSON.stringify([this.lanesNow(), factors.device, factors.host, ...factors.names]);
    const { last } = this;
    if (last?.side === side && last.key === key) return last.run; // its range came, or a link to what is shown
    this.last = null; // should it fail, the run before is no more
    const simulated = this.page.run(side, factors, serial > 0);
    if (isNew) await breathe();
    if (serial !== this.serial) return null;
    const run = shownRun(this.page, simulated, title, this.tracks, this.now);
    if (serial > 0) this.last = { side, key, run };
    return run;
  }

  async start() {
    const { answer, before } = this.facts;
    // of a plan the file says more than this page knows
    this.opening = before ? { sentence: [...byId('sentence').childNodes], figures: [...byId('figures').childNodes] } : null;
    this.now = await this.sideOf(null, asRecorded(), before ? before[0].toUpperCase() + before.slice(1) : 'As recorded');
    this.before = answer ? sideOfDocument(answer, before ? '/predicted' : '/baseline') : sideOfRun(this.now, '/baseline');
    this.tellSteps(this.now, this.before);
    this.now.note = noteOf(this.now, this.before.step, this.facts);
    if (this.facts.stages) replace('where', 'on the slowest stage');
    if (!this.now.lanes.some((lane) => lane.kind === 'host_thread')) this.whatIfs.leaveOut('host');
    this.markLate();
    await breathe();
    this.restore();
    if (this.lanesNow() !== this.lanesShown) this.takeLanes();
    this.timeline.readTheme();
    await this.update(false);
    while (!this.runs) await this.openRecorded();
    window.addEventListener('hashchange', () => {
      if (this.server && runAsked() !== this.server.number) {
        location.reload(); // a link to another run
        return;
      }
      this.restore();
      if (this.lanesNow() !== this.lanesShown) this.takeLanes();
      this.update(true);
    });
    this.page.prepare(() => new Promise((done) => { (window.requestIdleCallback ?? setTimeout)(done); }));
  }

  /** A link may ask for a stack that is refused: the run itself is shown, and beside it why. */
  async openRecorded() {
    const { state } = this;
    const asked = state.variant;
    state.variant = null;
    await this.update(false);
    if (state.variant === null) state.variant = this.stack ? this.ofStack() : asked;
    await this.update(true); // says it again: the first one has wiped it away
  }

  /** What a switch or a slider says. It is simulated at once, of those that come within a frame the newest at its end. */
  change(change) {
    const { state, stack } = this;
    if ('name' in change && stack?.known.has(change.name)) {
      stack.toggle(change.name, change.on); // which comes back as a change of the stack
      return;
    }
    // one what-if at a time in a file, which has no combinations; with an engine several together
    if ('name' in change) state.variant = change.on && change.name !== '' ? change.name : null;
    if ('stack' in change) state.variant = this.ofStack();
    if (('name' in change || 'stack' in change) && this.timeline.chosen) this.timeline.chosen.keeps = false; // of another graph
    for (const name of ['device', 'host', 'names']) if (name in change) state.factors[name] = change[name];
    if (this.frame !== null) {
      this.isBehind = true;
      return;
    }
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      if (this.isBehind) this.change({});
    });
    this.isBehind = false;
    this.update(true);
  }

  /** The variant that the stack is: a carried one, or what the engine makes of it. */
  ofStack() {
    const { rows } = this.stack;
    if (rows.length === 0) return null;
    const isPlain = rows.length === 1 && Object.values(rows[0].parameters).every((text) => text === '');
    return isPlain && this.facts.variants.some((each) => each.name === rows[0].name && each.name !== ofEngine)
      ? rows[0].name : ofEngine;
  }

  async update(keep) {
    const serial = ++this.serial;
    const { state } = this;
    if (state.variant !== ofEngine) this.asking?.none();
    if (state.variant === ofEngine && !(await this.asking.run(() => serial === this.serial))) {
      this.whatIfs.show(this.withSwitches());
      return;
    }
    const variant = state.variant === null ? null : this.page.variant(state.variant);
    state.title = variant ? variant.title : '';
    const changed = variant !== null || !isAsRecorded(state.factors);
    const then = changed ? await this.sideOf(state.variant, state.factors, 'Predicted', serial) : this.now;
    if (!keep) await breathe(); // it was simulated just now, and is drawn in a task of its own
    if (then === null || serial !== this.serial) return;
    const isPlain = isAsRecorded(state.factors);
    const answer = variant?.answer ?? (!variant && this.facts.before ? this.facts.answer : null); // a plan is a prediction itself
    const predicted = isPlain ? answer?.predicted ?? null : null;
    state.range = predicted && predicted.low_ns !== predicted.high_ns
      ? { low: predicted.low_ns, high: predicted.high_ns } : null;
    state.samples = variant ? variant.samples : 1;
    state.commandWords = commandOf(this.facts, state.factors, variant);
    const after = changed ? this.sideAfter(variant, then) : this.before;
    this.tellSteps(then, after);
    this.offerEvery(then);
    then.note = noteOf(then, after.step, this.facts, this.before.step);
    this.runs = changed ? [this.now, then] : [this.now];
    this.timeline.show(this.runs, keep);
    this.takeView();
    replace('classes', ...legendOf(this.runs));
    this.whatIfs.show(this.withSwitches());
    showAnswer(this.before, after, state, this.facts, this.now);
    if (!changed && this.opening) for (const id of ['sentence', 'figures']) replace(id, ...this.opening[id]);
    this.selection.choose(this.selection.again());
    this.timeline.drawNow();
    this.cards.show(isPlain ? variant : null, this.asking?.ranged, keep);
    this.cards.explain(variant);
    clearTimeout(this.timer);
    if (keep) {
      this.timer = setTimeout(() => this.showRest(), restAfter); // so that a slider moves freely
      return;
    }
    await breathe();
    if (serial === this.serial) this.showRest();
  }

  /** The timeline says what a step gains, where there are steps. */
  tellSteps(run, side) {
    run.noteAt = sourceOf(side, side.stepAt);
    run.step = run.answer.isSpan || this.facts.unit ? undefined : side.step;
  }

  /** A button for the lanes that the first view leaves out. */
  offerEvery(then) {
    const button = byId('every-lane');
    const left = this.now.left + (then === this.now ? 0 : then.left);
    button.hidden = !this.tracks.every && left === 0;
    button.textContent = this.tracks.every ? 'Busiest lanes only' : `${left} more ${left === 1 ? 'lane' : 'lanes'}`;
    button.setAttribute('aria-pressed', String(this.tracks.every));
  }

  /** Which lanes the rows are of. */
  lanesNow() { return `${this.tracks.every} ${[...this.tracks.opened]}`; }

  takeLanes() {
    Object.assign(this.now, rowsOf(this.now, this.tracks.every, this.tracks.opened));
    this.now.note = noteOf(this.now, this.before.step, this.facts);
    this.lanesShown = this.lanesNow();
  }

  /** The tracks were folded, pinned or opened. */
  async arranged() {
    if (this.lanesNow() === this.lanesShown) {
      this.timeline.arrange();
      this.timeline.drawNow();
    } else {
      this.takeLanes();
      if (this.timeline.chosen) this.timeline.chosen.keeps = true; // though its row is another
      await this.update(true);
    }
    this.saveSoon();
  }

  /** Of several ranks the one that the others wait for. */
  markLate() {
    this.lanesShown = this.lanesNow();
    const late = lateRank(this.now);
    if (!late) return;
    this.tracks.late.set(late.rank, late.by >= 1e9 ? `${(late.by / 1e9).toFixed(2)} s` : time(late.by)); // there is little room
    this.tracks.longest = late.longest;
  }

  /** What a link asked for, once its run is there. */
  takeView() {
    const { asked, timeline } = this;
    this.asked = null;
    if (!asked) return;
    if (asked.view) timeline.move(asked.view.from, asked.view.to - asked.view.from);
    else timeline.all();
    const mark = asked.chosen && markOf(this.runs, asked.chosen);
    timeline.chosen = mark ? { ...mark, keeps: true, isAsked: true } : null;
  }

  /** Shows a slice of the recorded run, in whatever lane. */
  async goTo(row, i) {
    if (!this.now.rows.some((each) => each.key === row.key)) this.tracks.opened.add(row.rank);
    this.tracks.show(row, this.now);
    await this.arranged();
    const mark = markOf(this.runs, { side: 0, key: row.key, task: row.task[i], label: row.label[i] });
    if (!mark) return;
    this.timeline.choose(mark);
    this.timeline.bring();
  }

  /** Time added up, of the run that is shown. */
  showAdded() {
    const run = this.runs[this.runs.length - 1];
    const { strings } = this.facts;
    this.added.show({ layer: () => byLayer(run, run.rows, strings, this.layers), region: () => byRegion(run, run.rows, strings) },
      `${run.title.toLowerCase()}${run.one ? `, step ${run.one.number}` : ''}, largest part first`);
  }

  /** What is shown beside the recorded run: what the program answers to it, or else what is simulated here. */
  sideAfter(variant, then) {
    const { factors } = this.state;
    if (variant?.answer && isAsRecorded(factors)) return sideOfDocument(variant.answer, '/predicted');
    return this.facts.stages ? sideOfPlan(this.facts.answer, this.now, then) : sideOfRun(then);
  }

  withSwitches() {
    const { state, stack } = this;
    state.on = new Set(stack ? stack.rows.map(({ name }) => name) : []);
    if (state.variant !== null) state.on.add(state.variant);
    return state;
  }

  /** What may come a moment after the answer; time added up in a task of its own. */
  showRest() {
    clearTimeout(this.adding);
    if (!this.facts.stages) this.adding = setTimeout(() => this.showAdded(), restAfter);
    showChanges(this.runs.length > 1 ? this.runs : [this.now, this.now], this.facts.strings);
    this.save();
    this.asking?.rest(() => this.state.variant === ofEngine);
  }

  choose(mark) {
    this.selection.choose(mark);
    this.saveSoon();
  }

  saveSoon() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.save(), saveAfter);
  }

  /** The view as part of the address: a link restores it. */
  save() {
    if (location.hash !== this.hash) return; // a link that is not followed yet
    const { variant, factors } = this.state;
    const parts = new URLSearchParams();
    if (this.server) {
      parts.set('token', this.server.token);
      if (this.server.number > 0) parts.set('run', String(this.server.number));
    }
    if (this.stack) parts.set('stack', JSON.stringify(this.stack.asked()));
    if (variant !== ofEngine) parts.set('apply', variant ?? '');
    addFactors(parts, factors);
    addView(parts, this.timeline);
    history.replaceState(null, '', `#${parts}`);
    this.hash = location.hash;
  }

  restore() {
    this.hash = location.hash;
    const parts = new URLSearchParams(location.hash.slice(1));
    this.asked = readView(parts, this.timeline);
    const asked = parts.has('apply') ? parts.get('apply') : this.facts.shown;
    this.state.variant = asked && this.page.variant(asked) ? asked : null;
    if (this.stack) {
      this.stack.set(readStack(parts, asked, this.stack.known));
      if (this.stack.rows.length > 0) this.state.variant = this.ofStack();
    }
    this.state.factors = readFactors(parts, this.facts.strings);
  }
}
