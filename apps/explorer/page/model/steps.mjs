// The step that answers, as sim/result/steps/steps.cpp and sim/result/device_steps.cpp find it.
import { isDevice, kindsOf, midpoint } from './engine.mjs';

const longestGap = 20000; // ns; see sim/result/device_steps.cpp
const runAheadShare = 0.02;
const nearlyAlways = 0.9;
const pieceShare = 0.1;

/** Device tasks by rank, in the order of their ids. Once per graph. */
function deviceTasks(run) {
  const { works, lanes } = run;
  const graph = run.graph.alike?.tasks ?? run.graph;
  if (!graph.deviceTasks) {
    const kind = kindsOf(graph, works);
    const counts = new Map(); // by rank, in the order of their first tasks
    const rankOf = lanes.map(({ rank }) => rank);
    for (let i = 0; i < graph.size; ++i) {
      if (isDevice(kind[i])) counts.set(rankOf[graph.lane[i]], (counts.get(rankOf[graph.lane[i]]) ?? 0) + 1);
    }
    const ranks = new Map([...counts].map(([rank, count]) => [rank, { tasks: new Int32Array(count), count: 0 }]));
    const ofLane = rankOf.map((rank) => ranks.get(rank));
    for (let i = 0; i < graph.size; ++i) {
      if (!isDevice(kind[i])) continue;
      const own = ofLane[graph.lane[i]];
      own.tasks[own.count++] = i;
    }
    graph.deviceTasks = [...ranks.values()].map(({ tasks }) => tasks);
  }
  return graph.deviceTasks;
}

/** Positions in order of time; equal begins by lane, then as they come: as merged per stream. */
function inOrder(begin, lane) {
  const order = new Uint32Array(begin.length);
  let isSorted = true;
  for (let k = 0; k < order.length; ++k) {
    order[k] = k;
    if (k > 0 && (begin[k] < begin[k - 1] || (begin[k] === begin[k - 1] && lane[k] < lane[k - 1]))) isSorted = false;
  }
  return isSorted ? order : order.sort((x, y) => begin[x] - begin[y] || lane[x] - lane[y] || x - y);
}

/** Stretches in which the device of a rank is taken. */
function stretchesOf(run, tasks) {
  const { graph, works, points, weights } = run;
  const most = 2 * tasks.length;
  const out = { begin: new Float64Array(most), end: new Float64Array(most), gap: new Float64Array(most),
    task: new Int32Array(most), waits: new Uint8Array(most), lane: new Int32Array(most) };
  let count = 0;
  const add = (begin, end, gap, task, waits) => {
    out.begin[count] = begin;
    out.end[count] = end;
    out.gap[count] = gap;
    out.task[count] = task;
    out.waits[count] = waits;
    out.lane[count] = graph.lane[task];
    count += 1;
  };
  for (const task of tasks) {
    const start = points[2 * task];
    const { part } = works[graph.work[task]];
    const source = graph.lane_source[task];
    if (part === 2 && source >= 0 && points[source] < start) add(points[source], start, 0, task, 1);
    add(start, points[2 * task + 1], weights.segment[task], task, part === 1 ? 1 : 0);
  }
  return { ...out, order: inOrder(out.begin.subarray(0, count), out.lane.subarray(0, count)) };
}

/** What nothing before it covers, with the gap that its stream needs. */
function uncovered(begin, end, gap, to) {
  const own = Math.max(0, end - Math.max(begin, to));
  const silence = Math.max(0, begin - to);
  return own + (to < 0 ? 0 : Math.min(silence, Math.min(Math.max(gap, 0), longestGap)));
}

