// What a timeline is made of, over random runs: tracks and their places, links, sums, search, time added up, late ranks, colours.
import { readFileSync } from 'node:fs';
import { Layers } from '../../../apps/explorer/page/model/layers.mjs';
import { boxesOf } from '../../../apps/explorer/page/view/added.mjs';
import { sumsOf } from '../../../apps/explorer/page/view/area.mjs';
import { addView, markOf, readView } from '../../../apps/explorer/page/view/link.mjs';
import { lateClass, waitClass } from '../../../apps/explorer/page/view/palette.mjs';
import { found } from '../../../apps/explorer/page/view/search.mjs';
import { lateRank } from '../../../apps/explorer/page/view/shown_run.mjs';
import { Tracks } from '../../../apps/explorer/page/view/tracks.mjs';

let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    if (failures < 20) console.error(`failed: ${text}`);
  }
};
let drawn = 11;
const below = (most) => {
  drawn ^= drawn << 13;
  drawn ^= drawn >>> 17;
  drawn ^= drawn << 5;
  return (drawn >>> 0) % most;
};
const some = (count, made) => Array.from({ length: count }, (_, k) => made(k));

/** A row of slices, one behind the other with gaps. */
function rowOf(rank, number, isHost) {
  let at = below(50);
  const slices = some(1 + below(30), () => {
    const begin = at;
    at += 1 + below(100);
    const end = at;
    at += below(20);
    return { begin, end, cls: [0, 2, waitClass, lateClass][below(4)] };
  });
  const of = (name) => Float64Array.from(slices, (slice) => slice[name]);
  const waits = (cls) => cls === waitClass || cls === lateClass;
  return { title: `${isHost ? 'thread' : 'stream'} ${number}`, key: `${rank}${isHost ? 'h' : 's'}-${number}`, rank, isHost, begin: of('begin'), end: of('end'), cls: of('cls'),
    label: Int32Array.from(slices, () => -1), task: Int32Array.from(slices, (_, k) => k), lane: { rank },
    busy: slices.reduce((sum, { begin, end, cls }) => sum + (waits(cls) ? 0 : end - begin), 0) };
}

function runOf(ranks) {
  const rows = some(ranks, (rank) => [...some(1 + below(3), (k) => rowOf(rank, k, false)), ...some(1 + below(3), (k) => rowOf(rank, k, true))]).flat();
  const span = Math.max(...rows.map((row) => row.end[row.end.length - 1]));
  return { rows, lanes: rows.map(({ rank }) => ({ rank })), span, shift: below(30), memory: [{ rank: 0, device: 0, title: 'memory', peak: 1 }], one: below(2) ? { begin: 10, end: 200 } : undefined,
    graph: { work: Int32Array.from({ length: 64 }, (_, k) => k % 5) } };
}

