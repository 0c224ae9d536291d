// From a simulated run to rows of slices: one per lane, busiest first, more where they overlap.
import { isDevice, isHost, kindsOf } from '../model/engine.mjs';
import { classOf, hostClass, plainClass, waitClass } from './palette.mjs';

const mostLanes = 14;

function laneTitle(lane, several) {
  const rank = several ? `rank ${lane.rank}, ` : '';
  if (lane.kind === 'host_thread') return `${rank}${lane.name || `thread ${lane.number}`}`;
  return `${rank}${lane.kind === 'stream' ? 'stream' : lane.kind.replaceAll('_', ' ')} ${lane.number}`;
}

/** Slices of one lane as they come: begin, end, class, task, label (-1: the task itself). */
class Slices {
  constructor(lane, most) {
    this.lane = lane;
    this.count = 0;
    this.begin = new Float64Array(most);
    this.end = new Float64Array(most);
    this.cls = new Uint8Array(most);
    this.task = new Int32Array(most);
    this.label = new Int32Array(most);
    this.busy = 0;
  }

  add(begin, end, cls, task, label) {
    if (end <= begin) return;
    const at = this.count;
    this.begin[at] = begin;
    this.end[at] = end;
    this.cls[at] = cls;
    this.task[at] = task;
    this.label[at] = label;
    this.count += 1;
    if (cls !== waitClass) this.busy += end - begin;
  }

  finish(title) {
    const cut = (values) => values.subarray(0, this.count);
    return { title, begin: cut(this.begin), end: cut(this.end), cls: cut(this.cls),
      task: cut(this.task), label: cut(this.label), busy: this.busy,
      isHost: this.lane.kind === 'host_thread' };
  }
}

/** How many slices each lane can have, and the class of each work. Once per graph. */
function planOf(graph, works) {
  if (!graph.plan) {
    const kind = kindsOf(graph, works);
    const most = [];
    for (let i = 0; i < graph.size; ++i) {
      if (kind[i] === 9) continue;
      const origin = graph.origin ? graph.origin[i] : i;
      const parts = origin >= 0 ? graph.first_part[origin + 1] - graph.first_part[origin] : 0;
      most[graph.lane[i]] = (most[graph.lane[i]] ?? 0) + 3 + parts;
    }
    graph.plan = { most, cls: works.map(classOf) };
  }
  return graph.plan;
}

/** The segment before a host task, cut into the regions that cover it; they count from its end. */
function addSegment(run, i, slices) {
  const { graph, points, weights } = run;
  const before = graph.lane_source[i] < 0 ? 0 : points[graph.lane_source[i]];
  const start = points[2 * i];
  const begin = Math.min(before, start);
  const to = Math.min(begin + weights.segment[i], start);
  const origin = graph.origin ? graph.origin[i] : i;
  const first = origin >= 0 ? graph.first_part[origin] : 0;
  const last = origin >= 0 ? graph.first_part[origin + 1] : 0;
  let recorded = 0;
  for (let k = first; k < last; ++k) recorded += graph.part_duration[k];
  // a faster host shortens its regions alike; what none covers comes first
  const scale = recorded > to - begin ? (to - begin) / recorded : 1;
  let at = Math.max(begin, to - recorded * scale);
  slices.add(begin, at, plainClass, i, -2);
  for (let k = first; k < last; ++k) {
    const end = k + 1 === last ? to : Math.min(to, at + graph.part_duration[k] * scale);
    slices.add(at, end, hostClass, i, graph.part_label[k]);
    at = end;
  }
  if (before > 0) slices.add(to, start, waitClass, i, -3);
}

export function rowsOf(run) {
  const { graph, works, lanes, points } = run;
  const kind = kindsOf(graph, works);
  const plan = planOf(graph, works);
  const byLane = new Map();
  for (let i = 0; i < graph.size; ++i) {
    const lane = graph.lane[i];
    if (kind[i] === 9) continue;
    if (!byLane.has(lane)) byLane.set(lane, new Slices(lanes[lane], plan.most[lane]));
    const slices = byLane.get(lane);
    const work = works[graph.work[i]];
    if (isHost(kind[i])) addSegment(run, i, slices);
    if (isDevice(kind[i]) && work.part === 2 && graph.lane_source[i] >= 0) {
      slices.add(points[graph.lane_source[i]], points[2 * i], waitClass, i, -3);
    }
    slices.add(points[2 * i], points[2 * i + 1], plan.cls[graph.work[i]], i, -1);
  }
  const several = new Set(lanes.filter((lane) => lane.rank >= 0).map((lane) => lane.rank)).size > 1;
  const all = [...byLane.values()].filter((slices) => slices.busy > 0);
  const isThread = (slices) => Number(slices.lane.kind === 'host_thread');
  // of every rank the busiest stream and thread first, then the next ones
  const place = new Map();
  for (const slices of [...all].sort((a, b) => b.busy - a.busy)) {
    const kindOfLane = `${slices.lane.rank} ${isThread(slices)}`;
    const at = place.get(kindOfLane) ?? 0;
    place.set(kindOfLane, at + 1);
    slices.place = at;
  }
  const busiest = new Set([...all].sort((a, b) => a.place - b.place || b.busy - a.busy).slice(0, mostLanes));
  all.sort((a, b) => a.lane.rank - b.lane.rank || isThread(a) - isThread(b)
    || a.lane.number - b.lane.number);
  const rows = all.filter((slices) => busiest.has(slices))
    .map((slices) => slices.finish(laneTitle(slices.lane, several)));
  return { rows, left: all.length - rows.length };
}
