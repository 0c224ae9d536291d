// The engine of the program, compiled for pages: apps/explorer/engine/engine.cpp says what it takes.
import { inflate } from './codec.mjs';
import { engineModule } from './engine_module.mjs';

export const uses = ['compute', 'communication', 'waiting', 'copy', 'host', 'idle'];
export const isDevice = (kind) => kind >= 2 && kind <= 5;
export const isHost = (kind) => !isDevice(kind) && kind !== 9;

/** @typedef {{device: number, host: number, names: Map<number, number>}} Factors */
export const asRecorded = () => ({ device: 1, host: 1, names: new Map() });
export const isAsRecorded = (f) => f.device === 1 && f.host === 1 && f.names.size === 0;
const factorFigures = (factors) => withCount([factors.host, factors.device, ...[...factors.names].flat()]);

/** Figures behind their count; so are rows and the characters of a text. */
const withCount = (figures) => [figures.length, ...figures];
const textFigures = (text) => withCount([...text].map((character) => character.charCodeAt(0)));

const wholes = ['lane', 'work', 'kind', 'phase', 'provenance', 'lane_source', 'cause_source', 'extra_source', 'cause_kind', 'extra_kind',
  'overflow_task', 'overflow_source', 'overflow_kind', 'part_task', 'part_label'];
const weighed = ['duration', 'segment', 'cause', 'extra', 'overflow'];

const figuresOfRun = 11; // before those of its curves
const figuresOfCurve = 8;

/** A property that is made when it is first asked for. */
function later(object, name, made) {
  const define = (what) => Object.defineProperty(object, name, { configurable: true, enumerable: true, ...what });
  define({ get: () => {
    const value = made();
    define({ value, writable: true });
    return value;
  } });
}

/** Room for so many figures: what was used before, if it is long enough. */
function roomFor(into, size) {
  if (into?.length === size) return into;
  return into?.buffer.byteLength >= 8 * size ? new Float64Array(into.buffer, 0, size) : new Float64Array(size);
}

/** Where the engine has a graph. */
function sideOf({ side }) {
  if (side === 0) throw new Error('this run was closed');
  return side;
}

export class Engine {
  static async start() {
    const bytes = await inflate(engineModule);
    try {
      return new Engine(new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports); // a few ms
    } catch { // older browsers compile so much on other threads only
      return new Engine((await WebAssembly.instantiate(bytes)).instance.exports);
    }
  }

  constructor(program) {
    this.program = program;
    program._initialize();
  }

  /** Hands figures over, and bytes. */
  give(figures, bytes = new Uint8Array(0)) {
    const at = this.program.room(figures.length, bytes.length);
    new Float64Array(this.program.memory.buffer, at, figures.length).set(figures);
    new Uint8Array(this.program.memory.buffer, this.program.bytes(), bytes.length).set(bytes);
  }

  /** Figures that the engine has ready: a view, until it is called again. */
  seen(Column, at, count) { return new Column(this.program.memory.buffer, at, count); }

  /** Figures that stay, in the room of former ones. */
  copied(former, at, count) {
    const figures = roomFor(former, count);
    figures.set(this.seen(Float64Array, at, count));
    return figures;
  }

  /**
   * A graph: {size, origin, and columns that are copied out of the engine when they are asked for}.
   * `base`: the graph that it is a change of, else null; `hasWorks`: their tasks do the same kinds of work. Those that are `alike` have
   * the same tasks.
   */
  open({ columns, works, lanes, steps }, bytes, base = null, hasWorks = false) {
    this.give([columns.length, ...columns.flatMap(([name, ...rest]) => [...textFigures(name), ...rest]),
      works.length, ...works.flatMap(({ name, kind, part }) => [name, kind, part]),
      lanes.length, ...lanes.flatMap(({ kind, rank }) => [Number(kind === 'host_thread'), rank]),
      steps.length, ...steps.flatMap(({ rank, number, begin, end }) => [rank, number, begin, end])], bytes);
    const side = this.program.open(base === null ? 0 : sideOf(base));
    if (side === 0) throw new Error('its data are damaged');
    const stored = new Set(columns.map(([name]) => name));
    const isMoved = base === null || stored.has('origin');
    const graph = { side, size: this.program.size(side), alike: null };
    for (const name of wholes) later(graph, name, () => this.wholes(graph, name));
    for (const name of [...weighed, 'part_duration']) later(graph, name, () => this.reals(graph, name, asRecorded()));
    later(graph, 'origin', () => (base && isMoved ? this.wholes(graph, 'origin') : null));
    if (base) {
      for (const name of ['part_label', 'part_duration', 'first_part']) later(graph, name, () => base[name]);
      if (!isMoved && hasWorks && !['lane', 'work', 'phase'].some((name) => stored.has(name))) graph.alike = base;
    } else {
      later(graph, 'first_part', () => firstParts(graph));
    }
    return graph;
  }

  /** Of a graph that nobody asks for any more. */
  close(graph) {
    this.program.close(sideOf(graph));
    graph.side = 0;
  }

  /** A column of integers. */
  wholes(graph, name) {
    this.give(textFigures(name));
    return this.seen(Int32Array, ...this.seen(Float64Array, this.program.wholes(sideOf(graph)), 2)).slice();
  }

  /** A column of what factors change, or of other times; in the room of a former one. */
  reals(graph, name, factors, former) {
    this.give([...factorFigures(factors), ...textFigures(name)]);
    return this.copied(former, ...this.seen(Float64Array, this.program.reals(sideOf(graph)), 2));
  }

  /**
   * A graph under factors: {points: start and end of every task, interleaved; span; answer: the step of that number, or the median one;
   * breakdown; memory: a curve per device that holds tensors; weights: columns that are made when they are asked for}. `into`: keeps what
   * is made, for the next time.
   */
  run(graph, factors, number, into) {
    this.give([...factorFigures(factors), Number(number !== null), number ?? 0]);
    const at = this.program.run(sideOf(graph));
    const [points, span, step, isSpan, ...rest] = this.seen(Float64Array, at, figuresOfRun);
    const curves = rest.pop();
    const weights = isAsRecorded(factors) ? graph : {};
    const columns = (into.weights ??= {});
    const weigh = (name) => (columns[name] = this.reals(graph, name, factors, columns[name]));
    if (weights !== graph) for (const name of weighed) later(weights, name, () => weigh(name));
    into.points = this.copied(into.points, points, 2 * graph.size);
    const memory = [];
    for (let c = 0; c < curves; ++c) {
      const [rank, device, base, peak, first, count, times, live] = this.seen(Float64Array, at + 8 * (figuresOfRun + figuresOfCurve * c), figuresOfCurve);
      memory.push({ rank, device, base, peak, at: first, times: this.copied(into.curves?.[c]?.times, times, count),
        live: this.copied(into.curves?.[c]?.live, live, count) });
    }
    into.curves = memory;
    return { points: into.points, span, answer: { step, isSpan: isSpan === 1 }, memory, weights,
      breakdown: Object.fromEntries(uses.map((use, i) => [use, rest[i]])) };
  }
}

/** Of every task the first part of its segment. */
function firstParts({ work, part_task: tasks }) {
  const first = new Int32Array(work.length + 1);
  for (const task of tasks) first[task + 1] += 1;
  for (let i = 1; i < first.length; ++i) first[i] += first[i - 1];
  return first;
}