for (let i = 0; i < 200; ++i) {
  const run = runOf(1 + below(6));
  const sides = below(2) ? [run] : [run, runOf(new Set(run.rows.map(({ rank }) => rank)).size)];
  const tracks = new Tracks();
  const late = lateRank(run);
  if (late) {
    tracks.late.set(late.rank, '1 ms');
    tracks.longest = late.longest;
  }
  for (let k = below(8); k > 0; --k) {
    const row = run.rows[below(run.rows.length)];
    [() => tracks.turn(row.key), () => tracks.pin(row.key), () => tracks.turn(`r${row.rank}`), () => tracks.opened.add(row.rank)][below(4)]();
  }

  // tracks lie below each other, in their side, and no rank is without a device
  const { places, height } = tracks.layout(sides, 26);
  places.reduce((bottom, place) => {
    check(place.y >= bottom, `places overlap: ${JSON.stringify([place.title, place.y, bottom])}`);
    return place.y + place.height;
  }, 26);
  check(height >= Math.max(...places.map((place) => place.y + place.height)), 'all places are within the picture');
  sides.forEach((side, s) => {
    const own = places.filter((place) => place.side === s && place.row);
    for (const rank of new Set(side.rows.map((row) => row.rank))) {
      check(own.some(({ row }) => row.rank === rank && !row.isHost), `rank ${rank} has no device track while others show`);
    }
    check(own.filter(({ group }) => group === undefined).length === new Set(own.filter(({ group }) => group === undefined).map(({ row }) => row.key)).size, 'a track comes once');
  });
  const pinned = places.filter((place) => place.side === 0 && place.row && tracks.pinned.has(place.key));
  const first = places.filter((place) => place.side === 0 && !place.isTitle).slice(0, pinned.length);
  check(pinned.every((place) => first.includes(place)), 'pinned tracks come first');

  // a link is what was shown
  const chosenRow = run.rows[below(run.rows.length)];
  const timeline = { tracks, hasSteps: Boolean(run.one), isStep: below(2) === 0, from: below(50), to: 60 + below(50), isAll: () => false,
    chosen: { side: 0, row: chosenRow, i: below(chosenRow.begin.length) } };
  const parts = new URLSearchParams();
  addView(parts, timeline);
  const again = { tracks: new Tracks() };
  const asked = readView(new URLSearchParams(parts.toString()), again);
  for (const name of ['every', 'opened', 'pinned', 'turned']) check(String([...[again.tracks[name]].flat()].map((each) => (each.size === undefined ? each : [...each]))) === String([tracks[name]].map((each) => (each.size === undefined ? each : [...each]))), `a link keeps ${name}`);
  check(asked.view.from === timeline.from && asked.view.to === timeline.to, 'a link keeps the zoom');
  check(!timeline.hasSteps || again.isStep === timeline.isStep, 'a link keeps step or run');
  const mark = markOf(sides, asked.chosen);
  check(mark.row === timeline.chosen.row && mark.i === timeline.chosen.i, 'a link keeps the slice');

  // sums of a part are those of its slices, cut at its ends
  const area = { from: below(100) - 20, to: 100 + below(200) };
  const shown = places.filter((place) => place.row);
  const { sums, busy, waits } = sumsOf(area, shown, sides, (side, row, k) => `work ${sides[side].graph.work[row.task[k]]}`);
  let all = 0;
  for (const { side, row } of shown) for (let k = 0; k < row.begin.length; ++k) all += Math.max(0, Math.min(row.end[k] - sides[side].shift, area.to) - Math.max(row.begin[k] - sides[side].shift, area.from));
  check(Math.abs(all - busy - waits) < 1e-6 && Math.abs(sums.reduce((sum, [, { ns }]) => sum + ns, 0) - busy) < 1e-6, `sums of a part: ${all} is ${busy} and ${waits}`);
  check(sums.every(([, { ns }], k) => k === 0 || ns <= sums[k - 1][1].ns), 'largest first');

  // who waits least is late
  const waited = new Map();
  const [from, to] = run.one ? [run.one.begin, run.one.end] : [0, run.span];
  for (const row of run.rows) {
    if (row.isHost) continue;
    waited.set(row.rank, (waited.get(row.rank) ?? 0) + row.begin.reduce((sum, begin, k) => sum + (row.cls[k] === lateClass && begin >= from && begin < to ? row.end[k] - begin : 0), 0));
  }
  if (late) check(waited.get(late.rank) === Math.min(...waited.values()) && waited.get(late.longest) === Math.max(...waited.values()), 'the late rank waits least');

  // boxes lie in those above, the largest left
  const grow = (depth) => {
    const parts = new Map(depth > 3 ? [] : some(below(5), (k) => [`p${k}`, grow(depth + 1)]));
    const inner = [...parts.values()].reduce((sum, part) => sum + part.ns, 0);
    return { name: 'x', ns: inner + below(50) + 1, count: 1, parts };
  };
  const boxes = boxesOf(grow(0));
  for (const box of boxes.slice(1)) {
    check(boxes.some((above) => above.depth === box.depth - 1 && above.left <= box.left + 1e-9 && box.left + box.width <= above.left + above.width + 1e-9), 'a box lies in one above it');
    check(boxes.every((other) => other === box || other.depth !== box.depth || other.left + other.width <= box.left + 1e-9 || box.left + box.width <= other.left + 1e-9), 'boxes do not overlap');
  }
}

const layers = new Layers({ layers: [[0, -1], [1, -1], [2, 1], [3, 2]], layer_runs: [0, 2, 3, 1, 1, 2] }, ['', 'net', 'net/block', 'net/block.conv']);
check([0, 1, 2, 3, 4, 5].map((task) => layers.namesOf(task, true).join('>')).join(' ') === '  net>block>conv net net ' && layers.namesOf(2).join(' ') === 'net net/block net/block.conv', 'every task has its layers');
const names = [{ kind: 'kernel', name: 'my_gemm', ns: 9 }, { kind: 'operator', name: 'aten::mm', ns: 5 }, { kind: 'kernel', name: 'gemm_small', ns: 1 }, { kind: 'layer', name: 'net.gemm', ns: 3 }];
check(String(found(names, 'gemm').map(({ name }) => name)) === 'gemm_small,my_gemm,net.gemm', 'names that begin with it come first, then by time');
check(String(found(names, 'GEMM kernel').map(({ name }) => name)) === 'my_gemm,gemm_small' || String(found(names, 'GEMM kernel').map(({ name }) => name)) === 'gemm_small,my_gemm', 'every word counts, its kind too');
check(found(names, '').length === 4 && found(names, 'none').length === 0, 'no word finds all, a foreign one nothing');

