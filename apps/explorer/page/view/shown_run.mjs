// A simulated run with all that is shown of it.
import { make } from './dom.mjs';
import { time } from './format.mjs';
import { classes } from './palette.mjs';
import { rowsOf } from './rows.mjs';

const mostCurves = 4;

export function shownRun(page, run, title) {
  const { rows, left } = rowsOf(run);
  const curves = page.memory(run).slice(0, mostCurves);
  const memory = curves.map((curve) => ({ ...curve,
    title: curves.length > 1 ? `memory, rank ${curve.rank}/${curve.device}` : 'live memory' }));
  const note = `${time(run.answer.step)}${run.answer.isSpan ? '' : ' per step'}`
    + `${left > 0 ? `, ${left} more lanes` : ''}`;
  return Object.assign(run, { rows, memory, title, note, breakdown: page.breakdown(run) });
}

/** The classes that any of the runs has. */
export function legendOf(runs) {
  const used = new Set(runs.flatMap((run) => run.rows.flatMap((row) => [...new Set(row.cls)])));
  return classes.map(([name, text], i) => (used.has(i)
    ? make('span', {}, make('i', { class: `swatch class-${name}` }), text) : null));
}
