// The page of a sweep. Every view shows the same points: those that the brushes let through.
import { Points, binCount, binOf, binText } from './model/points.mjs';
import { bestIs, cut, figure, fitted, inks, isDark, shade, sharp, tick, ticks, tone, toneOfRank } from './view/charts.mjs';
import { AxisNames } from './view/axis_names.mjs';
import { crossAt, layered, lettersOf, lineAcross } from './view/crosshair.mjs';
import { byId, copyButton, draw, make } from './view/dom.mjs';
import { count, words } from './view/format.mjs';
import { isPaper, onPaper } from './view/paper.mjs';
import { restoreSweep, saveSweep } from './view/sweep_link.mjs';

const mostPoints = 12;
const scatterHeight = 360;
const parallelHeight = 300;
const mostKeys = 12;
const near = 14; // px
const lettersApart = 14; // px, of the names of points
const leastApart = 76; // px, axes side by side: on a phone they scroll
const saveAfter = 150; // ms

export class SweepPage {
  constructor(facts) {
    this.points = new Points(facts);
    const { axes, figures } = this.points;
    const wide = axes.map((_, i) => i).filter((i) => binCount(axes[i]) > 1);
    this.chosen = this.points.ordered(this.points.shown())[0];
    this.view = { x: 0, y: Math.min(1, figures.length - 1), colour: wide[0] ?? 0, across: wide[0] ?? 0,
      down: wide[1] ?? wide[0] ?? 0 };
    this.order = this.points.columns.map((_, k) => k); // of the axes side by side
    this.over = null; // the point that the pointer is at
    this.letters = new Map();
    this.wanted = restoreSweep(this);
  }