export function deviceSteps(run) {
  const steps = run.steps.map(() => ({ begin: -1, end: -1, work: 0, occupied: 0, operations: 0, streams: new Map() }));
  if (steps.length === 0) return steps;
  for (const tasks of deviceTasks(run)) {
    const all = stretchesOf(run, tasks);
    const reached = new Map(); // by lane
    let workedTo = -1;
    let occupiedTo = -1;
    for (const k of all.order) {
      const begin = all.begin[k];
      const end = all.end[k];
      const waits = all.waits[k] === 1;
      const occupied = uncovered(begin, end, all.gap[k], occupiedTo);
      occupiedTo = Math.max(occupiedTo, end);
      const worked = waits ? 0 : uncovered(begin, end, all.gap[k], workedTo);
      if (!waits) workedTo = Math.max(workedTo, end);
      const number = run.graph.step[all.task[k]];
      const lane = all.lane[k];
      const own = waits ? 0 : uncovered(begin, end, all.gap[k], reached.get(lane) ?? -1);
      if (!waits) reached.set(lane, Math.max(reached.get(lane) ?? -1, end));
      if (number < 0) continue;
      const step = steps[number];
      if (!waits) step.streams.set(lane, (step.streams.get(lane) ?? 0) + own);
      step.work += worked;
      step.occupied += occupied;
      if (step.begin < 0) step.begin = begin;
      if (end > step.end) step.end = end;
      if (!waits) step.operations += 1;
    }
  }
  return steps;
}

function periodsOf(device) {
  return device.slice(1).map((step, i) =>
    (step.begin >= 0 && device[i].begin >= 0 ? Math.max(0, step.begin - device[i].begin) : -1));
}

function timesOf(run, device, from, to) {
  const list = run.steps.slice(from, to);
  const begin = list.map((step) => run.points[2 * step.begin]);
  const host = list.map((step) => run.points[2 * step.end] - run.points[2 * step.begin]);
  const own = device.slice(from, to);
  return { begin, host, device: own, period: periodsOf(own), first: from,
    reach: host.map((ns, i) => Math.max(ns, own[i].end - begin[i])), ranks: [] };
}

function wholeSteps(times) {
  const most = Math.max(0, ...times.device.map((step) => step.operations));
  const longest = Math.max(0, ...times.host);
  const isLong = (ns) => ns / Math.max(1, longest) >= pieceShare;
  const isPiece = ({ operations }) => operations < pieceShare * most;
  const areLost = 2 * times.device.filter(isPiece).length > times.device.length;
  return times.host.map((ns, i) => {
    const step = times.device[i];
    return !isPiece(step) || ((areLost || step.operations > 0) && isLong(ns));
  });
}


function middleOf(values) {
  const order = [];
  values.forEach((value, i) => { if (value >= 0) order.push(i); });
  order.sort((a, b) => values[a] - values[b] || a - b);
  return [order[(order.length - 1) >> 1], order[order.length >> 1]];
}

function medianOf(values) {
  if (!values.some((value) => value >= 0)) return { ns: -1, middle: [0, 0] };
  const middle = middleOf(values);
  return { ns: midpoint(values[middle[0]], values[middle[1]]), middle };
}

/** Steps of a job: of every rank the step that is equally far from its last whole one. */
function jobOf(ranks) {
  const ends = ranks.map((rank) => {
    const whole = wholeSteps(rank);
    let count = whole.length;
    while (count > 0 && !whole[count - 1]) count -= 1;
    return count;
  });
  const job = { begin: [], host: [], device: [], period: [], reach: [], ranks, medianRank: [],
    rankSteps: [], first: 0 };
  for (let left = Math.min(...ends); left > 0; --left) {
    const at = ends.map((end) => end - left);
    const lengths = {
      host: ranks.map((rank, r) => rank.host[at[r]]),
      period: ranks.map((rank, r) => rank.period[at[r]] ?? -1),
      work: ranks.map((rank, r) => rank.device[at[r]].work),
      reach: ranks.map((rank, r) => rank.reach[at[r]]),
    };
    const median = {};
    for (const key of Object.keys(lengths)) median[key] = medianOf(lengths[key]);
    const own = ranks[median.host.middle[0]];
    const step = at[median.host.middle[0]];
    job.medianRank.push(Object.fromEntries(Object.entries(median).map(([k, m]) => [k, m.middle[0]])));
    job.rankSteps.push(at);
    job.begin.push(own.begin[step]);
    job.host.push(median.host.ns);
    job.device.push({ ...own.device[step], work: median.work.ns });
    job.reach.push(median.reach.ns);
    if (left > 1) job.period.push(median.period.ns);
  }
  return job;
}

export function stepTimes(run) {
  const device = deviceSteps(run);
  const ranks = [];
  for (let from = 0, to = 0; from < run.steps.length; from = to) {
    while (to < run.steps.length && run.steps[to].rank === run.steps[from].rank) to += 1;
    ranks.push(timesOf(run, device, from, to));
  }
  return ranks.length < 2 ? timesOf(run, device, 0, run.steps.length) : jobOf(ranks);
}

