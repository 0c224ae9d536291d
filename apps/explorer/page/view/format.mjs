// Figures with their units, as apps/report/text.cpp writes them.

const units = [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3], ['ns', 1]];
const unitOf = (ns) => units.find(([, size]) => Math.abs(ns) >= size) ?? units[3];

function digitsOf(value, digits) {
  const before = value === 0 ? 1 : Math.max(1, Math.floor(Math.log10(Math.abs(value))) + 1);
  return value.toFixed(Math.max(0, digits - before)).replace('-', '\u2212');
}

/** A time in the unit and with the decimals of `scale`. */
export function time(ns, scale = ns) {
  const [unit, size] = unitOf(scale === 0 ? ns : scale);
  const [whole] = [Math.abs(scale / size)];
  const decimals = unit === 'ns' ? 0 : Math.max(0, 4 - Math.max(1, Math.floor(Math.log10(whole || 1)) + 1));
  return `${(ns / size).toFixed(decimals).replace('-', '\u2212')} ${unit}`;
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

/** The name of a device function without return type, argument list and framework namespaces. */
export function shortName(name) {
  const plain = name.replace(/^void /, '').replaceAll('(anonymous namespace)::', '')
    .replace(/\b(at::native|at::cuda|at|cutlass|std|c10|cub)::/g, '');
  const head = plain.split(/[<(]/)[0] || plain;
  const inner = plain.match(/[A-Za-z0-9_]*(?:kernel_impl|Functor|kernel_cuda|_op)\w*/g);
  const last = inner ? inner[inner.length - 1] : '';
  return last && !head.includes(last) ? `${head} \u00b7 ${last}` : head;
}

export const roughly = (value) => digitsOf(value, 3);
