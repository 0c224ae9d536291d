// What charts of points share: scales with round ticks, colours, a canvas of the right sharpness.
import { bytes, percent, time } from './format.mjs';
import { isPaper } from './paper.mjs';

/** Ticks, which are round: without the zeros behind the point that a figure has. */
export const tick = (value, unit) => figure(value, unit).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');

/** Text of a figure by its unit. */
export function figure(value, unit) {
  if (value === null || !Number.isFinite(value)) return '\u2013';
  if (value === 0) return '0';
  if (unit === 'ns') return time(value);
  if (unit === 'bytes') return bytes(value);
  if (unit === 'share') return percent(value).replace('+', '');
  return Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(3)
    : String(Number(value.toPrecision(5)));
}

/** Cividis by a share of 0 (dark) to 1 (light): even steps for every kind of colour vision. */
const cividis = [[0, 32, 77], [49, 68, 107], [102, 105, 112], [149, 143, 120], [203, 186, 105], [255, 234, 70]];
export function shade(share) {
  const at = Math.min(1, Math.max(0, share)) * (cividis.length - 1);
  const k = Math.min(cividis.length - 2, Math.floor(at));
  return `rgb(${cividis[k].map((c, i) => Math.round(c + (cividis[k + 1][i] - c) * (at - k))).join(' ')})`;
}
/** Whether white can be read better on it than black. */
export function isDark(share) {
  const [r, g, b] = shade(share).match(/\d+/g).map((v) => Number(v) / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05;
}

/** The part of the colours that shows on the panel: a dark one swallows dark colours, a light one light ones. */
const isNight = () => matchMedia('screen and (prefers-color-scheme: dark)').matches && !isPaper();
export const tone = (share) => (isNight() ? 0.22 + 0.78 * share : 0.88 * share);
/** The best stands out most: dark on light, light on dark. */
export const toneOfRank = (worse) => (isNight() ? tone(1 - worse) : tone(worse));
export const bestIs = () => (isNight() ? 'light' : 'dark');

/** Round figures between two values; times and bytes step in their own units. */
export function ticks(low, high, most, unit) {
  const span = high - low || 1;
  const base = unit === 'bytes' ? 2 : 10;
  let step = base ** Math.floor(Math.log(span / most) / Math.log(base));
  const factors = unit === 'bytes' ? [1, 2, 4, 8] : [1, 2, 5, 10];
  step *= factors.find((f) => span / (step * f) <= most) ?? 10;
  const out = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) out.push(at);
  return out;
}

/** A canvas of so many pixels of the page, and its context. */
export function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return context;
}

/** As much of a text as there is room for. */
export function fitted(context, text, room) {
  const { width } = context.measureText(text);
  return width <= room ? text : `${text.slice(0, Math.max(1, Math.floor((text.length * room) / width) - 1))}\u2026`;
}

/** A text of so many characters at most. */
export const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}\u2026`);

/** The colours of the theme that is shown. */
export function inks() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: of('ink'), soft: of('soft'), line: of('line'), panel: of('panel'), accent: of('accent'), bad: of('bad') };
}
