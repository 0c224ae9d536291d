// The equality test on every recording of a folder: node equal_all.mjs PAGE_POINTS WORK FOLDER
// Files that are no run, such as tables and notes, are counted with what the program says of them.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const [program, work, folder] = process.argv.slice(2);
const equal = join(dirname(fileURLToPath(import.meta.url)), 'equal.mjs');
const files = (path) => readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
  (entry.isDirectory() ? files(join(path, entry.name)) : [join(path, entry.name)]));
const traces = files(folder).filter((path) => !/\.(md|txt|csv|py)$/.test(path)).sort();

/** Ranks of one job: names that differ in the number behind "rank" alone. */
const jobs = new Map();
for (const path of traces) {
  const job = path.replace(/rank\d+/, 'rank*');
  if (job !== path) jobs.set(job, [...(jobs.get(job) ?? []), path]);
}
const inputs = [...traces.map((path) => [path]), ...[...jobs.values()].filter((ranks) => ranks.length > 1)];

const sum = { equal: 0, differ: 0, none: 0, figures: 0 };
for (const input of inputs) {
  const names = input.map((path) => relative(folder, path)).join(' ');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--max-old-space-size=8192', equal, program, work, ...input],
    { encoding: 'utf8', timeout: 600000, maxBuffer: 1 << 26 });
  const last = stdout.trim().split('\n').pop();
  const figures = Number(/: (\d+) figures compared/.exec(last)?.[1] ?? 0);
  sum.figures += figures;
  if (status === 0) sum.equal += 1;
  else if (status === 2) sum.none += 1;
  else sum.differ += 1;
  const told = status === 2 ? `no page: ${stderr.trim().split('\n').pop()}` : last.slice(last.lastIndexOf(': ') + 2);
  console.log(`${names}: ${told}${status === 0 || status === 2 ? '' : ` DIFFERS ${stderr.slice(0, 2000)}`}`);
}
for (const end of ['html', 'json']) rmSync(`${work}.${end}`, { force: true });
console.log(`${inputs.length} inputs: ${sum.equal} equal in ${sum.figures} figures, ${sum.differ} differ, ${sum.none} make no page`);
process.exit(sum.differ === 0 && sum.equal > 0 ? 0 : 1);
