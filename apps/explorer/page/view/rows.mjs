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
  constructor(lane) {
    this.lane = lane;
    this.begin = [];
    this.end = [];
    this.cls = [];
    this.task = [];
    this.label = [];
    this.busy = 0;
  }

  add(begin, end, cls, task, label) {
    if (end <= begin) return;
    this.begin.push(begin);
    this.end.push(end);
    this.cls.push(cls);
    this.task.push(task);
    this.label.push(label);
    this.busy += end - begin;
  }

  finish(title) {
    return { title, begin: Float64Array.from(this.begin), end: Float64Array.from(this.end),
      cls: Uint8Array.from(this.cls), task: Int32Array.from(this.task),
      label: Int32Array.from(this.label), busy: this.busy, isHost: this.lane.kind === 'host_thread' };
  }
}

/** The segment before a host task, cut into the regions that cover it; they count from its end. */
function addSegment(run, i, slices) {
  const { graph, points, weights } = run;
  const before = graph.lane_source[i] < 0 ? 0 : points[graph.lane_source[i]];
  const begin = Math.min(before, points[2 * i]);
  let to = Math.min(begin + weights.segment[i], points[2 * i]);
  const origin = graph.origin ? graph.origin[i] : i;
  const cut = [];
  if (origin >= 0) {
    const first = graph.first_part[origin];
    let recorded = 0;
    for (let k = first; k < graph.first_part[origin + 1]; ++k) recorded += graph.part_duration[k];
    // a faster host shortens its regions alike
    const whole = to - begin;
    const scale = recorded > whole && recorded > 0 ? whole / recorded : 1;
    for (let k = graph.first_part[origin + 1] - 1; k >= first && to > begin; --k) {
      const from = Math.max(begin, to - graph.part_duration[k] * scale);
      cut.push([from, to, hostClass, graph.part_label[k]]);
      to = from;
    }
  }
  if (to > begin) cut.push([begin, to, plainClass, -2]);
  for (const [from, until, cls, label] of cut.reverse()) slices.add(from, until, cls, i, label);
  const end = Math.min(begin + weights.segment[i], points[2 * i]);
  if (points[2 * i] > end && before > 0) slices.add(end, points[2 * i], waitClass, i, -3);
}

export function rowsOf(run) {
  const { graph, works, lanes, points } = run;
  const kind = kindsOf(graph, works);
  const byLane = new Map();
  for (let i = 0; i < graph.size; ++i) {
    const lane = graph.lane[i];
    if (kind[i] === 9) continue;
    if (!byLane.has(lane)) byLane.set(lane, new Slices(lanes[lane]));
    const slices = byLane.get(lane);
    const work = works[graph.work[i]];
    if (isHost(kind[i])) addSegment(run, i, slices);
    if (isDevice(kind[i]) && work.part === 2 && graph.lane_source[i] >= 0) {
      slices.add(points[graph.lane_source[i]], points[2 * i], waitClass, i, -3);
    }
    slices.add(points[2 * i], points[2 * i + 1], classOf(work), i, -1);
  }
  const several = new Set(lanes.filter((lane) => lane.rank >= 0).map((lane) => lane.rank)).size > 1;
  const all = [...byLane.values()].filter((slices) => slices.busy > 0);
  all.sort((a, b) => a.lane.rank - b.lane.rank
    || Number(a.lane.kind === 'host_thread') - Number(b.lane.kind === 'host_thread')
    || b.busy - a.busy);
  const busiest = new Set([...all].sort((a, b) => b.busy - a.busy).slice(0, mostLanes));
  const rows = all.filter((slices) => busiest.has(slices))
    .map((slices) => slices.finish(laneTitle(slices.lane, several)));
  return { rows, left: all.length - rows.length };
}
