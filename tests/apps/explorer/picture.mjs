// A picture of a page: picture.mjs CHROMIUM FORETRACE OUT.png [--dark] [--top N] TRACE...
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [chromium, foretrace, out, ...rest] = process.argv.slice(2);
const dark = rest[0] === '--dark';
const page = `${out}.html`;
execFileSync(foretrace, ['report', ...rest.slice(dark ? 1 : 0), '-o', page], { stdio: 'ignore' });
const browser = await Browser.start(chromium, { dark, width: 1360, height: 1010 });
try {
  await browser.open(`file://${resolve(page)}`);
  await pause(500);
  writeFileSync(out, await browser.picture());
} finally {
  await browser.stop();
  rmSync(page);
}
