// The names of axes side by side, above them: each moves by dragging, or with arrow keys.
import { make } from './dom.mjs';
import { words } from './format.mjs';
import { isPaper } from './paper.mjs';

const leastWide = 40; // px

export class AxisNames {
  /** `moved(order)`: they stand in another order now. */
  constructor(moved) {
    this.box = make('div', { id: 'sweep-axes' });
    this.moved = moved;
    this.holds = null; // the one in the hand
  }

  /** Columns in their order, and where each axis stands. */
  show(columns, order, places, room) {
    if (this.holds) return;
    Object.assign(this, { order, places });
    const held = document.activeElement?.dataset?.axis;
    this.box.replaceChildren(...columns.map((column, k) => this.button(words(column.name), k, room)));
    if (held !== undefined) this.box.querySelector(`[data-axis="${held}"]`)?.focus();
  }

  button(name, k, room) {
    const button = make('button', { type: 'button', 'data-axis': this.order[k], title: `${name}: drag, or press an arrow key`,
      'aria-label': `${name}, axis ${k + 1} of ${this.order.length}; arrows move it` }, name);
    // on paper, which has no more room, in two rows
    Object.assign(button.style, { left: `${this.places[k]}px`, maxWidth: `${Math.max(leastWide, isPaper() ? 2 * room : room)}px`, top: isPaper() && k % 2 > 0 ? '-16px' : '' });
    button.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.move(k, k + step);
    });
    const at = (event) => this.places[k] + event.clientX - (this.holds ?? event.clientX);
    button.addEventListener('pointerdown', (event) => {
      this.holds = event.clientX;
      button.setPointerCapture(event.pointerId);
    });
    button.addEventListener('pointermove', (event) => { if (this.holds !== null) button.style.left = `${at(event)}px`; });
    button.addEventListener('pointercancel', () => { this.holds = null; });
    button.addEventListener('pointerup', (event) => {
      const x = at(event);
      this.holds = null;
      this.move(k, this.places.reduce((best, place, j) => (Math.abs(place - x) < Math.abs(this.places[best] - x) ? j : best), k));
    });
    return button;
  }

  move(from, to) {
    if (to < 0 || to >= this.order.length) return;
    const order = [...this.order];
    order.splice(to, 0, ...order.splice(from, 1));
    this.moved(order);
  }
}
