// The page of `serve` with its engine: served.mjs BROWSER FORETRACE [--times] TRACE...
// Stacks, settings, the newest of a thousand moves, two pages at once, a server that goes away.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Browser, pause } from './browser.mjs';

const [program, foretrace, ...rest] = process.argv.slice(2);
const timed = rest[0] === '--times';
/** A server of its own, and its address. */
async function served(args) {
  const child = spawn(foretrace, ['serve', '--quiet', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  for await (const part of child.stdout) {
    told += part;
    if (told.endsWith('\n')) break;
  }
  return { server: child, address: told.trim() };
}
const { server, address } = await served(rest.slice(timed ? 1 : 0));
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
const text = (browser, id) => browser.run(`document.getElementById('${id}').textContent`);
/** Waits until an expression holds; false after ten seconds. */
async function holds(browser, expression) {
  for (let i = 0; i < 200; ++i) {
    if (await browser.run(expression).catch(() => false)) return true; // a page that loads anew answers nothing meanwhile
    await pause(50);
  }
  return false;
}
const add = (name) => `(() => { const s = document.getElementById('stack-add'); s.value = '${name}'; s.dispatchEvent(new Event('change')); })()`;
const set = (row, at, value) => `(() => { const i = document.querySelectorAll('[data-row="${row}"] :is(input, select)')[${at}]; i.value = '${value}'; i.dispatchEvent(new Event('input')); })()`;
const sentenceHas = (words) => `document.getElementById('sentence').textContent.includes('${words}')`;

async function works(browser) {
  await browser.open(address);
  const opened = await text(browser, 'sentence');
  check(/this (step|run) (would take|takes)/i.test(opened), `it opens with an answer: ${opened}`);
  await browser.run(add('batch_size'));
  check(await holds(browser, `document.getElementById('stack-trouble').textContent.includes('needs a value')`), 'a what-if says what it needs');
  await browser.run(set('batch_size', 0, '2'));
  check(await holds(browser, sentenceHas('batch size')), `the engine applies it: ${await text(browser, 'sentence')}`);
  check(await holds(browser, `document.getElementById('figures').textContent.includes('per sample')`), 'range and samples come later');
  check(await holds(browser, `document.querySelector('#cards h2')?.textContent.includes('batch size')`), 'and the reasons');
  check((await text(browser, 'figures')).includes('based on'), 'and what it is based on');
  check((await text(browser, 'command')).includes('batch_size:factor=2'), 'the command line has it too');
  await browser.run(set('batch_size', 0, 'much'));
  check(await holds(browser, `document.getElementById('stack-trouble').textContent.includes('much')`), 'what makes no sense is refused in words');
  // the newest of a thousand
  await browser.run(`for (let i = 0; i < 1000; ++i) { const e = document.querySelector('[data-row="batch_size"] input'); e.value = String(2 + i % 7); e.dispatchEvent(new Event('input')); }
    { const e = document.querySelector('[data-row="batch_size"] input'); e.value = '4'; e.dispatchEvent(new Event('input')); }`);
  check(await holds(browser, `document.getElementById('command').textContent.includes('batch_size:factor=4')`), 'of a thousand moves the newest is shown');
  await pause(800);
  check((await text(browser, 'command')).includes('batch_size:factor=4') && (await text(browser, 'stack-trouble')) === '', 'and stays');
  const asked = browser.events.filter(({ method, params }) => method === 'Network.requestWillBeSent' && params.request.url.endsWith('/api/0/point')).length;
  check(asked < 40, `a thousand moves ask ${asked} times`);
  return browser.run('location.href');
}

/** Range and reasons are asked for the stack that was answered, whatever moved meanwhile. */
async function restIsOfItsPoint(browser) {
  await browser.run(`window.asked = []; window.points = 0; window.shown = null; window.plainFetch = window.fetch;
    window.fetch = async (path, options) => {
      const { stack } = JSON.parse(options.body);
      if (path.endsWith('rest')) window.asked.push([window.shown, JSON.stringify(stack)]);
      if (!path.endsWith('point')) return window.plainFetch(path, options);
      window.points += 1;
      await new Promise((done) => setTimeout(done, 400));
      const response = await window.plainFetch(path, options);
      if (response.ok) window.shown = JSON.stringify(stack);
      return response;
    }; undefined`);
  for (const value of ['3', '5', '6']) {
    await browser.run(set('batch_size', 0, value));
    // drawn, and its range not asked for yet: the next move comes between both
    await browser.run(`new Promise((done) => { const wait = () => document.getElementById('command').textContent.includes('factor=${value}') ? done() : setTimeout(wait, 5); wait(); })`);
    await browser.run(set('batch_size', 0, String(Number(value) + 10)));
    await pause(900);
  }
  const asked = (await browser.run('window.asked')).filter(([shown]) => shown !== null);
  check(await browser.run('window.points') === 6, `a range that comes asks for no stack again: ${await browser.run('window.points')} questions of 6`);
  const calls = await browser.run(`(() => { let calls = 0; window.fetch = (...all) => { calls += 1; return window.plainFetch(...all); };
    ${set('batch_size', 0, '7')}; window.fetch = window.plainFetch; return calls; })()`);
  check(calls === 1, `a change is asked for at once, not a frame later: ${calls}`);
  check(asked.length >= 3, `ranges are asked for: ${asked.length}`);
  for (const [shown, stack] of asked) check(shown === stack, `shown is ${shown}, its range is asked of ${stack}`);
}
const clear = `[...document.querySelectorAll('#stack-rows button')].forEach((b) => b.click())`;

/** What was wrong is told no longer once it is gone. */
async function forgetsTrouble(browser) {
  await browser.run(clear);
  check(await holds(browser, `document.getElementById('cards').textContent === ''`), 'no reasons of a what-if that is gone');
  await browser.run(add('batch_size'));
  check(await holds(browser, `document.getElementById('stack-trouble').textContent.includes('needs a value')`), 'it says what is missing');
  await browser.run(clear);
  await browser.run(add('mixed_precision'));
  check(await holds(browser, `document.getElementById('stack-trouble').textContent === ''`), 'and no longer when that is gone');
  await browser.run(clear);
  await browser.run(add('batch_size'));
  await browser.run(set('batch_size', 0, '2'));
  check(await holds(browser, sentenceHas('batch size')), 'a removed what-if comes back');
}

/** A link to a stack that is refused opens the run itself, says why, and leaves the page alive. */
async function opensRefused(browser) {
  const hash = (stack) => `&stack=${encodeURIComponent(JSON.stringify(stack))}`;
  for (const [parameters, words] of [[{}, 'needs a value'], [{ factor: 'much' }, 'much']]) {
    await browser.navigate('about:blank');
    const opened = await browser.open(address + hash([{ name: 'batch_size', parameters }])).then(() => '', ({ message }) => message);
    check(opened === '', `a link to a refused stack opens: ${opened}`);
    if (opened !== '') return;
    check((await text(browser, 'stack-trouble')).includes(words), `it says what is wrong: ${await text(browser, 'stack-trouble')}`);
    check(/this (step|run) takes/i.test(await text(browser, 'sentence')), `it shows the run itself: ${await text(browser, 'sentence')}`);
    await browser.run(set('batch_size', 0, '2'));
    check(await holds(browser, sentenceHas('batch size')), 'the stack can be mended');
    await browser.run(`location.hash = ${JSON.stringify(new URL(address).hash + hash([{ name: 'mixed_precision' }]))}; undefined`);
    check(await holds(browser, `document.getElementById('command').textContent.includes('--apply mixed_precision')`), 'further links are followed');
  }
}

/** Several runs behind one server: the page chooses, and a link keeps the choice. */
async function chooses(browser) {
  const several = await served(['--each', rest[0], 'tests/fixtures/job']);
  try {
    await browser.open(several.address);
    const names = await browser.run(`[...document.getElementById('run').options].map((o) => o.textContent)`);
    check(names.length === 2 && names[1] === 'job', `the runs are named: ${names}`);
    await browser.run(`(() => { window.isFormer = true; const s = document.getElementById('run'); s.value = '1'; s.dispatchEvent(new Event('change')); })()`).catch(() => {});
    check(await holds(browser, `window.isFormer !== true && document.documentElement?.dataset.ready === 'yes' && document.getElementById('run')?.value === '1'`), 'the other run is opened');
    check(/4 ranks/.test(await text(browser, 'chips')) || /rank/.test(await text(browser, 'file') + await text(browser, 'chips')), `it is the job: ${await text(browser, 'file')}`);
    await browser.run(add('scale'));
    await browser.run(set('scale', 1, 'resource=host'));
    await browser.run(set('scale', 0, '0.5'));
    check(await holds(browser, `document.getElementById('command').textContent.includes('factor=0.5')`), `its engine answers: ${await text(browser, 'stack-trouble')}`);
    await pause(500);
    check((await browser.run('location.hash')).includes('run=1'), 'the link keeps the run');
    const told = browser.complaints().filter((each) => /^Runtime/.test(each));
    check(told.length === 0, told.join('\n'));
  } finally {
    several.server.kill('SIGKILL');
  }
}

/** A recording that is dropped becomes one more run; what is none is told. */
async function takesDropped(browser) {
  const own = await served([rest[0]]);
  const drop = (name, bytes) => browser.run(`(async () => { window.isFormer = true; const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0))], ${JSON.stringify(name)}));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); })()`);
  try {
    await browser.open(own.address);
    await drop('notes.txt', Buffer.from('no recording'));
    check(await holds(browser, `!document.getElementById('trouble').hidden`), 'what is no recording is told');
    const told = await text(browser, 'trouble');
    check(told.includes('notes.txt') && !told.includes('/tmp'), `in words, without a folder of the server: ${told}`);
    await drop('my run.json.gz', readFileSync('examples/traces/demo_generated_cnn.json.gz'));
    check(await holds(browser, `window.isFormer !== true && document.documentElement?.dataset.ready === 'yes' && document.getElementById('run')?.value === '1'`), 'a dropped recording is opened');
    check((await text(browser, 'file')).includes('my_run.json.gz'), `it has its name: ${await text(browser, 'file')}`);
    await browser.run(add('mixed_precision'));
    check(await holds(browser, sentenceHas('mixed precision')), 'and its engine answers');
  } finally {
    own.server.kill('SIGKILL');
  }
}

const first = await Browser.start(program);
const second = await Browser.start(program, { dark: true });
try {
  if (timed) {
    await times(first);
  } else {
    const link = await works(first);
    await restIsOfItsPoint(first);
    await forgetsTrouble(first);
    await opensRefused(second);
    await chooses(second);
    await takesDropped(second);
    await second.open(link);
    check(await holds(second, sentenceHas('batch size')), 'a link restores the stack in a second browser');
    check(await holds(first, sentenceHas('batch size')), 'and the first one keeps its own');
    await second.navigate('about:blank');
    const wrong = address.replace(/token=.*/, 'token=0');
    await second.open(wrong).then(() => check(false, 'a wrong token opens nothing'),
      (error) => check(error.message.includes('printed'), `a wrong token is told: ${error.message}`));
    server.kill('SIGKILL');
    await once(server, 'exit');
    await first.run(set('batch_size', 0, '3'));
    check(await holds(first, `!document.getElementById('trouble').hidden`), 'a server that is gone is told');
    await first.run(`(() => { const s = document.getElementById('slider-host'); s.value = 5; s.dispatchEvent(new Event('input')); })()`);
    check(await holds(first, `document.getElementById('output-host').textContent.startsWith('0.4')`), 'the page goes on');
  }
} finally {
  await first.stop();
  await second.stop();
  server.kill('SIGKILL');
}
console.log(failures === 0 ? 'all as a user expects' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);

/** From a changed setting to the drawn answer: every what-if that applies, each alone; then three together. */
async function times(browser) {
  await browser.open(address);
  const at = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))].toFixed(1);
  // Until nothing was drawn for a while: range and reasons come after the answer.
  const settled = () => browser.run(`new Promise((done) => {
    let rest = null;
    const again = () => { clearTimeout(rest); rest = setTimeout(() => { watch.disconnect(); done(true); }, 2500); };
    const watch = new MutationObserver(again);
    watch.observe(document.getElementById('bars'), { childList: true });
    again(); })`);
  const drawn = (row, value) => browser.run(`new Promise((done) => {
    const watch = new MutationObserver(() => { watch.disconnect();
      const c = new MessageChannel(); c.port1.onmessage = () => done(performance.now() - begin); c.port2.postMessage(0); });
    watch.observe(document.getElementById('bars'), { childList: true });
    setTimeout(() => { watch.disconnect(); done(null); }, 5000);
    const begin = performance.now(); ${set(row, 0, value)}; })`);
  const first = (row) => browser.run(`document.querySelector('[data-row="${row}"] :is(input, select)')?.placeholder ?? document.querySelector('[data-row="${row}"] select')?.options[1]?.value ?? ''`);
  const names = await browser.run(`[...document.querySelectorAll('#stack-add option')].map((o) => o.value).filter((v) => v)`);
  const each = [];
  for (const name of names) {
    await browser.run(clear);
    await browser.run(add(name));
    await settled();
    const usual = await first(name);
    // it says what it needs, or why it finds nothing here
    if (!usual || await text(browser, 'stack-trouble')) continue;
    const took = await drawn(name, usual); // as good as not given, but only the engine knows
    if (took !== null) each.push([took, name]);
    await settled();
  }
  each.sort((a, b) => a[0] - b[0]);
  console.log(`one what-if at the page: p50 ${at(each.map(([ms]) => ms), 0.5)} ms (budget 50) over ${each.length}: ${each.map(([ms, name]) => `${name} ${ms.toFixed(0)}`).join(', ')}`);
  await browser.run(clear);
  const set12 = async (more, words) => {
    for (const name of more) {
      await browser.run(add(name));
      await settled();
    }
    const out = [];
    for (let i = 0; i < 12; ++i) {
      const took = await drawn('data_movement', i % 2 ? '0.5' : '0.6');
      if (took !== null) out.push(took);
      await settled();
    }
    if (out.length > 0) console.log(`${words}: p50 ${at(out, 0.5)}, p95 ${at(out, 0.95)} ms`);
  };
  await set12(['data_movement'], 'the one with most edits, moved again and again');
  await set12(['mixed_precision', 'cuda_graph'], 'three together (budget p50 70)');
}
