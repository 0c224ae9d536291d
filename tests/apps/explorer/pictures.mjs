// The pictures of examples/09_report: pictures.mjs CHROMIUM FORETRACE FOLDER [NAME] [--dark|--light] [--width N]
// Further words: --dark or --light for all, --width N. Five cases: one device, many ranks with a straggler, memory,
// a pipeline, a sweep.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [chromium, foretrace, folder, ...words] = process.argv.slice(2);
const theme = words.find((word) => word.startsWith('--dark') || word.startsWith('--light'));
const width = words.includes('--width') ? Number(words[words.indexOf('--width') + 1]) : 1360;
const only = words.find((word) => /^[a-z_]+$/.test(word));
const work = mkdtempSync(join(tmpdir(), 'foretrace-pictures-'));
const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const sweep = join(work, 'results');

const cases = [
  { name: 'one_device', height: 1010, words: ['examples/traces/demo_generated_cnn_memory.json.gz'] },
  { name: 'four_ranks', height: 1100, dark: true, words: ['tests/fixtures/job'] },
  { name: 'pipeline', height: 950, words: ['--scenario', 'examples/09_report/pipeline.json'] },
  { name: 'memory', height: 1150, words: ['examples/traces/demo_generated_cnn_memory.json.gz', '--apply', 'activation_checkpointing'] },
  { name: 'sweep', height: 1400, dark: true, words: ['--sweep', sweep] },
];

for (const { name, height, dark, words: shown } of cases) {
  if (only && only !== name) continue;
  if (name === 'sweep') run('sweep', 'examples/sweeps/gpt3_512.json', '-o', sweep);
  const page = join(work, `${name}.html`);
  run('report', ...shown, '-o', page);
  const browser = await Browser.start(chromium, { dark: theme ? theme === '--dark' : dark, width, height });
  try {
    await browser.open(`file://${resolve(page)}`);
    await pause(500);
    writeFileSync(join(folder, `${name}.png`), await browser.picture());
  } finally {
    await browser.stop();
  }
}
rmSync(work, { recursive: true });
