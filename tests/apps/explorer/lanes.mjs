// Which lanes the first view of a timeline has, over random graphs of several ranks; what its ticks say at every zoom.
import { rowsOf } from '../../../apps/explorer/page/view/rows.mjs';
import { tickTime } from '../../../apps/explorer/page/view/format.mjs';

let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
let drawn = 7;
const below = (most) => {
  drawn ^= drawn << 13;
  drawn ^= drawn >>> 17;
  drawn ^= drawn << 5;
  return (drawn >>> 0) % most;
};

/** A run with one task on each of its lanes, as long as chance has it. */
function runOf(ranks) {
  const lanes = [];
  for (let rank = 0; rank < ranks; ++rank) {
    for (let k = 1 + below(4); k > 0; --k) lanes.push({ kind: 'stream', rank, number: k, name: '' });
    for (let k = 1 + below(5); k > 0; --k) lanes.push({ kind: 'host_thread', rank, number: k, name: `thread ${k} (pt_autograd_0)` });
  }
  const size = lanes.length;
  const duration = Int32Array.from(lanes, (lane) => (1 + below(1000)) * (lane.kind === 'stream' ? 1 : 100)); // threads are busier
  const points = new Float64Array(2 * size);
  for (let i = 0; i < size; ++i) points[2 * i + 1] = duration[i];
  const graph = { size, lane: Int32Array.from(lanes, (_, i) => i), kind: Uint8Array.from(lanes, (lane) => (lane.kind === 'stream' ? 2 : 0)),
    origin: null, first_part: new Int32Array(size + 1), part_duration: [], part_label: [], work: new Int32Array(size), lane_source: new Int32Array(size).fill(-1) };
  return { graph, lanes, points, works: [{ kind: 2, class: 0, part: 0 }], weights: { duration, segment: new Int32Array(size) }, room: {} };
}

for (let i = 0; i < 100; ++i) {
  const run = runOf(1 + below(12));
  const streams = run.lanes.filter((lane) => lane.kind === 'stream').length;
  const ranks = new Set(run.lanes.map((lane) => lane.rank)).size;
  const { rows, left } = rowsOf(run);
  const shown = rows.filter((row) => !row.isHost).length;
  check(shown === streams || rows.every((row) => !row.isHost), `${shown} of ${streams} streams are shown beside threads`);
  check(rows.length + left === run.lanes.length, 'every lane is shown or counted');
  if (streams + ranks <= 64) check(new Set(rows.filter((row) => row.isHost).map((row) => row.lane.rank)).size === ranks, 'each rank has its busiest thread');
  const every = rowsOf(run, true);
  check(every.rows.length === run.lanes.length && every.left === 0, 'all lanes can be opened');
  check(every.rows.every((row) => !row.isHost || /autograd thread \d+$/.test(row.title)), 'what a thread does stands before its number');
}

// a thread of the backward pass is called so, whatever the recording calls it; one that does more is not
for (let i = 0; i < 100; ++i) {
  const run = runOf(1);
  run.graph.phase = Uint8Array.from(run.lanes, () => 1 + below(3));
  run.lanes.forEach((lane) => { if (lane.kind === 'host_thread') lane.name = `thread ${lane.number} (python)`; });
  for (const row of rowsOf(run, true).rows) {
    const isBackward = row.isHost && run.graph.phase[row.task[0]] === 2;
    check(row.title.startsWith('autograd thread ') === isBackward, `${row.title} does phase ${run.graph.phase[row.task[0]]}`);
  }
}

for (let step = 1; step < 1e10; step *= 10) {
  for (const f of [1, 2, 5]) {
    for (const from of [0, 1e6, 1e9, 37e9]) {
      const begin = Math.ceil(from / (step * f));
      const texts = [...Array(8).keys()].map((k) => tickTime((begin + k) * step * f, step * f, (begin + 8) * step * f));
      check(new Set(texts).size === texts.length, `ticks come twice: ${texts}`);
    }
  }
}
console.log(failures === 0 ? 'lanes and ticks are as they should be' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