  async start() {
    const root = byId('sweep');
    root.hidden = false;
    const { axes, figures } = this.points;
    const axisNames = axes.map(({ name }) => name);
    const figureNames = figures.map(({ name }) => name);
    this.scatter = make('canvas', { role: 'img', id: 'sweep-scatter' });
    this.parallel = make('canvas', { role: 'img', id: 'sweep-parallel' });
    this.crossed = layered(this.scatter);
    this.traced = layered(this.parallel);
    this.axes = new AxisNames((order) => {
      this.order = order;
      this.show();
    });
    this.front = make('ol', { id: 'sweep-front', 'data-at': 'selection' });
    this.says = make('span');
    this.heat = make('div');
    this.curve = make('div');
    this.table = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'points' });
    this.search = make('input', { type: 'search', id: 'sweep-search', 'aria-label': 'Filter by values', placeholder: 'filter, such as interleaved, pipeline 8' });
    this.key = make('div', { class: 'key', 'data-at': 'tick' });
    this.status = make('p', { class: 'hint', 'aria-live': 'polite', 'data-at': 'selection' });
    const clear = make('button', { type: 'button' }, 'Show all points');
    clear.addEventListener('click', () => { this.points.filters.clear(); this.show(); });
    if (this.wanted) this.search.value = this.wanted;
    root.replaceChildren(
      make('h2', {}, 'Trade-offs', make('span', { class: 'buttons' }, clear, copyButton('Copy link', () => location.href))),
      make('div', { class: 'choices' }, this.choice('horizontal', 'x', figureNames), this.choice('vertical', 'y', figureNames),
        this.choice('color by', 'colour', axisNames)),
      this.crossed.box, this.key, this.status, this.front,
      make('h2', {}, 'All axes', make('span', { class: 'hint' }, this.says, make('span', { class: 'of-pointer' }, '; drag along an axis to filter, drag its name to move it'))),
      make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'axes side by side' }, this.axes.box, this.traced.box),
      make('div', { class: 'halves' },
        make('div', {}, make('h2', {}, 'Best for each pair of values'), make('div', { class: 'choices' },
          this.choice('across', 'across', axisNames), this.choice('down', 'down', axisNames)), this.heat),
        make('div', {}, make('h2', {}, 'Best for each value'), this.curve)),
      make('h2', {}, 'Best points', this.search), this.table);
    this.search.addEventListener('input', () => {
      this.showTable();
      this.saveSoon();
    });
    this.listen();
    new ResizeObserver(() => this.show()).observe(root);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.show());
    onPaper(() => this.show());
    this.show();
  }

  choice(text, key, names) {
    const select = make('select', {}, ...names.map((name, i) => make('option', { value: i }, words(name))));
    select.value = String(this.view[key]);
    select.addEventListener('change', () => {
      this.view[key] = Number(select.value);
      this.show();
    });
    return make('label', {}, `${text} `, select);
  }

  show() {
    const width = byId('sweep').clientWidth - 32;
    if (width <= 0) return;
    this.shown = this.points.shown();
    this.ink = inks();
    this.says.textContent = `one line per point, the ${bestIs()}er the better`;
    this.drawScatter(width);
    this.drawParallel(isPaper() ? width : Math.max(width, leastApart * this.points.columns.length));
    this.showHeat();
    this.showCurve();
    this.showTable();
    this.pointAt(this.over);
    this.saveSoon();
  }

  /** The same point in every chart. */
  pointAt(i) {
    this.over = i;
    const { points, ink, places } = this;
    const [, ...at] = places.find(([point]) => point === i) ?? [];
    const figures = [points.figures[this.view.x], points.figures[this.view.y]];
    crossAt(this.crossed.over, this.scatterSize, at.length > 0 ? at : null, figures.map(({ values, unit }) => figure(values[i] ?? null, unit)), ink);
    const [top, bottom] = this.parallelEnds;
    lineAcross(this.traced.over, { width: this.parallelWidth, height: parallelHeight }, i === null ? null
      : this.order.map((k) => bottom - points.columns[k].share[i] * (bottom - top)), this.axisPlaces, ink);
    for (const marked of document.querySelectorAll('#sweep .over-it')) marked.classList.remove('over-it');
    if (i === null) return;
    const { axes } = points;
    const [a, b] = [axes[this.view.across], axes[this.view.down]];
    const cell = `${binOf(a, a.where[i])} ${binOf(b, b.where[i])}`;
    for (const mark of document.querySelectorAll(`#sweep [data-point="${i}"], #sweep [data-cell="${cell}"], #sweep [data-bin="${binOf(a, a.where[i])}"]`)) mark.classList.add('over-it');
  }

  saveSoon() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => saveSweep(this), saveAfter);
  }

  axisText(i) { return this.points.axes.map((axis, a) => `${axis.name} ${this.points.columns[a].text(axis.where[i])}`).join(', '); }

  drawScatter(width) {
    const { points, ink } = this;
    const x = points.columnOfFigure(points.figures[this.view.x]);
    const y = points.columnOfFigure(points.figures[this.view.y]);
    const colour = points.columns[this.view.colour];
    const c = sharp(this.scatter, width, scatterHeight);
    const [left, right, top, bottom] = [84, width - 16, 14, scatterHeight - 42];
    this.scatterSize = { width, height: scatterHeight, left, right, top, bottom };
    const at = (column, i, from, to) => from + (to - from) * (0.02 + 0.96 * column.share[i]);
    const place = (column, value, from, to) => from + (to - from) * (0.02 + 0.96 * (value - column.low) / (column.high - column.low || 1));
    c.fillStyle = ink.soft;
    for (const value of ticks(x.low, x.high, 7, x.unit)) {
      const px = place(x, value, left, right);
      c.fillStyle = ink.line;
      c.fillRect(px, top, 1, bottom - top);
      c.fillStyle = ink.soft;
      c.textAlign = 'center';
      c.fillText(tick(value, x.unit), px, bottom + 14);
    }
    c.textAlign = 'right';
    for (const value of ticks(y.low, y.high, 6, y.unit)) {
      const py = place(y, value, bottom, top);
      c.fillStyle = ink.line;
      c.fillRect(left, py, right - left, 1);
      c.fillStyle = ink.soft;
      c.fillText(tick(value, y.unit), left - 8, py);
    }
    c.textAlign = 'left';
    c.fillText(`${words(y.name)} \u2191`, 4, 6);
    c.textAlign = 'right';
    c.fillText(`${words(x.name)} \u2192`, right, scatterHeight - 10);
    this.places = [];
    const size = this.shown.length > 3000 ? 1.6 : this.shown.length > 400 ? 2.4 : 4;
    for (const i of this.shown) {
      if (x.values[i] === null || y.values[i] === null) continue;
      const px = at(x, i, left, right);
      const py = at(y, i, bottom, top);
      this.places.push([i, px, py]);
      c.fillStyle = shade(tone(colour.share[i]));
      c.beginPath();
      c.arc(px, py, size, 0, 7);
      c.fill();
    }
    this.showKey(colour);
    const front = this.view.x === this.view.y ? [] : points.front(this.shown, x, y);
    c.strokeStyle = ink.accent;
    c.lineWidth = 1.5;
    c.beginPath();
    front.forEach((i, k) => {
      const [px, py] = [at(x, i, left, right), at(y, i, bottom, top)];
      if (k > 0) c.lineTo(px, at(y, front[k - 1], bottom, top));
      c[k === 0 ? 'moveTo' : 'lineTo'](px, py);
    });
    c.stroke();
    for (const i of front) {
      c.beginPath();
      c.arc(at(x, i, left, right), at(y, i, bottom, top), size + 2.5, 0, 7);
      c.stroke();
    }
    this.nameFront(c, front);
    if (this.shown.includes(this.chosen)) {
      c.strokeStyle = ink.ink;
      c.lineWidth = 2.5;
      c.beginPath();
      c.arc(at(x, this.chosen, left, right), at(y, this.chosen, bottom, top), size + 5, 0, 7);
      c.stroke();
    }
    const best = this.points.ordered(this.shown)[0];
    this.scatter.setAttribute('aria-label', `${count(this.shown.length)} points by ${words(x.name)} and ${words(y.name)}; ${count(front.length)} of them on the front`);
    this.status.textContent = this.shown.length === 0 ? 'No point passes the filters: widen one, or show all points.'
      : `${count(this.shown.length)} points; ${count(front.length)} form the front: no other point is better in both. Best: ${this.axisText(best)}.`;
  }

  /** Points that none beats have letters; below stands what each is. */
  nameFront(c, front) {
    const { points, ink } = this;
    this.letters = lettersOf(front);
    c.textAlign = 'left';
    const heights = [...this.letters.keys()].map((i) => this.places.find(([point]) => point === i)[2]);
    const way = heights[0] > heights[heights.length - 1] ? -1 : 1; // along the front
    let last = null;
    for (const [i, letter] of this.letters) {
      const [, x, y] = this.places.find(([point]) => point === i);
      let top = y - 10;
      if (last && Math.abs(x - last.x) < lettersApart && (top - last.top) * way < lettersApart) top = last.top + way * lettersApart;
      last = { x, top };
      c.fillStyle = ink.panel;
      c.fillRect(x + 9, top - 7, c.measureText(letter).width + 6, 14);
      c.fillStyle = ink.accent;
      c.fillText(letter, x + 12, top);
    }
    const figures = [points.figures[this.view.x], points.figures[this.view.y]];
    // what differs among them names each
    const differs = points.axes.map((axis, a) => a).filter((a) => new Set([...this.letters.keys()].map((i) => points.axes[a].where[i])).size > 1);
    this.front.replaceChildren(...[...this.letters].map(([i, letter]) => {
      const name = differs.map((a) => `${points.axes[a].name} ${points.columns[a].text(points.axes[a].where[i])}`).join(', ') || this.axisText(i);
      const pick = make('button', { type: 'button', class: 'link', 'aria-pressed': String(i === this.chosen) }, make('b', {}, letter), ` ${figures.map(({ values, unit }) => figure(values[i], unit)).join(', ')}`);
      pick.addEventListener('click', () => this.choose(i));
      const item = make('li', { 'data-point': i }, pick, make('bdi', { title: this.axisText(i) }, name));
      item.addEventListener('pointerenter', () => this.pointAt(i));
      return item;
    }));
  }

  /** Which colour is which value; of a range its ends. */
  showKey(column) {
    const { axis, low, high } = column;
    const values = axis.values.length > 0 && axis.values.length <= mostKeys ? axis.values.map((_, k) => k) : [low, (low + high) / 2, high];
    this.key.replaceChildren(make('span', {}, words(axis.name)), ...values.map((value, k) => make('span', {},
      draw('svg', { viewBox: '0 0 10 10', 'aria-hidden': 'true' },
        draw('circle', { cx: 5, cy: 5, r: 5, fill: shade(tone(k / Math.max(1, values.length - 1))) })),
      column.text(axis.values.length > 0 ? Math.round(value) : value))));
  }

  drawParallel(width) {
    const { points, ink } = this;
    for (const each of [this.axes.box, this.traced.box]) each.style.width = `${width + (each === this.axes.box ? 0 : 32)}px`;
    const c = sharp(this.parallel, width, parallelHeight);
    const [top, bottom] = isPaper() ? [28, parallelHeight - 32] : [16, parallelHeight - 24];
    const columns = this.order.map((k) => points.columns[k]);
    const xOf = (k) => 60 + k * (width - 120) / Math.max(1, columns.length - 1);
    Object.assign(this, { parallelEnds: [top, bottom], parallelWidth: width });
    const yOf = (share) => bottom - share * (bottom - top);
    this.axisPlaces = columns.map((_, k) => xOf(k));
    this.axes.show(columns, this.order, this.axisPlaces, xOf(1) - xOf(0));
    const shown = new Set(this.shown);
    const line = (i) => {
      c.beginPath();
      columns.forEach((column, k) => c[k === 0 ? 'moveTo' : 'lineTo'](xOf(k), yOf(column.share[i])));
      c.stroke();
    };
    // the better ones last, so that they lie on top; of very many a part, evenly
    this.ranked = points.ordered(this.shown);
    const order = [...this.ranked].reverse();
    const each = Math.max(1, Math.ceil(order.length / 2000));
    c.lineWidth = 1;
    c.globalAlpha = order.length > 300 ? 0.25 : 0.6;
    order.forEach((i, k) => {
      if (k % each !== 0 && k < order.length - 50) return;
      c.strokeStyle = shade(toneOfRank(1 - k / order.length)); // by rank: outliers take no colours
      line(i);
    });
    c.globalAlpha = 1;
    if (shown.has(this.chosen)) {
      c.strokeStyle = ink.accent;
      c.lineWidth = 2.5;
      line(this.chosen);
    }
    columns.forEach((column, k) => {
      c.fillStyle = ink.soft;
      c.fillRect(xOf(k) - 0.5, top, 1, bottom - top);
      c.textAlign = 'center';
      const level = isPaper() ? 12 * (k % 2) : 0; // there they have the room of two
      const room = (isPaper() ? 2 : 1) * (xOf(1) - xOf(0)) - 1;
      c.fillStyle = ink.soft;
      const text = (value) => fitted(c, (column.text ? column.text(value) : figure(value, column.unit)) ?? '', room);
      c.fillText(text(column.low), xOf(k), bottom + 12 + level);
      c.fillStyle = ink.panel;
      const high = text(column.high);
      c.fillRect(xOf(k) - c.measureText(high).width / 2 - 2, top - 8 - level, c.measureText(high).width + 4, 12);
      c.fillStyle = ink.soft;
      c.fillText(high, xOf(k), top - 2 - level);
      const kept = points.filters.get(this.order[k]);
      if (kept) {
        c.fillStyle = ink.accent;
        c.globalAlpha = 0.35;
        c.fillRect(xOf(k) - 6, yOf(kept[1]), 12, yOf(kept[0]) - yOf(kept[1]));
        c.globalAlpha = 1;
      }
    });
    this.parallel.setAttribute('aria-label', `${count(this.shown.length)} points over ${columns.map(({ name }) => words(name)).join(', ')}`);
    this.shareAt = (y) => Math.min(1, Math.max(0, (bottom - y) / (bottom - top)));
  }

  showHeat() {
    const { points, view } = this;
    const [a, b] = [points.axes[view.across], points.axes[view.down]];
    const [objective] = points.objectives;
    const cells = points.bestAt(this.shown, [a, b], objective);
    const values = cells.map(({ point }) => objective.values[point]);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const [columns, rows] = [binCount(a), binCount(b)];
    const [left, cell] = [96, Math.min(96, Math.max(14, ((this.heat.clientWidth || 556) - 136) / columns))];
    const tall = Math.min(34, Math.max(14, 360 / rows));
    const marks = [];
    for (const { at, point } of cells) {
      const share = (objective.values[point] - low) / (high - low || 1);
      const worse = objective.maximized ? 1 - share : share;
      const text = figure(objective.values[point], objective.unit);
      marks.push(draw('rect', { x: left + at[0] * cell, y: at[1] * tall, width: cell - 1, height: tall - 1, rx: 2, fill: shade(toneOfRank(worse)), 'data-cell': at.join(' '), 'data-point': point },
        draw('title', { 'data-at': points.placeOf(point, objective.key) }, `${a.name} ${binText(a, at[0])}, ${b.name} ${binText(b, at[1])}: ${text}`)));
      if (cell >= 44 && tall >= 16) {
        marks.push(draw('text', { x: left + (at[0] + 0.5) * cell, y: (at[1] + 0.5) * tall + 4, 'text-anchor': 'middle',
          class: isDark(toneOfRank(worse)) ? 'on-dark' : 'on-light', 'data-at': points.placeOf(point, objective.key) }, cut(text.replace(' ', '\u202f'), Math.floor(cell / 6))));
      }
    }
    for (let k = 0; k < rows; ++k) marks.push(draw('text', { x: left - 8, y: (k + 0.5) * tall + 4, 'text-anchor': 'end', class: 'tick' }, cut(binText(b, k), 14)));
    for (let k = 0; k < columns; ++k) marks.push(draw('text', { x: left + (k + 0.5) * cell, y: rows * tall + 16, 'text-anchor': 'middle', class: 'tick' }, cut(binText(a, k), Math.max(3, Math.floor(cell / 6.5)))));
    const [width, height] = [left + columns * cell + 8, rows * tall + 24];
    this.heat.replaceChildren(draw('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', class: 'chart',
      'aria-label': `best ${words(objective.name)} by ${a.name} and ${b.name}; ${bestIs()} is better` }, ...marks),
    make('p', { class: 'hint' }, `${words(objective.name)}; ${bestIs()} is better`));
  }

  /** How the best follows one axis: where it flattens, more of it gives nothing. */
  showCurve() {
    const { points, view } = this;
    const axis = points.axes[view.across];
    const [objective] = points.objectives;
    const cells = points.bestAt(this.shown, [axis], objective).sort((p, q) => p.at[0] - q.at[0]);
    const high = Math.max(...cells.map(({ point }) => objective.values[point]), 0);
    const [left, width, height, top] = [84, 460, 240, 10];
    const x = (bin) => left + (width - left - 20) * (binCount(axis) > 1 ? bin / (binCount(axis) - 1) : 0.5);
    const y = (value) => top + (height - 40 - top) * (1 - value / (high || 1));
    const marks = ticks(0, high, 5, objective.unit).flatMap((value) => [
      draw('rect', { x: left, y: y(value), width: width - left, height: 1, class: 'grid' }),
      draw('text', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end', class: 'tick' }, tick(value, objective.unit))]);
    const path = cells.map(({ at, point }, k) => `${k === 0 ? 'M' : 'L'}${x(at[0]).toFixed(1)} ${y(objective.values[point]).toFixed(1)}`).join('');
    const isOrdered = axis.values.every((value) => Number.isFinite(Number(value))); // names have nothing between them
    if (isOrdered) marks.push(draw('path', { d: path, class: 'curve' }));
    cells.forEach(({ at, point }, k) => {
      marks.push(draw('circle', { cx: x(at[0]), cy: y(objective.values[point]), r: 4, class: 'dot', 'data-bin': at[0], 'data-point': point },
        draw('title', { 'data-at': points.placeOf(point, objective.key) }, `${axis.name} ${binText(axis, at[0])}: ${figure(objective.values[point], objective.unit)}`)));
      if (cells.length <= 10 || k % Math.ceil(cells.length / 8) === 0) {
        marks.push(draw('text', { x: x(at[0]), y: height - 22, 'text-anchor': 'middle', class: 'tick' }, cut(binText(axis, at[0]), 12)));
      }
    });
    marks.push(draw('text', { x: width - 16, y: height - 4, 'text-anchor': 'end', class: 'tick' }, `${words(axis.name)} \u2192`));
    this.curve.replaceChildren(draw('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', class: 'chart',
      'aria-label': `best ${words(objective.name)} by ${axis.name}: ${cells.map(({ at, point }) => `${binText(axis, at[0])} ${figure(objective.values[point], objective.unit)}`).join(', ').slice(0, 600)}` }, ...marks));
  }

  showTable() {
    const { points } = this;
    const wanted = this.search.value.toLowerCase().split(',').map((each) => each.trim()).filter((each) => each !== '');
    const has = (i) => {
      const text = `${this.axisText(i)},`.toLowerCase();
      return wanted.every((each) => (/\d$/.test(each) ? text.includes(`${each},`) : text.includes(each)));
    };
    const found = wanted.length === 0 ? this.shown : this.shown.filter(has);
    const rows = points.ordered(found).slice(0, mostPoints);
    if (!rows.includes(this.chosen) && found.includes(this.chosen)) rows.push(this.chosen);
    const head = [...points.axes, ...points.objectives].map(({ name }) => make('th', { scope: 'col' }, words(name)));
    const body = rows.map((i) => {
      const pick = make('button', { type: 'button', class: 'link', 'aria-pressed': String(i === this.chosen), 'data-at': points.placeOf(i, points.objectives[0].key) }, figure(points.objectives[0].values[i], points.objectives[0].unit));
      pick.addEventListener('click', () => this.choose(i));
      return make('tr', { class: i === this.chosen ? 'on' : null, 'data-point': i }, make('td', {}, pick),
        ...points.axes.map((axis, a) => make('td', { 'data-at': points.placeOf(i, axis.name) }, make('bdi', {}, cut(String(points.columns[a].text(axis.where[i])), 60)))),
        ...points.objectives.slice(1).map(({ key, values, unit }) => make('td', { 'data-at': points.placeOf(i, key) }, figure(values[i], unit))));
    });
    const objectives = head.splice(points.axes.length);
    this.table.replaceChildren(make('table', {}, make('thead', {}, make('tr', {}, objectives[0], ...head, ...objectives.slice(1))),
      make('tbody', {}, ...body)));
  }

  choose(i) {
    this.chosen = i;
    this.show();
  }

  listen() {
    const nearest = ({ offsetX, offsetY }) => {
      let best = null;
      for (const [i, x, y] of this.places) {
        const away = Math.hypot(x - offsetX, y - offsetY);
        if (away < near && (best === null || away < best[1])) best = [i, away];
      }
      return best && best[0];
    };
    const moves = (i) => { if (i !== this.over) this.pointAt(i); };
    this.scatter.addEventListener('click', (event) => {
      const i = nearest(event);
      if (i !== null) this.choose(i);
    });
    this.scatter.addEventListener('pointermove', (event) => moves(nearest(event)));
    this.scatter.addEventListener('pointerleave', () => moves(null));
    for (const part of [this.heat, this.curve, this.table]) {
      part.addEventListener('pointermove', ({ target }) => {
        const marked = target.closest('[data-point]');
        moves(marked ? Number(marked.dataset.point) : null);
      });
      part.addEventListener('pointerleave', () => moves(null));
    }
    let brush = null;
    this.parallel.addEventListener('pointerdown', ({ offsetX, offsetY, pointerId }) => {
      const k = this.axisPlaces.findIndex((x) => Math.abs(x - offsetX) < 16);
      if (k < 0) return;
      brush = { k: this.order[k], from: this.shareAt(offsetY) };
      this.parallel.setPointerCapture(pointerId);
    });
    this.parallel.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      if (!brush) {
        moves(this.lineNear(offsetX, offsetY));
        return;
      }
      const to = this.shareAt(offsetY);
      const slack = 0.01;
      this.points.filters.set(brush.k, [Math.min(brush.from, to) - slack, Math.max(brush.from, to) + slack]);
      this.request();
    });
    this.parallel.addEventListener('pointerup', ({ offsetY }) => {
      if (brush && Math.abs(this.shareAt(offsetY) - brush.from) < 0.015) this.points.filters.delete(brush.k);
      brush = null;
      this.request();
    });
  }

  /** The point whose line passes closest; the best of those that are alike. */
  lineNear(x, y) {
    const k = this.axisPlaces.findIndex((at) => Math.abs(at - x) < near);
    if (k < 0) return null;
    const { share } = this.points.columns[this.order[k]];
    const at = this.shareAt(y);
    return this.ranked.reduce((best, i) => (Math.abs(share[i] - at) < Math.abs(share[best] - at) - 1e-9 ? i : best), this.ranked[0] ?? null);
  }

  request() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.show();
    });
  }
}
