// As much of a browser's document as the page uses, for Node: elements, selectors, events, a canvas that remembers its texts.
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
const plain = (text) => text.replace(/&(#?\w+);/g, (all, name) => entities[name] ?? (name[0] === '#' ? String.fromCodePoint(Number(name.slice(1))) : all));
const alone = new Set(['meta', 'input', 'br', 'hr', 'link']);
const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export class Text {
  constructor(data) { this.data = String(data); this.parent = null; }
  get textContent() { return this.data; }
}

/** "input[type=checkbox]", ".hint", "#id", ":is(input, select)", one behind the other with blanks. */
function matchesOne(element, compound) {
  if (!compound) return true;
  const part = /^(?:([\w-]+|\*)|#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:="?([^\]"]*)"?)?\]|:is\(([^)]*)\)|:not\(([^)]*)\))/.exec(compound);
  if (!part) throw new Error(`no selector of this test: ${compound}`);
  const [all, tag, id, name, attribute, value, some, none] = part;
  const is = (tag !== undefined && (tag === '*' || element.localName === tag)) || (id !== undefined && element.id === id)
    || (name !== undefined && element.classList.contains(name))
    || (attribute !== undefined && element.attributes.has(attribute) && (value === undefined || element.getAttribute(attribute) === value))
    || (some !== undefined && some.split(',').some((each) => matchesOne(element, each.trim())))
    || (none !== undefined && !none.split(',').some((each) => matchesOne(element, each.trim())));
  return is && matchesOne(element, compound.slice(all.length));
}
function matchesAll(element, parts) {
  if (!matchesOne(element, parts[parts.length - 1])) return false;
  if (parts.length === 1) return true;
  for (let at = element.parent; at; at = at.parent) if (matchesAll(at, parts.slice(0, -1))) return true;
  return false;
}
const split = (selector) => selector.trim().match(/(?:\[[^\]]*\]|:\w+\([^)]*\)|[^\s[\]:]|:(?!\w+\())+/g);

export class Element {
  constructor(localName) {
    Object.assign(this, { localName, attributes: new Map(), childNodes: [], parent: null, listeners: new Map(), style: {}, clientWidth: 1100, own: {} });
  }
  getAttribute(name) { return this.attributes.get(name) ?? null; }
  setAttribute(name, value) { this.attributes.set(name, String(value)); }
  removeAttribute(name) { this.attributes.delete(name); }
  toggleAttribute(name, on) { if (on) this.setAttribute(name, ''); else this.removeAttribute(name); }
  get id() { return this.getAttribute('id') ?? ''; }
  get type() { return this.getAttribute('type') ?? ''; }
  set type(type) { this.setAttribute('type', type); }
  get hidden() { return this.attributes.has('hidden'); }
  set hidden(is) { this.toggleAttribute('hidden', is); }
  get disabled() { return this.attributes.has('disabled'); }
  set disabled(is) { this.toggleAttribute('disabled', is); }
  get checked() { return this.own.checked ?? false; }
  set checked(is) { this.own.checked = is; }
  get value() { return this.own.value ?? this.getAttribute('value') ?? ''; }
  set value(value) { this.own.value = String(value); }
  get max() { return this.getAttribute('max'); }
  set max(value) { this.setAttribute('max', value); }
  get dataset() {
    return new Proxy(this, { get: (of, name) => of.attributes.get(`data-${kebab(name)}`),
      set: (of, name, value) => { of.setAttribute(`data-${kebab(name)}`, value); return true; } });
  }
  get classList() {
    const names = () => (this.getAttribute('class') ?? '').split(' ').filter(Boolean);
    const set = (list) => { if (list.length > 0) this.setAttribute('class', list.join(' ')); else this.removeAttribute('class'); };
    return { contains: (name) => names().includes(name), add: (name) => set([...new Set([...names(), name])]),
      remove: (name) => set(names().filter((each) => each !== name)),
      toggle: (name, on = !names().includes(name)) => set([...names().filter((each) => each !== name), ...(on ? [name] : [])]) };
  }
  get children() { return this.childNodes.filter((each) => each instanceof Element); }
  get textContent() { return this.childNodes.map((each) => each.textContent).join(''); }
  set textContent(text) { this.replaceChildren(...(text === '' ? [] : [text])); }
  adopt(nodes) {
    return nodes.flatMap((node) => {
      if (node instanceof Element && node.localName === '#fragment') return this.adopt(node.childNodes.slice());
      const own = typeof node === 'object' ? node : new Text(node);
      own.remove?.();
      if (own instanceof Text && own.parent) own.parent.childNodes = own.parent.childNodes.filter((each) => each !== own);
      own.parent = this;
      return [own];
    });
  }
  append(...nodes) { this.childNodes.push(...this.adopt(nodes)); }
  prepend(...nodes) { this.childNodes.unshift(...this.adopt(nodes)); }
  replaceChildren(...nodes) {
    for (const each of this.childNodes) each.parent = null;
    this.childNodes = [];
    this.append(...nodes);
  }
  replaceWith(...nodes) {
    const { parent } = this;
    const at = parent.childNodes.indexOf(this);
    const added = parent.adopt(nodes);
    parent.childNodes.splice(at, 1, ...added);
    this.parent = null;
  }
  remove() {
    if (this.parent) this.parent.childNodes = this.parent.childNodes.filter((each) => each !== this);
    this.parent = null;
  }
  * all() { for (const each of this.children) { yield each; yield* each.all(); } }
  matches(selector) { return matchesAll(this, split(selector)); }
  closest(selector) { for (let at = this; at; at = at.parent) if (at.matches(selector)) return at; return null; }
  querySelectorAll(selector) { const parts = split(selector); return [...this.all()].filter((each) => matchesAll(each, parts)); }
  querySelector(selector) { const parts = split(selector); for (const each of this.all()) if (matchesAll(each, parts)) return each; return null; }
  addEventListener(name, on) { this.listeners.set(name, [...(this.listeners.get(name) ?? []), on]); }
  dispatchEvent(event) { for (const on of this.listeners.get(event.type) ?? []) on({ target: this, preventDefault() {}, ...event }); }
  focus() {}
  setPointerCapture() {}
  click() {
    if (this.disabled) return;
    if (this.type === 'checkbox') this.checked = !this.checked;
    if (this.type === 'radio') {
      let root = this;
      while (root.parent) root = root.parent;
      for (const each of root.querySelectorAll('input[type=radio]')) if (each.getAttribute('name') === this.getAttribute('name')) each.checked = each === this;
    }
    this.dispatchEvent({ type: ['checkbox', 'radio'].includes(this.type) ? 'change' : 'click' });
  }
  getContext() { this.context ??= contextOf(this); return this.context; }
}

/** A picture of which only the texts are kept, those since it was last wiped. */
function contextOf(canvas) {
  canvas.texts = [];
  const own = { measureText: (text) => ({ width: 7 * text.length }), createPattern: () => ({}),
    fillText: (text) => canvas.texts.push(text), fillRect: (x, y) => { if (x === 0 && y === 0) canvas.texts = []; } };
  return new Proxy(own, { get: (of, name) => of[name] ?? (() => {}), set: () => true });
}

/** The document of HTML that this program wrote. */
export function parse(html) {
  const root = new Element('#document');
  let top = root;
  const pattern = /<!doctype[^>]*>|<(script|style)([^>]*)>([^]*?)<\/\1>|<(\/?)([a-zA-Z0-9]+)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/gi;
  const attribute = (element, text) => { for (const [, name, value] of text.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)) element.setAttribute(name, plain(value ?? '')); };
  for (const [, raw, rawAttributes, data, ends, tag, attributes, closed, text] of html.matchAll(pattern)) {
    if (raw) {
      const element = new Element(raw);
      attribute(element, rawAttributes);
      element.append(new Text(data));
      top.append(element);
    } else if (text !== undefined) {
      top.append(new Text(plain(text)));
    } else if (ends) {
      for (let at = top; at.parent; at = at.parent) if (at.localName === tag) { top = at.parent; break; }
    } else if (tag) {
      const element = new Element(tag);
      attribute(element, attributes);
      if (element.attributes.has('checked')) element.checked = true;
      top.append(element);
      if (!closed && !alone.has(tag)) top = element;
    }
  }
  return root;
}

class Inflate extends TransformStream {
  constructor() {
    const chunks = [];
    super({ transform: (chunk) => { chunks.push(chunk); },
      flush: (out) => out.enqueue(new Uint8Array(inflateRawSync(Buffer.concat(chunks)))) });
  }
}

let opened = 0;
export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Opens a page that `report` wrote and brings it to life; one is alive at a time. */
export async function openPage(file, hash = '') {
  const root = parse(readFileSync(file, 'utf8'));
  const html = root.querySelector('html');
  const body = root.querySelector('body');
  const make = (name) => new Element(name);
  const heard = new Map();
  globalThis.document = { documentElement: html, body, createElement: make, createElementNS: (_, name) => make(name),
    createDocumentFragment: () => make('#fragment'), getElementById: (id) => root.querySelector(`#${id}`),
    querySelector: (text) => root.querySelector(text), querySelectorAll: (text) => root.querySelectorAll(text), title: '' };
  globalThis.window = { devicePixelRatio: 1, innerHeight: 900, scrollBy() {}, addEventListener: (name, on) => heard.set(name, on) };
  globalThis.location = { hash, href: `file://${file}${hash}`, reload() {} };
  globalThis.history = { replaceState: (_, __, to) => { globalThis.location.hash = to; }, pushState() {} };
  const media = { matches: false, addEventListener() {} };
  Object.assign(globalThis, { matchMedia: () => media, DecompressionStream: Inflate, ResizeObserver: class { observe() {} },
    getComputedStyle: () => ({ getPropertyValue: () => '#123456' }), requestAnimationFrame: (on) => setTimeout(on, 0),
    cancelAnimationFrame: clearTimeout, ImageData: class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } },
    OffscreenCanvas: class extends Element { constructor() { super('canvas'); } } });
  opened += 1;
  const main = html.dataset.kind === 'sweep' ? 'main_sweep' : 'main';
  await import(`../../../apps/explorer/page/${main}.mjs?${opened}`);
  for (let i = 0; i < 2000 && html.dataset.ready === undefined; ++i) await pause(5);
  if (html.dataset.ready !== 'yes') throw new Error(`${file} did not come alive: ${root.querySelector('#trouble').textContent}`);
  await pause(200);
  return { root, body, byId: (id) => root.querySelector(`#${id}`), hash: () => globalThis.location.hash };
}
