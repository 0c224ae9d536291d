// The slice that is chosen: in which run it stands, its twin in the other one, its layers.
import { showSlice } from './details.mjs';
import { markOf } from './link.mjs';

export class Selection {
  /** `shown`: gives {runs, state}; `changed` after its slider moved. */
  constructor(timeline, layers, strings, shown, changed) {
    Object.assign(this, { timeline, layers, strings, shown, changed });
  }

  choose(mark) {
    const { runs, state } = this.shown();
    const found = mark ? { keeps: false, ...mark, twin: this.twinOf(mark, runs) } : null;
    if (found) found.isAsked = false; // of a link no more
    this.timeline.chosen = found;
    const layers = found && found.row.label[found.i] === -1 ? this.layersOf(found, runs) : [];
    if (mark?.isAsked) found.keeps = false;
    showSlice(found, runs, this.strings, state, (name, value) => {
      if (value === 1) state.factors.names.delete(name);
      else state.factors.names.set(name, value);
      if (this.timeline.chosen) this.timeline.chosen.keeps = true;
      this.changed();
    }, layers);
  }

  /** The slice whose own slider moves, in the run that it makes. */
  again() {
    const { chosen } = this.timeline;
    if (!chosen?.keeps) return null;
    const { side, row, i } = chosen;
    const again = markOf(this.shown().runs, { side, key: row.key, task: row.task[i], label: row.label[i] });
    return again && { ...again, keeps: true, isAsked: chosen.isAsked };
  }

  layersOf({ side, row, i }, runs) {
    const { origin } = runs[side].graph;
    return this.layers.namesOf(origin ? origin[row.task[i]] : row.task[i], true);
  }

  /** The same task in the other run. */
  twinOf({ side, row, i }, runs) {
    if (runs.length < 2 || row.label[i] !== -1) return null;
    const { origin } = runs[1].graph;
    const task = row.task[i];
    let other = task;
    if (origin) other = side === 1 ? origin[task] : origin.indexOf(task);
    if (other < 0) return null;
    for (const candidate of runs[1 - side].rows) {
      for (let k = 0; k < candidate.task.length; ++k) {
        if (candidate.task[k] === other && candidate.label[k] === -1) return { side: 1 - side, row: candidate, i: k };
      }
    }
    return null;
  }
}
