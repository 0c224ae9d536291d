// What a user does with a timeline: timeline_use.mjs BROWSER FORETRACE WORK
// First view, link, search, help, hover, area, tracks, time added up; with real keys and pointers.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [program, foretrace, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
function pageOf(name, ...words) {
  const page = join(work, `${name}.html`);
  execFileSync(foretrace, ['report', ...words, '-o', page], { stdio: ['ignore', 'ignore', 'inherit'] });
  return `file://${resolve(page)}`;
}
const text = (browser, id) => browser.run(`document.getElementById('${id}').textContent`);
const hash = async (browser) => new URLSearchParams(new URL(await browser.run('location.href')).hash.slice(1));
const tracks = (browser) => browser.run(`[...document.querySelectorAll('#names > div')].map((e) => e.className.replace('lane lane-', '') + ':' + e.textContent)`);
/** Where the canvas is: left, top, width. */
const canvasAt = (browser) => browser.run(`(() => { document.getElementById('timeline').scrollIntoView(); const r = document.querySelector('#timeline canvas').getBoundingClientRect(); return [r.left, r.top, r.width]; })()`);
/** The middle of the n-th track of a kind, below the top of the canvas. */
const middleOf = (browser, kind, n = 0) => browser.run(`(() => { const e = document.querySelectorAll('#names > .lane-${kind}')[${n}]; return parseFloat(e.style.top) + parseFloat(e.style.height) / 2; })()`);
async function keys(browser, ...all) {
  for (const key of all) {
    await browser.key(key);
    await pause(120);
  }
}

/** One step at first, the median one; T shows the run. */
async function firstView(browser) {
  const shown = await browser.run(`document.getElementById('show-all').textContent`);
  check(shown === 'Whole run', `one step is shown at first: the button says ${shown}`);
  check(!(await hash(browser)).has('view'), 'the first view needs nothing in a link');
  await browser.run(`document.getElementById('timeline').focus()`);
  await keys(browser, 't');
  check(await browser.run(`document.getElementById('show-all').textContent`) === 'One step', 'T shows the whole run');
  await pause(300);
  check((await hash(browser)).get('time') === 'run', 'which a link says');
  await keys(browser, 't');
}

/** Ranks stand together, the late one is marked; every rank has a device track. */
async function ranks(browser) {
  const all = await tracks(browser);
  const groups = all.filter((each) => each.startsWith('group:'));
  check(groups.length >= 2 && groups.some((each) => /late .*s/.test(each)), `ranks are grouped, the late one is marked: ${groups}`);
  check(new Set(all.filter((each) => each.startsWith('track:')).map((each) => each.replace(/^track:.(.*).$/, '$1'))).size > 1, `tracks have names: ${all}`);
  check(all.every((each) => !each.includes('rank') || each.startsWith('group:')), 'a rank is named once');
}

/** A folded and a pinned track, the chosen slice, a slider and the zoom are all in the link, and come back from it. */
async function link(browser) {
  await browser.run(`document.getElementById('timeline').focus()`);
  await keys(browser, 'ArrowRight', 'ArrowRight', 'ArrowRight', 'c', 'p', 'w', 'w', 'd');
  await browser.run(`{ const s = document.getElementById('slider-host'); s.value = 8; s.dispatchEvent(new Event('input')); }`);
  await pause(500);
  await keys(browser, 'ArrowRight', 'ArrowDown');
  await browser.run(`document.querySelectorAll('.lane-group button')[0]?.click()`);
  await pause(900);
  const address = await browser.run('location.href');
  const parts = await hash(browser);
  for (const name of ['view', 'tracks', 'chosen', 'host']) check(parts.has(name), `a link says ${name}: ${parts}`);
  const before = [await text(browser, 'slice'), await tracks(browser), parts.get('view'), await text(browser, 'sentence')];
  await browser.navigate('about:blank');
  await browser.open(address);
  await pause(500);
  const after = [await text(browser, 'slice'), await tracks(browser), (await hash(browser)).get('view'), await text(browser, 'sentence')];
  before.forEach((each, k) => check(JSON.stringify(each) === JSON.stringify(after[k]), `a link restores ${['the chosen slice', 'tracks', 'the zoom', 'the answer'][k]}: ${JSON.stringify(each)} became ${JSON.stringify(after[k])}`));
}

/** A slash searches from anywhere, Enter shows and chooses, N goes on. */
async function search(browser) {
  await browser.run('document.activeElement.blur()');
  await browser.key('/');
  check(await browser.run(`document.getElementById('search').open && document.activeElement.id === 'search-text'`), 'a slash opens the search');
  for (const letter of 'gemm') await browser.key(letter);
  const found = await browser.run(`[...document.querySelectorAll('#found li')].map((e) => e.textContent)`);
  check(found.length > 0 && found.every((each) => /gemm/i.test(each) || each.includes('…')), `it finds names: ${found.slice(0, 4)}`);
  await browser.key('Enter');
  await pause(400);
  check(!(await browser.run(`document.getElementById('search').open`)), 'Enter closes it');
  const first = (await hash(browser)).get('chosen');
  check(/gemm/i.test(await text(browser, 'slice')), `and chooses: ${await text(browser, 'slice')}`);
  await keys(browser, 'n');
  await pause(400);
  check((await hash(browser)).get('chosen') !== first && /gemm/i.test(await text(browser, 'slice')), 'N goes to the next one');
  await keys(browser, 'Escape');
}

