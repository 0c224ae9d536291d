// Every figure on every kind of page against the documents of the commands that answer the same:
// equal_figures.mjs [--browser=CHROMIUM] FORETRACE WORK run|scenario|compare|sweep ARGUMENTS...
// The page is run by Node, or by a browser.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Browser } from './browser.mjs';
import { openPage, parse, pause } from './dom.mjs';
import { chanceOfShare, figuresIn, walkFigures } from './figures.mjs';

const browser = process.argv[2].startsWith('--browser=') ? process.argv[2].slice(10) : null;
const [foretrace, work, kind, ...words] = process.argv.slice(browser ? 3 : 2);
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
const chances = new Map(); // by document
const fail = (text) => {
  failures += 1;
  if (failures <= 40) console.error(`failed: ${text}`);
};
function walk(what, body, documents) {
  const found = walkFigures(body, documents);
  for (const name of Object.keys(totals)) totals[name] += found[name];
  for (const text of found.strange) fail(`${what}: ${text}`);
  if (found.compared === 0) fail(`${what}: no figure has a source`);
  for (const name of found.sharesOf) {
    const document = documents[name];
    if (!chances.has(document)) chances.set(document, chanceOfShare(document));
    if (chances.get(document) > 0.1) fail(`${what}: the document of ${name} has so many numbers that any share in words may be one`);
  }
}

/** A page that is alive: {body, switches: [{name, title, on}], switch(name), texts of the timeline}. */
async function opened() {
  if (!browser) {
    const { root, body, byId } = await openPage(page);
    const inputs = () => root.querySelectorAll('#what-ifs input').filter((input) => input.dataset.carried === 'yes');
    return { body: () => body, close() {},
      switches: () => inputs().filter((input) => input.value !== '').map((input) => ({ name: input.value, on: input.checked, title: input.closest('label').querySelector('.name').textContent })),
      async switch(name) {
        inputs().find((input) => input.value === name).click();
        await pause(500);
        // Cards come a moment behind the answer; none come where nothing is switched on.
        const waits = () => inputs().some((input) => input.value !== '' && input.checked) && !byId('cards').querySelector('h2');
        for (let i = 0; i < 40 && waits(); ++i) await pause(250);
      },
      texts: () => byId('timeline').querySelector('canvas').texts };
  }
  const real = await Browser.start(browser);
  await real.open(`file://${resolve(page)}`);
  let body = null;
  const look = async () => { await pause(400); body = parse(await real.markup()).querySelector('body'); };
  await look();
  const known = await real.run(`[...document.querySelectorAll('#what-ifs input[data-carried=yes]')].map((e) => ({ name: e.value, on: e.checked,
    title: e.closest('label').querySelector('.name').textContent }))`);
  return { body: () => body, close: () => real.stop(), switches: () => known, texts: () => [],
    async switch(name) { await real.run(`document.querySelector('#what-ifs input[value="${name}"]').click()`); await look(); } };
}

