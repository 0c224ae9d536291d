// Every figure of a page against the document of the command that answers the same: walkFigures(body, documents).
// A figure is a number with its unit, or a number alone in a cell. `data-at` says where the document has it: a JSON pointer,
// or what follows from several ("/a to /b": relative change; "over", "less", "of", "per", "number of"). In the prose of a card,
// figures are looked up in its document. What is no figure of an answer says so: ticks, what a user chose or set, sums over the
// graph that the page carries. Before a figure that was simulated in the page, because a slider was moved, stands "simulated",
// and the place that it would have.

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

/** All numbers below a value, by what they may be. */
function* numbersIn(value) {
  if (typeof value === 'number') yield value;
  else if (typeof value === 'string') for (const figure of figuresIn(value)) yield figure.value;
  else if (value && typeof value === 'object') {
    if (Array.isArray(value)) yield value.length;
    for (const each of Object.values(value)) yield* numbersIn(each);
  }
}
const numbersOf = new WeakMap();
function knownIn(document) {
  if (typeof document !== 'object' || document === null) return [...numbersIn(document)];
  if (!numbersOf.has(document)) numbersOf.set(document, [...new Set(numbersIn(document))]);
  return numbersOf.get(document);
}
/** In words a figure stands that the document has, or the ratio, change or difference of two that belong together. */
function isKnown(figure, document, wholes) {
  const known = knownIn(document);
  if (known.some((number) => agrees(figure, number))) return true;
  if (figure.kind === 'share') {
    return wholes.some((whole) => whole !== 0 && known.some((number) => agrees(figure, number / whole) || agrees(figure, number / whole - 1)))
      || known.some((number) => number < 3 && agrees(figure, Math.expm1(number))); // parts of a range are logarithms
  }
  return figure.kind === 'time' && wholes.some((whole) => wholes.some((other) => agrees(figure, whole - other)));
}
/** Times that others are told as shares of. */
function* wholesIn(value) {
  if (!value || typeof value !== 'object') return;
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'number' && /(^|_)(step|span|total|before|after|simulated|measured|host_only|device_busy|unprofiled_step|recorded_step|peak)_(ns|bytes)$/.test(key)) yield each;
    else yield* wholesIn(each);
  }
}

const same = (text) => text.replaceAll('\u2192', '->').replaceAll('\u00d7', 'x').replaceAll('\u2212', '-').replace(/[\s_]+/g, ' ').trim();

/** Of one text with a source of its own. */
function wrongAt(text, source, document) {
  const want = valueAt(document, source);
  if (want === undefined) return figuresIn(text).every(({ value }) => value === 0) ? null : `the document has nothing at ${source}`;
  if (typeof want === 'string') {
    const [a, b] = [same(text), same(want)];
    if (a === b || (a.endsWith('\u2026') && b.startsWith(a.slice(0, -1)))) return null;
  }
  if (typeof want === 'object' || typeof want === 'string' || typeof want === 'boolean') {
    const strange = figuresIn(text).find((figure) => !isKnown(figure, want, []));
    return strange ? `${strange.text} is not in ${source}` : null;
  }
  const figures = figuresIn(text);
  if (figures.length === 0) return null; // "none", "same"
  const first = figures.find(({ kind }) => kind !== 'plain') ?? figures[0]; // behind values of axes, if need be
  const others = figures.slice(figures.indexOf(first) + 1);
  if (!agrees(first, want)) return `the document has ${want} at ${source}`;
  const strange = others.find((figure) => figure.kind !== 'plain' && !isKnown(figure, document, [...wholesIn(document)]));
  return strange ? `${strange.text} beside it is not in the document` : null;
}

const exempt = ['script', 'style', 'code', 'kbd', 'select', 'footer'];
const isName = (element) => element.localName === 'bdi' && ['td', 'li', 'span', 'em'].includes(element.parent.localName);

/**
 * {compared, looked, declared, strange: [text]} of an element and all in it. `documents`: by what data-of names; one that is
 * missing is a fault of the page. `moved`: sliders are, and the documents are of the command that does the same.
 */
export function walkFigures(body, documents, moved = false) {
  const found = { compared: 0, looked: 0, declared: 0, strange: [] };
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
      const wrong = source.startsWith('rest of ') ? null : wrongAt(text, source, document);
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
    const wholes = [...wholesIn(document)];
    for (const figure of isCell ? figures : real) {
      found.looked += 1;
      if (!isKnown(figure, document, wholes)) tell(text, `${figure.text} is not in the document of ${of}`, element);
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
