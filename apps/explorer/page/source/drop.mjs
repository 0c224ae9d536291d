// Recordings that are dragged onto a page of `serve`, or chosen: each becomes one more run.
import { byId, make } from '../view/dom.mjs';

/** A button that chooses files; dropping them anywhere on the page does the same. */
export function takesRecordings(server, show) {
  const input = make('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Recordings to open' });
  const button = make('button', { type: 'button', class: 'copy', id: 'open-recording', title: 'or drag it onto the page' }, 'Open a recording');
  const take = async (files) => {
    if (files.length === 0 || button.disabled) return;
    button.disabled = true;
    byId('trouble').hidden = true;
    try {
      let run;
      for (const file of files) {
        button.textContent = `Reading ${file.name.slice(0, 40)}`;
        run = await server.add(file);
      }
      show(run);
    } catch (error) {
      byId('trouble').hidden = false;
      byId('trouble').textContent = `This recording cannot be opened: ${error.message}`;
    } finally {
      button.disabled = false;
      button.textContent = 'Open a recording';
    }
  };
  button.addEventListener('click', () => input.click());
  input.addEventListener('change', () => take([...input.files]));
  const drags = (is) => document.body.classList.toggle('dropping', is);
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    drags(true);
  });
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) drags(false); });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    drags(false);
    take([...event.dataTransfer.files]);
  });
  return [button, input];
}
