// A simulated run with all that is shown of it.
import { make } from './dom.mjs';
import { time } from './format.mjs';
import { classes } from './palette.mjs';
import { rowsOf } from './rows.mjs';

const mostCurves = 4;

/** `every`: with the lanes that do little, too. */
export function shownRun(page, run, title, every = false) {
  if (page.facts.stages) countMicroBatches(run.graph);
  const { rows, left } = rowsOf(run, every);
  const curves = run.memory.slice(0, mostCurves);
  const memory = curves.map((curve) => ({ ...curve,
    title: curves.length > 1 ? `memory, rank ${curve.rank}/${curve.device}` : 'live memory' }));
  return Object.assign(run, { rows, left, memory, title });
}

/** What stands behind the title of a run in the timeline; `step`: as the answer has it, with the decimals of `scale`. */
export function noteOf(run, step, facts, scale = step) {
  return `${time(step, scale)}${run.answer.isSpan && !facts.unit ? '' : ' per step'}${run.left > 0 ? `, ${run.left} more lanes` : ''}`;
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
  const used = new Set(runs.flatMap((run) => run.rows.flatMap((row) => [...new Set(row.cls)])));
  return classes.map(([name, text], i) => (used.has(i)
    ? make('span', {}, make('i', { class: `swatch class-${name}` }), text) : null));
}
