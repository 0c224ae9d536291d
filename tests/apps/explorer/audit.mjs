// What readers that cannot see, or see little, get of every kind of page, in light, dark and print:
// audit.mjs CHROMIUM FORETRACE WORK. Roles and names come from the browser's accessibility tree,
// contrast from what is shown (WCAG 2.1, AA), the printed page from the browser's own printing.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';
import { brokenRules, paleInPictures } from './reader_rules.mjs';

const [chromium, foretrace, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};

/** How many texts are shown, and [ratio, least, text] of those with less contrast than it takes. */
const lowContrast = `(() => {
  const numbers = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number);
    return text.startsWith('color(') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3]));
  const light = (colour) => colour.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = numbers(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((back, front) => over(front, back), [255, 255, 255]);
  };
  const low = [];
  let seen = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest('svg, script, style, .away, option, :disabled') || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const back = behind(element);
    const [a, b] = [light(over(numbers(style.color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < least) low.push([ratio.toFixed(2), least, texts.currentNode.data.trim().slice(0, 40)]);
  }
  return { seen, low }; })()`;

async function contrast(browser, name) {
  const { seen, low } = await browser.run(lowContrast);
  check(seen > 30, `${name}: ${seen} texts are shown`);
  check(low.length === 0, `${name}: contrast of ${JSON.stringify(low.slice(0, 5))}`);
}

const controls = new Set(['button', 'checkbox', 'slider', 'combobox', 'textbox', 'link', 'application', 'radio', 'DisclosureTriangle']);

/** Landmarks, headings and names, as a screen reader is told. */
async function roles(browser, name) {
  const { nodes } = await browser.send('Accessibility.getFullAXTree');
  const told = nodes.filter((node) => !node.ignored);
  check(told.length > 50, `${name}: ${told.length} nodes are told`);
  const of = (...kinds) => told.filter((node) => kinds.includes(node.role?.value));
  for (const landmark of ['banner', 'main', 'contentinfo']) {
    check(of(landmark).length === 1, `${name}: ${of(landmark).length} landmarks of kind ${landmark}`);
  }
  const unnamed = told.filter((node) => controls.has(node.role?.value) && !node.name?.value?.trim());
  check(unnamed.length === 0, `${name}: without a name: ${unnamed.map((node) => node.role.value)}`);
  const images = of('image', 'img').filter((node) => !node.name?.value?.trim());
  check(images.length === 0, `${name}: ${images.length} images without a name`);
  const regions = of('region', 'complementary').filter((node) => !node.name?.value?.trim());
  check(regions.length === 0, `${name}: ${regions.length} regions without a name`);
  const levels = of('heading').map((node) => Number(node.properties.find((each) => each.name === 'level').value.value));
  check(levels.filter((level) => level === 1).length === 1, `${name}: one heading of level 1, got ${levels}`);
  check(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), `${name}: no level is left out: ${levels}`);
  check(of('columnheader').length > 0 || of('table').length === 0, `${name}: tables tell their columns`);
  const mute = of('slider').filter((node) => node.properties.every((each) => each.name !== 'valuetext') && node.value === undefined);
  check(mute.length === 0, `${name}: ${mute.length} sliders without a value`);
  const twice = await browser.run(`(() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i); })()`);
  check(twice.length === 0, `${name}: ids that come twice: ${twice}`);
  check(await browser.run(`document.documentElement.lang === 'en' && document.title.length > 0`), `${name}: has a language and a title`);
}

