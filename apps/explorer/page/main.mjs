// Brings the page of a run, of two or of a scenario to life.
import { Document } from './model/document.mjs';
import { takesRecordings } from './source/drop.mjs';
import { Server, runAsked } from './source/server.mjs';
import { byId, make, replace } from './view/dom.mjs';
import { markup } from './view/markup.mjs';
import { Explorer } from './explorer.mjs';
import { Comparison } from './comparison.mjs';
import { begin } from './begin.mjs';

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
  byId('file').after(...takesRecordings(server, (number) => showRun(server, number)));
  if (run.runs.length > 1) {
    if (byId('file').textContent === run.runs[server.number]) replace('file'); // which the chooser says
    byId('file').prepend(chooser(run.runs, server));
  }
  const page = await Document.open((id) => run.blocks[id]);
  return new Explorer(page, server, run);
}

/** Opens the page of another run. */
function showRun(server, number) {
  history.pushState(null, '', `#${new URLSearchParams({ token: server.token, run: number })}`);
  location.reload();
}

/** The runs of a server; each is a page of its own. */
function chooser(runs, server) {
  const select = make('select', { id: 'run', 'aria-label': 'Run' },
    ...runs.map((name, i) => make('option', { value: i, selected: i === server.number }, name)));
  select.addEventListener('change', () => showRun(server, select.value));
  return select;
}

/** Null: there is nothing to simulate, all that there is stands in the file. */
async function openFile(kind) {
  if (kind === 'text') return null;
  const page = await Document.open((id) => byId(`block-${id}`).textContent);
  return kind === 'compare' ? new Comparison(page) : new Explorer(page, null, null);
}

begin(({ source, kind }) => (source === 'server' ? openServed() : openFile(kind)));
