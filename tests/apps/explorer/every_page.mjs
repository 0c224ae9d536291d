// Every kind of page that the program makes, one of each, for tests that ask the same of all of them.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const trace = 'examples/traces/demo_generated_cnn_memory.json.gz';

/** A server, and the address that it prints. */
export async function served(foretrace, ...words) {
  const server = spawn(foretrace, ['serve', '--quiet', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  for await (const part of server.stdout) {
    told += part;
    if (told.endsWith('\n')) break;
  }
  return { server, address: told.trim() };
}

/** {pages: [name, address], stop}; run from the root of the project. `isDocs`: also the documentation, which is pages without scripts. */
export async function everyPage(foretrace, work, isDocs = false) {
  mkdirSync(work, { recursive: true });
  const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const sweep = join(work, 'results');
  run('sweep', '--quiet', 'examples/recipes/sweeps/gpt3_512.json', '-o', sweep);
  const pages = [['a run', 'report', trace, '--apply', 'mixed_precision'],
    ['a job', 'report', 'tests/fixtures/job'], ['two runs', 'compare', trace, 'examples/traces/demo_generated_cnn.json.gz'],
    ['a plan', 'report', '--scenario', 'examples/recipes/report/pipeline.json'],
    ['a cluster', 'report', '--scenario', 'configs/scenarios/gpt3_175b_selene.json'],
    ['serving', 'report', '--scenario', 'configs/scenarios/llama3_70b_decode.json'],
    ['a sweep', 'report', '--sweep', sweep]].map(([name, ...words]) => {
    const page = join(work, `${name.replace(' ', '_')}.html`);
    run(...words, '-o', page);
    return [name, `file://${resolve(page)}`];
  });
  const servers = [await served(foretrace, '--each', trace, 'tests/fixtures/job')];
  const stack = encodeURIComponent(JSON.stringify([{ name: 'batch_size', parameters: { factor: '2' } }, { name: 'mixed_precision', parameters: {} }]));
  pages.push(['a served run', `${servers[0].address}&stack=${stack}`]);
  if (isDocs) {
    servers.push(await served(foretrace, '--docs'));
    for (const [name, path] of [['documentation', ''], ['the gallery', 'gallery/README.md'], ['the glossary', 'concepts/README.md'], ['a study', 'studies/h100/README.md']]) pages.push([name, servers[1].address + path]);
  }
  return { pages, stop: () => servers.forEach(({ server }) => server.kill('SIGKILL')) };
}
