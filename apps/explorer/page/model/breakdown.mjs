// Where a window goes, each instant once: what foretrace::summarize says, and analysis.cpp of steps
// that are measured by their device work.
import { isDevice, isHost, kindsOf, midpoint } from './engine.mjs';

export const uses = ['compute', 'communication', 'waiting', 'copy', 'host', 'idle'];

/** Sorted, disjoint pairs of begin and end that cover all of `list` (pairs in any order). */
function union(list) {
  const order = new Uint32Array(list.length / 2).map((_, i) => i);
  order.sort((a, b) => list[2 * a] - list[2 * b]);
  const out = [];
  for (const i of order) {
    const begin = list[2 * i];
    const end = list[2 * i + 1];
    if (out.length > 0 && begin <= out[out.length - 1]) {
      if (end > out[out.length - 1]) out[out.length - 1] = end;
    } else {
      out.push(begin, end);
    }
  }
  return out;
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

/** Intervals by use, clipped to the window. */
function claims(run, scope) {
  const { graph, works, lanes, points, weights } = run;
  const kind = kindsOf(graph, works);
  const launching = launchingLanes(graph, works);
  const lists = [[], [], [], [], []];
  const add = (use, from, to) => {
    const begin = Math.max(from, scope.begin);
    const end = Math.min(to, scope.end);
    if (begin < end) lists[use].push(begin, end);
  };
  for (let i = 0; i < graph.size; ++i) {
    if (lanes[graph.lane[i]].rank !== scope.rank) continue;
    if (scope.step >= 0 && !(isDevice(kind[i]) && graph.step[i] === scope.step)) continue;
    const start = points[2 * i];
    const end = points[2 * i + 1];
    const before = graph.lane_source[i] < 0 ? 0 : points[graph.lane_source[i]];
    if (isHost(kind[i])) {
      if (!launching.has(graph.lane[i])) continue;
      add(4, before, Math.min(before + weights.segment[i], start));
      add(4, start, end);
    } else if (kind[i] === 4) {
      add(3, start, end);
    } else if (kind[i] !== 3 && kind[i] !== 9) {
      add(0, start, end);
    } else {
      const { part } = works[graph.work[i]];
      if (part === 2 && graph.lane_source[i] >= 0) add(2, before, start);
      add(part === 1 ? 2 : 1, start, end);
    }
  }
  return lists;
}

/** {compute, communication, waiting, copy, host, idle}; adds up to the window. */
export function breakdownOf(run, scope) {
  let covered = [];
  let total = 0;
  const out = {};
  claims(run, scope).forEach((list, use) => {
    for (const value of covered) list.push(value);
    covered = union(list);
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
