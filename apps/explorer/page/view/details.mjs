// Text for what the canvas shows: the chosen slice, and what changes by kernel.
import { isDevice } from '../model/engine.mjs';
import { byId, draw, make, replace } from './dom.mjs';
import { count, percent, shortName, signedTime, time } from './format.mjs';

const provenances = ['measured', 'scaled', 'table', 'roofline', 'assumed'];
const reasons = ['nothing', 'program order', 'the previous operation on its stream', 'its launch',
  'an event of another stream', 'GPU work that it waits for', 'a free place in the launch queue',
  'free units of the GPU', 'another thread', 'a value that it reads', 'free memory', 'the last rank',
  'the start of the recording', 'the what-if'];
const launchKind = 3; // of the reasons
const mostRows = 12;
const mostDifferent = 40; // characters

export function nameOf(side, row, i, strings) {
  const label = row.label[i];
  if (label === -2) return 'outside every region';
  if (label === -3) return 'waits';
  if (label >= 0) return strings[side.labels[label]] || 'outside every region';
  const name = strings[side.works[side.graph.work[row.task[i]]].name];
  const ordinal = side.graph.ordinal?.[row.task[i]] ?? 0;
  return ordinal > 0 ? `${ordinal} \u00b7 ${name}, micro-batch ${ordinal}` : name;
}

/** Every point that a task waits for: [point, lag, kind]. */
function causesOf({ graph, weights }, task) {
  const causes = [[graph.cause_source[task], weights.cause[task], graph.cause_kind[task]],
    [graph.extra_source[task], weights.extra[task], graph.extra_kind[task]]];
  for (let k = 0; k < graph.overflow_task.length; ++k) {
    if (graph.overflow_task[k] === task) causes.push([graph.overflow_source[k], weights.overflow[k], graph.overflow_kind[k]]);
  }
  return causes.filter(([point]) => point >= 0);
}
const nameOfTask = (run, task, strings) => shortName(strings[run.works[run.graph.work[task]].name]);

/** Which of the points that a task waits for came last, in words. */
function whyThen(run, task, strings) {
  const { graph, points, weights } = run;
  const start = points[2 * task];
  const named = (point) => `${nameOfTask(run, point >> 1, strings)} ${point & 1 ? 'ended' : 'started'}`;
  for (const [point, lag, kind] of causesOf(run, task)) {
    if (points[point] + lag === start) return `${reasons[kind]}: ${named(point)}${lag > 0 ? `, ${time(lag)} later` : ''}`;
  }
  const lane = graph.lane_source[task];
  if (lane >= 0 && points[lane] + weights.segment[task] === start) {
    return `${isDevice(graph.kind[task]) ? reasons[2] : reasons[1]}: ${named(lane)}`;
  }
  return reasons[12];
}

/** Which call launched device work, and how long before. */
function launchOf(run, task, strings) {
  const launch = causesOf(run, task).find(([, , kind]) => kind === launchKind);
  if (!launch) return '';
  const before = run.points[2 * task] - run.points[2 * (launch[0] >> 1)];
  return `by ${nameOfTask(run, launch[0] >> 1, strings)}, ${time(before)} before`;
}

/** What stands beside the pointer. */
export function hoverOf(run, row, i, strings) {
  const task = row.task[i];
  const name = nameOf(run, row, i, strings);
  const lines = [make('b', {}, shortName(name).slice(0, 120)), make('span', {}, time(row.end[i] - row.begin[i]))];
  if (row.label[i] !== -1) return lines;
  const launch = launchOf(run, task, strings);
  if (launch) lines.push(make('span', {}, `launched ${launch}`));
  return [...lines, make('span', {}, `starts after ${whyThen(run, task, strings)}`)];
}

/** Where the time of a task comes from; of a predicted run (`isPredicted`) also what became of it. */
export function provenanceOf(run, task, isPredicted) {
  const { graph, weights } = run;
  const own = provenances[graph.provenance[task]];
  const isMoved = weights.duration[task] !== graph.duration[task];
  if (!isPredicted) return own;
  const is = own === 'measured' ? 'measured in the recording, kept by the prediction' : `${own} by the prediction`;
  return isMoved ? `${is}, then scaled by a slider` : is;
}

