// The pictures of examples/09_report: pictures.mjs CHROMIUM FORETRACE FOLDER [ONLY]
// Five cases, looked at in both themes and at the width of a small window: see the files NAME_*.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [chromium, foretrace, folder, only] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'foretrace-pictures-'));
const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const sweep = join(work, 'results');

const cases = [
  { name: 'one_device', height: 1010, words: ['examples/traces/demo_generated_cnn_memory.json.gz'] },
  { name: 'four_ranks', height: 1100, dark: true, words: ['tests/fixtures/job'] },
  { name: 'pipeline', height: 900, words: ['--scenario', 'examples/09_report/pipeline.json'] },
  { name: 'sweep', height: 1260, dark: true, words: ['--sweep', sweep] },
];

for (const { name, height, dark, words } of cases) {
  if (only && only !== name) continue;
  if (name === 'sweep') run('sweep', 'examples/sweeps/gpt3_512.json', '-o', sweep);
  const page = join(work, `${name}.html`);
  run('report', ...words, '-o', page);
  const browser = await Browser.start(chromium, { dark, width: 1360, height });
  try {
    await browser.open(`file://${resolve(page)}`);
    await pause(500);
    writeFileSync(join(folder, `${name}.png`), await browser.picture());
  } finally {
    await browser.stop();
  }
}
rmSync(work, { recursive: true });
