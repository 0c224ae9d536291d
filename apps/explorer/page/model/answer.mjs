// What the page says of a run: the figures of the document that the program answers with. What no
// document holds, a slider that was moved, is simulated here and has the same shape.
import { isDevice } from './engine.mjs';

/** Parts of a step: key here, key in documents, in words. They are in the order of the bars. */
export const partsOfStep = [['compute', 'compute_ns', 'device computes'],
  ['communication', 'communication_exposed_ns', 'exposed communication'],
  ['waiting', 'communication_waiting_ns', 'waiting for late ranks'], ['copy', 'memory_copy_ns', 'device copies'],
  ['host', 'host_bound_ns', 'device waits for the host'], ['idle', 'idle_ns', 'latencies and gaps']];

const escaped = (key) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const largest = (peaks) => peaks.reduce((most, each) => (most === null || each.bytes > most.bytes ? each : most), null);

/**
 * A run as the views show it: {at, step, stepAt, parts: [{key, name, ns, at}], peak: {bytes, at} or null, provenance}; of a
 * prediction in a document also its speedup and timeRatio.
 * `at`: the place of the run in the document; one that was simulated here has `isSimulated`, and its places are those in the
 * document of the command that would answer the same.
 */
export function sideOfDocument(answer, at) {
  const run = answer[at.slice(1)];
  const peaks = Object.entries(run.memory ?? {}).map(([device, { allocated_peak_bytes: bytes }]) =>
    ({ bytes, at: `${at}/memory/${escaped(device)}/allocated_peak_bytes` }));
  return { at, speedup: answer.speedup, timeRatio: answer.time_ratio, step: run.step_ns, stepAt: `${at}/step_ns`, peak: largest(peaks),
    parts: partsOfStep.map(([key, name, words]) => ({ key, name: words, ns: run.breakdown[name], at: `${at}/breakdown/${name}` })),
    provenance: Object.entries(run.provenance ?? {}).map(([name, share]) => ({ name, share, at: `${at}/provenance/${name}` })) };
}

/** The same of a run that was simulated here; `breakdown` and `memory` as the engine has them. */
export function sideOfRun({ answer, breakdown, memory }, at = '/predicted') {
  return { at, isSimulated: true, step: answer.step, stepAt: `${at}/step_ns`, provenance: [],
    peak: largest(memory.map(({ rank, device, peak }) => ({ bytes: peak, at: `${at}/memory/${rank}~1${device}/allocated_peak_bytes` }))),
    parts: partsOfStep.map(([key, name, words]) => ({ key, name: words, ns: breakdown[key], at: `${at}/breakdown/${name}` })) };
}

/** What the stages of a plan do, by rank. */
function busyOf({ graph, lanes, weights }) {
  const { kind, lane } = graph;
  const sums = new Map();
  for (let i = 0; i < graph.size; ++i) {
    if (!isDevice(kind[i])) continue;
    const { rank } = lanes[lane[i]];
    sums.set(rank, (sums.get(rank) ?? 0) + weights.duration[i]);
  }
  return sums;
}

/**
 * A planned step under sliders, in the parts of the document: what its slowest stage does takes as much longer as its tasks do,
 * collectives inside of them too; sends between stages stay; the rest of the step it waits.
 */
export function sideOfPlan(answer, now, then) {
  const before = busyOf(now);
  const stage = [...before].reduce((most, each) => (each[1] > most[1] ? each : most))[0];
  const longer = busyOf(then).get(stage) / before.get(stage);
  const { breakdown } = answer.predicted;
  const sends = Math.min(answer.scenario.exposed_ns.pipeline ?? 0, breakdown.communication_exposed_ns);
  const side = sideOfRun(then);
  const ns = Object.fromEntries(partsOfStep.map(([key, name]) => [key, breakdown[name]]));
  ns.compute = Math.round(ns.compute * longer);
  ns.communication = Math.round((ns.communication - sends) * longer) + sends;
  ns.idle = 0;
  const rest = side.step - Object.values(ns).reduce((sum, each) => sum + each, 0);
  ns[rest < 0 ? 'compute' : 'idle'] += rest;
  for (const part of side.parts) part.ns = ns[part.key];
  return side;
}

/** Both runs of a comparison: [before, after]. */
export function sidesOfComparison(answer, runs) {
  return ['before', 'after'].map((when, k) => ({ ...sideOfRun(runs[k]), isSimulated: false, step: answer[`${when}_ns`], stepAt: `/${when}_ns`,
    parts: answer.uses.map((use, i) => ({ key: partsOfStep.find(([, , words]) => words === use.name)?.[0] ?? 'idle', name: use.name,
      ns: use[`${when}_ns`], at: `/uses/${i}/${when}_ns` })) }));
}