/** The rules that the document itself keeps, on a wide screen and on a phone; the contrast of texts in pictures. */
async function rules(browser, name) {
  for (const width of [1440, 390]) {
    await browser.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
    if (width < 500) await browser.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await pause(300);
    let broken = await browser.run(`(${brokenRules})()`);
    // cards are measured when there is time
    for (let i = 0; i < 20 && broken.some(([rule]) => rule === 'scrollable-region-focusable'); ++i) {
      await pause(200);
      broken = await browser.run(`(${brokenRules})()`);
    }
    check(broken.length === 0, `${name}, ${width} px: ${broken.length} break rules: ${JSON.stringify(broken.slice(0, 8))}`);
    const pale = await browser.run(`(${paleInPictures})()`);
    check(pale.length === 0, `${name}, ${width} px: contrast in pictures: ${JSON.stringify(pale.slice(0, 5))}`);
    const wide = await browser.run('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    check(wide <= 0, `${name}: ${wide} px wider than a screen of ${width}`);
  }
  await browser.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await browser.send('Emulation.clearDeviceMetricsOverride');
}

/** Every control that is shown is met by the tabulator, and none holds it; those of tracks and boxes have keys of their own. */
async function keyboard(browser, name) {
  await browser.run('document.activeElement.blur()');
  const wanted = await browser.run(`[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter((e) => !e.disabled && e.tabIndex >= 0 && (e.type !== 'radio' || e.checked) && e.checkVisibility({ visibilityProperty: true })).length`);
  const met = new Set();
  for (let i = 0; i < wanted + 5; ++i) {
    await browser.key('Tab');
    met.add(await browser.run(`(() => { const all = [...document.querySelectorAll('*')]; return all.indexOf(document.activeElement); })()`));
  }
  check(met.size >= wanted, `${name}: the keyboard meets ${met.size} of ${wanted} controls`);
}

/** On paper: light, whole, nothing to press. A4 is 794 px wide. */
async function prints(browser, name) {
  await browser.send('Emulation.setDeviceMetricsOverride', { width: 718, height: 1000, deviceScaleFactor: 1, mobile: false });
  await browser.send('Emulation.setEmulatedMedia', { media: 'print', features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  await pause(400);
  await contrast(browser, `${name}, printed`);
  const pressed = await browser.run(`[...document.querySelectorAll('button, input, select')].filter((e) => !e.matches('.flame button, td > .link, #sweep-front .link, #sweep-axes button') && e.checkVisibility({ visibilityProperty: true })).length`);
  check(pressed === 0, `${name}, printed: ${pressed} controls are on paper`);
  check(await browser.run(`['sentence'].every((id) => document.getElementById(id).checkVisibility())`), `${name}, printed: the sentence is there`);
  const wide = await browser.run('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  check(wide <= 0, `${name}, printed: ${wide} px wider than the paper`);
  const dark = await browser.run(`[...document.querySelectorAll('canvas')].filter((c) => c.checkVisibility() && c.width > 0).map((c) => {
    const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height); let sum = 0; let n = 0;
    for (let i = 0; i < data.length; i += 64) { const a = data[i + 3] / 255; sum += (data[i] + data[i + 1] + data[i + 2]) / 3 * a + 255 * (1 - a); n += 1; }
    return sum / n; }).filter((mean) => mean < 128).length`);
  check(dark === 0, `${name}, printed: ${dark} pictures are dark`);
  const { data } = await browser.send('Page.printToPDF', { printBackground: true });
  const sheets = (Buffer.from(data, 'base64').toString('latin1').match(/\/Type \/Page\b/g) ?? []).length;
  check(sheets >= 1 && sheets <= 20, `${name}: ${sheets} sheets of paper`);
  await browser.send('Emulation.clearDeviceMetricsOverride');
}

async function audit(name, url, dark) {
  const browser = await Browser.start(chromium, { dark });
  const theme = `${name}, ${dark ? 'dark' : 'light'}`;
  try {
    await browser.send('Accessibility.enable');
    await browser.open(url);
    await pause(500);
    await contrast(browser, theme);
    await roles(browser, theme);
    if (!dark) await keyboard(browser, theme);
    await rules(browser, theme);
    await prints(browser, theme);
  } finally {
    await browser.stop();
  }
}

const run = (...words) => execFileSync(foretrace, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const trace = 'examples/traces/demo_generated_cnn_memory.json.gz';
run('sweep', '--quiet', 'examples/recipes/sweeps/gpt3_512.json', '-o', join(work, 'results'));
for (const [name, ...words] of [['a run', 'report', trace, '--apply', 'mixed_precision'],
  ['a job', 'report', 'tests/fixtures/job'], ['two runs', 'compare', trace, 'examples/traces/demo_generated_cnn.json.gz'],
  ['a plan', 'report', '--scenario', 'examples/recipes/report/pipeline.json'],
  ['a sweep', 'report', '--sweep', join(work, 'results')]]) {
  const page = join(work, `${name.replace(' ', '_')}.html`);
  run(...words, '-o', page);
  for (const dark of [false, true]) await audit(name, `file://${resolve(page)}`, dark);
}
const server = spawn(foretrace, ['serve', '--quiet', '--each', trace, 'tests/fixtures/job'], { stdio: ['ignore', 'pipe', 'inherit'] });
let address = '';
for await (const part of server.stdout) {
  address += part;
  if (address.endsWith('\n')) break;
}
const stack = encodeURIComponent(JSON.stringify([{ name: 'batch_size', parameters: { factor: '2' } }, { name: 'mixed_precision', parameters: {} }]));
for (const dark of [false, true]) await audit('a served run', `${address.trim()}&stack=${stack}`, dark);
server.kill('SIGKILL');
console.log(failures === 0 ? 'pages can be read, reached and printed' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
