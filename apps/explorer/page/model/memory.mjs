// Live bytes over time, in the order of the host program: what foretrace::track_memory says.
import { room } from './engine.mjs';

/** Allocations and frees of every device by host thread, in program order. Once per graph. */
function devicesOf(graph) {
  if (graph.devices) return graph.devices;
  const devices = new Map();
  const deviceOf = (k) => {
    const key = `${graph.tensor_rank[k]}/${graph.tensor_device[k]}`;
    if (!devices.has(key)) {
      devices.set(key, { rank: graph.tensor_rank[k], device: graph.tensor_device[k], base: 0,
        lanes: new Map() });
    }
    return devices.get(key);
  };
  for (let k = 0; k < graph.tensor_bytes.length; ++k) {
    if (graph.tensor_bytes[k] === 0) continue;
    const device = deviceOf(k);
    const from = graph.tensor_allocated[k];
    const to = graph.tensor_freed[k];
    const add = (task, offset, sequence, action) => {
      const lane = graph.lane[task];
      if (!device.lanes.has(lane)) device.lanes.set(lane, []);
      device.lanes.get(lane).push({ task, offset, sequence, action, tensor: k });
    };
    const atOnce = from === to
      && graph.tensor_allocated_offset[k] === graph.tensor_freed_offset[k];
    if (from < 0) device.base += graph.tensor_bytes[k];
    else add(from, graph.tensor_allocated_offset[k], graph.tensor_allocated_sequence[k], 1);
    if (to >= 0) {
      add(to, graph.tensor_freed_offset[k], graph.tensor_freed_sequence[k], atOnce ? 2 : 0);
    }
  }
  const sorted = [...devices.values()].sort((a, b) => a.rank - b.rank || a.device - b.device);
  for (const device of sorted) {
    device.threads = [...device.lanes].sort((a, b) => a[0] - b[0]).map(([, list]) => list.sort((a, b) =>
      a.task - b.task || b.offset - a.offset || a.sequence - b.sequence || a.action - b.action
      || a.tensor - b.tensor));
  }
  graph.devices = sorted;
  return sorted;
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
  const timeOf = (event) => {
    const before = graph.lane_source[event.task];
    const from = before < 0 ? 0 : points[before];
    const to = Math.min(from + weights.segment[event.task], points[2 * event.task]);
    return Math.max(Math.min(from, to), to - event.offset);
  };
  const threads = device.threads.map((list) => ({ list, next: 0, at: timeOf(list[0]) }));
  const count = threads.reduce((sum, thread) => sum + thread.list.length, 0);
  const curve = { rank: device.rank, device: device.device, base: device.base, peak: device.base,
    at: 0, times: room(former?.times, count), live: room(former?.live, count) };
  const came = threads.length > 1 ? new Uint8Array(graph.tensor_bytes.length) : null;
  let live = device.base;
  let now = 0;
  for (let k = 0; k < count; ++k) {
    const thread = threads.length > 1 ? earliest(graph, threads, came) : threads[0];
    const event = thread.list[thread.next];
    const bytes = graph.tensor_bytes[event.tensor];
    live += event.action === 1 ? bytes : -bytes;
    if (came) came[event.tensor] = 1;
    now = Math.max(now, thread.at);
    curve.times[k] = now;
    curve.live[k] = live;
    if (live > curve.peak) {
      curve.peak = live;
      curve.at = now;
    }
    thread.next += 1;
    if (thread.next < thread.list.length) {
      thread.at = Math.max(thread.at, timeOf(thread.list[thread.next]));
    }
  }
  return curve;
}

/** Who would free what another has yet to allocate waits for it, unless all wait for each other. */
function earliest(graph, threads, came) {
  let best = null;
  let bestWaits = true;
  for (const thread of threads) {
    if (thread.next === thread.list.length) continue;
    const event = thread.list[thread.next];
    const waits = event.action !== 1 && !came[event.tensor]
      && graph.tensor_allocated[event.tensor] >= 0;
    const sooner = best === null || Number(waits) - Number(bestWaits)
      || thread.at - best.at || event.sequence - best.list[best.next].sequence;
    if (sooner === true || sooner < 0) {
      best = thread;
      bestWaits = waits;
    }
  }
  return best;
}
