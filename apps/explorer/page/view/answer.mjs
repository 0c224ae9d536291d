// The answer: one sentence, the bars beside it, and where the time goes. All of it follows from what is shown: two sides of
// model/answer.mjs and the what-ifs and sliders that are on.
import { byId, draw, make, replace, swatch } from './dom.mjs';
import { figureAt, strongAt } from './figure.mjs';
import { bytes, factor, percent, signedTime, time, words } from './format.mjs';

const usual = { before: 'recorded', after: 'predicted' };
const wordOf = (answer, facts) => facts.unit ?? (answer.isSpan ? 'run' : 'step');
const namesOf = ({ before }) => ({ ...usual, before: before ?? usual.before });

/** What was changed, in words: the what-if, then the sliders. */
function changesOf(state, strings) {
  const names = [];
  if (state.variant) names.push(words(state.title));
  const slower = (value, what) => {
    if (value !== 1) names.push(value === 0 ? `${what} for free` : `${what} ${factor(value)} as long`);
  };
  slower(state.factors.device, 'GPU work');
  slower(state.factors.host, 'CPU work');
  if (state.factors.names.size === 1) {
    const [[name, value]] = state.factors.names;
    slower(value, strings[name].slice(0, 60));
  } else if (state.factors.names.size > 1) {
    names.push(`${state.factors.names.size} kernels at other speeds`);
  }
  return names.join(', ');
}

/** Of a side: where the document has it, or the one that would answer the same. */
export const sourceOf = (side, at) => (side.isSimulated ? `simulated ${at}` : at);

/** What the figures are based on, with its share of the critical path. */
function basedOn(then, state) {
  if (then.isSimulated) return [make('span', {}, `simulated by this page, which has no range for it${state.variant ? '; based on predicted times' : ''}`)];
  if (then.provenance.length === 0) return [];
  const shares = [...then.provenance].sort((a, b) => b.share - a.share);
  return [make('span', {}, 'based on ', ...shares.flatMap(({ name, share, at }, i) =>
    [`${i > 0 ? ', ' : ''}${name} `, strongAt(at, percent(share).replace('+', ''))]))];
}

/** Change and range, beside the sentence; `unit`: a run or a step. */
function figuresOf(now, then, what, state, unit) {
  const figures = [];
  const { samples } = state; // of a step of more or fewer samples, what the same work takes
  const sample = then.step / samples;
  const per = samples === 1 ? '' : ` per ${then.at}/throughput/samples`;
  if (what) {
    figures.push(make('span', { class: sample <= now.step ? 'good' : 'bad' },
      strongAt(sourceOf(then, `${then.stepAt}${per} to ${now.stepAt}`), percent(sample / Math.max(1, now.step) - 1)),
      samples === 1 ? '' : ' per sample'));
    // Work per time; where a step then does other work, the time of a step beside it.
    const ratio = (at, value) => strongAt(sourceOf(then, at), factor(value));
    figures.push(make('span', {}, ratio('/speedup', then.speedup ?? now.step / Math.max(1, sample)), ' the work per time'));
    if (samples !== 1) {
      figures.push(make('span', {}, ratio('/time_ratio', then.timeRatio ?? then.step / Math.max(1, now.step)), ' the time of a ', unit));
    }
    if (state.range) {
      figures.push(make('span', {}, 'between ', strongAt(`${then.at}/low_ns`, time(state.range.low, now.step)), ' and ',
        strongAt(`${then.at}/high_ns`, time(state.range.high, now.step))));
    }
  }
  if (now.peak?.bytes > 0) {
    const changes = then.peak && then.peak.bytes !== now.peak.bytes;
    figures.push(make('span', {}, 'memory peak ', strongAt(sourceOf(now, now.peak.at), bytes(now.peak.bytes)),
      ...(changes ? [' \u2192 ', strongAt(sourceOf(then, then.peak.at), bytes(then.peak.bytes))] : [])));
  }
  return [...figures, ...basedOn(then, state)];
}

/** `now`, `then`: sides; `run`: the run before; `state.range`: {low, high} or null. */
export function showAnswer(now, then, state, facts, run) {
  const names = namesOf(facts);
  const what = changesOf(state, facts.strings);
  const unit = wordOf(run.answer, facts);
  if (!what) {
    replace('sentence', `This ${unit} takes `, figureAt(sourceOf(now, now.stepAt), time(now.step), 'em'), '.');
  } else if (now.step === then.step) {
    replace('sentence', 'With ', make('em', { 'data-at': 'input' }, what), ` this ${unit} would take as long as now: `,
      figureAt(sourceOf(then, then.stepAt), time(then.step)), '.');
  } else {
    replace('sentence', 'With ', make('em', { 'data-at': 'input' }, what), ` this ${unit} would take `,
      make('span', { class: 'to' }, figureAt(sourceOf(then, then.stepAt), time(then.step, now.step))), make('span', { class: 'from' },
        ' instead of ', figureAt(sourceOf(now, now.stepAt), time(now.step)),
        ...(state.samples === 1 ? [] : [', for ', figureAt(sourceOf(then, `${then.at}/throughput/samples`),
          factor(state.samples)), ' the samples']), '.'));
  }
  replace('figures', ...figuresOf(now, then, what, state, unit));
  showRange(now, then, what, state, names);
  showBreakdown(now, then, what, { ...names, idle: facts.idle });
}

