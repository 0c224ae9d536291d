// What a user does to a timeline, with keys, a mouse or fingers.
import { byId, make, replace } from './dom.mjs';

const wheelStep = 1.2;
const buttonStep = 1.6;
const least = 3; // px: a drag, no click

export function actionsOf(timeline) {
  const span = () => timeline.to - timeline.from;
  const middle = () => timeline.from + span() / 2;
  const chosen = () => timeline.chosen?.row.key;
  const arranges = (act) => () => {
    if (!chosen()) return;
    act(chosen());
    timeline.chosen.keeps = true;
    timeline.on.arranged();
  };
  return { w: () => timeline.zoom(1 / 1.5, middle()), s: () => timeline.zoom(1.5, middle()),
    a: () => timeline.move(timeline.from - span() / 5), d: () => timeline.move(timeline.from + span() / 5),
    f: () => timeline.fit(), 0: () => timeline.all(), l: () => timeline.lineUp(), m: () => timeline.measure(null),
    t: () => timeline.toggleStep(), c: arranges((key) => timeline.tracks.turn(key)), p: arranges((key) => timeline.tracks.pin(key)),
    g: arranges(() => timeline.tracks.turn(`r${timeline.chosen.row.rank}`)), n: () => timeline.on.next?.() };
}

function onKey(timeline, actions, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (actions[key]) actions[key]();
  else if (key.startsWith('Arrow')) timeline.walk(key);
  else if (key === 'Escape') timeline.choose(null);
  else return;
  event.preventDefault();
}

/** Says what is under the pointer, beside it. */
function hover(timeline, x, y) {
  const mark = timeline.markAt(x, y);
  const box = byId('hover');
  if (!mark) {
    box.hidden = true;
    return;
  }
  if (box.hidden || mark.row !== timeline.over?.row || mark.i !== timeline.over.i) replace('hover', ...timeline.on.hover(mark));
  timeline.over = mark;
  box.hidden = false;
  const right = Math.max(4, Math.min(x + 14, timeline.width - box.offsetWidth - 4));
  Object.assign(box.style, { left: `${right}px`, top: `${y + 18}px` });
}

/** Fingers and the mouse: one pans, with shift it measures; two zoom. */
function listenToPointers(timeline) {
  const { canvas } = timeline;
  const down = new Map();
  let drag = null;
  const at = (event) => ({ x: event.offsetX, y: event.offsetY });
  const spread = () => {
    const [a, b] = [...down.values()];
    return { width: Math.max(20, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
  };
  canvas.addEventListener('pointerdown', (event) => {
    down.set(event.pointerId, at(event));
    byId('hover').hidden = true;
    canvas.setPointerCapture(event.pointerId);
    const two = down.size === 2 ? spread() : null;
    drag = { ...at(event), from: timeline.from, measures: event.shiftKey, moved: down.size > 1, two, span: timeline.to - timeline.from,
      held: two && timeline.timeAt(two.middle) };
  });
  canvas.addEventListener('pointermove', (event) => {
    const { x, y } = at(event);
    if (down.has(event.pointerId)) down.set(event.pointerId, { x, y });
    if (!drag) {
      if (event.pointerType !== 'touch') hover(timeline, x, y);
      return;
    }
    if (drag.two && down.size === 2) {
      const { width, middle } = spread();
      const span = Math.min(timeline.most, Math.max(100, drag.span * drag.two.width / width));
      timeline.move(drag.held - span * (middle - timeline.gutter) / (timeline.width - timeline.gutter), span);
      return;
    }
    if (drag.two) return;
    if (Math.abs(x - drag.x) > least || (drag.measures && Math.abs(y - drag.y) > least)) drag.moved = true;
    if (!drag.moved) return;
    if (drag.measures) timeline.measure(areaOf(timeline, drag, x, y));
    else timeline.move(drag.from - ((x - drag.x) / (timeline.width - timeline.gutter)) * (timeline.to - timeline.from));
  });
  const up = (event) => {
    down.delete(event.pointerId);
    if (event.type === 'pointerup' && drag && !drag.moved) timeline.choose(timeline.markAt(event.offsetX, event.offsetY));
    if (down.size === 0) drag = null;
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => { byId('hover').hidden = true; });
}

function areaOf(timeline, drag, x, y) {
  const inside = (value) => Math.max(timeline.gutter, Math.min(timeline.width, value));
  const [a, b] = [drag.x, x].map((each) => timeline.timeAt(inside(each))).sort((p, q) => p - q);
  const [top, bottom] = [drag.y, y].sort((p, q) => p - q);
  return { from: a, to: b, top, bottom: Math.max(bottom, top + 4) };
}

export function listenTo(timeline) {
  const { canvas, root } = timeline;
  const actions = actionsOf(timeline);
  root.addEventListener('keydown', (event) => onKey(timeline, actions, event));
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    timeline.zoom(event.deltaY > 0 ? wheelStep : 1 / wheelStep, timeline.timeAt(event.offsetX));
  }, { passive: false });
  listenToPointers(timeline);
  canvas.addEventListener('dblclick', (event) => {
    const mark = timeline.markAt(event.offsetX, event.offsetY);
    if (mark) {
      timeline.choose(mark);
      timeline.fit();
    }
  });
  const center = () => (timeline.from + timeline.to) / 2;
  byId('show-all').addEventListener('click', () => (timeline.hasSteps ? timeline.toggleStep() : timeline.all()));
  byId('zoom-in').addEventListener('click', () => timeline.zoom(1 / buttonStep, center()));
  byId('zoom-out').addEventListener('click', () => timeline.zoom(buttonStep, center()));
  document.addEventListener?.('keydown', (event) => {
    const isTyped = event.target.closest?.('input:not([type=range]):not([type=radio]):not([type=checkbox]), select, textarea, dialog');
    if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '?') byId('help').showModal();
    else if (event.key === '/' && timeline.on.search) timeline.on.search();
    else return;
    event.preventDefault();
  });
  byId('ask-help').addEventListener('click', () => byId('help').showModal());
  byId('close-help').addEventListener('click', () => byId('help').close());
}

/** The keys, and what each does. */
export const keysOfTimeline = () => [['W S', 'zoom in and out, also Ctrl or Cmd with the wheel, and two fingers'], ['A D', 'earlier and later, also by dragging'],
  ['\u2190 \u2192 \u2191 \u2193', 'walk from slice to slice'], ['F', 'fit the selected slice or the measured part'], ['0', 'show all of the step or run'],
  ['T', 'switch between one step and the whole run'], ['M', 'measure what is in view; Shift and drag measures a part'], ['L', 'align both runs at the selected slice'],
  ['C P G', 'fold or pin the track of the selected slice, fold its rank'], ['/', 'search kernels, operators, layers and regions'], ['N', 'the next slice of the same name'],
  ['Esc', 'clear the selection'], ['?', 'this help']].map(([keys, what]) => [make('dt', {}, ...keys.split(' ').map((key) => make('kbd', {}, key))), make('dd', {}, what)]);
