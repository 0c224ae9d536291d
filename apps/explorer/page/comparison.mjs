// The page of two runs: both on one clock. Why they differ stands in the page already.
import { sidesOfComparison } from './model/answer.mjs';
import { asRecorded } from './model/engine.mjs';
import { byId, replace } from './view/dom.mjs';
import { hoverOf, nameOf, showSlice } from './view/details.mjs';
import { showBreakdown, showRange } from './view/answer.mjs';
import { showArea } from './view/area.mjs';
import { keysOfTimeline } from './view/pointer.mjs';
import { legendOf, noteOf, shownRun } from './view/shown_run.mjs';
import { Timeline } from './view/timeline.mjs';

const beforeAndAfter = { before: 'before', after: 'after' };

export class Comparison {
  constructor(page) {
    this.page = page;
    this.timeline = new Timeline(byId('timeline'), {
      choose: (mark) => this.choose(mark),
      nameOf: (side, row, i) => nameOf(this.runs[side], row, i, page.strings),
      hover: ({ side, row, i }) => hoverOf(this.runs[side], row, i, page.strings),
      arranged: () => this.timeline.arrange(),
      measure: (area, places) => showArea(area, places, this.runs, (side, row, i) => nameOf(this.runs[side], row, i, page.strings)),
    });
    replace('keys', ...keysOfTimeline().flat());
  }

  async start() {
    const { page } = this;
    this.runs = [];
    for (const name of [null, 'after']) {
      const side = await page.side(name);
      const facts = name === null ? page.facts.base : page.facts.after;
      this.runs.push(shownRun(page, page.run(side, asRecorded()), facts.title, this.timeline.tracks));
    }
    const [before, after] = sidesOfComparison(page.facts.answer, this.runs);
    this.runs[0].note = noteOf(this.runs[0], before.step, page.facts);
    this.runs[1].note = noteOf(this.runs[1], after.step, page.facts);
    [this.runs[0].noteAt, this.runs[1].noteAt] = [before.stepAt, after.stepAt];
    for (const [run, side] of [[this.runs[0], before], [this.runs[1], after]]) if (!run.answer.isSpan) run.step = side.step;
    this.timeline.readTheme();
    this.timeline.show(this.runs, false);
    showBreakdown(before, after, true, beforeAndAfter);
    showRange(before, after, true, { range: null }, beforeAndAfter);
    replace('classes', ...legendOf(this.runs));
    this.choose(null);
  }

  choose(mark) {
    this.timeline.chosen = mark;
    showSlice(mark, this.runs, this.page.strings, null, null);
  }
}
