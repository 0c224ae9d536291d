// From a simulated run to rows of slices: one per lane, busiest first, more where they overlap.
import { isDevice, isHost } from '../model/engine.mjs';
import { classOf, classOfPhase, hostClass, isWaiting, lateClass, plainClass, waitClass } from './palette.mjs';

const mostLanes = 14;
const mostStages = 64;

const backward = 2; // of foretrace::Phase
const leastBackward = 0.9; // of the tasks of an autograd thread

/** What a lane is called within its rank; some recordings call the thread of the backward pass as they call the main one. */
function laneTitle(lane, isBackward) {
  if (lane.kind === 'host_thread') {
    const [, number, name] = lane.name?.match(/^thread (\d+) \((.+)\)$/) ?? [];
    if (isBackward || /^pt_autograd_\d+$/.test(name)) return `autograd thread ${number ?? lane.number}`;
    return name ? `${name} thread ${number}` : lane.name || `thread ${lane.number}`;
  }
  if (lane.name && lane.name.startsWith('stage ')) return lane.name;
  const kind = lane.kind === 'stream' ? 'stream' : lane.kind.replaceAll('_', ' ');
  return `GPU${lane.device >= 0 ? ` ${lane.device}` : ''}, ${kind} ${lane.number}`;
}
/** Of the same lane in both runs, and in a link. */
const laneKey = ({ rank, kind, number, device }) => `${rank}${kind[0]}${device >= 0 ? device : ''}-${number}`;

/** Slices of one lane as they come: begin, end, class, task, label (-1: the task itself). */
class Slices {
  /** For so many of them; what there is room for is used again. */
  reset(lane, most) {
    this.lane = lane;
    if (!this.begin || this.begin.length < most) {
      this.begin = new Float64Array(most);
      this.end = new Float64Array(most);
      this.cls = new Uint8Array(most);
      this.task = new Int32Array(most);
      this.label = new Int32Array(most);
    }
    this.count = 0;
    this.busy = 0;
    this.classes = 0; // a bit for each that comes
  }

  add(begin, end, cls, task, label) {
    if (end <= begin) return;
    const at = this.count;
    this.begin[at] = begin;
    this.end[at] = end;
    this.cls[at] = cls;
    this.task[at] = task;
    this.label[at] = label;
    this.count = at + 1;
    this.classes |= 1 << cls;
    if (!isWaiting(cls)) this.busy += end - begin;
  }

  finish(title) {
    const cut = (values) => values.subarray(0, this.count);
    return { title, key: laneKey(this.lane), rank: this.lane.rank, lane: this.lane, begin: cut(this.begin), end: cut(this.end), cls: cut(this.cls),
      task: cut(this.task), label: cut(this.label), busy: this.busy, classes: this.classes,
      isHost: this.lane.kind === 'host_thread' };
  }
}

/** The tasks of every lane one after the other: {tasks, first}, those of lane l from first[l] on. Once per graph. */
function lanesOf(graph, lanes) {
  if (graph.alike) return lanesOf(graph.alike, lanes);
  if (!graph.byLane) {
    const { lane, size } = graph;
    const first = new Int32Array(lanes.length + 1);
    for (let i = 0; i < size; ++i) first[lane[i] + 1] += 1;
    for (let l = 0; l < lanes.length; ++l) first[l + 1] += first[l];
    const tasks = new Int32Array(size);
    const next = first.slice();
    for (let i = 0; i < size; ++i) tasks[next[lane[i]]++] = i;
    graph.byLane = { tasks, first };
  }
  return graph.byLane;
}

/** Lanes in the order in which they come, how many slices each can be, and the classes of work. Once per graph. */
function planOf(graph, works, lanes) {
  if (graph.alike) return planOf(graph.alike, works, lanes);
  if (!graph.plan) {
    const { tasks, first } = lanesOf(graph, lanes);
    const { kind, origin, first_part: firstPart } = graph;
    const rows = [];
    for (let lane = 0; lane < lanes.length; ++lane) {
      let parts = 0;
      let begin = -1; // of those that are shown
      let shown = 0;
      let ofBackward = 0;
      for (let k = first[lane]; k < first[lane + 1]; ++k) {
        const task = tasks[k];
        if (kind[task] !== 9) {
          if (begin < 0) begin = task;
          shown += 1;
          ofBackward += Number(graph.phase?.[task] === backward);
        }
        const from = origin === null ? task : origin[task];
        if (from >= 0) parts += firstPart[from + 1] - firstPart[from];
      }
      if (begin >= 0) rows.push({ lane, begin, isBackward: ofBackward >= leastBackward * shown, most: 3 * (first[lane + 1] - first[lane]) + parts });
    }
    rows.sort((a, b) => a.begin - b.begin);
    const cls = Uint8Array.from(works, classOf);
    if (graph.ordinal) for (let i = 0; i < graph.size; ++i) cls[graph.work[i]] = classOfPhase(graph.phase[i], works[graph.work[i]]);
    graph.plan = { rows, cls, part: Uint8Array.from(works, (work) => work.part) };
  }
  return graph.plan;
}

