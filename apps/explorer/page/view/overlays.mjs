// What lies over the tracks: the time that is saved, the part that is measured, the slice that is chosen.
import { time } from './format.mjs';

/** What the shorter one leaves over, hatched, with its length. */
export function drawSaved(timeline) {
  const [a, b] = timeline.sides;
  if (!b) return;
  const [ends, until] = [timeline.endOf(a), timeline.endOf(b)];
  const shorter = ends < until ? a : b;
  const left = Math.max(timeline.gutter, timeline.xOf(Math.min(ends, until)));
  const right = Math.min(timeline.width, timeline.xOf(Math.max(ends, until)));
  if (right - left < 3) return;
  const { context: c, ink } = timeline;
  const y = shorter.top + 32;
  const isWhole = !(timeline.isStep && timeline.hasSteps);
  c.globalAlpha = 0.5;
  c.fillStyle = timeline.hatchPattern();
  if (isWhole) c.fillRect(left, y, right - left, shorter.bottom - y - 6);
  c.globalAlpha = 1;
  c.fillStyle = ink.accent;
  c.fillRect(left, y, 2, shorter.bottom - y - 6);
  if (!isWhole) c.fillRect(right - 2, y, 2, shorter.bottom - y - 6);
  // as the titles have it: of a step, where there are steps
  const isStep = a.step !== undefined && b.step !== undefined;
  const text = isStep ? `${time(Math.abs(a.step - b.step), a.step)} per step` : time(Math.abs(a.span - b.span));
  const font = '600 14px system-ui, sans-serif';
  const half = timeline.widthOf(text, font) / 2 + 16;
  if (right - left < 2 * half + 6 || (isStep && a.step === b.step)) return;
  const middle = (left + right) / 2;
  c.fillStyle = ink.panel;
  c.fillRect(middle - half, (y + shorter.bottom) / 2 - 16, 2 * half, 26);
  c.fillStyle = ink.accent;
  c.textAlign = 'center';
  timeline.text(`${(isStep ? b.step < a.step : shorter === b) ? '\u2212' : '+'}${text}`, middle, (y + shorter.bottom) / 2 - 2, 2 * half, font);
  c.textAlign = 'left';
}

export function drawArea(timeline) {
  if (!timeline.area) return;
  const { context: c, ink, area } = timeline;
  const [left, right] = [Math.max(timeline.gutter, timeline.xOf(area.from)), Math.min(timeline.width, timeline.xOf(area.to))];
  c.fillStyle = ink.accent;
  c.globalAlpha = 0.12;
  c.fillRect(left, area.top, right - left, area.bottom - area.top);
  c.globalAlpha = 1;
  c.strokeStyle = ink.accent;
  c.lineWidth = 1;
  c.strokeRect(left + 0.5, area.top + 0.5, right - left, area.bottom - area.top - 1);
}

export function drawChosen(timeline) {
  if (!timeline.chosen) return;
  const { context: c, ink } = timeline;
  for (const mark of [timeline.chosen, timeline.chosen.twin]) {
    if (!mark) continue;
    const place = timeline.places.find((each) => each.side === mark.side && each.row === mark.row);
    if (!place) continue;
    const { shift } = timeline.sides[mark.side];
    const left = timeline.xOf(mark.row.begin[mark.i], shift);
    const right = timeline.xOf(mark.row.end[mark.i], shift);
    if (right < timeline.gutter || left > timeline.width) continue;
    c.strokeStyle = ink.text;
    c.lineWidth = 2;
    const x = Math.max(timeline.gutter, left);
    c.strokeRect(x - 1, place.y - 1, Math.max(4, right - x + 2), place.height + 2);
  }
}
