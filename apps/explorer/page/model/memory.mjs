// Live bytes over time, in the order of the host program: what foretrace::track_memory says.
import { room } from './engine.mjs';

// What happens to a tensor, in the order in which it would happen at one time.
const frees = 0;
const allocates = 1;
const comesAndGoes = 2; // is freed where it was allocated

/**
 * Allocations and frees of every device by host thread, in program order: the tensor and the action of each.
 * Once per graph.
 */
function devicesOf(graph) {
  if (graph.alike?.tensors) return devicesOf(graph.alike.tensors);
  if (graph.devices) return graph.devices;
  const { tensor_bytes: bytes, tensor_allocated: from, tensor_freed: to, tensor_rank: ranks,
    tensor_device: numbers, lane } = graph;
  const tensors = bytes.length;
  const devices = [];
  const deviceOf = new Int32Array(tensors).fill(-1);
  let own = -1; // mostly that of the tensor before
  for (let k = 0; k < tensors; ++k) {
    if (bytes[k] === 0) continue;
    if (own < 0 || devices[own].rank !== ranks[k] || devices[own].device !== numbers[k]) {
      own = devices.findIndex((each) => each.rank === ranks[k] && each.device === numbers[k]);
      if (own < 0) own = devices.push({ rank: ranks[k], device: numbers[k], base: 0, threads: [] }) - 1;
    }
    deviceOf[k] = own;
    if (from[k] < 0) devices[own].base += bytes[k];
  }
  const events = eventsInOrder(graph, deviceOf);
  const threads = [];
  const threadOf = new Int32Array(events.length);
  let at = -1;
  for (let e = 0; e < events.length; ++e) {
    const event = events[e];
    const k = event < tensors ? event : event - tensors;
    const line = lane[event === k ? from[k] : to[k]];
    if (at < 0 || threads[at].lane !== line || threads[at].device !== deviceOf[k]) {
      at = threads.findIndex((each) => each.lane === line && each.device === deviceOf[k]);
      if (at < 0) at = threads.push({ lane: line, device: deviceOf[k], count: 0 }) - 1;
    }
    threadOf[e] = at;
    threads[at].count += 1;
  }
  for (const thread of threads) {
    Object.assign(thread, { tensor: new Int32Array(thread.count), action: new Uint8Array(thread.count), count: 0 });
  }
  for (let e = 0; e < events.length; ++e) {
    const event = events[e];
    const k = event < tensors ? event : event - tensors;
    const thread = threads[threadOf[e]];
    thread.tensor[thread.count] = k;
    thread.action[thread.count++] = actionOf(graph, event, k);
  }
  threads.sort((a, b) => a.lane - b.lane);
  devices.forEach((device, d) => { device.threads = threads.filter((thread) => thread.device === d); });
  graph.events = events;
  graph.devices = devices.sort((a, b) => a.rank - b.rank || a.device - b.device);
  return graph.devices;
}

/** Of an event of tensor `k`, see eventsInOrder(). */
function actionOf(graph, event, k) {
  if (event === k) return allocates;
  return graph.tensor_allocated[k] === graph.tensor_freed[k]
    && graph.tensor_allocated_offset[k] === graph.tensor_freed_offset[k] ? comesAndGoes : frees;
}

/** Compares events: by task; in a task by offset, sequence, action, tensor. No two are equal. */
function orderOf(graph) {
  const { tensor_allocated: from, tensor_freed: to, tensor_allocated_offset: fromOffset,
    tensor_freed_offset: toOffset, tensor_allocated_sequence: fromSequence, tensor_freed_sequence: toSequence } = graph;
  const tensors = graph.tensor_bytes.length;
  return (x, y) => {
    const a = x < tensors ? x : x - tensors;
    const b = y < tensors ? y : y - tensors;
    return (x === a ? from[a] : to[a]) - (y === b ? from[b] : to[b])
      || (y === b ? fromOffset[b] : toOffset[b]) - (x === a ? fromOffset[a] : toOffset[a])
      || (x === a ? fromSequence[a] : toSequence[a]) - (y === b ? fromSequence[b] : toSequence[b])
      || actionOf(graph, x, a) - actionOf(graph, y, b) || a - b;
  };
}

/** Allocations (k) and frees (tensors + k) of what a device holds. */
function eventsInOrder(graph, deviceOf) {
  const { tensor_allocated: from, tensor_freed: to } = graph;
  const tensors = deviceOf.length;
  const isThere = new Uint8Array(2 * tensors);
  let count = 0;
  for (let k = 0; k < tensors; ++k) {
    if (deviceOf[k] < 0) continue;
    if (from[k] >= 0) isThere[k] = 1;
    if (to[k] >= 0) isThere[tensors + k] = 1;
    count += isThere[k] + isThere[tensors + k];
  }
  return eventsAsRecorded(graph, isThere, count) ?? eventsByTask(graph, isThere);
}

