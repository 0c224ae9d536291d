// The pictures of examples/recipes/report: pictures.mjs CHROMIUM FORETRACE FOLDER [NAME] [--traces FOLDER] [--dark|--light] [--width N]
// Five cases: one device, many ranks with a straggler, memory, a pipeline, a sweep. The first three are recordings of real
// programs, which lie below the folder of --traces (../shared/traces); without it, generated ones.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [chromium, foretrace, folder, ...words] = process.argv.slice(2);
const theme = words.find((word) => word.startsWith('--dark') || word.startsWith('--light'));
const width = words.includes('--width') ? Number(words[words.indexOf('--width') + 1]) : 1360;
const traces = words.includes('--traces') ? words[words.indexOf('--traces') + 1] : null;
const only = words.find((word) => /^[a-z_]+$/.test(word));
const real = (...names) => names.map((name) => join(traces, name));
const work = mkdtempSync(join(tmpdir(), 'foretrace-pictures-'));
const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const sweep = join(work, 'results');

const cases = [
  { name: 'one_device', height: 1010, words: traces ? real('saf_amg/n28_baseline_a100.json.gz') : ['examples/traces/demo_generated_cnn_memory.json.gz'] },
  { name: 'four_ranks', height: 1100, dark: true, words: traces ? real(...[0, 1, 2, 3].map((rank) => `torchrec_dlrm_v100x4/straggler_rank${rank}.json.gz`)) : ['tests/fixtures/job'] },
  { name: 'pipeline', height: 950, words: ['--scenario', 'examples/recipes/report/pipeline.json'] },
  { name: 'memory', height: 1150, words: [traces ? real('kineto_resnet50/workers0_v100.json.gz')[0] : 'examples/traces/demo_generated_cnn_memory.json.gz', '--apply', 'activation_checkpointing'] },
  { name: 'sweep', height: 1400, dark: true, words: ['--sweep', sweep] },
];

for (const { name, height, dark, words: shown } of cases) {
  if (only && only !== name) continue;
  if (name === 'sweep') run('sweep', 'examples/recipes/sweeps/gpt3_512.json', '-o', sweep);
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