/** Recorded and predicted as bars, with the range as a whisker. */
export function showRange(now, then, what, state, names = usual) {
  const [before, after] = [now.step, then.step];
  const width = Math.max(300, byId('range').clientWidth || 520); // so that texts have their size on every screen
  const low = state.range ? state.range.low : after;
  const high = state.range ? state.range.high : after;
  const scale = (width - 16) / Math.max(1, before, after, high);
  const x = (ns) => 8 + ns * scale;
  const enough = 160; // for the text inside
  const bar = (y, height, side, name, text) => {
    const ns = side.step;
    const inside = ns * scale >= enough;
    return [draw('rect', { x: 8, y, width: Math.max(2, ns * scale), height, rx: 4, class: name }),
      draw('text', { x: inside ? 18 : x(Math.max(ns, high)) + 10, y: y + height / 2 + 4,
        class: inside ? `${name}-text` : 'bar-now-text', 'data-at': sourceOf(side, side.stepAt) }, text)];
  };
  const marks = [...bar(12, 22, now, 'bar-now', `${names.before} ${time(before)}`)];
  const whisker = (y, height) => {
    if (high <= low) return;
    marks.push(draw('rect', { x: x(low), y, width: (high - low) * scale, height, class: 'range' }));
    marks.push(draw('path', { d: `M${x(low)} ${y - 4}v${height + 8}M${x(high)} ${y - 4}v${height + 8}M${x(low)} ${y + height / 2}H${x(high)}`, class: 'whisker' }));
  };
  if (!what) whisker(12, 22);
  if (what) {
    marks.push(...bar(44, 26, then, 'bar-then', `${names.after} ${time(after, before)}`));
    whisker(44, 26);
  }
  const label = what ? `${names.before} ${time(before)}, ${names.after} ${time(after, before)}`
    : `${names.before} ${time(before)}`;
  replace('range', draw('svg', { viewBox: `0 0 ${width} ${what ? 78 : 42}`, role: 'img', 'aria-label': label }, ...marks));
}

function breakdownBar(side, most, label) {
  const width = 1000;
  let x = 0;
  const shown = [];
  for (const { key, name, ns, at } of side.parts) {
    const wide = (ns / most) * width;
    if (wide < 0.4) continue;
    shown.push(draw('rect', { x, y: 0, width: Math.max(0.4, wide - 1.2), height: 26, class: `use-${key}` },
      draw('title', { 'data-at': sourceOf(side, at), 'data-whole': side.stepAt }, `${name}: ${time(ns, side.step)}, ${(100 * ns / side.step).toFixed(1)} %`)));
    x += wide;
  }
  const text = side.parts.filter(({ ns }) => ns > 0).map(({ name, ns }) => `${name} ${time(ns, side.step)}`).join(', ');
  return [make('span', { class: 'bar-label' }, label),
    draw('svg', { viewBox: `0 0 ${width} 26`, preserveAspectRatio: 'none', class: 'bar', role: 'img',
      'aria-label': `${label}: ${text}` }, ...shown),
    make('span', { class: 'bar-value', 'data-at': sourceOf(side, side.stepAt) }, time(side.step, most))];
}

/** `names.idle`: what nothing fills, if it has a name of its own. */
export function showBreakdown(now, then, what, names = usual) {
  const most = Math.max(1, now.step, then.step);
  const named = (side) => ({ ...side, parts: side.parts.map((part) => (part.key === 'idle' && names.idle ? { ...part, name: names.idle } : part)) });
  const [before, after] = [named(now), named(then)];
  const bars = breakdownBar(before, most, names.before);
  if (what) bars.push(...breakdownBar(after, most, names.after));
  replace('bars', ...bars);
  const both = before.parts.map((part, i) => [part, after.parts[i]]).filter(([a, b]) => a.ns > 0 || b.ns > 0);
  replace('uses', ...both.map(([a, b]) => {
    const change = b.ns - a.ns;
    const shows = what && Math.abs(change) > now.step / 1000;
    const value = what ? figureAt(sourceOf(after, b.at), time(b.ns)) : figureAt(sourceOf(before, a.at), time(a.ns));
    return make('span', {}, swatch(a.key), `${a.name} `, value, ...(shows ? [' (', make('b', { class: change < 0 ? 'good' : 'bad',
      'data-at': sourceOf(after, `${b.at} less ${a.at}`) }, signedTime(change)), ')'] : []));
  }));
}