/** The segment before a host task, cut into the regions that cover it; they count from its end. */
function addSegment(graph, i, begin, to, slices) {
  const { part_duration: durations, part_label: labels, first_part: firstPart, origin } = graph;
  const from = origin === null ? i : origin[i];
  const first = from >= 0 ? firstPart[from] : 0;
  const last = from >= 0 ? firstPart[from + 1] : 0;
  let recorded = 0;
  for (let k = first; k < last; ++k) recorded += durations[k];
  // a faster host shortens its regions alike; what none covers comes first
  const scale = recorded > to - begin ? (to - begin) / recorded : 1;
  let at = to - recorded * scale;
  if (at < begin) at = begin;
  slices.add(begin, at, plainClass, i, -2);
  for (let k = first; k < last; ++k) {
    let end = k + 1 === last ? to : at + durations[k] * scale;
    if (end > to) end = to;
    slices.add(at, end, hostClass, i, labels[k]);
    at = end;
  }
}

function fillLane(run, plan, lane, slices) {
  const { graph, lanes, points, weights: { segment } } = run;
  const { tasks, first } = lanesOf(graph, lanes);
  const { kind, work: workOf, lane_source: sources } = graph;
  const { cls, part } = plan;
  for (let k = first[lane]; k < first[lane + 1]; ++k) {
    const i = tasks[k];
    if (kind[i] === 9) continue;
    const start = points[2 * i];
    const before = sources[i] < 0 ? 0 : points[sources[i]];
    if (isHost(kind[i])) {
      const begin = before < start ? before : start;
      const to = begin + segment[i] < start ? begin + segment[i] : start;
      if (begin < to) addSegment(graph, i, begin, to, slices);
      if (before > 0) slices.add(to, start, waitClass, i, -3);
    } else if (part[workOf[i]] === 2 && isDevice(kind[i]) && sources[i] >= 0) {
      slices.add(before, start, lateClass, i, -3);
    }
    slices.add(start, points[2 * i + 1], cls[workOf[i]], i, -1);
  }
}

/** Rows of the first view: those of devices first, then of each rank the busiest thread, then others while there is room. */
function busiestOf(all, isThread, most) {
  const tierOf = (slices) => (isThread(slices) ? Math.min(2, 1 + slices.place) : 0);
  const ordered = [...all].sort((a, b) => tierOf(a) - tierOf(b) || a.place - b.place || b.busy - a.busy);
  return new Set(ordered.filter((slices, i) => i < (tierOf(slices) < 2 ? mostStages : most)));
}

export const isSeveral = (lanes) => new Set(lanes.filter((lane) => lane.rank >= 0).map((lane) => lane.rank)).size > 1;

/** `every`: no lane is left out; `opened`: ranks of which none is. What is left out is counted, by rank. */
export function rowsOf(run, every = false, opened = new Set()) {
  const { graph, works, lanes } = run;
  const plan = planOf(graph, works, lanes);
  const byLane = (run.room.slices ??= new Map());
  const filled = [];
  for (const { lane, most, isBackward } of plan.rows) {
    if (!byLane.has(lane)) byLane.set(lane, new Slices());
    const slices = byLane.get(lane);
    slices.reset(lanes[lane], most);
    slices.isBackward = isBackward;
    fillLane(run, plan, lane, slices);
    filled.push(slices);
  }
  const all = filled.filter((slices) => slices.busy > 0);
  const isThread = (slices) => Number(slices.lane.kind === 'host_thread');
  // of every rank the busiest stream and thread first, then the next ones
  const place = new Map();
  for (const slices of [...all].sort((a, b) => b.busy - a.busy)) {
    const kindOfLane = `${slices.lane.rank} ${isThread(slices)}`;
    const at = place.get(kindOfLane) ?? 0;
    place.set(kindOfLane, at + 1);
    slices.place = at;
  }
  const busiest = every ? new Set(all) : busiestOf(all, isThread, graph.ordinal ? mostStages : mostLanes);
  all.sort((a, b) => a.lane.rank - b.lane.rank || isThread(a) - isThread(b)
    || a.lane.number - b.lane.number);
  const rows = [];
  const leftOf = new Map();
  for (const slices of all) {
    if (busiest.has(slices) || opened.has(slices.lane.rank)) rows.push(slices.finish(laneTitle(slices.lane, slices.isBackward)));
    else leftOf.set(slices.lane.rank, (leftOf.get(slices.lane.rank) ?? 0) + 1);
  }
  return { rows, left: all.length - rows.length, leftOf };
}
