// The answer: one sentence, the bars beside it, and where the time goes.
import { draw, make, replace, swatch } from './dom.mjs';
import { bytes, factor, percent, signedTime, time, words } from './format.mjs';

const parts = [['compute', 'device computes'], ['communication', 'exposed communication'],
  ['waiting', 'waiting for late ranks'], ['copy', 'device copies'],
  ['host', 'device waits for the host'], ['idle', 'latencies and gaps']];

const usual = { before: 'recorded', after: 'predicted' };
const wordOf = (answer, facts) => facts.unit ?? (answer.isSpan ? 'run' : 'step');
const namesOf = ({ before }) => ({ ...usual, before: before ?? usual.before });
const strong = (text) => make('b', {}, text);

/** What was changed, in words: the what-if, then the sliders. */
function changesOf(state, strings) {
  const names = [];
  if (state.variant) names.push(words(state.title));
  const slower = (value, what) => {
    if (value !== 1) names.push(value === 0 ? `${what} for free` : `${what} ${factor(value)} as long`);
  };
  slower(state.factors.device, 'device');
  slower(state.factors.host, 'host');
  if (state.factors.names.size === 1) {
    const [[name, value]] = state.factors.names;
    slower(value, strings[name].slice(0, 60));
  } else if (state.factors.names.size > 1) {
    names.push(`${state.factors.names.size} kernels at other speeds`);
  }
  return names.join(', ');
}

const samplesText = (samples) => (samples === 1 ? '' : `, for ${factor(samples)} the samples`);

/** `now`, `then`: {answer, breakdown, memory}; `state.range`: {low, high} or null. */
export function showAnswer(now, then, state, facts) {
  const { strings } = facts;
  const names = namesOf(facts);
  const before = now.answer.step;
  const after = then.answer.step;
  const what = changesOf(state, strings);
  const unit = wordOf(now.answer, facts);
  const sample = after / state.samples; // of a step of more or fewer samples, what the same work takes
  if (!what) {
    replace('sentence', `This ${unit} takes `, make('em', {}, time(before)), '.');
  } else if (before === after) {
    replace('sentence', 'With ', make('em', {}, what), ` this ${unit} would take as long as now: `,
      `${time(before)}.`);
  } else {
    replace('sentence', 'With ', make('em', {}, what), ` this ${unit} would take `,
      make('span', { class: 'to' }, time(after, before)), make('span', { class: 'from' },
        ` instead of ${time(before)}${samplesText(state.samples)}.`));
  }
  const figures = [];
  if (what) {
    figures.push(make('span', { class: sample <= before ? 'good' : 'bad' },
      strong(percent(sample / Math.max(1, before) - 1)), state.samples === 1 ? '' : ' per sample'));
    // Work per time; where a step then does other work, the time of a step beside it.
    figures.push(make('span', {}, strong(factor(before / Math.max(1, sample))), ' the work per time'));
    if (state.samples !== 1) {
      figures.push(make('span', {}, strong(factor(after / Math.max(1, before))), ' the time of a ', unit));
    }
    if (state.range) {
      figures.push(make('span', {}, 'between ', strong(time(state.range.low, before)), ' and ',
        strong(time(state.range.high, before))));
    }
  }
  const peak = (side) => Math.max(0, ...side.memory.map((curve) => curve.peak));
  if (peak(now) > 0) {
    figures.push(make('span', {}, 'memory peak ', strong(bytes(peak(now))),
      peak(then) === peak(now) ? '' : ' \u2192 ', peak(then) === peak(now) ? '' : strong(bytes(peak(then)))));
  }
  replace('figures', ...figures);
  showRange(before, after, what, state, names);
  showBreakdown(now, then, what, { ...names, idle: facts.idle });
}

/** Recorded and predicted as bars, with the range as a whisker. */
export function showRange(before, after, what, state, names = usual) {
  const width = 520;
  const low = state.range ? state.range.low : after;
  const high = state.range ? state.range.high : after;
  const scale = (width - 16) / Math.max(1, before, after, high);
  const x = (ns) => 8 + ns * scale;
  const enough = 160; // for the text inside
  const bar = (y, height, ns, name, text) => {
    const inside = ns * scale >= enough;
    return [draw('rect', { x: 8, y, width: Math.max(2, ns * scale), height, rx: 4, class: name }),
      draw('text', { x: inside ? 18 : x(Math.max(ns, high)) + 10, y: y + height / 2 + 4,
        class: inside ? `${name}-text` : 'bar-now-text' }, text)];
  };
  const marks = [...bar(12, 22, before, 'bar-now', `${names.before} ${time(before)}`)];
  if (what) {
    marks.push(...bar(44, 26, after, 'bar-then', `${names.after} ${time(after, before)}`));
    if (high > low) {
      marks.push(draw('rect', { x: x(low), y: 44, width: (high - low) * scale, height: 26, class: 'range' }));
      marks.push(draw('path', { d: `M${x(low)} 40v34M${x(high)} 40v34M${x(low)} 57H${x(high)}`,
        class: 'whisker' }));
    }
  }
  const label = what ? `${names.before} ${time(before)}, ${names.after} ${time(after, before)}`
    : `${names.before} ${time(before)}`;
  replace('range', draw('svg', { viewBox: `0 0 ${width} 84`, role: 'img', 'aria-label': label }, ...marks));
}

function breakdownBar(side, most, label) {
  const width = 1000;
  let x = 0;
  const shown = [];
  for (const [key, name] of parts) {
    const ns = side.breakdown[key];
    const wide = (ns / most) * width;
    if (wide < 0.4) continue;
    shown.push(draw('rect', { x, y: 0, width: Math.max(0.4, wide - 1.2), height: 26, class: `use-${key}` },
      draw('title', {}, `${name}: ${time(ns, side.answer.step)}, ${(100 * ns / side.answer.step).toFixed(1)} %`)));
    x += wide;
  }
  const text = parts.filter(([key]) => side.breakdown[key] > 0)
    .map(([key, name]) => `${name} ${time(side.breakdown[key], side.answer.step)}`).join(', ');
  return [make('span', { class: 'bar-label' }, label),
    draw('svg', { viewBox: `0 0 ${width} 26`, preserveAspectRatio: 'none', class: 'bar', role: 'img',
      'aria-label': `${label}: ${text}` }, ...shown),
    make('span', { class: 'bar-value' }, time(side.answer.step, most))];
}

export function showBreakdown(now, then, what, names = usual) {
  const named = parts.map(([key, name]) => [key, key === 'idle' ? names.idle ?? name : name]);
  const most = Math.max(1, now.answer.step, then.answer.step);
  const bars = breakdownBar(now, most, names.before);
  if (what) bars.push(...breakdownBar(then, most, names.after));
  replace('bars', ...bars);
  replace('uses', ...named.filter(([key]) => now.breakdown[key] > 0 || then.breakdown[key] > 0)
    .map(([key, name]) => {
      const change = then.breakdown[key] - now.breakdown[key];
      const shows = what && Math.abs(change) > now.answer.step / 1000;
      return make('span', {}, swatch(key), `${name} `, shows ? make('b', { class: change < 0 ? 'good' : 'bad' },
        signedTime(change, now.answer.step)) : time(now.breakdown[key], now.answer.step));
    }));
}
