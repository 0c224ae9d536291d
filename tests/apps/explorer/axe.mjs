// axe-core on every kind of page, light and dark, on a wide screen, a small one and a phone: axe.mjs BROWSER FORETRACE WORK
// The environment variable FORETRACE_AXE names axe.min.js, or a folder of npm that has axe-core; it is not shipped with the project.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, pause } from './browser.mjs';
import { everyPage } from './every_page.mjs';

const [program, foretrace, work] = process.argv.slice(2);
const named = process.env.FORETRACE_AXE ?? '';
const library = [named, ...['axe.min.js', 'axe-core/axe.min.js', 'node_modules/axe-core/axe.min.js'].map((name) => join(named, name))]
  .find((path) => named !== '' && existsSync(path) && statSync(path).isFile());
if (!library) {
  console.log(named === '' ? 'SKIPPED: FORETRACE_AXE names no axe.min.js' : `no axe.min.js at FORETRACE_AXE=${named}`);
  process.exit(named === '' ? 0 : 1);
}
const axe = readFileSync(library, 'utf8');
let failures = 0;
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];
const broken = `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] }).then(({ violations, passes }) => JSON.stringify({
  passes: passes.length, violations: violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 160), nodes[0].failureSummary.slice(0, 300)]) }))`;

const { pages, stop } = await everyPage(foretrace, work, true);
let checked = 0;
try {
  for (const dark of [false, true]) {
    const browser = await Browser.start(program, { dark });
    try {
      for (const [name, url] of pages) {
        await browser.open(url);
        await browser.run(`${axe};0`);
        for (const width of [1440, 1024, 390]) {
          await browser.resize(width, 900);
          await pause(700);
          let { violations, passes } = JSON.parse(await browser.run(broken));
          // what scrolls is made reachable when there is time
          for (let i = 0; i < 10 && violations.some(([rule]) => rule === 'scrollable-region-focusable'); ++i) {
            await pause(500);
            ({ violations, passes } = JSON.parse(await browser.run(broken)));
          }
          checked += 1;
          if (passes < 10) violations.push(['axe', 1, `only ${passes} rules found anything to check`, '']);
          failures += violations.length;
          for (const each of violations) console.error(`failed: ${name}, ${dark ? 'dark' : 'light'}, ${width} px: ${each.join(' | ')}`);
        }
      }
    } finally {
      await browser.stop();
    }
  }
} finally {
  stop();
}
console.log(failures === 0 ? `axe finds nothing on ${checked} pages` : `${failures} violations on ${checked} pages`);
process.exit(failures === 0 ? 0 : 1);
