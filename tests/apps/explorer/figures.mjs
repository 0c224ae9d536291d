// Every figure of a page against the document of the command that answers the same: walkFigures(body, documents).
// A figure is a number with its unit, or a number alone in a cell. `data-at` says where the document has it: a JSON pointer,
// or what follows from several ("/a to /b": relative change; "over", "less", "of", "per", "number of", "rest of"), `data-whole` of what
// a share beside it is a part. Figures in words have no place of their own: the document must have such a number, of the same unit,
// anywhere, or a share must be one of those that `told` lists. What is no figure of an answer says so: ticks, what a user chose or set,
// sums over the graph that the page carries; nobody compares those. Before a figure that was simulated in the page, because a slider
// was moved, stands "simulated", and the place that it would have.

const declared = new Set(['input', 'selection', 'tick', 'graph']);

const units = { '\u00b5s': 1e3, us: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, '%': 0.01,
  x: 1, '\u00d7': 1, 'GB/s': 1e9 };
const kinds = { '\u00b5s': 'time', us: 'time', ms: 'time', s: 'time', B: 'bytes', KiB: 'bytes', MiB: 'bytes', GiB: 'bytes', TiB: 'bytes',
  '%': 'share', x: 'factor', '\u00d7': 'factor', 'GB/s': 'rate' };
const pattern = /(?<![\w.])([-+\u2212]?)(\d[\d,]*)(\.\d+)?(?:e([+-]?\d+))?(?:[ \u202f](\u00b5s|us|ms|s|KiB|MiB|GiB|TiB|B|%|GB\/s)(?![\w/])|([\u00d7x])(?!\w))?/gu;

/** [{text, value, slack, kind}] of a text; `slack`: what rounding may have taken away. */
export function figuresIn(text) {
  return [...text.matchAll(pattern)].map(([all, sign, whole, decimals = '', exponent = '0', spaced, close]) => {
    const unit = spaced ?? close;
    const size = unit ? units[unit] : 1;
    const scale = size * 10 ** Number(exponent);
    const value = Number(whole.replaceAll(',', '') + decimals) * scale * (sign === '' || sign === '+' ? 1 : -1);
    return { text: all, value, slack: 0.5000001 * scale * 10 ** -Math.max(0, decimals.length - 1), kind: unit ? kinds[unit] : 'plain' };
  });
}
const agrees = (figure, want) => Math.abs(figure.value - want) <= figure.slack + 1e-9 * Math.abs(want)
  || Math.abs(Math.abs(figure.value) - Math.abs(want)) <= figure.slack * (figure.value === 0 ? 1 : 0);

