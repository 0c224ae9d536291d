// Columns out of the page: base64, inflate, zigzag varints, residuals added back. The writer is
// sim/result/export/graph_columns.cpp.

/** @param {string} base64 @returns {Promise<Uint8Array>} */
export async function inflate(base64) {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const whole = new Set(['lane', 'work', 'phase', 'layer', 'provenance', 'step', 'lane_source',
  'cause_source', 'extra_source', 'cause_kind', 'extra_kind', 'origin', 'overflow_task',
  'overflow_source', 'overflow_late', 'overflow_kind', 'part_task', 'part_label',
  'tensor_allocated', 'tensor_freed', 'tensor_category', 'tensor_rank', 'tensor_device']);

/** Every figure is an integer below 2^53, so doubles hold it exactly. Adds them to those in `out`. */
function addColumn(bytes, [, offset, length, count, unit], out) {
  const end = offset + length;
  let at = offset;
  for (let i = 0; i < count;) {
    if (at >= end) throw new Error('the block is damaged');
    let byte = bytes[at++];
    const isZero = byte === 0; // how many more of them follows: nearly all of what a changed graph stores
    if (isZero) byte = at < end ? bytes[at++] : 128;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      if (at >= end) throw new Error('the block is damaged');
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    if (isZero) {
      i += value + 1;
      continue;
    }
    const half = Math.floor(value / 2);
    out[i] += (value % 2 === 1 ? -half - 1 : half) * unit;
    i += 1;
  }
  return out;
}

export function readColumn(bytes, entry) {
  const [name, , , count] = entry;
  return addColumn(bytes, entry, whole.has(name) ? new Int32Array(count) : new Float64Array(count));
}

function readColumns(bytes, index) {
  const columns = {};
  for (const entry of index) columns[entry[0]] = readColumn(bytes, entry);
  return columns;
}

function addUp(values) {
  for (let i = 1; i < values.length; ++i) values[i] += values[i - 1];
}

/** Points are stored as the distance back from the end of the task; 0 is none. */
function pointsOf(distances, tasks) {
  for (let i = 0; i < distances.length; ++i) {
    const own = 2 * (tasks ? tasks[i] : i) + 1;
    distances[i] = distances[i] === 0 ? -1 : own - distances[i];
  }
}

function finishOverflow(graph) {
  addUp(graph.overflow_task);
  pointsOf(graph.overflow_source, graph.overflow_task);
  pointsOf(graph.overflow_late, graph.overflow_task);
  const bits = Uint32Array.from(graph.overflow_fraction);
  graph.fraction = new Float32Array(bits.buffer);
}

function countParts(graph) {
  const first = new Int32Array(graph.size + 1);
  for (const task of graph.part_task) first[task + 1] += 1;
  addUp(first);
  graph.first_part = first;
}

/** The recorded graph. */
export function readGraph(bytes, index) {
  const graph = readColumns(bytes, index);
  graph.columns = index.map(([name]) => name);
  graph.size = graph.lane.length;
  const last = new Map();
  for (let i = 0; i < graph.size; ++i) {
    const lane = graph.lane[i];
    const stored = graph.lane_source[i];
    // 0: the end of the task before on the lane; 1: none; otherwise a distance back, plus 1
    if (stored === 0) graph.lane_source[i] = last.get(lane) ?? -1;
    else graph.lane_source[i] = stored === 1 ? -1 : 2 * i + 2 - stored;
    last.set(lane, 2 * i + 1);
  }
  pointsOf(graph.cause_source, null);
  pointsOf(graph.extra_source, null);
  finishOverflow(graph);
  addUp(graph.part_task);
  countParts(graph);
  for (let k = 0; k < graph.tensor_allocated.length; ++k) {
    graph.tensor_allocated[k] -= 1;
    graph.tensor_freed[k] -= 1;
  }
  graph.origin = null;
  return graph;
}

const residual = new Set(['lane', 'work', 'phase', 'layer', 'provenance', 'step', 'cause_kind', 'extra_kind',
  'duration', 'segment', 'cause_lag', 'extra_lag']);
const residualOfTensors = new Set(['tensor_allocated_offset', 'tensor_freed_offset', 'tensor_allocated_sequence',
  'tensor_freed_sequence', 'tensor_bytes', 'tensor_category', 'tensor_rank', 'tensor_device']);
// What a slider or a chosen slice asks for, or a run of several steps.
const seldom = new Set(['phase', 'layer', 'provenance', 'step', 'cause_kind', 'extra_kind']);
const sourceNames = ['lane_source', 'cause_source', 'extra_source'];

/** Points are stored as what their distance back differs from that of the recorded task. */
function movePoints(own, old, origin, moved) {
  for (let i = 0; i < own.length; ++i) {
    const end = 2 * i + 1;
    const point = origin[i] >= 0 ? old[origin[i]] : -1;
    const task = point >= 0 ? moved[point >> 1] : -1;
    const back = own[i] + (task >= 0 ? end - (2 * task + (point & 1)) : 0);
    own[i] = back === 0 ? -1 : end - back;
  }
}

/** Where the tasks of a changed graph come from: stretches that follow each other as they did; from -1: inserted. */
class Origin {
  /** Made in the columns of a graph that is no more, where they are long enough. */
  constructor(bytes, entry, sizeBefore, former) {
    const size = entry[3];
    this.former = former;
    const origin = addColumn(bytes, entry, this.room('origin', Int32Array, size).fill(0));
    this.moved = this.room('moved', Int32Array, sizeBefore).fill(-1);
    this.stretches = [];
    let expected = 0;
    for (let i = 0; i < size;) {
      const begin = i;
      if (origin[i] === 1) {
        for (; i < size && origin[i] === 1; ++i) origin[i] = -1;
        this.stretches.push(begin, -1, i - begin);
        continue;
      }
      const from = expected + origin[i] / 2;
      for (expected = from; i === begin || (i < size && origin[i] === 0); ++i) {
        this.moved[expected] = i;
        origin[i] = expected;
        expected += 1;
      }
      this.stretches.push(begin, from, i - begin);
    }
    this.tasks = origin;
  }

  /** Room for a column, with figures of the former graph in it. */
  room(name, Column, size) {
    const buffer = this.former[name];
    if (buffer?.byteLength >= size * Column.BYTES_PER_ELEMENT) return new Column(buffer, 0, size);
    const values = new Column(size + (size >> 4)); // the next graph may be a little longer
    this.former[name] = values.buffer;
    return values.subarray(0, size);
  }

  /** A column of the recorded graph with its tasks where they are now; what was inserted is 0. */
  place(name, old) {
    const own = this.room(name, old.constructor, this.tasks.length);
    return own instanceof Int32Array ? placeWhole(own, old, this.stretches) : placeReal(own, old, this.stretches);
  }
}

const longStretch = 64; // below it a loop takes less than a call

// The same twice: a loop that meets one kind of array is several times as fast.
function placeWhole(own, old, stretches) {
  for (let s = 0; s < stretches.length; s += 3) {
    const at = stretches[s];
    const from = stretches[s + 1];
    const count = stretches[s + 2];
    if (from < 0) own.fill(0, at, at + count);
    else if (count >= longStretch) own.set(old.subarray(from, from + count), at);
    else for (let k = 0; k < count; ++k) own[at + k] = old[from + k];
  }
  return own;
}
function placeReal(own, old, stretches) {
  for (let s = 0; s < stretches.length; s += 3) {
    const at = stretches[s];
    const from = stretches[s + 1];
    const count = stretches[s + 2];
    if (from < 0) own.fill(0, at, at + count);
    else if (count >= longStretch) own.set(old.subarray(from, from + count), at);
    else for (let k = 0; k < count; ++k) own[at + k] = old[from + k];
  }
  return own;
}

/** What a column of a changed graph is stored as a difference to; null: it is stored as it is. */
function formerOf(name, count, base, origin) {
  const old = base[name];
  if (residual.has(name)) return origin ? origin.place(name, old) : old.slice();
  if (!residualOfTensors.has(name)) return null;
  const own = new old.constructor(count);
  own.set(old.subarray(0, Math.min(old.length, count)));
  return own;
}

/** A property that is made when it is first asked for. */
function later(object, name, made) {
  const define = (what) => Object.defineProperty(object, name, { configurable: true, enumerable: true, ...what });
  define({ get: () => {
    const value = made();
    define({ value, writable: true });
    return value;
  } });
}

/**
 * A changed graph, stored as what differs from the recorded one. What is left out is as it was there.
 * `hasWorks`: its tasks do the same kinds of work. `former`: the buffers of a graph that is no more, by column; it gets those of this one.
 */
export function readVariant(bytes, index, base, hasWorks, former = {}) {
  const stored = new Map(index.map((entry) => [entry[0], entry]));
  const origin = stored.has('origin') ? new Origin(bytes, stored.get('origin'), base.size, former) : null;
  const graph = { origin: origin?.tasks ?? null, size: origin ? origin.tasks.length : base.size };
  stored.delete('origin');
  const read = (name, entry) => {
    const own = formerOf(name, entry[3], base, origin);
    return own ? addColumn(bytes, entry, own) : readColumn(bytes, entry);
  };
  for (const [name, entry] of stored) {
    if (origin && seldom.has(name)) later(graph, name, () => read(name, entry));
    else graph[name] = read(name, entry);
  }
  if (origin) for (const name of sourceNames) movePoints(graph[name], base[name], origin.tasks, origin.moved);
  if (stored.has('overflow_task')) finishOverflow(graph);
  if (stored.has('tensor_bytes')) moveTensors(graph, base, origin);
  for (const name of base.columns) if (!(name in graph)) graph[name] = base[name];
  graph.fraction ??= base.fraction;
  graph.first_part = base.first_part;
  // What follows from tasks or tensors alone is known already.
  const keeps = (names) => !origin && !names.some((name) => stored.has(name));
  graph.alike = { tasks: hasWorks && keeps(['lane', 'work', 'phase']) ? base : null,
    tensors: keeps(['lane', 'tensor_bytes']) ? base : null };
  graph.recorded = base;
  return graph;
}

/** What a changed graph stores of tensors differs from those that were recorded, whose tasks moved. */
function moveTensors(graph, base, origin) {
  const known = Math.min(base.tensor_bytes.length, graph.tensor_bytes.length);
  for (const name of ['tensor_allocated', 'tensor_freed']) {
    const own = graph[name];
    const old = base[name];
    for (let k = 0; k < own.length; ++k) own[k] += k >= known || old[k] < 0 ? -1 : origin ? origin.moved[old[k]] : old[k];
  }
}