// ---- colours: far apart for every kind of vision, one meaning each, those of the pictures
const css = readFileSync(new URL('../../../apps/explorer/page/style.css', import.meta.url), 'utf8');
const themes = css.split('@media screen and (prefers-color-scheme: dark)').slice(0, 2).map((text) => Object.fromEntries([...text.slice(0, 2500).matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex]).reverse()));
const linear = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
// Machado, Oliveira and Fernandes 2009, severity 1
const visions = { normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]] };
function lab(hex, vision) {
  const rgb = linear(hex);
  const [r, g, b] = visions[vision].map((row) => Math.min(1, Math.max(0, row.reduce((sum, m, k) => sum + m * rgb[k], 0))));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
/** CIEDE2000. */
function difference([l1, a1, b1], [l2, a2, b2]) {
  const rad = Math.PI / 180;
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 1.5 - 0.5 * Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7));
  const [p, q] = [a1 * g, a2 * g];
  const [c1, c2] = [Math.hypot(p, b1), Math.hypot(q, b2)];
  const hue = (a, b) => (Math.atan2(b, a) / rad + 360) % 360;
  const [h1, h2] = [hue(p, b1), hue(q, b2)];
  const turn = h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 < -180 ? h2 - h1 + 360 : h2 - h1;
  const [dl, dc, dh] = [l2 - l1, c2 - c1, c1 * c2 === 0 ? 0 : 2 * Math.sqrt(c1 * c2) * Math.sin(turn * rad / 2)];
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const h = Math.abs(h1 - h2) > 180 ? ((h1 + h2 + 360) / 2) % 360 : (h1 + h2) / 2;
  const t = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad);
  const [sl, sc, sh] = [1 + 0.015 * (l - 50) ** 2 / Math.sqrt(20 + (l - 50) ** 2), 1 + 0.045 * c, 1 + 0.015 * c * t];
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad);
  return Math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh));
}
const device = ['product', 'norm', 'elementwise', 'movement', 'optimizer', 'collective', 'other'];
const picture = readFileSync(new URL('../../../apps/report/svg/canvas.cpp', import.meta.url), 'utf8');
const inPictures = { communication: 'collective', movement: 'movement', other: 'other', host: 'host', call: 'call', wait: 'wait', forward: 'forward', backward: 'backward', update: 'update' };
themes.forEach((theme, k) => {
  const name = ['light', 'dark'][k];
  let least = [99];
  for (const a of device) for (const b of device) if (a < b) for (const vision of Object.keys(visions)) least = [difference(lab(theme[a], vision), lab(theme[b], vision)) * (vision === 'tritan' ? 1.4 : 1), a, b, vision].map((each, i, all) => (all[0] < least[0] ? each : least[i]));
  check(least[0] >= 15, `${name}: colours are ${least} apart`);
  const all = [...device, 'host', 'call', 'wait', 'late', 'plain', 'compute', 'accent'];
  for (const a of all) for (const b of all) if (a < b) check(difference(lab(theme[a], 'normal'), lab(theme[b], 'normal')) > 4, `${name}: ${a} and ${b} look alike`);
  for (const [theirs, ours] of Object.entries(inPictures)) {
    const colour = picture.match(new RegExp(`"\\$${theirs};", "(#\\w+)", "(#\\w+)"`))?.[k + 1];
    check(colour === theme[ours], `${name}: ${ours} is ${theme[ours]}, in pictures ${colour}`);
  }
  check(theme.optimizer === theme.update, `${name}: the optimizer has one colour`);
});
const sizes = new Set([...css.matchAll(/font-size: ([^;}]+)/g)].map(([, size]) => size.trim()).filter((size) => size !== 'inherit'));
check(sizes.size <= 4, `texts have four sizes: ${[...sizes]}`);
console.log(failures === 0 ? 'parts of a timeline are as they should be' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
