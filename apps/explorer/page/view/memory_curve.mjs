// Memory below the tracks of a run.

/** The bytes that live, over time. */
export function drawMemory(timeline, { side, curve, y, height }) {
  const { context: c, ink, gutter } = timeline;
  const top = Math.max(1, ...timeline.sides.flatMap((each) => each.memory.map((m) => m.peak)));
  const scale = (height - 4) / top;
  const { highs, first } = highsOf(timeline, curve, timeline.sides[side]);
  const ups = highs.map((high) => y + height - high * scale);
  c.beginPath();
  c.moveTo(first, y + height);
  ups.forEach((h, i) => c.lineTo(first + i, h));
  c.lineTo(first + ups.length, y + height);
  c.globalAlpha = 0.18;
  c.fillStyle = ink.soft;
  c.fill();
  c.globalAlpha = 1;
  c.beginPath();
  ups.forEach((h, i) => (i === 0 ? c.moveTo(first, h) : c.lineTo(first + i, h)));
  c.strokeStyle = ink.soft;
  c.lineWidth = 1.2;
  c.stroke();
  c.fillStyle = ink.line;
  c.fillRect(gutter, y + height, timeline.width - gutter, 1);
}

/** The most bytes that live in each pixel; those of the recorded run stay, as its rows do. */
function highsOf(timeline, curve, { span, shift }) {
  const { from, to, width } = timeline;
  const { drawn } = curve;
  if (drawn && drawn.from === from && drawn.to === to && drawn.width === width && drawn.shift === shift) return drawn;
  const first = Math.max(timeline.gutter, Math.round(timeline.xOf(0, shift)));
  const end = Math.min(width, timeline.xOf(span, shift));
  const highs = [];
  let k = 0;
  let live = curve.base;
  for (const before = timeline.timeAt(first) + shift; k < curve.times.length && curve.times[k] <= before; ++k) live = curve.live[k];
  for (let x = first; x < end; ++x) {
    const until = timeline.timeAt(x + 1) + shift;
    let high = live;
    for (; k < curve.times.length && curve.times[k] <= until; ++k) {
      live = curve.live[k];
      if (live > high) high = live;
    }
    highs.push(high);
  }
  curve.drawn = { from, to, width, shift, highs, first };
  return curve.drawn;
}