/** Texts of the timeline that are figures of the answer, not ticks: steps behind titles, peaks, what is saved. */
function timelineFigures(shown) {
  const texts = shown.texts();
  return { steps: texts.filter((text) => /^\d.* per step|^\d[\d.]* \S+, \d+ more lanes$/.test(text)), peaks: texts.filter((text) => text.startsWith('peak ')),
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
  if (saved.length > 0) is(saved[0], saved[0].endsWith(' per step') ? sides[1].step_ns - sides[0].step_ns : sides[1].span_ns - sides[0].span_ns);
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
  const asked = turned(ask('whatif', ...trace, ...apply.flatMap((each) => ['--apply', each]), ...trace.filter(existsSync).flatMap((each) => ['--check', each])));
  return { ...asked, before_ns: known.baseline.step_ns, after_ns: known.predicted.step_ns, change_ns: known.predicted.step_ns - known.baseline.step_ns,
    low_ns: known.predicted.low_ns, high_ns: known.predicted.high_ns };
}

/** A file shows one what-if or none: radio buttons of one name, one of them on. */
function checkChoice(body) {
  const inputs = body.querySelectorAll('#what-ifs input');
  if (inputs.some((input) => input.type !== 'radio' || input.getAttribute('name') !== 'what-if')) fail('not every what-if is a radio button');
  const on = inputs.filter((input) => (browser ? input.attributes.has('checked') : input.checked)).length;
  if (inputs.length > 0 && on !== 1) fail(`${on} what-ifs are on, one is shown`);
}

/** A doubt that cut silences may take away names the command that cuts them. */
function checkRemedy(body, simulated) {
  const doubts = simulated.honesty?.doubt ?? [];
  const silences = simulated.measured.one_off ?? [];
  const told = body.querySelectorAll('#doubts code').map((code) => code.textContent);
  const wanted = doubts.length > 0 && silences.length > 0;
  const is = told.length === 1 && told[0].startsWith('foretrace report ') && told[0].includes(' --without-one-off');
  if (is !== wanted) fail(`${doubts.length} doubts, ${silences.length} silences: the commands are "${told}"`);
}

async function checkRun() {
  const trace = words.filter((word, i) => word !== '--apply' && words[i - 1] !== '--apply');
  const opens = words.filter((word, i) => words[i - 1] === '--apply');
  run('report', ...words, '-o', page);
  const simulated = ask('simulate', ...trace);
  const common = { simulate: simulated, 'critical-path': ask('critical-path', ...trace), ranking: ask('whatif', ...trace, '--rank-all') };
  const shown = await opened();
  const switches = shown.switches();
  const predictions = new Map();
  const answerOf = (name) => {
    const apply = name === 'applied' ? opens : [name];
    if (!predictions.has(name)) {
      const whatif = ask('whatif', ...trace, ...apply.flatMap((each) => ['--apply', each]));
      predictions.set(name, { whatif, why: whyOf(trace, apply, whatif) });
    }
    return predictions.get(name);
  };
  if (switches.some(({ name }) => name === 'applied')) common.applied = answerOf('applied').whatif;
  const state = (name) => (name ? { ...common, ...answerOf(name), answer: answerOf(name).whatif } : { ...common, answer: simulated });
  const first = switches.find(({ on }) => on)?.name;
  checkChoice(shown.body());
  checkRemedy(shown.body(), simulated);
  walk('as it opens', shown.body(), state(first));
  if (first) await shown.switch('');
  walk('as recorded', shown.body(), state(null));
  checkTimeline('as recorded', shown, [simulated.baseline]);
  for (const { name, title } of switches) {
    await shown.switch(name);
    const documents = state(name);
    walk(name, shown.body(), documents);
    checkTimeline(name, shown, [documents.answer.baseline, documents.answer.predicted]);
    if (!shown.body().querySelector('#figures').textContent.includes('based on')) fail(`${name}: says nothing of what it is based on`);
    const card = shown.body().querySelector('#cards').querySelector('h2')?.textContent ?? '';
    if (card !== `Why ${title} changes the time`) fail(`${name}: the card is "${card}"`);
  }
  await shown.close();
}

async function checkScenario() {
  run('report', '--scenario', ...words, '-o', page);
  const answer = ask('simulate', ...words);
  const shown = await opened();
  walk('a plan', shown.body(), { answer, simulate: answer });
  checkTimeline('a plan', shown, [answer.predicted]);
  await shown.close();
}

async function checkComparison() {
  run('compare', ...words, '-o', page);
  const answer = ask('compare', ...words);
  const shown = await opened();
  walk('two runs', shown.body(), { answer, simulate: answer, compare: answer });
  // what is saved is per step, as everything on the page is
  const [saved] = browser ? [] : timelineFigures(shown).saved;
  if (!browser && !saved && Math.abs(answer.change_ns) > 0.1 * answer.before_ns) fail('the timeline does not say what is saved');
  if (saved) {
    const [figure] = figuresIn(saved);
    if (!saved.endsWith(' per step') || Math.abs(figure.value - answer.change_ns) > figure.slack) fail(`the timeline says ${saved}, the document ${answer.change_ns} ns`);
  }
  await shown.close();
}

/** The table keeps the points that have the words, live. */
function checkSearch(body) {
  const rows = () => body.querySelector('#sweep').querySelectorAll('tbody tr').map((row) => row.textContent);
  const search = body.querySelector('#sweep-search');
  const words = body.querySelector('#sweep').querySelectorAll('tbody tr')[3].querySelectorAll('bdi').map((each) => each.textContent);
  const names = body.querySelector('#sweep').querySelectorAll('thead th').slice(1).map((each) => each.textContent);
  const asked = words.map((word, k) => `${names[k]} ${word}`).join(', ');
  const [before, one] = [rows(), rows()[3]];
  search.value = asked;
  search.dispatchEvent({ type: 'input' });
  if (rows().length !== 1 || rows()[0] !== one) fail(`of "${asked}" the table has ${rows().length} points`);
  search.value = '';
  search.dispatchEvent({ type: 'input' });
  if (rows().join() !== before.join()) fail('without words the table is another one');
}

async function checkSweep() {
  run('sweep', ...words, '-o', join(work, 'results'));
  run('report', '--sweep', join(work, 'results'), '-o', page);
  const answer = ask('sweep', '--show', join(work, 'results'), '--top', '1000000');
  const shown = await opened();
  walk('a sweep', shown.body(), { answer, simulate: answer, sweep: ask('sweep', '--show', join(work, 'results')) });
  if (!browser) checkSearch(shown.body());
  await shown.close();
}

await { run: checkRun, scenario: checkScenario, compare: checkComparison, sweep: checkSweep }[kind]();
const chance = Math.max(0, ...chances.values());
console.log(`${words.join(' ')}: ${totals.compared} figures are those of their place in the document, ${totals.looked} in words are somewhere in it `
  + `(of shares with one decimal at most ${(100 * chance).toFixed(1)} % are), ${totals.declared} are declared to be none of it, ${failures} fail`);
process.exit(failures === 0 ? 0 : 1);
