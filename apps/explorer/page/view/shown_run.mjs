// A simulated run with all that is shown of it.
import { make } from './dom.mjs';
import { time } from './format.mjs';
import { classes, lateClass } from './palette.mjs';
import { rowsOf } from './rows.mjs';

const mostCurves = 4;

/** Steps of a run in their order, of all ranks together: {number, begin, end}. */
function stepsOf({ steps, points }) {
  const byNumber = new Map();
  for (const { number, begin, end } of steps) {
    const known = byNumber.get(number);
    const [from, to] = [points[2 * begin], points[2 * end]];
    byNumber.set(number, { number, begin: Math.min(from, known?.begin ?? from), end: Math.max(to, known?.end ?? to) });
  }
  return [...byNumber.values()].sort((a, b) => a.begin - b.begin);
}

/** The step that is shown at first: the one asked for, the same as in `beside`, or the one as long as the answer, which is the median. */
function addSteps(run, asked, beside) {
  const several = run.answer.isSpan ? [] : stepsOf(run);
  const away = (step) => Math.abs(step.end - step.begin - run.answer.step);
  const median = several.reduce((best, step) => (best && away(best) <= away(step) ? best : step), undefined);
  const number = asked ?? beside?.one?.number;
  run.several = several;
  run.one = several.find((step) => step.number === number) ?? median;
  run.oneIs = beside ? '' : several.length === 1 ? 'the only one' : run.one === median ? `the median of ${several.length}` : `one of ${several.length}`;
}

/** `tracks`: which lanes are shown; `beside`: the run that it stands beside. */
export function shownRun(page, run, title, tracks, beside = null) {
  run.isPlanned = Boolean(page.facts.stages);
  if (run.isPlanned) countMicroBatches(run.graph);
  const curves = run.memory.slice(0, mostCurves);
  const memory = curves.map((curve) => ({ ...curve,
    title: curves.length > 1 ? `memory, rank ${curve.rank}/${curve.device}` : 'live memory' }));
  addSteps(run, page.facts.step_number, beside);
  return Object.assign(run, rowsOf(run, tracks.every, tracks.opened), { memory, title });
}

const leastLate = 0.02; // of a step

/** The rank that the others wait for, with how long; and the one that waits longest: all in one step. */
export function lateRank(run) {
  const waits = new Map();
  const [from, to] = run.one ? [run.one.begin, run.one.end] : [0, run.span];
  for (const row of run.rows) {
    if (row.isHost || row.rank < 0) continue;
    let sum = waits.get(row.rank) ?? 0;
    for (let i = 0; i < row.begin.length; ++i) {
      if (row.cls[i] === lateClass && row.begin[i] >= from && row.begin[i] < to) sum += row.end[i] - row.begin[i];
    }
    waits.set(row.rank, sum);
  }
  const sorted = [...waits].sort((a, b) => a[1] - b[1]);
  if (sorted.length < 2) return null;
  const [rank, own] = sorted[0];
  const by = sorted[Math.ceil(sorted.length / 2)][1] - own; // the median of the others
  return by < leastLate * (to - from) ? null : { rank, by, longest: sorted[sorted.length - 1][0] };
}

/** What stands behind the title of a run in the timeline; `step`: as the answer has it, with the decimals of `scale`. */
export function noteOf(run, step, facts, scale = step) {
  return `${time(step, scale)}${run.answer.isSpan && !facts.unit ? '' : ' per step'}`;
}

/** Which of the tasks of one kind of work on a lane each is: micro-batches of a stage come in order. */
function countMicroBatches(graph) {
  if (graph.ordinal) return;
  const seen = new Map();
  graph.ordinal = new Int32Array(graph.size);
  for (let i = 0; i < graph.size; ++i) {
    const key = `${graph.lane[i]} ${graph.work[i]}`;
    graph.ordinal[i] = (seen.get(key) ?? 0) + 1;
    seen.set(key, graph.ordinal[i]);
  }
  for (let i = 0; i < graph.size; ++i) {
    if (seen.get(`${graph.lane[i]} ${graph.work[i]}`) === 1) graph.ordinal[i] = 0;
  }
}

/** The classes that any of the runs has. */
export function legendOf(runs) {
  const used = runs.reduce((all, run) => run.rows.reduce((bits, row) => bits | row.classes, all), 0);
  return classes.map(([name, text], i) => (used & (1 << i)
    ? make('span', {}, make('i', { class: `swatch class-${name}` }), text) : null));
}