export function at(document, pointer) {
  let place = document;
  for (const key of pointer.split('/').slice(1)) {
    if (place === undefined || place === null) return undefined;
    place = place[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return place;
}

/** What a source says of a document; undefined: the document has no such place. */
function valueAt(document, source) {
  if (source.startsWith('number of ')) return at(document, source.slice(10))?.length;
  const parts = /^(.*\S) (to|over|less) (\/.*)$/.exec(source);
  if (parts) {
    const [a, b] = [valueAt(document, parts[1]), valueAt(document, parts[3])];
    if (parts[2] === 'less') return (a ?? 0) - (b ?? 0);
    if (a === undefined || b === undefined) return undefined;
    if (parts[2] === 'over') return b === 0 ? undefined : a / Math.max(1, b);
    return b === 0 ? 0 : a / b - 1;
  }
  const share = /^(\S+) (of|per) (\/\S+)(?: x(\d+))?$/.exec(source);
  if (share) {
    const [a, b] = [at(document, share[1]), at(document, share[3])];
    if (a === undefined || b === undefined) return undefined;
    return b === 0 ? 0 : a / (b * Number(share[4] ?? 1));
  }
  if (source.startsWith('point ')) {
    const [, id, pointer] = /^point (\d+) ?(.*)$/.exec(source);
    return at(document.points.find((point) => String(point.id) === id), pointer);
  }
  return at(document, source);
}

/** What a number of a document is, by the name that it or what holds it has; in a text each figure says it itself. */
const kindOf = (key, above) => (/_ns$/.test(key) ? 'time' : /_bytes$|^bytes$/.test(key) ? 'bytes' : above);
/** [number, kind] of all numbers below a value. */
function* numbersIn(value, kind = 'plain') {
  if (typeof value === 'number') yield [value, kind];
  else if (typeof value === 'string') for (const figure of figuresIn(value)) yield [figure.value, figure.kind];
  else if (Array.isArray(value)) {
    yield [value.length, 'plain'];
    for (const each of value) yield* numbersIn(each, kind);
  } else if (value) for (const [key, each] of Object.entries(value)) yield* numbersIn(each, kindOf(key, kind));
}

/** Every value at a pointer in which "*" is any member. */
function valuesAt(value, [key, ...rest]) {
  if (value === undefined || value === null) return [];
  if (key === undefined) return typeof value === 'number' ? [value] : [];
  return (key === '*' ? Object.values(value) : [value[key]]).flatMap((each) => valuesAt(each, rest));
}
/** What words say of a document as a share: changes, parts of a whole, sides of a range, which are logarithms. */
const told = [
  '/baseline/step_ns to /measured/step_ns', '/predicted/step_ns to /baseline/step_ns', '/after_ns to /before_ns', '/shares/* of /total_ns',
  'exp /predicted/range/faster/*', 'exp /predicted/range/slower/*'];
function sharesTold(document) {
  return told.flatMap((source) => {
    const all = (pointer) => valuesAt(document, pointer.split('/').slice(1));
    if (source.startsWith('exp ')) return all(source.slice(4)).map(Math.expm1);
    const [part, word, whole] = source.split(' ');
    const wholes = all(whole).filter((number) => number !== 0);
    return all(part).flatMap((number) => wholes.map((other) => number / other - (word === 'to' ? 1 : 0)));
  });
}

const numbersOf = new WeakMap();
/** By kind, what figures in words may be: numbers that the document has as such, and what is told of them. */
function knownIn(document) {
  if (typeof document === 'object' && document !== null && numbersOf.has(document)) return numbersOf.get(document);
  const known = new Map();
  const add = (kind, number) => known.set(kind, (known.get(kind) ?? new Set()).add(number));
  for (const [number, kind] of numbersIn(document)) add(kind, number);
  if (typeof document !== 'object' || document === null) return known;
  for (const number of sharesTold(document)) add('share', number);
  numbersOf.set(document, known);
  return known;
}
/** Shares, factors and rates of a document have no unit in their names. */
const alike = (kind) => (['time', 'bytes'].includes(kind) ? [kind] : [kind, 'plain']);
function isKnown(figure, document) {
  const known = knownIn(document);
  return alike(figure.kind).some((kind) => [...known.get(kind) ?? []].some((number) => agrees(figure, number)));
}

/** The part of all shares with one decimal that words could say of a document: how little a share in words proves. */
export function chanceOfShare(document) {
  const all = Array.from({ length: 999 }, (_, i) => figuresIn(`${((i + 1) / 10).toFixed(1)} %`)[0]);
  return all.filter((figure) => isKnown(figure, document)).length / all.length;
}

const same = (text) => text.replaceAll('\u2192', '->').replaceAll('\u00d7', 'x').replaceAll('\u2212', '-').replace(/[\s_]+/g, ' ').trim();

/** "rest of /x": what the rows of a list leave of a figure of the document, /rows/0/x for each that is listed. */
function restOf(pointer, element, document) {
  const key = pointer.split('/').at(-1);
  const rows = element.closest('p').parent.querySelectorAll('[data-at]').map((each) => each.getAttribute('data-at'))
    .filter((source) => source.startsWith('/') && source.split('/').at(-1) === key && source !== pointer);
  return rows.reduce((rest, row) => rest - at(document, row), at(document, pointer));
}

/** Of one text with a source of its own. A share beside the figure is the figure's, of `whole`. */
function wrongAt(text, source, document, element) {
  const want = source.startsWith('rest of ') ? restOf(source.slice(8), element, document) : valueAt(document, source);
  if (want === undefined) return figuresIn(text).every(({ value }) => value === 0) ? null : `the document has nothing at ${source}`;
  if (typeof want === 'string') {
    const [a, b] = [same(text), same(want)];
    if (a === b || (a.endsWith('\u2026') && b.startsWith(a.slice(0, -1)))) return null;
  }
  if (typeof want === 'object' || typeof want === 'string' || typeof want === 'boolean') {
    const strange = figuresIn(text).find((figure) => !isKnown(figure, want));
    return strange ? `${strange.text} is not in ${source}` : null;
  }
  const figures = figuresIn(text);
  if (figures.length === 0) return null; // "none", "same"
  const first = figures.find(({ kind }) => kind !== 'plain') ?? figures[0]; // behind values of axes, if need be
  const others = figures.slice(figures.indexOf(first) + 1);
  if (!agrees(first, want)) return `the document has ${want} at ${source}`;
  const whole = valueAt(document, element.getAttribute('data-whole') ?? '/');
  const isPart = (figure) => figure.kind === 'share' && typeof whole === 'number' && agrees(figure, want / Math.max(1, whole));
  const strange = others.find((figure) => figure.kind !== 'plain' && !isPart(figure) && !isKnown(figure, document));
  return strange ? `${strange.text} beside it is not in the document` : null;
}

const exempt = ['script', 'style', 'code', 'kbd', 'select', 'footer'];
const isName = (element) => element.localName === 'bdi' && ['td', 'li', 'span', 'em'].includes(element.parent.localName);

/**
 * {compared, looked, sharesOf, declared, strange: [text]} of an element and all in it; `sharesOf`: documents of shares in words. `documents`: by what data-of names; one that is
 * missing is a fault of the page. `moved`: sliders are, and the documents are of the command that does the same.
 */
export function walkFigures(body, documents, moved = false) {
  const found = { compared: 0, looked: 0, sharesOf: new Set(), declared: 0, strange: [] };
  const tell = (text, what, element) => found.strange.push(`"${text.trim().slice(0, 90)}" (${element.closest('[id]')?.id ?? ''}): ${what}`);
  const visit = (text, element, attribute) => {
    const sourced = attribute ? null : element.closest('[data-at]');
    const of = element.closest('[data-of]')?.getAttribute('data-of');
    const figures = figuresIn(text);
    if (figures.length === 0) return;
    if (sourced) {
      const [, simulated, source] = /^(simulated )?(.*)$/.exec(sourced.getAttribute('data-at'));
      if (declared.has(source)) {
        found.declared += figures.length;
        return;
      }
      if (simulated && !moved) tell(text, 'it is simulated where the program has an answer', element);
      const document = documents[of];
      if (!document) return tell(text, `no document of ${of}`, element);
      const wrong = wrongAt(text, source, document, sourced);
      found.compared += 1;
      if (wrong) tell(text, wrong, element);
      return;
    }
    if (isName(element)) return;
    const real = figures.filter(({ kind }) => kind !== 'plain');
    const isCell = element.localName === 'td' && same(text) === figures[0].text;
    if (real.length === 0 && !isCell) return;
    const document = documents[of];
    if (!document) return tell(text, 'a figure without a source', element);
    for (const figure of isCell ? figures : real) {
      found.looked += 1;
      if (figure.kind === 'share') found.sharesOf.add(of);
      if (!isKnown(figure, document)) tell(text, `${figure.text} is not in the document of ${of}`, element);
    }
  };
  const walk = (element) => {
    if (exempt.includes(element.localName) || element.classList.contains('tick')) return;
    if (element.getAttribute('aria-label')) visit(element.getAttribute('aria-label'), element, true);
    for (const each of element.childNodes) {
      if (each.data !== undefined) visit(each.data, element, false);
      else walk(each);
    }
  };
  walk(body);
  return found;
}
