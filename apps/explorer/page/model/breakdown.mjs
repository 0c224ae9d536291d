// Where a window goes, each instant once: what foretrace::summarize says, and analysis.cpp of steps
// that are measured by their device work.
import { isDevice, isHost, kindsOf, lanesOf, midpoint } from './engine.mjs';

export const uses = ['compute', 'communication', 'waiting', 'copy', 'host', 'idle'];

/** Pairs of begin and end in order of time, merged where they touch. Its room is kept. */
class Cover {
  constructor(most) { this.reset(most); }

  reset(most) {
    if (!this.pairs || this.pairs.length < 2 * most) this.pairs = new Float64Array(2 * most);
    this.count = 0;
    this.isMixed = false;
    return this;
  }

  add(begin, end) {
    const { pairs, count } = this;
    if (count > 0 && begin <= pairs[count - 1] && begin >= pairs[count - 2]) {
      if (end > pairs[count - 1]) pairs[count - 1] = end;
      return;
    }
    if (count > 0 && begin < pairs[count - 2]) this.isMixed = true; // put right when asked for
    pairs[count] = begin;
    pairs[count + 1] = end;
    this.count = count + 2;
  }

  sorted() {
    if (!this.isMixed) return this;
    const order = new Uint32Array(this.count / 2).map((_, i) => i);
    order.sort((x, y) => this.pairs[2 * x] - this.pairs[2 * y]);
    const cover = new Cover(this.count / 2);
    for (const i of order) cover.add(this.pairs[2 * i], this.pairs[2 * i + 1]);
    return cover;
  }

  /** Becomes what either of two others covers. */
  become(a, b) {
    this.reset((a.count + b.count) / 2);
    const x = a.pairs;
    const y = b.pairs;
    for (let i = 0, k = 0; i < a.count || k < b.count;) {
      if (k >= b.count || (i < a.count && x[i] <= y[k])) {
        this.add(x[i], x[i + 1]);
        i += 2;
      } else {
        this.add(y[k], y[k + 1]);
        k += 2;
      }
    }
    return this;
  }

  length() {
    let sum = 0;
    for (let i = 0; i < this.count; i += 2) sum += this.pairs[i + 1] - this.pairs[i];
    return sum;
  }
}

/** What tasks of a rank cover by use and lane, clipped to the window: lanes are in order by themselves. */
function claims(run, scope) {
  const { graph, works, lanes, room } = run;
  const { first, isLaunching } = lanesOf(graph, works, lanes);
  room.covers ??= uses.slice(1).map(() => []);
  for (const covers of room.covers) for (const cover of covers) cover?.reset(0);
  const part = Uint8Array.from(works, (work) => work.part);
  for (let lane = 0; lane < lanes.length; ++lane) {
    if (lanes[lane].rank !== scope.rank) continue;
    const most = 2 * (first[lane + 1] - first[lane]);
    const coverOf = (use) => (room.covers[use][lane] ??= new Cover(most)).reset(most);
    claimsOfLane(run, scope, lane, isLaunching[lane] === 1, part, coverOf);
  }
  return room.covers;
}

function claimsOfLane(run, scope, lane, isLaunching, partOf, coverOf) {
  const { graph, works, lanes, points } = run;
  const { segment } = run.weights;
  const { lane_source: sources, work: workOfTask } = graph;
  const kind = kindsOf(graph, works);
  const { tasks, first } = lanesOf(graph, works, lanes);
  const covers = [];
  const steps = scope.step >= 0 ? graph.step : null;
  const { begin: from, end: to } = scope;
  const claim = (use, begin, end) => {
    const begins = begin < from ? from : begin;
    const ends = end > to ? to : end;
    if (begins < ends) (covers[use] ??= coverOf(use)).add(begins, ends);
  };
  for (let k = first[lane]; k < first[lane + 1]; ++k) {
    const i = tasks[k];
    if (steps !== null && !(isDevice(kind[i]) && steps[i] === scope.step)) continue;
    const start = points[2 * i];
    const end = points[2 * i + 1];
    const before = sources[i] < 0 ? 0 : points[sources[i]];
    if (isHost(kind[i])) {
      if (!isLaunching) continue;
      const worked = before + segment[i];
      claim(4, before, worked < start ? worked : start);
      claim(4, start, end);
    } else if (kind[i] === 4) {
      claim(3, start, end);
    } else if (kind[i] !== 3 && kind[i] !== 9) {
      claim(0, start, end);
    } else {
      const part = partOf[workOfTask[i]];
      if (part === 2 && sources[i] >= 0) claim(2, before, start);
      claim(part === 1 ? 2 : 1, start, end);
    }
  }
}

/** {compute, communication, waiting, copy, host, idle}; adds up to the window. */
export function breakdownOf(run, scope) {
  let [covered, next] = (run.room.unions ??= [new Cover(0), new Cover(0)]);
  covered.reset(0);
  let total = 0;
  const out = {};
  claims(run, scope).forEach((covers, use) => {
    for (const cover of covers) {
      if (cover && cover.count > 0) [covered, next] = [next.become(covered, cover.sorted()), covered];
    }
    const all = covered.length();
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
