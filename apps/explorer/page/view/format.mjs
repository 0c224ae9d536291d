// Figures with their units, as apps/report/text.cpp writes them.

/** A time in the unit and with the decimals of `scale`. */
export function time(ns, scale = ns) {
  let [unit, decimals, name] = timeUnit(Math.abs(scale || ns));
  // What is not nothing is not shown as nothing.
  if (ns !== 0 && Math.abs(ns / unit) < 0.5 * 10 ** -decimals) [unit, decimals, name] = timeUnit(Math.abs(ns));
  return `${(ns / unit).toFixed(decimals)} ${name}`.replace('-', '\u2212');
}
function timeUnit(size) {
  if (size < 1e3) return [1, 0, 'ns'];
  if (size < 1e6) return [1e3, 1, '\u00b5s'];
  if (size < 1e9) return [1e6, size < 1e7 ? 3 : size < 1e8 ? 2 : 1, 'ms'];
  return [1e9, size < 1e10 ? 3 : size < 1e11 ? 2 : 1, 's'];
}
/** A tick: as many decimals as its step needs, so that no two are alike; `most`: the largest beside it. Seconds unless they need many. */
export function tickTime(ns, step, most) {
  const [unit, name] = most < 1e6 ? [1e3, '\u00b5s'] : most < 1e9 || step < 1e6 ? [1e6, 'ms'] : [1e9, 's'];
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(Math.abs(ns) < step / 2 ? 0 : ns / unit).toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })} ${name}`.replace('-', '\u2212');
}
export const signedTime = (ns, scale = ns) => `${ns < 0 ? '\u2212' : '+'}${time(Math.abs(ns), scale)}`;

export function percent(share) {
  const value = Math.abs(share) * 100;
  const sign = share < 0 ? '\u2212' : share > 0 ? '+' : '';
  return `${sign}${value.toFixed(value < 1 ? 2 : 1)} %`;
}
export const factor = (value) => `${value.toFixed(2)}\u00d7`;
export const count = (value) => value.toLocaleString('en');

export function bytes(value) {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = value;
  let at = 0;
  while (Math.abs(size) >= 1024 && at < names.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${size.toFixed(at === 0 ? 0 : 1)} ${names[at]}`;
}

/** Names are for reading: underscores of ours become blanks. */
export const words = (name) => name.replaceAll('_', ' ');

const mostShortNames = 20000;
const shortNames = new Map();
/** The name of a device function without return type, argument list and framework namespaces. */
export function shortName(name) {
  let short = shortNames.get(name);
  if (short === undefined) {
    if (shortNames.size >= mostShortNames) shortNames.clear();
    shortNames.set(name, short = shortened(name));
  }
  return short;
}
function shortened(name) {
  const plain = name.replace(/^void /, '').replaceAll('(anonymous namespace)::', '')
    .replace(/\b(at::native|at::cuda|at|cutlass|std|c10|cub)::/g, '');
  const head = plain.split(/[<(]/)[0] || plain;
  const inner = plain.match(/[A-Za-z0-9_]*(?:kernel_impl|Functor|kernel_cuda|_op)\w*/g);
  const last = inner ? inner[inner.length - 1] : '';
  return last && !head.includes(last) ? `${head} \u00b7 ${last}` : head;
}
