// How fast a page answers: node --experimental-websocket measure.mjs BROWSER PAGE.html
// Prints size, time to life, the longest tasks until then, slider and switch to painted frame, search, frames while panning and zooming.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Browser } from './browser.mjs';

const [program, page] = process.argv.slice(2);
const browser = await Browser.start(program);
const shown = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, most ${at(1)} ms over ${sorted.length}`;
};
/** The longest tasks that kept the page's own thread busy, in processor time: on a machine that does other things, too, their length tells nothing. */
const tellTasks = (when, tasks) => console.log(`longest tasks ${when}: ${tasks.slice(0, 5).map((ms) => ms.toFixed(0)).join(', ')} ms of processor time (budget 100)`);
const isTraced = /chrom/i.test(program);
/** Does it, and tells of its tasks where the browser counts them. */
const traced = async (when, act) => {
  if (isTraced) tellTasks(when, await browser.tasksOf(act));
  else await act();
};
try {
  const opened = [];
  const opening = [];
  const open = async () => {
    await browser.navigate('about:blank');
    const before = await browser.worked();
    opened.push(await browser.open(`file://${resolve(page)}`));
    await new Promise((done) => { setTimeout(done, 600); });
    opening.push(await browser.worked() - before);
  };
  for (let i = 0; i < 5; ++i) await open();
  console.log(`size ${(statSync(page).size / 1e6).toFixed(2)} MB (budget 1.3 for 274 k events); alive after ${shown(opened)} (budget 1000)`);
  if (opening[0] >= 0) console.log(`of it processor time: ${shown(opening)}`);
  await traced('while it opens', open);
  // From the event to the end of the frame in which the page draws: bars and canvas change in one.
  const painted = `new Promise((done) => {
    const watch = new MutationObserver(() => { watch.disconnect();
      const c = new MessageChannel(); c.port1.onmessage = () => done(performance.now() - begin); c.port2.postMessage(0); });
    watch.observe(document.getElementById('bars'), { childList: true });
    const begin = performance.now(); ACT; })`;
  // what the page's own thread works for it, whatever else the machine does
  const measured = async (act, took, work) => {
    const before = await browser.worked();
    took.push(await browser.run(painted.replace('ACT', act)));
    work.push(await browser.worked() - before);
  };
  const tellWork = (work) => { if (work[0] >= 0) console.log(`of it processor time: ${shown(work)}`); };
  const slider = [];
  const work = [];
  const slide = async (i) => {
    const act = `const s = document.getElementById('slider-${i % 2 ? 'host' : 'device'}'); s.value = ${3 + (i * 5) % 12}; s.dispatchEvent(new Event('input'))`;
    await measured(act, slider, work);
  };
  for (let i = 0; i < 60; ++i) await slide(i);
  console.log(`slider to painted frame: ${shown(slider)} (budget p50 33, p95 50)`);
  tellWork(work);
  await traced('of sliders', async () => { for (let i = 0; i < 10; ++i) await slide(i); });
  await browser.run('document.getElementById("reset").click()');
  const count = await browser.run('document.querySelectorAll("#what-ifs input:not([disabled])").length');
  for (const round of ['first', 'again']) {
    const switched = [];
    const worked = [];
    const actOf = (i) => `const s = document.querySelectorAll('#what-ifs input:not([disabled])')[${i}]; if (s.checked) s.checked = false; s.click()`;
    await traced(`of switches, ${round}`, async () => { for (let i = 0; i < count; ++i) await measured(actOf(i), switched, worked); });
    console.log(`switch to painted frame, ${round}: ${shown(switched)} (budget 50)`);
    tellWork(worked);
  }
  const searched = [];
  for (let i = 0; i < 5; ++i) {
    searched.push(await browser.run(`(() => { const begin = performance.now(); document.getElementById('ask-search').click(); document.getElementById('search-text').dispatchEvent(new Event('input')); const ms = performance.now() - begin; document.getElementById('search').close(); return ms; })()`));
  }
  console.log(`search opens and lists: ${shown(searched)} (budget 100)`);
  await browser.run('document.getElementById("timeline").focus()');
  const frames = await browser.run(`new Promise((done) => { const times = []; let i = 0;
    const root = document.getElementById('timeline');
    const step = () => { if (i++ >= 80) { done(times); return; }
      root.dispatchEvent(new KeyboardEvent('keydown', { key: i % 4 < 2 ? 'w' : i % 4 === 2 ? 'd' : 's' }));
      requestAnimationFrame(() => { const begin = performance.now();
        const c = new MessageChannel(); c.port1.onmessage = () => { times.push(performance.now() - begin); requestAnimationFrame(step); }; c.port2.postMessage(0); }); };
    step(); })`);
  console.log(`frame while panning and zooming: ${shown(frames)} (budget p95 8)`);
  const complaints = browser.complaints();
  console.log(complaints.length === 0 ? 'nothing in the console, nothing asked for' : complaints.join('\n'));
} finally {
  await browser.stop();
}
