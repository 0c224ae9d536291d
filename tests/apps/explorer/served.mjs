// The page of `serve` with its engine: served.mjs CHROMIUM FORETRACE [--times] TRACE...
// Stacks, settings, the newest of a thousand moves, two pages at once, a server that goes away.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Browser, pause } from './browser.mjs';

const [chromium, foretrace, ...rest] = process.argv.slice(2);
const timed = rest[0] === '--times';
const server = spawn(foretrace, ['serve', '--quiet', ...rest.slice(timed ? 1 : 0)], { stdio: ['ignore', 'pipe', 'inherit'] });
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
let address = '';
for await (const part of server.stdout) {
  address += part;
  if (address.endsWith('\n')) break;
}
address = address.trim();
const text = (browser, id) => browser.run(`document.getElementById('${id}').textContent`);
/** Waits until an expression holds; false after ten seconds. */
async function holds(browser, expression) {
  for (let i = 0; i < 200; ++i) {
    if (await browser.run(expression)) return true;
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
  check(await holds(browser, `document.querySelector('#static h2').textContent.includes('batch size')`), 'and the reasons');
  check((await text(browser, 'command')).includes('batch_size:factor=2'), 'the command line has it too');
  await browser.run(set('batch_size', 0, 'much'));
  check(await holds(browser, `document.getElementById('stack-trouble').textContent.includes('much')`), 'what makes no sense is refused in words');
  // the newest of a thousand
  await browser.run(`for (let i = 0; i < 1000; ++i) { const e = document.querySelector('[data-row="batch_size"] input'); e.value = String(2 + i % 7); e.dispatchEvent(new Event('input')); }
    { const e = document.querySelector('[data-row="batch_size"] input'); e.value = '4'; e.dispatchEvent(new Event('input')); }`);
  check(await holds(browser, `document.getElementById('command').textContent.includes('batch_size:factor=4')`), 'of a thousand moves the newest is shown');
  await pause(800);
  check((await text(browser, 'command')).includes('batch_size:factor=4') && (await text(browser, 'stack-trouble')) === '', 'and stays');
  const asked = browser.events.filter(({ method, params }) => method === 'Network.requestWillBeSent' && params.request.url.endsWith('/api/point')).length;
  check(asked < 40, `a thousand moves ask ${asked} times`);
  return browser.run('location.href');
}

const first = await Browser.start(chromium);
const second = await Browser.start(chromium, { dark: true });
try {
  if (timed) {
    await times(first);
  } else {
    const link = await works(first);
    await second.open(link);
    check(await holds(second, sentenceHas('batch size')), 'a link restores the stack in a second browser');
    check(await holds(first, sentenceHas('batch size')), 'and the first one keeps its own');
    await second.send('Page.navigate', { url: 'about:blank' });
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

/** From a changed setting to the drawn answer: one structural what-if, then three. */
async function times(browser) {
  await browser.open(address);
  const drawn = (row, value) => `new Promise((done) => {
    const watch = new MutationObserver(() => { watch.disconnect();
      const c = new MessageChannel(); c.port1.onmessage = () => done(performance.now() - begin); c.port2.postMessage(0); });
    watch.observe(document.getElementById('bars'), { childList: true });
    const begin = performance.now(); ${set(row, 0, value)}; })`;
  for (const more of [['data_movement'], ['mixed_precision', 'cuda_graph']]) {
    for (const name of more) {
      await browser.run(add(name));
      await pause(4000);
    }
    const out = [];
    for (let i = 0; i < 24; ++i) {
      out.push(await browser.run(drawn('data_movement', i % 2 ? '0.5' : '0.6')));
      await pause(1500); // range and reasons come meanwhile
    }
    out.sort((a, b) => a - b);
    const rows = await browser.run(`document.querySelectorAll('#stack-rows > li').length`);
    console.log(`${rows} what-ifs at the page: p50 ${out[12].toFixed(1)}, p95 ${out[22].toFixed(1)} ms`);
  }
}
