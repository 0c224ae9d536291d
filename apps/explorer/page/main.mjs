// Brings the page to life.
import { Document } from './model/document.mjs';
import { Server, runAsked } from './source/server.mjs';
import { byId, copyButton, make, replace } from './view/dom.mjs';
import { markup } from './view/markup.mjs';
import { Explorer } from './explorer.mjs';
import { Comparison } from './comparison.mjs';
import { SweepPage } from './sweep.mjs';

/** Fills a page that came without data. */
async function openServed() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const server = new Server(token, runAsked());
  const run = await server.open();
  const { pieces } = run;
  document.title = markup(pieces.TITLE).textContent;
  for (const [id, html] of [['file', pieces.FILE], ['chips', pieces.CHIPS], ['doubts', pieces.DOUBTS],
    ['sentence', pieces.SENTENCE], ['figures', pieces.FIGURES], ['what-ifs', pieces.RANKING],
    ['left-out', pieces.LEFT_OUT], ['cards', pieces.CARDS], ['static', pieces.STATIC]]) replace(id, markup(html));
  if (run.runs.length > 1) byId('file').prepend(chooser(run.runs, server));
  const page = await Document.open((id) => run.blocks[id]);
  return new Explorer(page, server, run);
}

/** The runs of a server; each is a page of its own. */
function chooser(runs, server) {
  const select = make('select', { id: 'run', 'aria-label': 'Run' },
    ...runs.map((name, i) => make('option', { value: i, selected: i === server.number }, name)));
  select.addEventListener('change', () => {
    history.pushState(null, '', `#${new URLSearchParams({ token: server.token, run: select.value })}`);
    location.reload();
  });
  return select;
}

/** Null: there is nothing to simulate, all that there is stands in the file. */
async function openFile(kind) {
  if (kind === 'text') return null;
  const page = await Document.open((id) => byId(`block-${id}`).textContent);
  if (kind === 'sweep') return new SweepPage(page.facts);
  return kind === 'compare' ? new Comparison(page) : new Explorer(page, null, null);
}

async function open() {
  try {
    const { source, kind } = document.documentElement.dataset;
    const shown = source === 'server' ? await openServed() : await openFile(kind);
    await shown?.start();
    for (const code of document.querySelectorAll('.doubt code')) {
      code.closest('.doubt').append(copyButton('Copy command', () => code.textContent));
    }
    document.documentElement.dataset.ready = 'yes';
  } catch (error) {
    byId('trouble').hidden = false;
    byId('trouble').textContent = `This page cannot simulate here (${error.message}). What stands in it can be read.`;
    document.documentElement.dataset.ready = 'no';
  }
}
open();
