// What a page asks of the engine behind it, one stack of what-ifs after the other: the run first, then its range and reasons.
import { byId, replace } from '../view/dom.mjs';
import { time } from '../view/format.mjs';

const pendingAfter = 100; // ms
const tryAgainAfter = 3000; // ms

/** The what-if that a server made. */
export const ofEngine = 'engine';

export class Asking {
  /** `again` shows anew what is asked for. */
  constructor(server, page, stack, again) {
    Object.assign(this, { server, page, stack, again });
    this.key = null; // of the stack that the page has
    this.ranged = null; // of the one whose range it has
    this.question = null; // on its way
    this.dimming = null;
  }

  /** Asks for the stack, if it was not the last one; `isAsked`: it still is. False: what is shown stays. */
  async run(isAsked) {
    const { stack } = this;
    const missing = stack.missing();
    stack.trouble(missing);
    if (missing) return false;
    const asked = stack.asked();
    const key = JSON.stringify(asked);
    if (key === this.key) return true;
    this.dims(true);
    try {
      this.question = this.server.point(asked);
      const answer = await this.question;
      if (answer === null || !isAsked()) return false;
      if (!answer.is_shown) throw new Error(`it would take ${time(answer.variant.step_ns)}; its order is decided while it runs, which this page cannot show`);
      this.page.adopt(answer);
      Object.assign(this, { key, id: answer.id, ranged: null });
      this.tell(null);
      return true;
    } catch (error) {
      if (!isAsked()) return false;
      if (error.status === 0) this.tell(error);
      else stack.trouble(error.message);
      return false;
    } finally {
      if (isAsked()) this.dims(false);
    }
  }

  /** Range and reasons, which take longer than the run itself; `isShown`: what the engine made is. */
  async rest(isShown) {
    const { key, page } = this;
    if (!isShown() || this.ranged === key) return;
    try {
      // of the stack that is shown: what stands in the controls may be ahead of it
      const rest = await this.server.rest(JSON.parse(key), this.id);
      await this.questionsEnd(); // what shows the range would drop an answer on its way, and ask for it again
      if (rest === null || key !== this.key || !isShown()) return;
      this.ranged = key;
      Object.assign(page.variant(ofEngine), { samples: rest.samples, answer: rest.answer, cards: rest.cards });
      this.again();
    } catch (error) {
      if (error.status === 0) this.tell(error);
    }
  }

  /** Resolves once no question is on its way, answered or refused. */
  async questionsEnd() {
    let last;
    do {
      last = this.question;
      await last?.catch(() => {});
    } while (last !== this.question);
  }

  /** Without a question for the engine nothing is pending, and nothing is wrong with it. */
  none() {
    this.stack.trouble('');
    this.dims(false);
  }

  /** What is shown is dimmed while an answer takes long; most come before that. */
  dims(is) {
    if (is) {
      this.dimming ??= setTimeout(() => document.body.classList.add('pending'), pendingAfter);
      return;
    }
    clearTimeout(this.dimming);
    this.dimming = null;
    document.body.classList.remove('pending');
  }

  /** The server is gone, or back (null). What the page has stays usable. */
  tell(error) {
    clearTimeout(this.trying);
    byId('trouble').hidden = error === null;
    if (error === null) return;
    replace('trouble', `The engine does not answer: ${error.message}. This page keeps working with what it has, and tries again.`);
    this.trying = setTimeout(() => this.again(), tryAgainAfter);
  }
}
