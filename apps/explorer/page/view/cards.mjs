// The cards of a what-if: what the program says of it, and how to do it.
import { make, replace } from './dom.mjs';
import { markup } from './markup.mjs';

const cardsAfter = 120; // ms: they come a moment behind the answer

export class Cards {
  /** `opensWith`: the what-if whose cards stand in the file. */
  constructor(page, opensWith) {
    Object.assign(this, { page, opensWith });
  }

  /** Those of a what-if (null: of none), and of no other; `version` of its answer. */
  async show(variant, version, waits) {
    const key = variant && `${variant.name} ${variant.cards === undefined ? '' : version}`;
    const opens = this.of === undefined && variant?.name === this.opensWith && variant?.cards === undefined;
    if (opens) this.of = key; // they stand in the file
    if (this.of === key) return;
    this.of = key;
    replace('cards');
    if (waits) await new Promise((done) => { setTimeout(done, cardsAfter); });
    if (this.of !== key) return;
    const html = variant ? await this.page.cards(variant.name) : '';
    if (this.of === key) replace('cards', markup(html));
  }

  explain(variant) {
    if (variant !== this.explained) replace('how', ...(variant ? howTo(variant) : []));
    this.explained = variant;
  }
}

function howTo(variant) {
  return [make('h2', {}, `About ${variant.title}`), make('p', {}, variant.summary),
    ...(variant.how.length > 0 ? [make('h3', {}, 'How to do it'),
      make('ul', {}, ...variant.how.map((line) => make('li', {}, line)))] : []),
    make('p', { class: 'hint' }, variant.paper)];
}