function fallsBehind(times) {
  if (times.ranks.length > 0) {
    return 2 * times.ranks.filter(fallsBehind).length > times.ranks.length;
  }
  const at = [];
  wholeSteps(times).forEach((is, i) => { if (is) at.push(i); });
  if (at.length < 2) return false;
  const middle = at[(at.length - 1) >> 1];
  const last = at[at.length - 1];
  if (times.device[middle].begin < 0 || times.device[last].begin < 0) return false;
  const host = times.begin[last] - times.begin[middle];
  const device = times.device[last].begin - times.device[middle].begin;
  let occupied = 0;
  for (let i = middle; i < last; ++i) occupied += times.device[i].occupied;
  return device > host * (1 + runAheadShare) && occupied / Math.max(1, device) >= nearlyAlways;
}

/** What the busiest stream does per step, as busiest_stream_ns() of steps.cpp finds it. */
function busiestStream(times) {
  if (times.ranks.length > 0) return medianOf(times.ranks.map(busiestStream)).ns;
  const kept = wholeSteps(times);
  const steps = times.device.filter((_, i) => kept[i]);
  const lanes = new Set(steps.flatMap(({ streams }) => [...streams.keys()]));
  let busiest = 0;
  for (const lane of lanes) {
    const work = steps.map(({ streams }) => streams.get(lane) ?? 0);
    const mean = Math.floor(work.reduce((sum, ns) => sum + ns, 0) / steps.length);
    busiest = Math.max(busiest, Math.min(mean, medianOf(work).ns));
  }
  return busiest;
}

/**
 * {step, limit, middle, isSpan}: the median step, or the one of `number`. `limit` says what it is
 * measured by: host, period, work or reach.
 */
export function answerOf(run, number) {
  if (run.steps.length === 0) return { step: run.span, limit: 'host', isSpan: true, middle: [0, 0] };
  const times = run.times ?? (run.times = stepTimes(run));
  const whole = wholeSteps(times);
  const at = number === null ? -1 : run.steps.findIndex((step) => step.number === number);
  const keep = (values) => values.map((value, i) => ((at < 0 ? whole[i] : i === at) ? value : -1));
  const host = medianOf(keep(times.host));
  const period = medianOf(keep(times.period));
  const answer = { step: host.ns, limit: 'host', isSpan: false, middle: host.middle };
  const settle = (limit, median) => {
    if (median.ns > answer.step) Object.assign(answer, { step: median.ns, limit, middle: median.middle });
  };
  if (whole.filter((is) => is).length === 1 && (at < 0 || whole[at])) {
    settle('reach', medianOf(keep(times.reach)));
    return answer;
  }
  if (fallsBehind(times) && period.ns > host.ns * (1 + runAheadShare)) settle('period', period);
  const work = medianOf(keep(times.device.map((step) => step.work)));
  if (at < 0) work.ns = Math.max(work.ns, busiestStream(times));
  settle('work', work);
  return answer;
}

const hostRank = (lanes) => lanes.find((lane) => lane.kind === 'host_thread')?.rank ?? 0;

/** Where the step at `position` lies: {begin, end, rank, step}; step >= 0: its device work alone. */
export function scopeOf(run, answer, position) {
  if (answer.isSpan) return { begin: 0, end: run.span, rank: hostRank(run.lanes), step: -1 };
  const { times } = run;
  let own = times;
  let at = position;
  let step = position;
  if (times.ranks.length > 0) {
    const rank = times.medianRank[position][answer.limit];
    own = times.ranks[rank];
    at = times.rankSteps[position][rank];
    step = own.first + at;
  }
  const { rank } = run.steps[step];
  const begin = own.begin[at];
  switch (answer.limit) {
    case 'period': return { begin: own.device[at].begin, end: own.device[at + 1].begin, rank, step: -1 };
    case 'work': return { begin: own.device[at].begin, end: own.device[at].end, rank, step };
    case 'reach': return { begin, end: begin + own.reach[at], rank, step: -1 };
    default: return { begin, end: begin + own.host[at], rank, step: -1 };
  }
}
