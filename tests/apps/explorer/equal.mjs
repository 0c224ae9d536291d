// The engine of the page against the one in C++, bit for bit: node equal.mjs PAGE_POINTS OUT TRACE...
// PAGE_POINTS writes OUT.html and OUT.json; the page's own modules simulate what is in the page.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Document } from '../../../apps/explorer/page/model/document.mjs';
import { inflate } from '../../../apps/explorer/page/model/codec.mjs';
import { provenanceOf } from '../../../apps/explorer/page/view/details.mjs';
import { classOf } from '../../../apps/explorer/page/view/palette.mjs';
import { rowsOf } from '../../../apps/explorer/page/view/rows.mjs';
import { checksum, said } from './points.mjs';

const [program, out, ...traces] = process.argv.slice(2);
try {
  execFileSync(program, [out, ...traces], { stdio: 'inherit' });
} catch {
  process.exit(2); // it said why
}
const html = readFileSync(`${out}.html`, 'utf8');
const expected = JSON.parse(readFileSync(`${out}.json`, 'utf8'));
const blocks = new Map([...html.matchAll(/<script type="text\/plain" id="block-([^"]+)">([^<]*)</g)]
  .map(([, id, text]) => [id, text]));
const page = await Document.open((id) => blocks.get(id));

let compared = 0;
const wrong = [];
const check = (what, got, want) => {
  compared += 1;
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    wrong.push(`${what}: the page says ${JSON.stringify(got)}, C++ ${JSON.stringify(want)}`);
  }
};
/** Slices of tasks that have another colour than their work. */
const strangers = (run) => rowsOf(run).rows.flatMap((row) => [...row.task]
  .filter((task, i) => row.label[i] === -1 && row.cls[i] !== classOf(run.works[run.graph.work[task]])).slice(0, 3));
/** Tasks of a prediction of which the page says that their time was measured, although they take another one. */
const mismeasured = (run, base) => {
  const { origin } = run.graph;
  // What is put in place of a task may keep its time: that of some recorded one, then.
  const recorded = new Set(base.graph.duration);
  const isKept = (i, time) => (origin === null ? base.graph.duration[i] === time
    : origin[i] < 0 ? recorded.has(time) : base.graph.duration[origin[i]] === time);
  const found = [];
  for (let i = 0; i < run.graph.size && found.length < 3; ++i) {
    const says = provenanceOf(run, i, true);
    if ((says.startsWith('measured') && !says.includes('slider')) && !isKept(i, run.weights.duration[i])) found.push(`${i}: ${says}`);
  }
  return found;
};
let skipped = 0;
for (const [name, runs] of Object.entries(expected)) {
  if (name !== '' && !page.variant(name)) {
    skipped += 1; // its order is decided while it runs: the page carries its figures only
    continue;
  }
  const side = await page.side(name === '' ? null : name);
  for (const want of runs) {
    const where = `${name || 'as recorded'}, device ${want.device}, host ${want.host}`;
    const run = page.run(side, { device: want.device, host: want.host, names: new Map() }, true);
    for (const [what, got] of Object.entries(said(run))) check(`${where}: ${what}`, got, want[what]);
    check(`${where}: colours`, strangers(run), []);
    check(`${where}: provenance`, mismeasured(run, await page.side(null)), []);
  }
}
// What an engine makes comes one after the other, each in the room of the one before.
const rowsText = (run) => JSON.stringify(rowsOf(run).rows.map((row) => [row.title, row.busy, checksum(row.begin), checksum(row.end),
  checksum(row.cls), row.task.reduce((sum, task, i) => (sum * 31 + task + row.label[i] * 7) % 16777213, 0)]));
const own = await Document.open((id) => blocks.get(id));
const carried = Object.keys(expected).filter((name) => name !== '' && page.variant(name));
for (const name of [...carried, ...[...carried].reverse(), ...carried.filter((_, i) => i % 2 === 0)]) {
  const variant = page.variant(name);
  own.adopt({ variant: { ...variant, name: 'engine' }, strings: [], bytes: await inflate(blocks.get(variant.block)) });
  const side = await own.side('engine');
  for (const want of [expected[name][0], expected[name][7], expected[name][0]]) {
    const factors = { device: want.device, host: want.host, names: new Map() };
    const where = `${name} after another, device ${want.device}, host ${want.host}`;
    const run = own.run(side, factors, true);
    const alone = page.run(await page.side(name), factors);
    check(`${where}: rows`, rowsText(run), rowsText(alone));
    for (const [what, got] of Object.entries(said(run))) check(`${where}: ${what}`, got, want[what]);
    check(`${where}: curves`, run.memory.map((c) => [checksum(c.times), checksum(c.live)]),
      alone.memory.map((c) => [checksum(c.times), checksum(c.live)]));
  }
}
for (const line of wrong.slice(0, 20)) console.error(line);
console.log(`${traces.join(' ')}: ${compared} figures compared, ${wrong.length} differ, `
  + `${skipped} what-ifs not carried, ${(html.length / 1e6).toFixed(2)} MB`);
process.exit(wrong.length === 0 ? 0 : 1);