/** Those that were recorded come nearly in the order in which they came: they are put right. Null: that takes too long. */
function eventsAsRecorded(graph, isThere, count) {
  const former = graph.recorded?.events;
  if (!former) return null;
  const before = graph.recorded.tensor_bytes.length;
  const tensors = graph.tensor_bytes.length;
  const known = new Int32Array(count);
  let at = 0;
  for (let e = 0; e < former.length; ++e) {
    const k = former[e] < before ? former[e] : former[e] - before;
    const event = former[e] === k ? k : tensors + k;
    if (k >= tensors || isThere[event] === 0) continue;
    isThere[event] = 2;
    known[at++] = event;
  }
  const order = orderOf(graph);
  if (!sortPart(known, 0, at, order, 4 * count)) return null;
  if (at === count) return known;
  const added = new Int32Array(count - at);
  for (let event = 0, n = 0; n < added.length; ++event) if (isThere[event] === 1) added[n++] = event;
  added.sort(order);
  // from behind, so that what is known moves up in its own room
  for (let to = count - 1, next = added.length - 1; next >= 0; --to) {
    known[to] = at > 0 && order(known[at - 1], added[next]) > 0 ? known[--at] : added[next--];
  }
  return known;
}

function eventsByTask(graph, isThere) {
  const { tensor_allocated: from, tensor_freed: to } = graph;
  const tensors = from.length;
  const first = new Int32Array(graph.size + 1);
  const taskOf = (event) => (event < tensors ? from[event] : to[event - tensors]);
  for (let event = 0; event < isThere.length; ++event) if (isThere[event] !== 0) first[taskOf(event) + 1] += 1;
  for (let i = 0; i < graph.size; ++i) first[i + 1] += first[i];
  const events = new Int32Array(first[graph.size]);
  const next = first.slice();
  for (let k = 0; k < tensors; ++k) {
    if (isThere[k] !== 0) events[next[from[k]]++] = k;
    if (isThere[tensors + k] !== 0) events[next[to[k]]++] = tensors + k;
  }
  const order = orderOf(graph);
  for (let i = 0; i < graph.size; ++i) {
    const [begin, end] = [first[i], first[i + 1]];
    if (end - begin > fewEvents) events.subarray(begin, end).sort(order);
    else sortPart(events, begin, end, order, Infinity);
  }
  return events;
}

const fewEvents = 32; // of a task, nearly in order: sort() of a part of an array costs more than they do

/** Moves each to where it belongs, in `most` steps altogether; false: they are not enough. */
function sortPart(events, from, to, order, most) {
  let left = most;
  for (let i = from + 1; i < to; ++i) {
    const event = events[i];
    let at = i;
    for (; at > from && order(events[at - 1], event) > 0; --at) events[at] = events[at - 1];
    events[at] = event;
    left -= i - at;
    if (left < 0) return false;
  }
  return true;
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

/** When the events of a thread come, by its own clock. */
function clockOf(run, { tensor, action }, former) {
  const { graph, points, weights: { segment } } = run;
  const { lane_source: sources, tensor_allocated: allocated, tensor_freed: freed,
    tensor_allocated_offset: allocatedOffset, tensor_freed_offset: freedOffset } = graph;
  const times = room(former, tensor.length);
  let now = -Infinity;
  for (let e = 0; e < times.length; ++e) {
    const k = tensor[e];
    const isBegin = action[e] === allocates;
    const task = isBegin ? allocated[k] : freed[k];
    const before = sources[task];
    const from = before < 0 ? 0 : points[before];
    const start = points[2 * task];
    const to = from + segment[task] < start ? from + segment[task] : start;
    const at = to - (isBegin ? allocatedOffset[k] : freedOffset[k]);
    const least = from < to ? from : to;
    if (at > now) now = at;
    if (least > now) now = least;
    times[e] = now;
  }
  return times;
}

function follow(run, device, former) {
  const { graph } = run;
  const { tensor_bytes: bytes } = graph;
  const threads = device.threads.map((list, t) => ({ list, next: 0, times: clockOf(run, list, former?.clocks[t]) }));
  const count = threads.reduce((sum, thread) => sum + thread.times.length, 0);
  const curve = { rank: device.rank, device: device.device, base: device.base, peak: device.base,
    at: 0, times: room(former?.times, count), live: room(former?.live, count), clocks: threads.map((thread) => thread.times) };
  const came = threads.length > 1 ? new Uint8Array(bytes.length) : null;
  const { times, live: curveOfLive } = curve;
  let { base: live, peak } = curve;
  let now = 0;
  for (let k = 0; k < count; ++k) {
    const thread = came ? earliest(graph, threads, came) : threads[0];
    const { next } = thread;
    const tensor = thread.list.tensor[next];
    live += thread.list.action[next] === allocates ? bytes[tensor] : -bytes[tensor];
    if (came) came[tensor] = 1;
    if (thread.times[next] > now) now = thread.times[next];
    times[k] = now;
    curveOfLive[k] = live;
    if (live > peak) {
      peak = live;
      curve.at = now;
    }
    thread.next = next + 1;
  }
  curve.peak = peak;
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
      || thread.times[thread.next] - best.times[best.next] || sequenceOf(graph, thread) - sequenceOf(graph, best);
    if (sooner === true || sooner < 0) {
      best = thread;
      bestWaits = waits;
    }
  }
  return best;
}
