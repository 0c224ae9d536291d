// What the rules of axe-core at WCAG 2.2 A and AA, and its best practices, ask of a page that is shown: each is named as there.
// Contrast, names, landmarks, headings and the keyboard are checked by audit.mjs from the browser's own tree; this reads the document.

/** Runs in the page: [rule, what breaks it] of every element that breaks one. */
export function brokenRules() {
  const broken = [];
  const isShown = (e) => e.checkVisibility({ visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);
  const told = (e) => `${e.localName}${e.id ? `#${e.id}` : ''}${e.className && typeof e.className === 'string' ? `.${e.className}` : ''} ${(e.textContent ?? '').trim().slice(0, 30)}`;
  const rule = (name, elements) => { for (const e of elements) broken.push([name, told(e)]); };
  const focusable = (e) => e.tabIndex >= 0 && !e.disabled && e.matches('a[href], button, input, select, textarea, summary, [tabindex]');

  const roles = new Set(['alert', 'application', 'banner', 'button', 'checkbox', 'combobox', 'complementary', 'contentinfo', 'dialog', 'group', 'img', 'link',
    'list', 'listbox', 'listitem', 'main', 'navigation', 'note', 'option', 'radio', 'region', 'search', 'slider', 'status', 'table', 'tooltip']);
  rule('aria-roles', all('[role]').filter((e) => !roles.has(e.getAttribute('role'))));
  const attributes = new Set(['activedescendant', 'atomic', 'autocomplete', 'controls', 'current', 'describedby', 'disabled', 'expanded', 'haspopup', 'hidden', 'label',
    'labelledby', 'live', 'modal', 'pressed', 'selected', 'valuemax', 'valuemin', 'valuenow', 'valuetext']);
  const ariaOf = (e) => [...e.attributes].filter(({ name }) => name.startsWith('aria-'));
  rule('aria-valid-attr', all('*').filter((e) => ariaOf(e).some(({ name }) => !attributes.has(name.slice(5)))));
  const values = { hidden: ['true', 'false'], expanded: ['true', 'false'], pressed: ['true', 'false', 'mixed'], selected: ['true', 'false'], live: ['polite', 'assertive', 'off'],
    modal: ['true', 'false'] };
  rule('aria-valid-attr-value', all('*').filter((e) => ariaOf(e).some(({ name, value }) => values[name.slice(5)] && !values[name.slice(5)].includes(value))));
  const references = ['aria-controls', 'aria-labelledby', 'aria-describedby', 'aria-activedescendant', 'for'];
  rule('aria-valid-attr-value', all('*').filter((e) => references.some((name) => (e.getAttribute(name) ?? '').split(' ').filter(Boolean).some((id) => !document.getElementById(id)))));
  const pressable = { 'aria-pressed': ['button'], 'aria-expanded': ['button', 'combobox'], 'aria-selected': ['option'] };
  const roleOf = (e) => e.getAttribute('role') ?? { button: 'button', summary: 'button', option: 'option', input: 'textbox' }[e.localName] ?? e.localName;
  rule('aria-allowed-attr', all('*').filter((e) => Object.entries(pressable).some(([name, allowed]) => e.hasAttribute(name) && !allowed.includes(roleOf(e)))));
  rule('aria-allowed-attr', all('div[aria-label]:not([role]), span[aria-label]:not([role]), p[aria-label]:not([role])')); // names of nothing
  rule('aria-required-parent', all('[role=option]').filter((e) => !e.closest('[role=listbox]')));
  rule('aria-hidden-focus', [...document.querySelectorAll('[aria-hidden=true]')].filter((e) => [e, ...e.querySelectorAll('*')].some((each) => isShown(each) && focusable(each))));
  rule('aria-dialog-name', [...document.querySelectorAll('dialog')].filter((e) => !e.getAttribute('aria-label')));

  rule('tabindex', all('[tabindex]').filter((e) => e.tabIndex > 0));
  rule('nested-interactive', all('button, a[href], summary, [role=button], [role=option], [role=img]').filter((e) => [...e.querySelectorAll('a[href], button, input, select, [tabindex]')].some(isShown)));
  rule('scrollable-region-focusable', all('*').filter((e) => {
    const style = getComputedStyle(e);
    const scrolls = (/(auto|scroll)/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) || (/(auto|scroll)/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
    return scrolls && e !== document.documentElement && e !== document.body && !focusable(e) && ![...e.querySelectorAll('*')].some((each) => isShown(each) && focusable(each));
  }));
  // 24 px, or as much room around it; links within a line of text and what the browser draws itself are free
  const targets = all('button, select, summary, a[href], input').filter((e) => !e.disabled && !e.closest(e.localName === 'a' ? 'p, li' : 'p') && e.type !== 'range' && e.type !== 'radio' && e.type !== 'checkbox');
  const boxes = targets.map((e) => e.getBoundingClientRect());
  rule('target-size', targets.filter((e, i) => {
    const box = boxes[i];
    if (box.width === 0 || (box.width >= 24 && box.height >= 24) || e.tabIndex < 0) return false; // the keys of the timeline do the same
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return boxes.some((other, k) => k !== i && targets[k].tabIndex >= 0 && Math.hypot(Math.max(other.left - x, 0, x - other.right), Math.max(other.top - y, 0, y - other.bottom)) < 12);
  }));

  rule('list', all('ul, ol').filter((e) => !e.getAttribute('role') && [...e.children].some((child) => child.localName !== 'li')));
  rule('listitem', all('li').filter((e) => !e.closest('ul, ol')));
  rule('definition-list', all('dl').filter((e) => [...e.children].some((child) => !['dt', 'dd', 'div'].includes(child.localName))));
  rule('dlitem', all('dt, dd').filter((e) => e.parentElement.localName !== 'dl'));
  rule('empty-heading', all('h1, h2, h3').filter((e) => !e.textContent.trim()));
  rule('empty-table-header', all('th').filter((e) => !e.textContent.trim()));
  rule('scope-attr-valid', all('th').filter((e) => !['col', 'row'].includes(e.getAttribute('scope'))));
  rule('table-fake-caption', all('td[colspan], th[colspan]'));
  rule('td-headers-attr', all('tr').filter((e) => { const head = e.closest('table').querySelector('thead tr'); return head && e.children.length > head.children.length; }));
  rule('svg-img-alt', all('svg').filter((e) => e.getAttribute('aria-hidden') !== 'true' && !(e.getAttribute('role') === 'img' && e.getAttribute('aria-label')) && !e.closest('[aria-hidden=true]')));
  rule('role-img-alt', all('[role=img]').filter((e) => !e.getAttribute('aria-label')));
  rule('image-alt', all('img').filter((e) => !e.alt));
  rule('label', all('input, select').filter((e) => !e.labels?.length && !e.getAttribute('aria-label')));
  // who speaks to the page says what is written
  rule('label-content-name-mismatch', all('button[aria-label], a[aria-label]').filter((e) => {
    const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim();
    const seen = plain(e.textContent);
    return seen.length > 0 && !e.textContent.includes('\u2026') && !plain(e.getAttribute('aria-label')).includes(seen);
  }));
  rule('region', [...all('body *')].filter((e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && !e.closest('header, main, footer, nav, dialog, script, style, section[aria-label], [role=region], [role=alert], [aria-live]')));
  const marks = all('main, header, footer, aside, section[aria-label], [role=region], nav').filter((e) => !e.parentElement.closest('article'));
  rule('landmark-unique', marks.filter((e, i) => marks.some((other, k) => k < i && other.localName === e.localName && (other.getAttribute('aria-label') ?? '') === (e.getAttribute('aria-label') ?? ''))));
  rule('landmark-complementary-is-top-level', all('aside').filter((e) => e.parentElement.closest('aside, section')));
  const viewport = document.querySelector('meta[name=viewport]')?.content ?? '';
  if (!viewport || /user-scalable\s*=\s*no|maximum-scale\s*=\s*[01]\b/.test(viewport)) broken.push(['meta-viewport', viewport]);
  if (document.querySelector('meta[http-equiv=refresh]')) broken.push(['meta-refresh', '']);
  return broken;
}

/** Runs in the page: texts of pictures with less contrast than it takes against what is drawn behind them. */
export function paleInPictures() {
  const numbers = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const light = (colour) => colour.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const panel = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const text of document.querySelectorAll('svg text')) {
    if (!text.checkVisibility({ visibilityProperty: true }) || !text.textContent.trim()) continue;
    const box = text.getBBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    // the last shape before it that lies behind its middle
    const shapes = [...text.ownerSVGElement.querySelectorAll('rect')].filter((shape) => (shape.compareDocumentPosition(text) & 4) && Number(getComputedStyle(shape).opacity) === 1);
    const back = shapes.reverse().find((shape) => { const b = shape.getBBox(); return x >= b.x && x <= b.x + b.width && y >= b.y && y <= b.y + b.height; });
    const [a, b] = [light(numbers(getComputedStyle(text).fill)), light(back ? numbers(getComputedStyle(back).fill) : panel(text.ownerSVGElement.parentElement))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) pale.push([ratio.toFixed(2), text.textContent.slice(0, 30)]);
  }
  return pale;
}
