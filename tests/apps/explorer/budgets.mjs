// All budgets of the page beside what it takes, on a machine that does nothing else:
// node --experimental-websocket tests/apps/explorer/budgets.mjs BROWSER FORETRACE TRACE
// With the program as users run it (the release preset) and the largest trace at hand.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [program, foretrace, trace] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'foretrace-budgets-'));
const node = (script, ...words) => execFileSync(process.execPath,
  ['--experimental-websocket', join(here, script), ...words], { stdio: 'inherit' });
try {
  const page = join(work, 'page.html');
  execFileSync(foretrace, ['report', trace, '-o', page], { stdio: 'ignore' });
  const code = readFileSync(page, 'utf8').match(/<(script type="module"|style)>[^]*?<\/(script|style)>/g);
  console.log(`processes that wait for a processor meanwhile: ${loadavg()[0].toFixed(1)}`);
  console.log(`code in the page: ${(code.join('').length / 1e3).toFixed(0)} KB (budget 200)`);
  node('measure.mjs', program, page);
  node('served.mjs', program, foretrace, '--times', trace);
} finally {
  rmSync(work, { recursive: true });
}
