// What a page shows follows from its state alone: what-ifs and sliders are moved at random, and now and then the whole page is
// compared with one that is opened freshly in the same state. Then the command that the page shows must answer what it shows.
// states.mjs FORETRACE WORK SEED MOVES report ARGUMENTS...
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openPage, pause } from './dom.mjs';
import { walkFigures } from './figures.mjs';

const [foretrace, work, seed, moves, ...words] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const page = join(work, 'page.html');
execFileSync(foretrace, [...words, '-o', page, '--quiet'], { stdio: ['ignore', 'ignore', 'inherit'] });

let failures = 0;
const fail = (text) => {
  failures += 1;
  if (failures <= 10) console.error(`failed: ${text}`);
};

// Numbers by xorshift: the same on every machine.
let drawn = Number(seed) || 1;
const below = (most) => {
  drawn ^= drawn << 13;
  drawn ^= drawn >>> 17;
  drawn ^= drawn << 5;
  return (drawn >>> 0) % most;
};

/** All that a reader gets, line by line: elements with their attributes, texts, what is switched on; and the texts of the canvas. */
function linesOf(shown) {
  const lines = [];
  const write = (element, depth) => {
    if (['script', 'style'].includes(element.localName)) return;
    const attributes = [...element.attributes].filter(([name]) => name !== 'checked').map(([name, value]) => ` ${name}="${value}"`).sort().join('');
    const input = element.localName === 'input' ? ` value ${element.value} on ${element.checked}` : '';
    lines.push(`${' '.repeat(depth)}<${element.localName}${attributes}>${input}`);
    for (const each of element.childNodes) {
      if (each.data === undefined) write(each, depth + 1);
      else if (each.data.trim()) lines.push(`${' '.repeat(depth + 1)}${each.data}`);
    }
  };
  write(shown.body, 0);
  return [...lines, ...shown.byId('timeline').querySelector('canvas').texts];
}

/** Once nothing comes any more. What a user has chosen and where the timeline stands is no part of it. */
async function picture(shown) {
  let lines = [];
  for (let i = 0; i < 40; ++i) {
    for (const key of ['Escape', '0']) shown.byId('timeline').dispatchEvent({ type: 'keydown', key });
    await pause(200);
    const before = lines;
    lines = linesOf(shown);
    if (before.join('\n') === lines.join('\n')) break;
  }
  return lines;
}

/** Moves one thing that a user can move. */
function move(shown) {
  const switches = shown.root.querySelectorAll('#what-ifs input').filter((input) => !input.disabled);
  const sliders = ['slider-device', 'slider-host'].map((id) => shown.byId(id)).filter((input) => !input.closest('label').hidden);
  const kind = below(10);
  if (kind < 5 && switches.length > 0) {
    switches[below(switches.length)].click();
  } else if (kind < 7) {
    const slider = sliders[below(sliders.length)];
    slider.value = below(3) === 0 ? 11 : below(18);
    slider.dispatchEvent({ type: 'input' });
  } else if (kind < 9) {
    // walk to a slice; its own slider, if it has one
    const timeline = shown.byId('timeline');
    for (let i = 0; i < 1 + below(4); ++i) timeline.dispatchEvent({ type: 'keydown', key: ['ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowUp'][below(4)] });
    const own = shown.byId('slice').querySelector('input');
    if (own && below(2) === 0) {
      own.value = 5 * below(41);
      own.dispatchEvent({ type: 'input' });
    }
  } else {
    shown.byId('reset').click();
  }
}

/** Under sliders, too: the command in the page answers what the page shows. */
function checkCommand(shown, hash) {
  if (shown.byId('command').hidden) return false;
  const text = shown.byId('command').textContent;
  if (!text.includes('--apply') || words.includes('--scenario')) return false;
  const file = (name) => words.find((word) => basename(word) === name) ?? name; // a page knows no folders
  const command = text.match(/(?:[^\s']|'(?:[^']|'\\'')*')+/g).slice(1)
    .map((word) => file(word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word));
  const answer = JSON.parse(execFileSync(foretrace, [...command, '--json'],
    { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
  for (const id of ['sentence', 'figures', 'range', 'bars', 'uses']) {
    const found = walkFigures(shown.byId(id), { answer }, true);
    figures += found.compared;
    for (const text of found.strange) fail(`${hash}, against ${text}: ${text}`);
  }
  return true;
}

let at = await openPage(page);
let compared = 0;
let asked = 0;
let figures = 0;
for (let i = 0; i < Number(moves); ++i) {
  for (let k = 1 + below(6); k > 0; --k) {
    move(at);
    if (below(3) === 0) await pause(below(150));
  }
  const one = await picture(at);
  const hash = at.hash();
  if (checkCommand(at, hash)) asked += 1;
  const fresh = await openPage(page, hash);
  const other = await picture(fresh);
  compared += one.length;
  const differs = one.findIndex((line, k) => line !== other[k]);
  if (differs >= 0 || one.length !== other.length) {
    fail(`move ${i}, ${hash}: the page has\n  ${one.slice(differs, differs + 3).join('\n  ')}\nand freshly opened\n  ${other.slice(differs, differs + 3).join('\n  ')}`);
  }
  at = fresh; // which goes on from there
}
console.log(`${words.slice(1).join(' ')}: ${moves} states as freshly opened, ${compared} lines compared, ${asked} commands asked for ${figures} figures, ${failures} fail`);
process.exit(failures === 0 ? 0 : 1);
