// Two runs on one clock, on a canvas. Everything on it is also text: the slice that is chosen, the
// breakdown and the table of changes.
import { byId } from './dom.mjs';
import { shortName, tickTime } from './format.mjs';
import { fitSheet, onPaper } from './paper.mjs';
import { listenTo } from './pointer.mjs';
import { classes, colours, isWaiting, rgb } from './palette.mjs';
import { Strip } from './strip.mjs';
import { drawMemory } from './memory_curve.mjs';
import { drawArea, drawChosen, drawSaved } from './overlays.mjs';
import { nameOfPlace, tellNote, Tracks } from './tracks.mjs';

const rulerHeight = 26;
const plainFont = '12px system-ui, sans-serif';
const mostWidths = 5000; // of texts that are remembered
const narrow = 600; // px: names take less

export class Timeline {
  /** @param {{choose: (mark) => void, nameOf: (side, row, i) => string, moved: () => void, hover: (mark) => Node[]}} on */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.canvas = root.querySelector('canvas');
    this.names = byId('names');
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.tracks = new Tracks();
    this.gutter = 212;
    this.sides = [];
    this.places = [];
    this.from = 0;
    this.to = 1;
    this.isStep = true; // one step of each run, both from its begin on
    this.chosen = null;
    this.area = null; // {from, to, top, bottom} that is measured
    this.stats = { frames: 0, slices: 0, rectangles: 0 };
    this.pending = 0;
    this.widths = new Map();
    // what it says needs no layout in the middle of a frame
    new ResizeObserver(() => this.resize(root.clientWidth)).observe(root);
    listenTo(this);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.readTheme());
    onPaper(() => {
      this.readTheme();
      this.resize(root.clientWidth);
      fitSheet(root, this.height);
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

  /** `sides`: {title, note, span, rows, memory, one}, the recorded run first; `one`: begin and end of the step that is shown at first. */
  show(sides, keep) {
    this.sides = sides;
    this.hasSteps = sides.every((side) => side.one);
    this.align();
    if (!keep || this.to > this.last * 1.5) this.all();
    if (this.chosen && !this.chosen.keeps) this.chosen = null;
    this.arrange();
  }

  /** What is at the left end of the time that is shown, in each run. */
  align() {
    const isStep = this.isStep && this.hasSteps;
    for (const side of this.sides) side.shift = isStep ? side.one.begin : 0;
    this.first = Math.min(0, ...this.sides.map((side) => -side.shift));
    this.last = Math.max(1, ...this.sides.map((side) => side.span - side.shift));
    byId('show-all').textContent = isStep ? 'Whole run' : this.hasSteps ? 'One step' : 'Whole run';
  }

  /** Lays the tracks out anew, with their names. */
  arrange() {
    Object.assign(this, this.tracks.layout(this.sides, rulerHeight));
    const named = JSON.stringify(this.places.map(({ row, curve, isTitle, side, ...place }) => [place, curve?.peak, isTitle && this.sides[side].title,
      this.tracks.pinned.has(place.key)]));
    if (named !== this.named) {
      this.named = named;
      this.names.replaceChildren(...this.places.map((place) => nameOfPlace(place, this.sides[place.side], this.tracks, () => this.on.arranged())));
    }
    this.places.forEach((place, k) => { if (place.isTitle) tellNote(this.names.children[k], this.sides[place.side]); });
    this.resize(this.width || this.root.clientWidth);
  }

  resize(width) {
    const ratio = window.devicePixelRatio || 1;
    if (!width || !this.height) return;
    if (this.width !== width || this.drawn !== this.height || this.ratio !== ratio) {
      Object.assign(this, { width, ratio, drawn: this.height, gutter: width < narrow ? 124 : 212 });
      this.names.style.width = `${this.gutter}px`;
      this.canvas.width = Math.round(width * ratio);
      this.font = ''; // which a canvas of another size forgets
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = `${this.height}px`;
      this.strip = new Strip(Math.max(1, Math.round((width - this.gutter) * ratio)), classes.length);
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

  /** Of a time that is shown; a run has its own times, which are `shift` later. */
  xOf(ns, shift = 0) { return this.gutter + ((ns - shift - this.from) / (this.to - this.from)) * (this.width - this.gutter); }
  timeAt(x) { return this.from + ((x - this.gutter) / (this.width - this.gutter)) * (this.to - this.from); }

  draw() {
    if (!this.width || this.sides.length === 0) return;
    const { context: c, ink } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = ink.panel;
    c.fillRect(0, 0, this.width, this.height);
    c.textBaseline = 'middle';
    this.stats = { frames: this.stats.frames + 1, slices: 0, rectangles: 0 };
    this.drawRuler();
    this.sides.forEach((side, s) => this.drawSteps(side, s));
    for (const place of this.places) {
      if (place.curve) drawMemory(this, place);
      else if (place.row) this.drawRow(place);
    }
    drawSaved(this);
    drawArea(this);
    drawChosen(this);
    this.on.moved?.();
  }

  text(text, x, y, room, font = plainFont) {
    const { context: c } = this;
    if (this.font !== font) c.font = this.font = font; // a browser reads it anew
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
    if (this.font !== font) this.context.font = this.font = font;
    const { width } = this.context.measureText(text);
    this.widths.set(key, width);
    return width;
  }

  drawRuler() {
    const { context: c, ink } = this;
    const span = this.to - this.from;
    const wanted = Math.max(2, (this.width - this.gutter) / 120);
    let step = 10 ** Math.floor(Math.log10(span / wanted));
    const best = [10, 5, 2, 1].find((f) => span / (step * f) >= wanted * 0.7);
    step *= best ?? 1;
    const most = Math.max(Math.abs(this.from), Math.abs(this.to));
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round(this.xOf(at));
      c.fillStyle = ink.line;
      c.fillRect(x, 4, 1, this.height - 8);
      c.fillStyle = ink.soft;
      if (x < this.width - 60) this.text(tickTime(at, step, most), x + 5, 13, 90);
    }
  }

  /** The steps of a side, in the line of its title. */
  drawSteps(side, s) {
    const { context: c, ink } = this;
    c.fillStyle = ink.line;
    if (s > 0) c.fillRect(0, side.top - 5, this.width, 1);
    const font = '600 12px system-ui, sans-serif';
    for (const step of side.several ?? []) {
      const left = this.xOf(step.begin, side.shift);
      const right = this.xOf(step.end, side.shift);
      if (right < this.gutter || left > this.width) continue;
      const isOne = step === side.one;
      const from = Math.max(this.gutter, left);
      c.fillStyle = isOne ? ink.track : ink.panel;
      c.fillRect(from, side.top + 6, Math.min(this.width, right) - from, 20);
      c.fillStyle = ink.line;
      if (left >= this.gutter) c.fillRect(Math.round(left), side.top, 1, side.bottom - side.top - 6);
      if (right <= this.width) c.fillRect(Math.round(right), side.top, 1, side.bottom - side.top - 6);
      c.fillStyle = isOne ? ink.text : ink.soft;
      this.text(`step ${step.number}${isOne && side.oneIs ? `, ${side.oneIs}` : ''}`, from + 6, side.top + 16, Math.min(this.width, right) - from - 10, isOne ? font : plainFont);
    }
  }

  drawRow({ side, row, y, height }) {
    const { context: c, ink, gutter } = this;
    const { shift, span } = this.sides[side];
    const begin = Math.max(gutter, this.xOf(0, shift));
    const end = Math.min(this.width, this.xOf(span, shift));
    c.fillStyle = ink.track;
    if (end > begin) c.fillRect(begin, y, end - begin, height);
    const { wide, seen, image } = this.mixed(row, shift);
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
  mixed(row, shift) {
    const { strip, rgb: theme } = this;
    const [from, to] = [this.from + shift, this.to + shift];
    const { drawn } = row;
    if (drawn && drawn.from === from && drawn.to === to && drawn.strip === strip && drawn.theme === theme) return drawn;
    const { wide, seen } = strip.mix(row, from, to, 2 * this.ratio);
    row.drawn = { from, to, strip, theme, wide, seen, image: strip.paint(theme, this.track) };
    return row.drawn;
  }

  drawWide(wide, { side, row, y, height }) {
    const { context: c, ink, ratio, gutter } = this;
    for (let k = 0; k < wide.length; k += 3) {
      const x = gutter + wide[k + 1] / ratio;
      const width = (wide[k + 2] - wide[k + 1]) / ratio;
      c.fillStyle = this.colours[row.cls[wide[k]]];
      c.fillRect(x, y, width > 3 ? width - 0.75 : width, height);
      if (isWaiting(row.cls[wide[k]]) && width > 4) {
        c.fillStyle = this.hatchPattern();
        c.fillRect(x, y, width - 0.75, height);
      }
    }
    if (height < 14) return; // folded
    for (let k = 0; k < wide.length; k += 3) {
      const x = gutter + wide[k + 1] / ratio;
      const width = (wide[k + 2] - wide[k + 1]) / ratio;
      const isNumbered = (this.sides[side].graph.ordinal?.[row.task[wide[k]]] ?? 0) > 0;
      if (width < (isNumbered ? 12 : 36)) continue;
      c.fillStyle = this.dark.has(classes[row.cls[wide[k]]][0]) ? ink.onDark : ink.onLight;
      const name = this.on.nameOf(side, row, wide[k]);
      this.text(isNumbered ? name.split(' ')[0] : shortName(name), x + (isNumbered ? 2 : 5), y + height / 2 + 0.5,
        width - (isNumbered ? 3 : 9));
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

  /** Where what is compared ends: the step that is shown, or the run. */
  endOf(side) { return (this.isStep && this.hasSteps ? side.one.end : side.span) - side.shift; }

  // ---- what a user does

  get most() { return (this.last - this.first) * 1.02; }

  zoom(factor, at) {
    const span = Math.min(this.most, Math.max(100, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.move(at - share * span, span);
  }

  move(from, span = this.to - this.from) {
    this.from = Math.max(this.first - 0.01 * span, Math.min(from, this.first + this.most - span));
    this.to = this.from + span;
    this.request();
  }

  /** The time of a slice as it is shown. */
  timesOf({ side, row, i }) { return [row.begin[i], row.end[i]].map((ns) => ns - this.sides[side].shift); }

  fit() {
    if (this.area) {
      this.move(this.area.from, Math.max(200, this.area.to - this.area.from));
      return;
    }
    if (!this.chosen) return;
    const [begin, end] = this.timesOf(this.chosen);
    const span = Math.max(200, (end - begin) * 4);
    this.move((begin + end) / 2 - span / 2, span);
  }

  /** Both runs from the chosen slice and its twin on. */
  lineUp() {
    const { chosen } = this;
    if (!chosen?.twin) return;
    const [begin] = this.timesOf(chosen);
    const other = this.sides[chosen.twin.side];
    other.shift = chosen.twin.row.begin[chosen.twin.i] - begin;
    this.first = Math.min(this.first, -other.shift);
    this.last = Math.max(this.last, other.span - other.shift);
    this.request();
  }

  /** All that is compared: the step, a little wider, or the run. */
  all() {
    const isStep = this.isStep && this.hasSteps;
    if (!isStep) {
      this.move(this.first, this.last * 1.005);
      return;
    }
    const most = Math.max(...this.sides.map((side) => this.endOf(side)));
    this.move(-0.02 * most, 1.04 * most);
  }

  /** Whether all is shown that all() shows. */
  isAll() {
    const { from, to } = this;
    this.all();
    const is = Math.abs(this.from - from) < 1 && Math.abs(this.to - to) < 1;
    Object.assign(this, { from, to });
    return is;
  }

  /** One step, or the whole run. */
  toggleStep(isStep = !this.isStep) {
    this.isStep = isStep;
    this.align();
    this.all();
  }

  markAt(x, y) {
    const place = this.places.find((each) => each.row && y >= each.y && y < each.y + each.height);
    if (!place || x < this.gutter) return null;
    const at = this.timeAt(x) + this.sides[place.side].shift;
    const slack = (this.to - this.from) / (this.width - this.gutter);
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
    this.area = null;
    this.chosen = mark;
    this.on.choose(mark);
    this.request();
  }

  /** The next slice of the row, or the nearest one of the row above or below. */
  walk(key) {
    const rows = this.places.filter((place) => place.row);
    if (rows.length === 0) return;
    if (!this.chosen) {
      const { side, row } = rows[0];
      const first = row.end.findIndex((end) => end > this.from + this.sides[side].shift); // in view
      this.choose({ side, row, i: Math.max(0, first) });
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
    this.reveal();
  }

  /** What is chosen comes into view, wide enough to be seen. */
  bring() {
    const [begin, end] = this.timesOf(this.chosen);
    const widest = 60 * Math.max(50, end - begin);
    if (this.to - this.from > widest) this.move((begin + end) / 2 - widest / 2, widest);
    this.reveal();
    const place = this.places.find((each) => each.row === this.chosen.row);
    const top = this.canvas.getBoundingClientRect().top + place.y;
    if (top < 0 || top > window.innerHeight - 60) window.scrollBy(0, top - window.innerHeight / 2);
  }

  /** What is chosen comes into view. */
  reveal() {
    const [begin, end] = this.timesOf(this.chosen);
    const middle = (begin + end) / 2;
    if (middle < this.from || middle > this.to) this.move(middle - (this.to - this.from) / 2);
  }

  /** Measures a part of the time in some of the tracks; all of what is shown without one. */
  measure(area) {
    this.area = area ?? { from: this.from, to: this.to, top: rulerHeight, bottom: this.height };
    this.on.measure(this.area, this.places.filter((place) => place.row && place.y < this.area.bottom && place.y + place.height > this.area.top));
    this.request();
  }
}