const rowsOfFacts = (facts) => facts.filter((fact) => fact !== null && fact[1] !== '')
  .flatMap(([label, value]) => [make('dt', {}, label), make('dd', {}, value)]);

/** `mark`: {side, row, i, twin}; `onFactor(name, value)` when its slider moves; null: it has none. */
export function showSlice(mark, runs, strings, state, onFactor, layers = []) {
  if (!mark) {
    replace('slice', make('p', { class: 'hint' }, `Select a slice to see what it is, why it starts when it does${
      onFactor ? ' and what the run would be if it were faster' : ''}.`, make('span', { class: 'of-pointer' }, ' Shift and drag adds up a part.')));
    return;
  }
  const run = runs[mark.side];
  const { row, i } = mark;
  const task = row.task[i];
  const work = run.works[run.graph.work[task]];
  const isTask = row.label[i] === -1;
  const name = nameOf(run, row, i, strings);
  const length = row.end[i] - row.begin[i];
  const twin = mark.twin;
  const other = twin ? twin.row.end[twin.i] - twin.row.begin[twin.i] : null;
  const [before, after] = mark.side === 0 ? [length, other] : [other, length];
  const facts = [
    isTask ? ['operator', strings[work.operator]] : null,
    isTask ? ['inputs', strings[work.shapes].slice(0, 300)] : null,
    ['starts at', `${time(row.begin[i] - run.shift)}${run.shift > 0 ? ' of the step' : ''}`],
    ['takes', before !== null && after !== null && before !== after
      ? `${time(before)} \u2192 ${time(after)} (${percent(after / Math.max(1, before) - 1)})` : time(length)],
    isTask ? ['launched', launchOf(run, task, strings)] : null,
    layers.length > 0 ? ['layer', layers.join(' \u203a ')] : null,
    isTask ? ['starts after', whyThen(run, task, strings)] : null,
    isTask ? ['time', provenanceOf(run, task, onFactor !== null && mark.side === 1)] : null,
  ];
  const list = make('dl', {}, ...rowsOfFacts(facts));
  if (mark.keeps) { // the slider that moves stays in the hand
    byId('slice').querySelector('dl').replaceWith(list);
    return;
  }
  const children = [make('h3', {}, name.length > 300 ? `${name.slice(0, 300)}\u2026` : name), list];
  if (onFactor && isTask && isDevice(work.kind)) children.push(kernelSlider(run, work, state, onFactor));
  replace('slice', ...children);
}

function kernelSlider(run, work, state, onFactor) {
  let tasks = 0;
  let sum = 0;
  for (let k = 0; k < run.graph.size; ++k) {
    if (run.works[run.graph.work[k]].name === work.name) {
      tasks += 1;
      sum += run.graph.duration[k]; // without the slider
    }
  }
  const value = state.factors.names.get(work.name) ?? 1;
  const input = make('input', { type: 'range', min: 0, max: 200, step: 5, value: value * 100,
    id: 'slider-kernel' });
  const output = make('output', { for: 'slider-kernel' }, `${Math.round(value * 100)} %`);
  input.addEventListener('input', () => {
    output.textContent = `${input.value} %`;
    onFactor(work.name, Number(input.value) / 100);
  });
  return make('label', { class: 'slider', for: 'slider-kernel' },
    make('span', {}, `if all ${count(tasks)} of them (${time(sum)} in all) took`), output, input);
}

/** Device time and launches by the work that each task of the recording did, or does now; of the step that is shown. */
function sumsByWork(run, workOf, count) {
  const { kind } = run.graph;
  const [from, to] = run.one ? [run.one.begin, run.one.end] : [0, Infinity];
  const { duration } = run.weights;
  const time = new Float64Array(count);
  const launches = new Int32Array(count);
  for (let i = 0; i < run.graph.size; ++i) {
    if (!isDevice(kind[i]) || run.points[2 * i] < from || run.points[2 * i] >= to) continue;
    const work = workOf(i);
    time[work] += duration[i];
    launches[work] += 1;
  }
  return { time, launches };
}

