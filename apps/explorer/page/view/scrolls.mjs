// What scrolls sideways can be reached with the keyboard; what does not scroll is no stop on the way.

/** The title of its card, and of its part of the card. */
function headOf(box) {
  let part = box.previousElementSibling;
  while (part && part.localName !== 'h3') part = part.previousElementSibling;
  return [box.closest('.card')?.querySelector('h2'), part].filter(Boolean).map((head) => head.textContent).join(', ');
}

function reach(box) {
  const scrolls = box.scrollWidth > box.clientWidth + 1;
  if (scrolls === Boolean(box.dataset.reached) || (scrolls && box.hasAttribute('tabindex'))) return; // some always are
  if (scrolls) {
    box.dataset.reached = 'yes';
    box.setAttribute('tabindex', '0');
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', [headOf(box), box.querySelector('th')?.textContent].filter(Boolean).join(': '));
  } else {
    delete box.dataset.reached;
    for (const name of ['tabindex', 'role', 'aria-label']) box.removeAttribute(name);
  }
}

const within = (root) => { for (const box of root.querySelectorAll('.scroll')) reach(box); };
/** Of every card in a task of its own, for which there is time: it has to be laid out for it. */
function reachAll() {
  const cards = [...document.querySelectorAll('.card')];
  const next = () => {
    const card = cards.shift();
    if (!card) return;
    within(card);
    (window.requestIdleCallback ?? setTimeout)(next);
  };
  (window.requestIdleCallback ?? setTimeout)(next);
}

export function reachScrolls() {
  window.addEventListener('contentvisibilityautostatechange', ({ target, skipped }) => { if (!skipped) within(target); });
  window.addEventListener('resize', reachAll);
  reachAll();
}
