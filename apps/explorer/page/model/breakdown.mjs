// Where a window goes, each instant once: what foretrace::summarize says, and analysis.cpp of steps
// that are measured by their device work.
import { isDevice, isHost, kindsOf, midpoint } from './engine.mjs';

export const uses = ['compute', 'communication', 'waiting', 'copy', 'host', 'idle'];

/** Pairs of begin and end in order of time, merged where they touch. */
class Cover {
  constructor() { this.pairs = []; }

  add(begin, end) {
    const { pairs } = this;
    const last = pairs.length - 1;
    if (last > 0 && begin < pairs[last - 1]) {
      this.isMixed = true; // not in order: put right when it is asked for
      pairs.push(begin, end);
    } else if (last > 0 && begin <= pairs[last]) {
      if (end > pairs[last]) pairs[last] = end;
    } else {
      pairs.push(begin, end);
    }
  }

  sorted() {
    if (!this.isMixed) return this.pairs;
    const order = new Uint32Array(this.pairs.length / 2).map((_, i) => i);
    order.sort((x, y) => this.pairs[2 * x] - this.pairs[2 * y]);
    const cover = new Cover();
    for (const i of order) cover.add(this.pairs[2 * i], this.pairs[2 * i + 1]);
    return cover.pairs;
  }
}

/** What either of two sorted lists covers. */
function union(a, b) {
  if (a.length === 0) return b;
  const cover = new Cover();
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    if (k >= b.length || (i < a.length && a[i] <= b[k])) {
      cover.add(a[i], a[i + 1]);
      i += 2;
    } else {
      cover.add(b[k], b[k + 1]);
      k += 2;
    }
  }
  return cover.pairs;
}

const lengthOf = (pairs) => {
  let sum = 0;
  for (let i = 0; i < pairs.length; i += 2) sum += pairs[i + 1] - pairs[i];
  return sum;
};

function launchingLanes(graph, works) {
  if (!graph.launching) {
    const kind = kindsOf(graph, works);
    graph.launching = new Set();
    for (let i = 0; i < graph.size; ++i) if (kind[i] === 1) graph.launching.add(graph.lane[i]);
  }
  return graph.launching;
}

/** What tasks cover by use and lane, clipped to the window: lanes are in order by themselves. */
function claims(run, scope) {
  const { graph, works, lanes, points, weights } = run;
  const kind = kindsOf(graph, works);
  const launching = launchingLanes(graph, works);
  const covers = [[], [], [], [], []];
  const { begin: first, end: last } = scope;
  const add = (use, lane, from, to) => {
    const begin = from < first ? first : from;
    const end = to > last ? last : to;
    if (begin < end) (covers[use][lane] ??= new Cover()).add(begin, end);
  };
  for (let i = 0; i < graph.size; ++i) {
    const lane = graph.lane[i];
    if (lanes[lane].rank !== scope.rank) continue;
    if (scope.step >= 0 && !(isDevice(kind[i]) && graph.step[i] === scope.step)) continue;
    const start = points[2 * i];
    const end = points[2 * i + 1];
    const before = graph.lane_source[i] < 0 ? 0 : points[graph.lane_source[i]];
    if (isHost(kind[i])) {
      if (!launching.has(lane)) continue;
      add(4, lane, before, Math.min(before + weights.segment[i], start));
      add(4, lane, start, end);
    } else if (kind[i] === 4) {
      add(3, lane, start, end);
    } else if (kind[i] !== 3 && kind[i] !== 9) {
      add(0, lane, start, end);
    } else {
      const { part } = works[graph.work[i]];
      if (part === 2 && graph.lane_source[i] >= 0) add(2, lane, before, start);
      add(part === 1 ? 2 : 1, lane, start, end);
    }
  }
  return covers;
}

/** {compute, communication, waiting, copy, host, idle}; adds up to the window. */
export function breakdownOf(run, scope) {
  let covered = [];
  let total = 0;
  const out = {};
  claims(run, scope).forEach((covers, use) => {
    for (const cover of covers) if (cover) covered = union(covered, cover.sorted());
    const all = lengthOf(covered);
    out[uses[use]] = all - total;
    total = all;
  });
  out.idle = scope.end - scope.begin - total;
  return out;
}

/** What the device does for a step alone: no host, no waiting; its gaps are idle. */
function workAlone(all, work) {
  const own = { compute: all.compute, communication: all.communication, waiting: 0, copy: all.copy,
    host: 0, idle: 0 };
  const sum = own.compute + own.communication + own.copy;
  if (sum > work) {
    const share = work / sum;
    for (const use of ['compute', 'communication', 'copy']) own[use] = Math.trunc(own[use] * share);
  }
  own.idle = work - own.compute - own.communication - own.copy;
  return own;
}

/** Of the step that answers: the mean of its two middle steps; adds up to it exactly. */
export function answerBreakdown(run, answer, scopeOf) {
  const at = (step) => {
    const scope = scopeOf(run, answer, step);
    const all = breakdownOf(run, scope);
    return scope.step < 0 ? all : workAlone(all, run.times.device[step].work);
  };
  const first = at(answer.middle[0]);
  const out = { ...first };
  if (answer.middle[0] !== answer.middle[1]) {
    const second = at(answer.middle[1]);
    for (const use of uses) out[use] = midpoint(first[use], second[use]);
  }
  const sum = uses.reduce((total, use) => total + out[use], 0);
  // of equal ones the first, in the order of analysis.cpp
  const order = ['compute', 'communication', 'copy', 'waiting', 'host', 'idle'];
  const largest = order.reduce((most, use) => (out[use] > out[most] ? use : most));
  out[largest] += answer.step - sum;
  return out;
}
