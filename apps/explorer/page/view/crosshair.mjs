// One point of a sweep in every chart at once: lines to its values, its line across all axes, its row, its cells.
import { make } from './dom.mjs';
import { fitted, sharp } from './charts.mjs';

/** A canvas and one over it, which alone is drawn anew when the pointer moves. */
export function layered(canvas) {
  const over = make('canvas', { class: 'over', 'aria-hidden': 'true' });
  return { box: make('div', { class: 'layers' }, canvas, over), over };
}

/** Lines from a point to both axes, with its values; wiped where `at` is null. */
export function crossAt(over, size, at, texts, ink) {
  const c = sharp(over, size.width, size.height);
  c.clearRect(0, 0, size.width, size.height);
  if (!at) return;
  const [x, y] = at;
  c.fillStyle = ink.accent;
  c.fillRect(x, size.top, 1, size.bottom - size.top);
  c.fillRect(size.left, y, size.right - size.left, 1);
  const tag = (text, left, top) => {
    const shown = fitted(c, text, 160);
    const { width } = c.measureText(shown);
    const from = Math.max(0, Math.min(size.width - width - 8, left));
    c.fillStyle = ink.accent;
    c.fillRect(from, top - 9, width + 8, 18);
    c.fillStyle = ink.panel;
    c.fillText(shown, from + 4, top);
  };
  tag(texts[0], x - 30, size.bottom + 14);
  tag(texts[1], 0, y);
}

/** The line of a point across all axes. */
export function lineAcross(over, size, ys, xs, ink) {
  const c = sharp(over, size.width, size.height);
  c.clearRect(0, 0, size.width, size.height);
  if (!ys) return;
  c.strokeStyle = ink.accent;
  c.lineWidth = 3;
  c.beginPath();
  ys.forEach((y, k) => c[k === 0 ? 'moveTo' : 'lineTo'](xs[k], y));
  c.stroke();
}

/** Letters for the points of a front: all of few, of many those that are evenly apart. */
export function lettersOf(front, most = 12) {
  const count = Math.min(most, front.length);
  const letters = new Map();
  for (let k = 0; k < count; ++k) letters.set(front[count === 1 ? 0 : Math.round(k * (front.length - 1) / (count - 1))], String.fromCharCode(65 + k));
  return letters;
}
