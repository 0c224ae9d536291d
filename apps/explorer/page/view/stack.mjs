// What-ifs together, with their parameters, where an engine is behind the page.
import { byId, make, replace } from './dom.mjs';

/** What-ifs that people look for by what they have, not by name. */
const first = (whatIf) => whatIf.moves || whatIf.batch || whatIf.name === 'parallel';

export class Stack {
  /** `known`: {what_ifs, names}; `changed(stack)` after every edit. */
  constructor(known, changed) {
    this.known = new Map(known.what_ifs.map((whatIf) => [whatIf.name, whatIf]));
    this.names = known.names;
    this.changed = changed;
    this.rows = [];
    const option = (whatIf) => make('option', { value: whatIf.name }, whatIf.title);
    byId('stack-add').append(make('option', { value: '' }, 'Add a what-if\u2026'),
      make('optgroup', { label: 'The run itself' }, ...known.what_ifs.filter(first).map(option)),
      make('optgroup', { label: 'Other what-ifs' }, ...known.what_ifs.filter((each) => !first(each)).map(option)));
    byId('stack-add').addEventListener('change', ({ target }) => {
      if (target.value) this.toggle(target.value, true);
      target.value = '';
    });
    byId('stack').hidden = false;
  }

  has(name) { return this.rows.some((row) => row.name === name); }

  /** What is asked of the engine: names that are known, texts that are not empty. */
  asked() {
    return this.rows.map(({ name, parameters }) => ({ name,
      parameters: Object.fromEntries(Object.entries(parameters).filter(([, text]) => text !== '')) }));
  }

  /** The first parameter that has no value yet, in words; empty: the stack can be asked for. */
  missing() {
    for (const { name, parameters } of this.rows) {
      const { title, parameters: all } = this.known.get(name);
      const without = all.find((each) => each.default === '' && !parameters[each.name]);
      if (without) return `${title} needs a value for ${without.name}`;
    }
    return '';
  }

  set(stack) {
    this.rows = (Array.isArray(stack) ? stack : []).filter((row) => this.known.has(row?.name))
      .map(({ name, parameters }) => ({ name, parameters: { ...parameters } }));
    this.show();
  }

  toggle(name, on) {
    if (on && !this.has(name) && this.known.has(name)) this.rows.push({ name, parameters: {} });
    if (!on) this.rows = this.rows.filter((row) => row.name !== name);
    this.show();
    this.changed();
    if (on) byId('stack-rows').querySelector(`[data-row="${name}"] :is(input, select)`)?.focus({ preventScroll: true });
  }

  trouble(text) { if (byId('stack-trouble').textContent !== text) replace('stack-trouble', text); }

  show() {
    replace('stack-rows', ...this.rows.map((row) => this.rowOf(row)));
    byId('stack-empty').hidden = this.rows.length > 0;
  }

  rowOf(row) {
    const { title, summary, parameters } = this.known.get(row.name);
    const remove = make('button', { type: 'button', class: 'link', 'aria-label': `remove ${title}` }, 'remove');
    remove.addEventListener('click', () => this.toggle(row.name, false));
    const inputs = parameters.map((parameter) => this.inputOf(row, parameter));
    const most = 3;
    return make('li', { 'data-row': row.name }, make('div', { class: 'stack-title' },
      make('b', { title: summary }, title), remove), ...inputs.slice(0, most),
    inputs.length > most ? make('details', {}, make('summary', {}, `${inputs.length - most} more settings`),
      ...inputs.slice(most)) : null);
  }

  inputOf(row, parameter) {
    const choices = parameter.choices ?? this.names[parameter.config] ?? null;
    const value = row.parameters[parameter.name] ?? '';
    const usual = parameter.default === '' ? '' : `${parameter.default} (usual)`;
    const input = choices
      ? make('select', {}, make('option', { value: '' }, usual || 'choose\u2026'),
        ...choices.map((choice) => make('option', { value: choice, selected: choice === value }, choice)))
      : make('input', { type: 'text', value, placeholder: parameter.default, spellcheck: 'false', autocomplete: 'off' });
    input.addEventListener('input', () => {
      row.parameters[parameter.name] = input.value.trim();
      this.changed();
    });
    const unit = parameter.unit === '' || parameter.unit === 'x' ? '' : ` (${parameter.unit})`;
    return make('label', { class: 'setting', title: parameter.doc }, make('span', {}, `${parameter.name}${unit}`), input);
  }
}
