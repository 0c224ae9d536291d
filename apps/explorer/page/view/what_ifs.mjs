// The ranking is the control: each row a switch. The rows are in the page already, so that they can
// be read without scripts; here they come to life.
import { byId, copyButton, make, replace } from './dom.mjs';
import { factor } from './format.mjs';

// Time factors of a slider, from free to four times as long.
const stops = [0, 0.1, 0.2, 0.25, 0.33, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4];
const recorded = stops.indexOf(1);

const wordsOf = (value, before) => {
  if (value === 1) return before;
  return value === 0 ? 'free' : `${factor(value)} as long`;
};

export class WhatIfs {
  /**
   * @param {(change: {name?: string, on?: boolean, device?: number, host?: number}) => void} changed
   * @param {boolean} all whether an engine makes what the page does not carry
   * @param {string} before what the run is without a change
   */
  constructor(changed, all, before) {
    this.before = before;
    byId('reset').textContent = before;
    this.switches = [...document.querySelectorAll('#what-ifs input')];
    if (all) this.combine();
    for (const input of this.switches) {
      input.disabled = !all && input.dataset.carried !== 'yes';
      input.addEventListener('change', () => changed({ name: input.value, on: input.checked }));
    }
    this.sliders = ['device', 'host'].map((name) => {
      const input = byId(`slider-${name}`);
      input.max = String(stops.length - 1);
      input.disabled = false;
      input.addEventListener('input', () => changed({ [name]: stops[Number(input.value)] }));
      return { name, input, output: byId(`output-${name}`) };
    });
    byId('copies').replaceChildren(copyButton('Copy command', () => byId('command').textContent),
      copyButton('Copy link', () => location.href));
    byId('reset').addEventListener('click', () => changed({ device: 1, host: 1, names: new Map() }));
    byId('controls').hidden = false;
  }

  /** An engine applies several together: switches instead of one choice, and nothing to choose for none of them. */
  combine() {
    for (const input of this.switches) {
      if (input.value === '') input.closest('li').remove();
      input.type = 'checkbox';
    }
    this.switches = this.switches.filter((input) => input.value !== '');
  }

  /** What has no tasks has no slider. */
  leaveOut(name) { byId(`slider-${name}`).closest('label').hidden = true; }

  show(state) {
    for (const input of this.switches) {
      input.checked = input.value === '' ? state.on.size === 0 : state.on.has(input.value);
      input.closest('li').classList.toggle('on', input.checked);
    }
    for (const { name, input, output } of this.sliders) {
      const at = stops.indexOf(state.factors[name]);
      input.value = String(at < 0 ? recorded : at);
      output.textContent = wordsOf(state.factors[name], this.before);
      input.setAttribute('aria-valuetext', output.textContent);
    }
    byId('command').hidden = byId('command-hint').hidden = state.commandWords.length === 0;
    const quoted = state.commandWords.map((word) => (/^[\w./:=+-]+$/.test(word) ? word
      : `'${word.replaceAll("'", "'\\''")}'`));
    // a word is broken only where it is too long for a line
    replace('command', make('code', {}, ...quoted.map((word, i) => make('span', {}, i + 1 < quoted.length ? `${word} ` : word))));
  }
}
