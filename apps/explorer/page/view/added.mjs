// Time added up: of the device by layer, of the host by region. Largest part left, as wide as it takes.
import { isDevice, isHost } from '../model/engine.mjs';
import { byId, make, replace } from './dom.mjs';
import { count, percent, shortName, time } from './format.mjs';
import { isWaiting } from './palette.mjs';
import { onPaper } from './paper.mjs';

const leastShare = 0.004;
const leastText = 48; // px: less has no room for a name
const perLetter = 6; // px, about
const leastFigure = 150; // px: nor for a time beside it
const boxHeight = 24;
const mostDeep = 14;

const nodeOf = (name) => ({ name, ns: 0, count: 0, parts: new Map() });
function addTo(root, { path, ns, count: times }) {
  let node = root;
  root.ns += ns;
  for (const name of path) {
    let next = node.parts.get(name);
    if (!next) node.parts.set(name, next = nodeOf(name));
    next.ns += ns;
    next.count += times;
    node = next;
  }
}

/** Times by key, each with its path: there are few of those, but many slices. */
class Sums {
  constructor() { this.byKey = new Map(); }

  add(key, ns, pathOf) {
    let sum = this.byKey.get(key);
    if (!sum) this.byKey.set(key, sum = { path: pathOf(), ns: 0, count: 0 });
    sum.ns += ns;
    sum.count += 1;
  }

  tree(name) {
    const root = nodeOf(name);
    for (const sum of this.byKey.values()) addTo(root, sum);
    return root;
  }
}

/** Device time by layer, operator and kernel; without layers by operator. Of the step that is shown. */
export function byLayer(run, rows, strings, layers) {
  const sums = new Sums();
  let isByLayer = false;
  const { origin, work: workOf } = run.graph;
  const [from, to] = run.one ? [run.one.begin, run.one.end] : [0, Infinity];
  for (const row of rows) {
    if (row.isHost) continue;
    for (let i = 0; i < row.begin.length; ++i) {
      if (row.label[i] !== -1 || isWaiting(row.cls[i]) || row.begin[i] < from || row.begin[i] >= to) continue;
      const work = workOf[row.task[i]];
      const { kind, operator, name } = run.works[work];
      if (!isDevice(kind)) continue;
      const task = origin ? origin[row.task[i]] : row.task[i];
      sums.add(layers.keyOf(task) * run.works.length + work, row.end[i] - row.begin[i],
        () => {
          const names = layers.namesOf(task, true);
          isByLayer ||= names.length > 0;
          return [...names, strings[operator], shortName(strings[name])].filter(Boolean);
        });
    }
  }
  return Object.assign(sums.tree('all GPU work'), { isByLayer });
}

const noRegion = 'outside every region';

/** Host time by thread, region and call. */
export function byRegion(run, rows, strings) {
  const sums = new Sums();
  const [from, to] = run.one ? [run.one.begin, run.one.end] : [0, Infinity];
  rows.forEach((row, r) => {
    if (!row.isHost) return;
    let region = -2;
    for (let i = 0; i < row.begin.length; ++i) {
      const label = row.label[i];
      if (label >= 0 || label === -2) region = label;
      if (isWaiting(row.cls[i]) || row.begin[i] < from || row.begin[i] >= to) continue;
      const call = label === -1 && isHost(run.graph.kind[row.task[i]]) ? run.graph.work[row.task[i]] : -1;
      sums.add(`${r} ${region} ${call}`, row.end[i] - row.begin[i], () => [row.title, strings[run.labels[region]] || noRegion,
        ...(call < 0 ? [] : [strings[run.works[call].name]])]);
    }
  });
  return sums.tree('all CPU work');
}

