// The engine of the page against the program on random graphs and changes, bit for bit:
// node equal_random.mjs PAGE_POINTS OUT COUNT
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Document } from '../../../apps/explorer/page/model/document.mjs';
import { Engine } from '../../../apps/explorer/page/model/engine.mjs';
import { said } from './points.mjs';

const [program, out, count] = process.argv.slice(2);
execFileSync(program, [out, '--random', count], { stdio: 'inherit' });
const engine = await Engine.start();
let compared = 0;
const wrong = [];
for (const [seed, { facts, blocks, expected }] of JSON.parse(readFileSync(`${out}.json`, 'utf8')).entries()) {
  const page = new Document(facts, (id) => blocks[id], engine);
  for (const [name, runs] of Object.entries(expected)) {
    const side = await page.side(name === '' ? null : name);
    for (const want of runs) {
      const run = page.run(side, { device: want.device, host: want.host, names: new Map() }, true);
      for (const [what, got] of Object.entries(said(run))) {
        compared += 1;
        if (JSON.stringify(got) === JSON.stringify(want[what])) continue;
        wrong.push(`${seed} ${name}, device ${want.device}, host ${want.host}: ${what}: the page says ${JSON.stringify(got)}, C++ ${JSON.stringify(want[what])}`);
      }
    }
  }
  for (const { graph } of page.loaded.values()) engine.close(graph);
}
for (const line of wrong.slice(0, 20)) console.error(line);
console.log(`${count} random graphs: ${compared} figures compared, ${wrong.length} differ`);
process.exit(wrong.length === 0 && compared > 0 ? 0 : 1);
