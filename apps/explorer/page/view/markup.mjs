// HTML that this program wrote becomes elements, one by one: no text is ever parsed by the browser,
// and only what stands in these lists is made.
import { draw, make } from './dom.mjs';

const htmlTags = new Set(['section', 'h2', 'h3', 'p', 'b', 'em', 'span', 'bdi', 'dl', 'dt', 'dd', 'div', 'table',
  'thead', 'tbody', 'tr', 'th', 'td', 'ul', 'li', 'code', 'details', 'summary', 'label', 'input']);
const svgTags = new Set(['svg', 'rect', 'path']);
const known = new Set(['class', 'scope', 'role', 'type', 'checked', 'value', 'data-carried', 'disabled', 'data-at', 'data-of', 'viewBox',
  'aria-hidden', 'aria-label', 'tabindex', 'x', 'y', 'width', 'height', 'rx', 'd']);
const entities = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" };
const plain = (text) => text.replace(/&(?:lt|gt|amp|quot|#39);/g, (entity) => entities[entity]);

function elementOf(tag, attributes) {
  const own = {};
  for (const [, name, value] of attributes.matchAll(/([\w-]+)(?:="([^"]*)")?/g)) {
    if (known.has(name)) own[name] = value === undefined ? true : plain(value);
  }
  if (svgTags.has(tag)) return draw(tag, own);
  return htmlTags.has(tag) ? make(tag, own) : null;
}

/** The elements of a piece of HTML; unknown tags are left out, their text stays. */
export function markup(html) {
  const root = document.createDocumentFragment();
  const open = [root];
  const pattern = /<(\/?)([a-z0-9]+)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+|<)/gi;
  for (const [, ends, tag, attributes, alone, text] of html.matchAll(pattern)) {
    const top = open[open.length - 1];
    if (text !== undefined) {
      top.append(plain(text));
    } else if (ends) {
      if (open.length > 1 && top.localName === tag) open.pop();
    } else {
      const element = elementOf(tag, attributes);
      if (element === null) continue;
      top.append(element);
      if (!alone && tag !== 'input') open.push(element);
    }
  }
  return root;
}
