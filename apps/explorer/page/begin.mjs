// What every page begins with.
import { byId, copyButton } from './view/dom.mjs';
import { reachScrolls } from './view/scrolls.mjs';

/** `opened` makes what a page shows from what the page says of itself; null: all of it stands there. */
export async function begin(opened) {
  try {
    const shown = await opened(document.documentElement.dataset);
    await shown?.start();
    for (const code of document.querySelectorAll('.doubt code')) {
      code.closest('.doubt').append(copyButton('Copy command', () => code.textContent));
    }
    document.documentElement.dataset.ready = 'yes';
    reachScrolls();
  } catch (error) {
    byId('trouble').hidden = false;
    byId('trouble').textContent = `This page cannot simulate here (${error.message}). Everything below stays readable.`;
    document.documentElement.dataset.ready = 'no';
  }
}
