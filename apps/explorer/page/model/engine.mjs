// The pull engine: the same integer times as foretrace::simulate, one pass in order.

export const kinds = ['host', 'launch', 'kernel', 'collective', 'copy', 'set', 'synchronization',
  'wait', 'mark', 'transfer'];
export const isDevice = (kind) => kind >= 2 && kind <= 5;
export const isHost = (kind) => !isDevice(kind) && kind !== 9;
const handOver = 8;

/** Half away from zero, as std::llround; adding a half first would round 0.49999999999999994 up. */
export function round(value) {
  const size = Math.abs(value);
  const down = Math.floor(size);
  const result = size - down >= 0.5 ? down + 1 : down;
  return value < 0 && result !== 0 ? -result : result;
}

/** As std::midpoint: between two integers, towards the first. */
export const midpoint = (a, b) =>
  (a <= b ? a + Math.floor((b - a) / 2) : a - Math.floor((a - b) / 2));

/** @typedef {{device: number, host: number, names: Map<number, number>}} Factors */
export const asRecorded = () => ({ device: 1, host: 1, names: new Map() });
export const isAsRecorded = (f) => f.device === 1 && f.host === 1 && f.names.size === 0;

/** A byte for each value; a plain loop is ten times as fast as Uint8Array.from(). */
function marked(values, of) {
  const out = new Uint8Array(values.length);
  for (let i = 0; i < out.length; ++i) out[i] = of(values[i]);
  return out;
}

/** Times of work by what it is: the kind of every task, once per graph. */
export function kindsOf(graph, works) {
  if (graph.alike?.tasks) return kindsOf(graph.alike.tasks, works);
  if (!graph.kind) {
    const ofWork = Uint8Array.from(works, (work) => work.kind);
    const { work, size } = graph;
    const kind = new Uint8Array(size); // a loop of its own: it comes with every answer of an engine
    for (let i = 0; i < size; ++i) kind[i] = ofWork[work[i]];
    graph.kind = kind;
  }
  return graph.kind;
}

/**
 * The tasks of every lane one after the other: {tasks, first}, those of lane l from first[l] on; and whether a lane launches.
 * Once per graph.
 */
export function lanesOf(graph, works, lanes) {
  if (graph.alike?.tasks) return lanesOf(graph.alike.tasks, works, lanes);
  if (!graph.byLane) {
    const kind = kindsOf(graph, works);
    const { lane, size } = graph;
    const first = new Int32Array(lanes.length + 1);
    const isLaunching = Uint8Array.from(lanes, (each) => Number(each.binds === true));
    for (let i = 0; i < size; ++i) {
      first[lane[i] + 1] += 1;
      if (kind[i] === 1) isLaunching[lane[i]] = 1;
    }
    for (let l = 0; l < lanes.length; ++l) first[l + 1] += first[l];
    const tasks = new Int32Array(size);
    const next = first.slice();
    for (let i = 0; i < size; ++i) tasks[next[lane[i]]++] = i;
    graph.byLane = { tasks, first, isLaunching };
  }
  return graph.byLane;
}

/** Room for so many figures: what was used before, if it is long enough. */
export const room = (into, size) => {
  if (into?.length === size) return into;
  return into?.buffer.byteLength >= 8 * size ? new Float64Array(into.buffer, 0, size) : new Float64Array(size);
};

/** Values of chosen places times a factor, rounded to whole ns; the others as they are. */
function scaled(values, chosen, factor, into) {
  const out = room(into, values.length);
  for (let i = 0; i < out.length; ++i) {
    const value = values[i];
    out[i] = chosen[i] === 1 && value !== 0 ? round(value * factor) : value;
  }
  return out;
}

/** Which tasks are the host's and which the device's, which lags follow the host. Once per graph. */
function masksOf(graph, works) {
  if (!graph.masks) {
    const kind = kindsOf(graph, works);
    const follows = (kinds) => marked(kinds, (each) => (each === handOver ? 1 : 0));
    graph.masks = { host: marked(kind, (each) => (isHost(each) ? 1 : 0)),
      device: marked(kind, (each) => (isDevice(each) ? 1 : 0)),
      cause: follows(graph.cause_kind), extra: follows(graph.extra_kind),
      overflow: follows(graph.overflow_kind) };
  }
  return graph.masks;
}

/**
 * Durations, segments and lags under factors: first the host, then the device, then single kernels,
 * each rounded to whole ns as scale_host and scale_device do. `into`: an object that keeps what is
 * made, for the next time.
 */
export function weigh(graph, works, factors, into = {}) {
  const masks = masksOf(graph, works);
  let { duration, segment, cause_lag: cause, extra_lag: extra, overflow_lag: overflow } = graph;
  if (factors.host !== 1) {
    duration = into.duration = scaled(duration, masks.host, factors.host, into.duration);
    segment = into.segment = scaled(segment, masks.host, factors.host, into.segment);
    cause = into.cause = scaled(cause, masks.cause, factors.host, into.cause);
    extra = into.extra = scaled(extra, masks.extra, factors.host, into.extra);
    overflow = into.overflow = scaled(overflow, masks.overflow, factors.host, into.overflow);
  }
  if (factors.device !== 1) {
    duration = into.duration = scaled(duration, masks.device, factors.device, into.duration);
  }
  for (const [name, factor] of factors.names) {
    const named = Uint8Array.from(works, (work) => Number(work.name === name));
    const chosen = masks.device.map((is, i) => is & named[graph.work[i]]);
    duration = into.duration = scaled(duration, chosen, factor, into.duration);
  }
  return { duration, segment, cause, extra, overflow };
}

/** Start and end of every task, interleaved. `into` is used again where it is large enough. */
export function simulate(graph, weights, into) {
  const { size, lane_source: lane, cause_source: causes, extra_source: extras } = graph;
  const { overflow_task: rows, overflow_source: sources, overflow_late: lates, fraction } = graph;
  const { duration, segment, cause, extra, overflow } = weights;
  const points = room(into, 2 * size);
  let span = 0;
  let next = 0;
  for (let i = 0; i < size; ++i) {
    let start = (lane[i] < 0 ? 0 : points[lane[i]]) + segment[i];
    if (start < 0) start = 0;
    if (causes[i] >= 0) {
      const at = points[causes[i]] + cause[i];
      if (at > start) start = at;
    }
    if (extras[i] >= 0) {
      const at = points[extras[i]] + extra[i];
      if (at > start) start = at;
    }
    for (; next < rows.length && rows[next] === i; ++next) {
      const source = sources[next];
      if (source < 0 || (lates[next] >= 0 && points[source] <= points[lates[next]])) continue;
      const share = fraction[next] === 0 ? 0 : round(fraction[next] * duration[source >> 1]);
      const at = points[source] + overflow[next] + share;
      if (at > start) start = at;
    }
    points[2 * i] = start;
    points[2 * i + 1] = start + duration[i];
    if (points[2 * i + 1] > span) span = points[2 * i + 1];
  }
  return { points, span };
}

/** A checksum over all points that C++ computes alike: two 24-bit sums, each exact in a double. */
export function checksum(points) {
  let a = 1;
  let b = 0;
  for (let i = 0; i < points.length; ++i) {
    const low = points[i] % 16777216;
    const high = Math.floor(points[i] / 16777216) % 16777216;
    a = (a * 31 + low + high * 7) % 16777213;
    b = (b + a) % 16777213;
  }
  return `${b}:${a}`;
}
