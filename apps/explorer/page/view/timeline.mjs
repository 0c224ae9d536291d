// Two runs on one clock, on a canvas. Everything on it is also text: the slice that is chosen, the
// breakdown and the table of changes.
import { byId } from './dom.mjs';
import { bytes, shortName, tickTime, time } from './format.mjs';
import { classes, colours, rgb, waitClass } from './palette.mjs';
import { Strip } from './strip.mjs';

const gutter = 168;
const rulerHeight = 26;
const titleHeight = 28;
const rowHeight = { device: 30, host: 22 };
const memoryHeight = 44;
const gap = 4;
const wheelStep = 1.2;
const plainFont = '12px system-ui, sans-serif';
const mostWidths = 5000; // of texts that are remembered

export class Timeline {
  /** @param {{choose: (mark) => void, nameOf: (side, row, i) => string}} on */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.canvas = root.querySelector('canvas');
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.sides = [];
    this.from = 0;
    this.to = 1;
    this.chosen = null;
    this.stats = { frames: 0, slices: 0, rectangles: 0 };
    this.pending = 0;
    this.widths = new Map();
    // what it says needs no layout in the middle of a frame
    new ResizeObserver(() => this.resize(root.clientWidth)).observe(root);
    this.listen();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.readTheme());
    // paper is light, whatever the screen was
    matchMedia('print').addEventListener('change', () => {
      this.readTheme();
      this.drawNow();
    });
  }

  readTheme() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    this.colours = colours();
    this.rgb = this.colours.map(rgb);
    this.track = rgb(value('--track'));
    this.ink = { text: value('--ink'), soft: value('--soft'), line: value('--line'),
      panel: value('--panel'), track: value('--track'), accent: value('--accent'),
      hatch: value('--hatch'), onDark: value('--on-dark'), onLight: value('--on-light') };
    this.dark = new Set(value('--dark-classes').split(' '));
    this.request();
  }

  /** `sides`: {title, note, span, rows, memory}, the recorded run first. */
  show(sides, keep) {
    this.sides = sides;
    this.full = Math.max(1, ...sides.map((side) => side.span));
    if (!keep || this.to > this.full * 1.5) {
      this.from = 0;
      this.to = this.full;
    }
    this.places = [];
    let y = rulerHeight;
    sides.forEach((side, s) => {
      side.top = y;
      y += titleHeight;
      for (const row of side.rows) {
        const height = row.isHost ? rowHeight.host : rowHeight.device;
        this.places.push({ side: s, row, y, height });
        y += height + gap;
      }
      for (const curve of side.memory) {
        this.places.push({ side: s, curve, y: y + 2, height: memoryHeight });
        y += memoryHeight + 8;
      }
      side.bottom = y;
      y += 8;
    });
    this.height = y;
    if (this.chosen && !this.chosen.keeps) this.chosen = null;
    this.resize(this.width || this.root.clientWidth);
  }

  resize(width) {
    const ratio = window.devicePixelRatio || 1;
    if (!width || !this.height) return;
    if (this.width !== width || this.drawn !== this.height || this.ratio !== ratio) {
      Object.assign(this, { width, ratio, drawn: this.height });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = `${this.height}px`;
      this.strip = new Strip(Math.max(1, Math.round((width - gutter) * ratio)), classes.length);
      this.buffer = new OffscreenCanvas(this.strip.pixels, 1);
      this.bufferContext = this.buffer.getContext('2d');
    }
    this.request();
  }

  request() {
    if (this.pending === 0 && this.ink) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
    }
  }

  /** In the frame that is being made, not in the next one. */
  drawNow() {
    if (!this.ink) return;
    cancelAnimationFrame(this.pending);
    this.pending = 0;
    this.draw();
  }

  xOf(ns) { return gutter + ((ns - this.from) / (this.to - this.from)) * (this.width - gutter); }
  timeAt(x) { return this.from + ((x - gutter) / (this.width - gutter)) * (this.to - this.from); }

  draw() {
    if (!this.width || this.sides.length === 0) return;
    const { context: c, ink } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = ink.panel;
    c.fillRect(0, 0, this.width, this.height);
    c.textBaseline = 'middle';
    this.stats = { frames: this.stats.frames + 1, slices: 0, rectangles: 0 };
    this.drawRuler();
    this.sides.forEach((side, s) => this.drawTitle(side, s));
    for (const place of this.places) {
      if (place.curve) this.drawMemory(place);
      else this.drawRow(place);
    }
    this.drawSaved();
    this.drawChosen();
  }

  text(text, x, y, room, font = plainFont) {
    const { context: c } = this;
    c.font = font;
    let shown = text;
    const width = this.widthOf(shown, font);
    if (width > room) {
      const fit = Math.floor((shown.length * room) / width) - 1;
      if (fit < 3) return 0;
      shown = `${shown.slice(0, fit)}\u2026`;
    }
    c.fillText(shown, x, y);
    return Math.min(width, room);
  }

  /** The same labels come in every frame. */
  widthOf(text, font) {
    const key = `${font} ${text}`;
    const known = this.widths.get(key);
    if (known !== undefined) return known;
    if (this.widths.size > mostWidths) this.widths.clear();
    this.context.font = font;
    const { width } = this.context.measureText(text);
    this.widths.set(key, width);
    return width;
  }

  drawRuler() {
    const { context: c, ink } = this;
    const span = this.to - this.from;
    const wanted = Math.max(2, (this.width - gutter) / 120);
    let step = 10 ** Math.floor(Math.log10(span / wanted));
    const best = [10, 5, 2, 1].find((f) => span / (step * f) >= wanted * 0.7);
    step *= best ?? 1;
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round(this.xOf(at));
      c.fillStyle = ink.line;
      c.fillRect(x, 4, 1, this.height - 8);
      c.fillStyle = ink.soft;
      if (x < this.width - 60) this.text(tickTime(at, step, this.to), x + 5, 13, 90, '11px system-ui, sans-serif');
    }
  }

  drawTitle(side, s) {
    const { context: c, ink } = this;
    if (s > 0) {
      c.fillStyle = ink.line;
      c.fillRect(0, side.top - 2, this.width, 1);
    }
    const font = '600 13px system-ui, sans-serif';
    const width = Math.min(this.widthOf(side.title, font), 400);
    // no line of the ruler through the words
    c.fillStyle = ink.panel;
    c.fillRect(gutter - 1, side.top + 4, Math.max(0, 32 + width + this.widthOf(side.note, plainFont) - gutter), 20);
    c.fillStyle = ink.text;
    this.text(side.title, 16, side.top + 15, 400, font);
    c.fillStyle = ink.soft;
    this.text(side.note, 26 + width, side.top + 15, this.width - width - 40);
  }

  drawRow({ side, row, y, height }) {
    const { context: c, ink } = this;
    const end = Math.min(this.width, this.xOf(this.sides[side].span));
    c.fillStyle = ink.track;
    if (end > gutter) c.fillRect(gutter, y, end - gutter, height);
    c.fillStyle = ink.soft;
    this.text(row.title, 16, y + height / 2, gutter - 24);
    const { wide, seen, image } = this.mixed(row);
    this.stats.slices += seen;
    this.stats.rectangles += wide.length / 3;
    if (image) {
      this.bufferContext.putImageData(image, 0, 0);
      c.imageSmoothingEnabled = false;
      c.drawImage(this.buffer, 0, 0, this.strip.pixels, 1, gutter, y, this.width - gutter, height);
    }
    this.drawWide(wide, { side, row, y, height });
  }

  /** A row as it is drawn. The recorded run stays as it is while the other one changes. */
  mixed(row) {
    const { from, to, strip, rgb: theme } = this;
    const { drawn } = row;
    if (drawn && drawn.from === from && drawn.to === to && drawn.strip === strip && drawn.theme === theme) return drawn;
    const { wide, seen } = strip.mix(row, from, to, 2 * this.ratio);
    row.drawn = { from, to, strip, theme, wide, seen, image: strip.paint(theme, this.track) };
    return row.drawn;
  }

  drawWide(wide, { side, row, y, height }) {
    const { context: c, ink, ratio } = this;
    for (let k = 0; k < wide.length; k += 3) {
      const x = gutter + wide[k + 1] / ratio;
      const width = (wide[k + 2] - wide[k + 1]) / ratio;
      c.fillStyle = this.colours[row.cls[wide[k]]];
      c.fillRect(x, y, width > 3 ? width - 0.75 : width, height);
      if (row.cls[wide[k]] === waitClass && width > 4) {
        c.fillStyle = this.hatchPattern();
        c.fillRect(x, y, width - 0.75, height);
      }
    }
    for (let k = 0; k < wide.length; k += 3) {
      const x = gutter + wide[k + 1] / ratio;
      const width = (wide[k + 2] - wide[k + 1]) / ratio;
      const isNumbered = (this.sides[side].graph.ordinal?.[row.task[wide[k]]] ?? 0) > 0;
      if (width < (isNumbered ? 12 : 36)) continue;
      c.fillStyle = this.dark.has(classes[row.cls[wide[k]]][0]) ? ink.onDark : ink.onLight;
      const name = this.on.nameOf(side, row, wide[k]);
      this.text(isNumbered ? name.split(' ')[0] : shortName(name), x + (isNumbered ? 2 : 5), y + height / 2 + 0.5,
        width - (isNumbered ? 3 : 9), '11px system-ui, sans-serif');
    }
  }

  hatchPattern() {
    if (this.hatch && this.hatchOf === this.ink.hatch) return this.hatch;
    const tile = new OffscreenCanvas(6, 6);
    const c = tile.getContext('2d');
    c.strokeStyle = this.ink.hatch;
    c.beginPath();
    for (const shift of [-3, 0, 3]) {
      c.moveTo(shift - 1, 7 + shift);
      c.lineTo(7 + shift, shift - 1);
    }
    c.stroke();
    this.hatchOf = this.ink.hatch;
    this.hatch = this.context.createPattern(tile, 'repeat');
    return this.hatch;
  }

  drawMemory({ side, curve, y, height }) {
    const { context: c, ink } = this;
    const top = Math.max(1, ...this.sides.flatMap((each) => each.memory.map((m) => m.peak)));
    const scale = (height - 4) / top;
    c.fillStyle = ink.soft;
    this.text(curve.title, 16, y + 12, gutter - 24);
    this.text(`peak ${bytes(curve.peak)}`, 16, y + 28, gutter - 24, '11px system-ui, sans-serif');
    const highs = this.highsOf(curve, this.sides[side].span).map((high) => y + height - high * scale);
    c.beginPath();
    c.moveTo(gutter, y + height);
    highs.forEach((h, i) => c.lineTo(gutter + i, h));
    c.lineTo(gutter + highs.length, y + height);
    c.globalAlpha = 0.18;
    c.fillStyle = ink.accent;
    c.fill();
    c.globalAlpha = 1;
    c.beginPath();
    highs.forEach((h, i) => (i === 0 ? c.moveTo(gutter, h) : c.lineTo(gutter + i, h)));
    c.strokeStyle = ink.accent;
    c.lineWidth = 1.2;
    c.stroke();
    c.fillStyle = ink.line;
    c.fillRect(gutter, y + height, this.width - gutter, 1);
  }

  /** The most bytes that live in each pixel; those of the recorded run stay, as its rows do. */
  highsOf(curve, span) {
    const { from, to, width } = this;
    const { drawn } = curve;
    if (drawn && drawn.from === from && drawn.to === to && drawn.width === width) return drawn.highs;
    const end = Math.min(width, this.xOf(span));
    const highs = [];
    let k = 0;
    let live = curve.base;
    for (let x = gutter; x < end; ++x) {
      const until = this.timeAt(x + 1);
      let high = live;
      for (; k < curve.times.length && curve.times[k] <= until; ++k) {
        live = curve.live[k];
        if (live > high) high = live;
      }
      highs.push(high);
    }
    curve.drawn = { from, to, width, highs };
    return highs;
  }

  /** What the shorter run leaves over, hatched, with its length. */
  drawSaved() {
    const [a, b] = this.sides;
    if (!b || a.span === b.span) return;
    const shorter = a.span < b.span ? a : b;
    const left = Math.max(gutter, this.xOf(shorter.span));
    const right = Math.min(this.width, this.xOf(this.full));
    if (right - left < 3) return;
    const { context: c, ink } = this;
    const y = shorter.top + titleHeight;
    c.globalAlpha = 0.5;
    c.fillStyle = this.hatchPattern();
    c.fillRect(left, y, right - left, shorter.bottom - y - 6);
    c.globalAlpha = 1;
    c.fillStyle = ink.accent;
    c.fillRect(left, y, 2, shorter.bottom - y - 6);
    // as the titles have it: of a step, where there are steps
    const isStep = a.step !== undefined && b.step !== undefined;
    const text = isStep ? `${time(Math.abs(a.step - b.step), a.step)} per step` : time(Math.abs(a.span - b.span));
    const half = isStep ? 88 : 42;
    if (right - left < 2 * half + 6 || (isStep && a.step === b.step)) return;
    const middle = (left + right) / 2;
    c.fillStyle = ink.panel;
    c.fillRect(middle - half, (y + shorter.bottom) / 2 - 16, 2 * half, 26);
    c.fillStyle = ink.accent;
    c.textAlign = 'center';
    this.text(`${(isStep ? b.step < a.step : shorter === b) ? '\u2212' : '+'}${text}`, middle, (y + shorter.bottom) / 2 - 2, 2 * half,
      '600 13px system-ui, sans-serif');
    c.textAlign = 'left';
  }

  drawChosen() {
    if (!this.chosen) return;
    const { context: c, ink } = this;
    for (const mark of [this.chosen, this.chosen.twin]) {
      if (!mark) continue;
      const place = this.places.find((each) => each.side === mark.side && each.row === mark.row);
      if (!place) continue;
      const left = this.xOf(mark.row.begin[mark.i]);
      const right = this.xOf(mark.row.end[mark.i]);
      if (right < gutter || left > this.width) continue;
      c.strokeStyle = ink.text;
      c.lineWidth = 2;
      const x = Math.max(gutter, left);
      c.strokeRect(x - 1, place.y - 1, Math.max(4, right - x + 2), place.height + 2);
    }
  }

  // ---- what a user does

  zoom(factor, at) {
    const span = Math.min(this.full * 1.02, Math.max(100, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.move(at - share * span, span);
  }

  move(from, span = this.to - this.from) {
    this.from = Math.max(0, Math.min(from, this.full * 1.02 - span));
    this.to = this.from + span;
    this.request();
  }

  fit() {
    if (!this.chosen) return;
    const { row, i } = this.chosen;
    const span = Math.max(200, (row.end[i] - row.begin[i]) * 4);
    this.move((row.begin[i] + row.end[i]) / 2 - span / 2, span);
  }

  all() { this.move(0, this.full * 1.005); }

  markAt(x, y) {
    const place = this.places.find((each) => each.row && y >= each.y && y < each.y + each.height);
    if (!place || x < gutter) return null;
    const at = this.timeAt(x);
    const slack = (this.to - this.from) / (this.width - gutter);
    const { begin, end } = place.row;
    let best = -1;
    let least = 3 * slack;
    let low = 0;
    let high = end.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (end[middle] < at - least) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < begin.length && begin[i] <= at + least; ++i) {
      const distance = Math.max(0, begin[i] - at, at - end[i]);
      if (distance < least || (best < 0 && distance <= least)) {
        best = i;
        least = distance;
      }
    }
    return best < 0 ? null : { side: place.side, row: place.row, i: best };
  }

  choose(mark) {
    this.chosen = mark;
    this.on.choose(mark);
    this.request();
  }

  /** The next slice of the row, or the nearest one of the row above or below. */
  walk(key) {
    const rows = this.places.filter((place) => place.row);
    if (rows.length === 0) return;
    if (!this.chosen) {
      this.choose({ side: rows[0].side, row: rows[0].row, i: 0 });
      return;
    }
    const { row, side, i } = this.chosen;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const next = Math.min(row.begin.length - 1, Math.max(0, i + (key === 'ArrowLeft' ? -1 : 1)));
      this.choose({ side, row, i: next });
    } else {
      const at = rows.findIndex((place) => place.row === row) + (key === 'ArrowUp' ? -1 : 1);
      if (!rows[at]) return;
      const other = rows[at].row;
      let low = 0;
      while (low + 1 < other.begin.length && other.begin[low + 1] <= row.begin[i]) low += 1;
      this.choose({ side: rows[at].side, row: other, i: low });
    }
    const middle = (this.chosen.row.begin[this.chosen.i] + this.chosen.row.end[this.chosen.i]) / 2;
    if (middle < this.from || middle > this.to) this.move(middle - (this.to - this.from) / 2);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const span = this.to - this.from;
    const middle = this.from + span / 2;
    const actions = { w: () => this.zoom(1 / 1.5, middle), s: () => this.zoom(1.5, middle),
      a: () => this.move(this.from - span / 5), d: () => this.move(this.from + span / 5),
      f: () => this.fit(), 0: () => this.all() };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (actions[key]) actions[key]();
    else if (key.startsWith('Arrow')) this.walk(key);
    else if (key === 'Escape') this.choose(null);
    else return;
    event.preventDefault();
  }

  listen() {
    const { canvas } = this;
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? wheelStep : 1 / wheelStep, this.timeAt(event.offsetX));
    }, { passive: false });
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      drag = { x: event.offsetX, from: this.from, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const moved = event.offsetX - drag.x;
      if (Math.abs(moved) > 3) drag.moved = true;
      if (drag.moved) this.move(drag.from - (moved / (this.width - gutter)) * (this.to - this.from));
    });
    canvas.addEventListener('pointerup', (event) => {
      if (drag && !drag.moved) this.choose(this.markAt(event.offsetX, event.offsetY));
      drag = null;
    });
    canvas.addEventListener('dblclick', (event) => {
      const mark = this.markAt(event.offsetX, event.offsetY);
      if (mark) {
        this.choose(mark);
        this.fit();
      }
    });
    byId('show-all').addEventListener('click', () => this.all());
  }
}
