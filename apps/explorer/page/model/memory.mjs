// Live bytes over time, in the order of the host program: what foretrace::track_memory says.
import { room } from './engine.mjs';

// What happens to a tensor, in the order in which it would happen at one time.
const frees = 0;
const allocates = 1;
const comesAndGoes = 2; // is freed where it was allocated

/**
 * Allocations and frees of every device by host thread, in program order: {tensor, action} of each.
 * Once per graph.
 */
function devicesOf(graph) {
  if (graph.alike?.tensors) return devicesOf(graph.alike.tensors);
  if (graph.devices) return graph.devices;
  const { tensor_bytes: bytes, tensor_allocated: from, tensor_freed: to, tensor_rank: ranks,
    tensor_device: numbers } = graph;
  const devices = [];
  const deviceOf = new Array(bytes.length).fill(null);
  for (let k = 0; k < bytes.length; ++k) {
    if (bytes[k] === 0) continue;
    let device = devices.find((each) => each.rank === ranks[k] && each.device === numbers[k]);
    if (!device) devices.push(device = { rank: ranks[k], device: numbers[k], base: 0, lanes: new Map() });
    deviceOf[k] = device;
    if (from[k] < 0) device.base += bytes[k];
  }
  for (const event of eventsInOrder(graph, deviceOf)) {
    const k = event < bytes.length ? event : event - bytes.length;
    const lane = graph.lane[event === k ? from[k] : to[k]];
    const { lanes } = deviceOf[k];
    let list = lanes.get(lane);
    if (!list) lanes.set(lane, list = { tensor: [], action: [] });
    list.tensor.push(k);
    list.action.push(actionOf(graph, event, k));
  }
  const sorted = devices.sort((a, b) => a.rank - b.rank || a.device - b.device);
  for (const device of sorted) {
    device.threads = [...device.lanes].sort((a, b) => a[0] - b[0]).map(([, list]) => list);
  }
  graph.devices = sorted;
  return sorted;
}

/** Of an event of tensor `k`, see eventsInOrder(). */
function actionOf(graph, event, k) {
  if (event === k) return allocates;
  return graph.tensor_allocated[k] === graph.tensor_freed[k]
    && graph.tensor_allocated_offset[k] === graph.tensor_freed_offset[k] ? comesAndGoes : frees;
}

/** Allocations (k) and frees (tensors + k) by task; in a task by offset, sequence, action, tensor. */
function eventsInOrder(graph, deviceOf) {
  const { tensor_allocated: from, tensor_freed: to, tensor_allocated_offset: fromOffset,
    tensor_freed_offset: toOffset, tensor_allocated_sequence: fromSequence, tensor_freed_sequence: toSequence } = graph;
  const tensors = deviceOf.length;
  const first = new Int32Array(graph.size + 1);
  for (let k = 0; k < tensors; ++k) {
    if (deviceOf[k] === null) continue;
    if (from[k] >= 0) first[from[k] + 1] += 1;
    if (to[k] >= 0) first[to[k] + 1] += 1;
  }
  for (let i = 0; i < graph.size; ++i) first[i + 1] += first[i];
  const events = new Int32Array(first[graph.size]);
  const next = first.slice();
  for (let k = 0; k < tensors; ++k) {
    if (deviceOf[k] === null) continue;
    if (from[k] >= 0) events[next[from[k]]++] = k;
    if (to[k] >= 0) events[next[to[k]]++] = tensors + k;
  }
  const order = (x, y) => {
    const a = x < tensors ? x : x - tensors;
    const b = y < tensors ? y : y - tensors;
    return (y === b ? fromOffset[b] : toOffset[b]) - (x === a ? fromOffset[a] : toOffset[a])
      || (x === a ? fromSequence[a] : toSequence[a]) - (y === b ? fromSequence[b] : toSequence[b])
      || actionOf(graph, x, a) - actionOf(graph, y, b) || a - b;
  };
  for (let i = 0; i < graph.size; ++i) {
    if (first[i + 1] - first[i] > 1) sortPart(events, first[i], first[i + 1], order);
  }
  return events;
}

const fewEvents = 32;

/** Most tasks have a few events, nearly in order: sort() of a part of an array costs more than they do. */
function sortPart(events, from, to, order) {
  if (to - from > fewEvents) {
    events.subarray(from, to).sort(order);
    return;
  }
  for (let i = from + 1; i < to; ++i) {
    const event = events[i];
    let at = i;
    for (; at > from && order(events[at - 1], event) > 0; --at) events[at] = events[at - 1];
    events[at] = event;
  }
}

/** [{rank, device, base, peak, at, times, live}], one per device that holds tensors. */
export function memoryOf(run) {
  run.room.curves ??= [];
  return devicesOf(run.graph).map((device, d) => {
    const curve = follow(run, device, run.room.curves[d]);
    run.room.curves[d] = curve;
    return curve;
  });
}

function follow(run, device, former) {
  const { graph, points, weights } = run;
  const { tensor_bytes: bytes, lane_source: sources } = graph;
  const timeOf = ({ list, next }) => {
    const k = list.tensor[next];
    const isBegin = list.action[next] === allocates;
    const task = isBegin ? graph.tensor_allocated[k] : graph.tensor_freed[k];
    const offset = isBegin ? graph.tensor_allocated_offset[k] : graph.tensor_freed_offset[k];
    const before = sources[task];
    const from = before < 0 ? 0 : points[before];
    const to = Math.min(from + weights.segment[task], points[2 * task]);
    return Math.max(Math.min(from, to), to - offset);
  };
  const threads = device.threads.map((list) => ({ list, next: 0, at: timeOf({ list, next: 0 }) }));
  const count = threads.reduce((sum, thread) => sum + thread.list.tensor.length, 0);
  const curve = { rank: device.rank, device: device.device, base: device.base, peak: device.base,
    at: 0, times: room(former?.times, count), live: room(former?.live, count) };
  const came = threads.length > 1 ? new Uint8Array(bytes.length) : null;
  let live = device.base;
  let now = 0;
  for (let k = 0; k < count; ++k) {
    const thread = threads.length > 1 ? earliest(graph, threads, came) : threads[0];
    const tensor = thread.list.tensor[thread.next];
    live += thread.list.action[thread.next] === allocates ? bytes[tensor] : -bytes[tensor];
    if (came) came[tensor] = 1;
    now = Math.max(now, thread.at);
    curve.times[k] = now;
    curve.live[k] = live;
    if (live > curve.peak) {
      curve.peak = live;
      curve.at = now;
    }
    thread.next += 1;
    if (thread.next < thread.list.tensor.length) thread.at = Math.max(thread.at, timeOf(thread));
  }
  return curve;
}

/** Where the next event of a thread stands in the order of the allocator. */
function sequenceOf(graph, { list, next }) {
  const figures = list.action[next] === allocates ? graph.tensor_allocated_sequence : graph.tensor_freed_sequence;
  return figures[list.tensor[next]];
}

/** Who would free what another has yet to allocate waits for it, unless all wait for each other. */
function earliest(graph, threads, came) {
  let best = null;
  let bestWaits = true;
  for (const thread of threads) {
    if (thread.next === thread.list.tensor.length) continue;
    const tensor = thread.list.tensor[thread.next];
    const waits = thread.list.action[thread.next] !== allocates && !came[tensor]
      && graph.tensor_allocated[tensor] >= 0;
    const sooner = best === null || Number(waits) - Number(bestWaits)
      || thread.at - best.at || sequenceOf(graph, thread) - sequenceOf(graph, best);
    if (sooner === true || sooner < 0) {
      best = thread;
      bestWaits = waits;
    }
  }
  return best;
}
