// Paper: light whatever the screen is, as wide as a sheet, drawn before it is printed.

export const isPaper = () => document.documentElement.classList.contains('paper');

const sheet = 820; // px that a drawing has below its head

/** A drawing that is longer than a sheet is made smaller: a canvas cannot be broken. */
export function fitSheet(element, height) {
  element.style.zoom = isPaper() && height > sheet ? String(sheet / height) : '';
}

/** `draw` draws anew what is drawn: once for paper, and for the screen again. */
export function onPaper(draw) {
  const root = document.documentElement;
  const turn = (is) => {
    if (root.classList.contains('paper') === is) return;
    root.classList.toggle('paper', is);
    draw();
  };
  window.addEventListener('beforeprint', () => turn(true));
  window.addEventListener('afterprint', () => turn(false));
  matchMedia('print').addEventListener('change', ({ matches }) => turn(matches));
}
