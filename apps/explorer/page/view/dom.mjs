// Elements, made one by one: what a trace calls itself becomes text, never markup.

const saidFor = 1500; // ms

/** make('td', {class: 'figure'}, 'text', child, ...) */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
const svgSpace = 'http://www.w3.org/2000/svg';
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

export const byId = (id) => document.getElementById(id);
export function replace(id, ...children) {
  byId(id).replaceChildren(...children.filter((child) => child !== null));
}
/** Lets the page answer in between: what comes next is a task of its own. */
export const breathe = () => new Promise((done) => { setTimeout(done); });
/** A button that copies what `textOf` then says; what cannot copy says so. */
export function copyButton(label, textOf) {
  const button = make('button', { type: 'button', class: 'copy' }, label);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Cannot copy here';
    }
    setTimeout(() => { button.textContent = label; }, saidFor);
  });
  return button;
}
/** A mark of colour before a word. */
export const swatch = (name) => make('i', { class: `swatch use-${name}`, 'aria-hidden': 'true' });