/** Nodes as boxes: {node, left, width, depth}, the largest left; what is too narrow is left out. */
export function boxesOf(root) {
  const boxes = [];
  const put = (node, left, depth) => {
    boxes.push({ node, left, width: node.ns / root.ns, depth });
    let at = left;
    for (const part of [...node.parts.values()].sort((a, b) => b.ns - a.ns)) {
      const width = part.ns / root.ns;
      if (width < leastShare || depth >= mostDeep) break;
      put(part, at, depth + 1);
      at += width;
    }
  };
  if (root.ns > 0) put(root, 0, 0);
  return boxes;
}

export class Added {
  /** `made`: of each view {text, tree}; `changed` when another one is chosen. */
  constructor(changed) {
    this.kind = 'layer';
    this.path = [];
    for (const kind of ['layer', 'region']) {
      byId(`by-${kind}`).addEventListener('click', () => {
        this.kind = kind;
        this.path = [];
        changed();
      });
    }
    const again = () => { if (this.root && byId('added-chart').clientWidth !== this.room) this.draw(); };
    new ResizeObserver(again).observe(byId('added-chart'));
    onPaper(again);
  }

  /** `trees`: by kind a function that makes one. */
  show(trees, title) {
    for (const kind of ['layer', 'region']) byId(`by-${kind}`).setAttribute('aria-pressed', String(kind === this.kind));
    this.root = trees[this.kind]();
    if (this.kind === 'layer') byId('by-layer').textContent = `GPU by ${this.root.isByLayer ? 'layer' : 'operator'}`;
    byId('added').hidden = this.root.ns === 0 && this.kind === 'layer';
    replace('added-of', title);
    this.draw();
  }

  draw() {
    let node = this.root;
    for (const name of this.path) node = node.parts.get(name) ?? node;
    const boxes = boxesOf(node);
    this.room = byId('added-chart').clientWidth;
    const room = this.room || 1000;
    const deepest = boxes.reduce((most, { depth }) => Math.max(most, depth), 0);
    const told = [...node.parts.values()].sort((a, b) => b.ns - a.ns).slice(0, 5)
      .map((part) => part.name).join(', ');
    const chart = make('div', { class: 'flame', role: 'group', 'aria-label': `${node.name}, the largest parts: ${told}` },
      ...boxes.map(({ node: each, left, width, depth }) => {
        const share = percent(each.ns / this.root.ns).replace('+', '');
        const [name, took] = [shortName(each.name), time(each.ns)];
        const label = labelOf(name, took, width * room);
        // what it shows in full needs no other name
        const button = make('button', { type: 'button', 'aria-label': label.startsWith(name) ? null : name, tabindex: depth > 0 ? '-1' : '0', class: `depth-${depth % 4}`,
          title: `${each.name}\n${took}, ${share}${each.count > 0 ? `, ${count(each.count)} times` : ''}` }, label);
        Object.assign(button.style, { left: `${100 * left}%`, width: `${100 * width}%`, top: `${depth * boxHeight}px` });
        button.addEventListener('click', () => this.enter(each, node));
        return button;
      }));
    chart.addEventListener('keydown', (event) => walkBoxes(chart, event));
    chart.style.height = `${(deepest + 1) * boxHeight}px`;
    replace('added-chart', chart);
  }

  /** Shows a node alone; the root again goes one up. */
  enter(each, node) {
    if (each === node) {
      this.path.pop();
    } else {
      const way = pathTo(node, each) ?? [];
      this.path.push(...way);
    }
    this.draw();
  }
}

/** What there is room for: name and time, the name, or the name without the library that it is of. */
function labelOf(name, took, room) {
  if (room < leastText) return '';
  if (room > leastFigure) return `${name}  ${took}`;
  return name.length * perLetter < room ? name : name.replace(/^(aten|at::native)::_*/, '');
}

/** Arrows go from box to box; one of them is met by the tabulator. */
function walkBoxes(chart, event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const all = [...chart.children];
  all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))].focus();
  event.preventDefault();
}

function pathTo(node, wanted) {
  for (const [name, part] of node.parts) {
    if (part === wanted) return [name];
    const below = pathTo(part, wanted);
    if (below) return [name, ...below];
  }
  return null;
}
