// What a user does with the points of a sweep: sweep_use.mjs BROWSER FORETRACE WORK
// The folder of a sweep as the argument, one point in every chart, axes moved by keys and by dragging, the front, the link.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [program, foretrace, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
run('sweep', '--quiet', 'examples/recipes/sweeps/gpt3_512.json', '-o', join(work, 'results'));
const page = join(work, 'sweep.html');
run('report', join(work, 'results'), '-o', page); // no --sweep: what it is shows in the folder
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
const browser = await Browser.start(program, { width: 1280 });
const axes = () => browser.run(`[...document.querySelectorAll('#sweep-axes button')].map((e) => e.textContent)`);
try {
  await browser.open(`file://${resolve(page)}`);
  await pause(300);
  const opened = await axes();
  check(opened.length > 5 && new Set(opened).size === opened.length, `every axis has its name: ${opened}`);
  const front = await browser.run(`[...document.querySelectorAll('#sweep-front li')].map((e) => e.textContent)`);
  check(front.length > 2 && new Set(front).size === front.length && front.every((each, k) => each.startsWith(String.fromCharCode(65 + k))), `points of the front are named, each otherwise: ${front.slice(0, 3)}`);
  // one point everywhere
  await browser.run(`document.querySelectorAll('#sweep-front li')[1].dispatchEvent(new PointerEvent('pointerenter'))`);
  const marked = await browser.run(`[...document.querySelectorAll('#sweep .over-it')].map((e) => e.localName)`);
  check(['li', 'rect', 'circle'].every((name) => marked.includes(name)), `a point is marked in every chart: ${marked}`);
  const drawn = await browser.run(`[...document.querySelectorAll('#sweep .over')].map((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0))`);
  check(drawn.length === 2 && drawn.every(Boolean), `lines cross at it: ${drawn}`);
  // axes move
  await browser.run(`document.querySelectorAll('#sweep-axes button')[0].focus()`);
  await browser.key('ArrowRight');
  await browser.key('ArrowRight');
  check(JSON.stringify(await axes()) === JSON.stringify([opened[1], opened[2], opened[0], ...opened.slice(3)]), `arrows move an axis: ${await axes()}`);
  const at = (k) => browser.run(`(() => { const e = document.querySelectorAll('#sweep-axes button')[${k}]; e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
  const before = await axes();
  const [x, y] = await at(4);
  const [to] = await at(1);
  await browser.mouse('pressed', x, y);
  for (let k = 1; k <= 5; ++k) await browser.mouse('moved', x + (to - x) * k / 5, y, { held: true });
  await browser.mouse('released', to, y);
  check((await axes())[1] === before[4], `dragging moves an axis: ${before} became ${await axes()}`);
  // the link
  await browser.run(`{ document.querySelectorAll('#sweep-front button')[2].click(); const s = document.getElementById('sweep-search'); s.value = 'tensor 8'; s.dispatchEvent(new Event('input')); }`);
  for (let i = 0; i < 100 && !(await browser.run(`location.hash.includes('words=')`)); ++i) await pause(50);
  await pause(300);
  const state = () => browser.run(`[[...document.querySelectorAll('#sweep-axes button')].map((e) => e.textContent), document.getElementById('sweep-search').value, [...document.querySelectorAll('#sweep-front [aria-pressed=true]')].map((e) => e.textContent), document.querySelectorAll('#sweep tbody tr').length]`);
  const [address, shown] = [await browser.run('location.href'), await state()];
  check(shown[2].length === 1 && shown[1] === 'tensor 8', `a point is chosen: ${shown}`);
  await browser.navigate('about:blank');
  await browser.open(address);
  await pause(300);
  check(JSON.stringify(await state()) === JSON.stringify(shown), `a link restores all: ${JSON.stringify(await state())} instead of ${JSON.stringify(shown)}`);
  const complaints = browser.complaints();
  check(complaints.length === 0, complaints.join('\n'));
} finally {
  await browser.stop();
}
console.log(failures === 0 ? 'points of a sweep are found, named and kept' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
