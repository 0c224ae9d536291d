// What tests of the page's engine compare, on any Node.
import { inflateRawSync } from 'node:zlib';
import { uses } from '../../../apps/explorer/page/model/engine.mjs';

// Older Node does not know 'deflate-raw', which every browser does.
globalThis.DecompressionStream = class extends TransformStream {
  constructor() {
    const chunks = [];
    super({ transform: (chunk) => { chunks.push(chunk); },
      flush: (out) => out.enqueue(new Uint8Array(inflateRawSync(Buffer.concat(chunks)))) });
  }
};

/** Over all points, as page_points computes it: two 24-bit sums, each exact in a double. */
export function checksum(points) {
  let a = 1;
  let b = 0;
  for (let i = 0; i < points.length; ++i) {
    const low = points[i] % 16777216;
    const high = Math.floor(points[i] / 16777216) % 16777216;
    a = (a * 31 + low + high * 7) % 16777213;
    b = (b + a) % 16777213;
  }
  return `${b}:${a}`;
}

/** What the page says of a run, as page_points writes it. */
export const said = (run) => ({ points: checksum(run.points), step: run.answer.step, breakdown: uses.map((use) => run.breakdown[use]),
  memory: run.memory.map((c) => [c.rank, c.device, c.peak, c.at]) });