/** Device time by kernel before and after, matched by what each task was. */
function byKernel(runs, strings) {
  const [now, then] = runs;
  const known = now.works.length;
  const { origin } = then.graph;
  // works of the changed graph that the recording does not have stand behind those that it has
  const was = (i) => {
    const from = origin ? origin[i] : i;
    return from >= 0 ? now.graph.work[from] : known + then.graph.work[i];
  };
  const before = sumsByWork(now, (i) => now.graph.work[i], known);
  const after = sumsByWork(then, was, known + then.works.length);
  const groups = new Map();
  for (let work = 0; work < after.time.length; ++work) {
    const isKnown = work < known;
    const is = after.launches[work];
    const had = isKnown ? before.launches[work] : 0;
    if (is === 0 && had === 0) continue;
    const { name } = isKnown ? now.works[work] : then.works[work - known];
    if (!groups.has(name)) groups.set(name, { before: 0, after: 0, was: 0, is: 0 });
    const group = groups.get(name);
    group.before += isKnown ? before.time[work] : 0;
    group.after += after.time[work];
    group.was += had;
    group.is += is;
  }
  return [...groups].filter(([, g]) => g.before !== g.after)
    .sort((a, b) => Math.abs(b[1].after - b[1].before) - Math.abs(a[1].after - a[1].before))
    .map(([name, group]) => [strings[name], group]);
}

/** Short names; of those that several share, what differs in the long ones, too. */
export function distinctNames(names) {
  const byShort = Map.groupBy ? Map.groupBy(names, shortName) : new Map(names.map((name) => [shortName(name), names.filter((each) => shortName(each) === shortName(name))]));
  return (name) => {
    const same = byShort.get(shortName(name));
    if (same.length === 1) return shortName(name);
    const others = same.filter((each) => each !== name);
    let from = 0;
    while (from < name.length && others.some((other) => other[from] === name[from] && other.startsWith(name.slice(0, from)))) ++from;
    const begin = Math.max(name.lastIndexOf('<', from), name.lastIndexOf(',', from), name.lastIndexOf('(', from), name.lastIndexOf(' ', from)) + 1;
    return `${shortName(name)} \u00b7 ${name.slice(begin, begin + mostDifferent)}${name.length > begin + mostDifferent ? '\u2026' : ''}`;
  };
}

const timeOrNone = (ns) => (ns === 0 ? '\u2013' : time(ns));

export function showChanges(runs, strings) {
  const rows = byKernel(runs, strings);
  byId('changes').hidden = rows.length === 0;
  replace('changes-of', `by kernel, ${runs[0].one ? 'per step' : 'whole run'}, largest change first`);
  const shown = rows.slice(0, mostRows);
  const nameOfRow = distinctNames(shown.map(([name]) => name));
  const most = Math.max(1, ...shown.map(([, g]) => Math.max(g.before, g.after)));
  const scale = (ns) => (150 * ns) / most;
  replace('change-rows', ...shown.map(([name, g]) => make('tr', {},
    make('td', { title: name.slice(0, 400) }, nameOfRow(name)),
    make('td', {}, g.was === g.is ? count(g.was) : `${count(g.was)} \u2192 ${count(g.is)}`),
    make('td', {}, timeOrNone(g.before)), make('td', {}, timeOrNone(g.after)),
    make('td', { class: g.after < g.before ? 'good' : 'bad' }, signedTime(g.after - g.before)),
    make('td', {}, draw('svg', { width: 150, height: 14, 'aria-hidden': 'true' },
      draw('rect', { y: 1, width: scale(g.before), height: 5, rx: 1.5, class: 'bar-now' }),
      draw('rect', { y: 8, width: scale(g.after), height: 5, rx: 1.5, class: 'bar-then' }))))));
  const left = rows.length - shown.length;
  replace('change-rest', left > 0 ? `${count(left)} more ${left === 1 ? 'kernel changes' : 'kernels change'}` : '');
}