async function help(browser) {
  await browser.key('?');
  const told = await text(browser, 'keys');
  check(await browser.run(`document.getElementById('help').open`) && ['fit', 'measure', 'pin', 'search'].every((word) => told.includes(word)), `a question mark tells the keys: ${told}`);
  await browser.key('Escape');
  check(!(await browser.run(`document.getElementById('help').open`)), 'Escape closes them');
}

/** Beside the pointer: name, time, launch, why then. With shift a part is added up. */
async function pointer(browser) {
  await browser.run(`document.getElementById('timeline').focus()`);
  await keys(browser, 'Escape', '0');
  const [left, top, width] = await canvasAt(browser);
  const y = top + await middleOf(browser, 'track', 0);
  let told = '';
  for (let x = left + 210; x < left + width - 10 && !/launched by .* before/.test(told); x += 7) {
    await browser.mouse('moved', x, y);
    told = await browser.run(`document.getElementById('hover').hidden ? '' : document.getElementById('hover').textContent`);
  }
  check(/launched by .*starts after/.test(told), `the pointer tells name, time, launch and why then: ${told}`);
  const held = { shift: true, held: true };
  await browser.mouse('pressed', left + 260, y - 4, held);
  await browser.mouse('moved', left + 400, y + 40, held);
  await browser.mouse('moved', left + 600, y + 60, held);
  await browser.mouse('released', left + 600, y + 60, held);
  await pause(300);
  const sums = await text(browser, 'slice');
  check(/ in \d+ tracks?/.test(sums) && sums.includes('busy') && (await browser.run(`document.querySelectorAll('#slice tbody tr').length`)) > 0, `a part is added up: ${sums.slice(0, 80)}`);
  const cut = await browser.run(`(() => { const box = document.getElementById('slice').getBoundingClientRect(); return [...document.querySelectorAll('#slice :is(td, th)')].filter((e) => e.getBoundingClientRect().right > box.right).length; })()`);
  check(cut === 0, `no column of the sums is cut: ${cut} cells are`);
  const docked = await browser.run(`(() => { const a = document.getElementById('slice').getBoundingClientRect(); const b = document.getElementById('timeline').getBoundingClientRect(); return a.left >= b.right - 1 && a.top < innerHeight; })()`);
  check(docked, 'what is chosen stands beside the timeline');
  await keys(browser, 'Escape');
}

/** Two fingers and the buttons zoom, about the middle; a drag moves as far as the pointer. */
async function zooms(browser) {
  await browser.run(`document.getElementById('timeline').focus()`);
  await keys(browser, 'Escape', '0', 'w', 'w');
  await pause(300);
  const view = async () => (await hash(browser)).get('view').split(' ').map(Number);
  const [left, top, width] = await canvasAt(browser);
  const [x, y] = [left + 212 + (width - 212) / 2, top + await middleOf(browser, 'track', 0)];
  const spanOf = ([from, to]) => to - from;
  const opened = await view();
  await browser.mouse('pressed', x, y);
  for (const dx of [40, 80, 120]) await browser.mouse('moved', x + dx, y, { held: true });
  await browser.mouse('released', x + 120, y);
  await pause(300);
  const dragged = await view();
  const expected = spanOf(opened) * 120 / (width - 212);
  check(Math.abs(opened[0] - dragged[0] - expected) < 0.02 * expected && Math.abs(spanOf(dragged) - spanOf(opened)) < 2, `a drag moves by ${opened[0] - dragged[0]} ns, expected ${expected}`);
  await browser.pinch(x, y, 40, 80);
  await pause(400);
  const pinched = await view();
  check(Math.abs(spanOf(pinched) / spanOf(dragged) - 0.5) < 0.05, `fingers twice as far apart show ${spanOf(pinched) / spanOf(dragged)} of the time`);
  const middle = ([from, to]) => (from + to) / 2;
  check(Math.abs(middle(pinched) - middle(dragged)) < 0.05 * spanOf(dragged), 'about what is between them');
  await browser.run(`document.getElementById('zoom-out').click()`);
  await pause(400);
  check(spanOf(await view()) > 1.5 * spanOf(pinched), 'a button zooms out');
  await keys(browser, '0');
}

/** Time added up: the device largest part left, the host by region, both of one step. */
async function added(browser) {
  for (const kind of ['layer', 'region']) {
    await browser.run(`document.getElementById('by-${kind}').click()`);
    await pause(150);
    const boxes = await browser.run(`[...document.querySelectorAll('.flame button')].map((e) => [parseFloat(e.style.left), parseFloat(e.style.width), parseFloat(e.style.top)])`);
    check(boxes.length > 2, `time by ${kind} has parts: ${boxes.length}`);
    const second = boxes.filter(([, , y]) => y > 0 && y < 30);
    check(second.every(([, width], k) => k === 0 || width <= second[k - 1][1] + 1e-6), `by ${kind} the largest part is left: ${JSON.stringify(second.slice(0, 4))}`);
    const sum = second.reduce((all, [, width]) => all + width, 0);
    check(sum <= 100.01 && sum > 50, `by ${kind} parts fill the whole: ${sum}`);
  }
}

const demo = pageOf('demo', 'examples/traces/demo_generated_cnn_memory.json.gz');
const job = pageOf('job', 'tests/fixtures/job');
for (const [url, ...tries] of [[job, firstView, ranks, link], [demo, firstView, link, search, help, pointer, zooms, added]]) {
  const browser = await Browser.start(program, { width: 1280 });
  try {
    await browser.open(url);
    await pause(400);
    for (const each of tries) await each(browser);
    const complaints = browser.complaints();
    check(complaints.length === 0, complaints.join('\n'));
  } finally {
    await browser.stop();
  }
}
console.log(failures === 0 ? 'a timeline does what a user asks' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
