// Every figure on every kind of page against the documents of the commands that answer the same:
// equal_figures.mjs FORETRACE WORK run|scenario|compare|sweep ARGUMENTS...
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPage, pause } from './dom.mjs';
import { figuresIn, walkFigures } from './figures.mjs';

const [foretrace, work, kind, ...words] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const page = join(work, 'page.html');
const run = (...command) => execFileSync(foretrace, [...command, '--quiet'], { stdio: ['ignore', 'ignore', 'inherit'] });
/** A document; that an answer is "no" is an answer. */
function ask(...command) {
  try {
    return JSON.parse(execFileSync(foretrace, [...command, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch (error) {
    if (error.status === 1 && error.stdout) return JSON.parse(error.stdout);
    throw error;
  }
}

let failures = 0;
const totals = { compared: 0, looked: 0, declared: 0 };
const fail = (text) => {
  failures += 1;
  if (failures <= 40) console.error(`failed: ${text}`);
};
/** In a state at rest nothing was simulated instead of answered. */
function walk(what, body, documents, moved = false) {
  const found = walkFigures(body, { ...documents, allows: moved ? null : new Set(['simulated']) });
  for (const name of Object.keys(totals)) totals[name] += found[name];
  for (const text of found.strange) fail(`${what}: ${text}`);
  if (found.compared === 0) fail(`${what}: no figure has a source`);
}

/** Texts of the timeline that are figures of the answer, not ticks: steps behind titles, peaks, what is saved. */
function timelineFigures(shown) {
  const texts = shown.byId('timeline').querySelector('canvas').texts;
  return { steps: texts.filter((text) => / per step|^\d[\d.]* \S+, \d+ more lanes$/.test(text)), peaks: texts.filter((text) => text.startsWith('peak ')),
    saved: texts.filter((text) => /^[+\u2212]\d/.test(text)) };
}
function checkTimeline(what, shown, sides) {
  const { steps, peaks, saved } = timelineFigures(shown);
  const is = (text, want) => {
    const [figure] = figuresIn(text);
    if (Math.abs(figure.value - want) > figure.slack) fail(`${what}: the timeline says ${text}, the document ${want}`);
  };
  steps.forEach((text, i) => is(text, sides[i].step_ns));
  const known = sides.flatMap((side) => Object.values(side.memory ?? {}).map((device) => device.allocated_peak_bytes));
  for (const text of peaks) {
    const [figure] = figuresIn(text);
    if (!known.some((bytes) => Math.abs(figure.value - bytes) <= figure.slack)) fail(`${what}: the timeline says ${text}, the document ${known}`);
  }
  if (saved.length > 0) is(saved[0], sides[1].span_ns - sides[0].span_ns);
}

/** What a comparison with the recording itself says, the other way round: from the simulated recording to the prediction. */
function turned(value) {
  if (Array.isArray(value)) return value.filter((row) => row?.name !== 'what the simulation leaves out').map(turned);
  if (value === null || typeof value !== 'object') return value;
  const out = {};
  for (const [key, each] of Object.entries(value)) {
    const other = key.startsWith('before') ? key.replace('before', 'after') : key.startsWith('after') ? key.replace('after', 'before') : key;
    out[other] = key === 'change_ns' || key === 'change_bytes' ? -each : turned(each);
  }
  return out;
}
function whyOf(trace, apply, known) {
  const asked = turned(ask('whatif', ...trace, ...apply.flatMap((each) => ['--apply', each]), ...trace.flatMap((each) => ['--check', each])));
  return { ...asked, before_ns: known.baseline.step_ns, after_ns: known.predicted.step_ns, change_ns: known.predicted.step_ns - known.baseline.step_ns,
    low_ns: known.predicted.low_ns, high_ns: known.predicted.high_ns };
}

async function checkRun() {
  const trace = words.filter((word, i) => word !== '--apply' && words[i - 1] !== '--apply');
  const opens = words.filter((word, i) => words[i - 1] === '--apply');
  run('report', ...words, '-o', page);
  const simulated = ask('simulate', ...trace);
  const common = { simulate: simulated, 'critical-path': ask('critical-path', ...trace), ranking: ask('whatif', ...trace, '--rank-all') };
  const shown = await openPage(page);
  const switches = shown.root.querySelectorAll('#what-ifs input').filter((input) => input.dataset.carried === 'yes');
  const predictions = new Map();
  const answerOf = (name) => {
    const apply = name === 'applied' ? opens : [name];
    if (!predictions.has(name)) {
      const whatif = ask('whatif', ...trace, ...apply.flatMap((each) => ['--apply', each]));
      predictions.set(name, { whatif, why: whyOf(trace, apply, whatif) });
    }
    return predictions.get(name);
  };
  if (switches.some((input) => input.value === 'applied')) common.applied = answerOf('applied').whatif;
  const opened = switches.find((input) => input.checked);
  const state = (name) => (name ? { ...common, ...answerOf(name), answer: answerOf(name).whatif } : { ...common, answer: simulated });
  walk('as it opens', shown.body, state(opened?.value));
  if (opened) opened.click();
  await pause(250);
  walk('as recorded', shown.body, state(null));
  checkTimeline('as recorded', shown, [simulated.baseline]);
  for (const input of switches) {
    input.click();
    await pause(250);
    const documents = state(input.value);
    walk(input.value, shown.body, documents);
    checkTimeline(input.value, shown, [documents.answer.baseline, documents.answer.predicted]);
    if (!shown.byId('figures').textContent.includes('rests on')) fail(`${input.value}: says nothing of what it rests on`);
    const title = shown.byId('cards').querySelector('h2')?.textContent ?? '';
    const name = input.closest('label').querySelector('.name').textContent;
    if (title !== `Why ${name} changes the time`) fail(`${input.value}: the card is "${title}"`);
  }
}

async function checkScenario() {
  run('report', '--scenario', ...words, '-o', page);
  const answer = ask('simulate', ...words);
  const shown = await openPage(page);
  walk('a plan', shown.body, { answer, simulate: answer });
  checkTimeline('a plan', shown, [answer.predicted]);
}

async function checkComparison() {
  run('compare', ...words, '-o', page);
  const answer = ask('compare', ...words);
  const shown = await openPage(page);
  walk('two runs', shown.body, { answer, simulate: answer, compare: answer });
}

async function checkSweep() {
  run('sweep', ...words, '-o', join(work, 'results'));
  run('report', '--sweep', join(work, 'results'), '-o', page);
  const answer = ask('sweep', '--show', join(work, 'results'), '--top', '1000000');
  const shown = await openPage(page);
  walk('a sweep', shown.body, { answer, simulate: answer, sweep: ask('sweep', '--show', join(work, 'results')) });
}

await { run: checkRun, scenario: checkScenario, compare: checkComparison, sweep: checkSweep }[kind]();
console.log(`${words.join(' ')}: ${totals.compared} figures are those of their place in the document, ${totals.looked} in words stand in it, `
  + `${totals.declared} are declared to be none of it, ${failures} fail`);
process.exit(failures === 0 ? 0 : 1);
