// What a page is asked for, as a command of the program and as the address of a link.
import { isAsRecorded } from './engine.mjs';

/** The words of the command that answers the same; none: the program has no words for it. */
export function commandOf(facts, factors, variant) {
  const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
  const scales = [['resource=host', factors.host], ['resource=device', factors.device],
    ...[...factors.names].map(([name, value]) => [`resource=device&name=${quoted(facts.strings[name])}`, value])]
    .filter(([, value]) => value !== 1).map(([select, value]) => `scale:select=${quoted(select)},factor=${value}`);
  if (scales.length > 0 && (variant || facts.command)) return [];
  return ['foretrace', facts.command ?? 'whatif', ...facts.traces,
    ...[...(variant ? variant.apply : []), ...scales].flatMap((text) => ['--apply', text])];
}

/** Adds to the parts of a link what differs from the recorded run. */
export function addFactors(parts, factors) {
  if (isAsRecorded(factors)) return;
  for (const name of ['device', 'host']) if (factors[name] !== 1) parts.set(name, String(factors[name]));
  if (factors.names.size > 0) parts.set('kernels', [...factors.names].map((each) => each.join(':')).join(' '));
}

/** Those that a link asks for; what is out of range is as recorded. */
export function readFactors(parts, strings) {
  const factor = (name) => {
    const value = Number(parts.get(name) ?? 1);
    return Number.isFinite(value) && value >= 0 && value <= 4 ? value : 1;
  };
  return { device: factor('device'), host: factor('host'),
    names: new Map((parts.get('kernels') ?? '').split(' ').map((each) => each.split(':').map(Number))
      .filter(([name, value]) => strings[name] !== undefined && value >= 0 && value <= 2 && value !== 1)) };
}

/** The stack that a link asks for, else the what-if of that name alone. */
export function readStack(parts, name, known) {
  try {
    if (parts.has('stack')) return JSON.parse(parts.get('stack'));
  } catch {
    return [];
  }
  return name && known.has(name) ? [{ name, parameters: {} }] : [];
}
