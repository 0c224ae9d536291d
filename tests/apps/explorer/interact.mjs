// What a user does in a page, with real keys: interact.mjs BROWSER FORETRACE TRACE OUT
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { Browser, pause } from './browser.mjs';

const [program, foretrace, trace, out] = process.argv.slice(2);
const page = `${out}.html`;
execFileSync(foretrace, ['report', trace, '-o', page], { stdio: 'ignore' });
const url = `file://${resolve(page)}`;
let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.error(`failed: ${text}`);
  }
};
const text = (browser, id) => browser.run(`document.getElementById('${id}').textContent`);

/** Least contrast of what is read, against the background that it stands on (WCAG 2.1). */
const contrast = `(() => {
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => { for (let e = element; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  let worst = [99, ''];
  for (const element of document.querySelectorAll('h1, h1 *, h2, p, li, td, th, dt, dd, label span, output, footer, .hint, .chips li, button')) {
    if (!element.textContent.trim() || element.closest('[hidden], .on, .doubt') || element.offsetParent === null) continue;
    const a = light(numbers(getComputedStyle(element).color)); const b = light(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.className + ' ' + element.textContent.slice(0, 30)];
  }
  return worst; })()`;

for (const dark of [false, true]) {
  const browser = await Browser.start(program, { dark });
  try {
    await browser.open(url);
    const [ratio, where] = await browser.run(contrast);
    check(ratio >= 4.5, `contrast of ${ratio.toFixed(2)} in ${dark ? 'dark' : 'light'}: ${where}`);
    if (dark) continue;

    // every control has a name, and the keyboard reaches it
    const unnamed = await browser.run(`[...document.querySelectorAll('input, button')]
      .filter((e) => !(e.labels?.[0]?.textContent || e.textContent || e.ariaLabel)).length`);
    check(unnamed === 0, `${unnamed} controls without a name`);
    const opened = await text(browser, 'sentence');
    let reached = '';
    for (let i = 0; i < 40 && !reached.startsWith('radio'); ++i) {
      await browser.key('Tab');
      reached = await browser.run('document.activeElement.type + " " + document.activeElement.value');
    }
    check(reached.startsWith('radio'), 'the keyboard reaches the choice');
    await browser.key('ArrowUp');
    await pause(700);
    const switched = await text(browser, 'sentence');
    check(switched !== opened && switched.startsWith('This '), `the arrow up chooses the run as recorded: ${switched}`);

    await browser.run('document.getElementById("slider-host").focus()');
    for (let i = 0; i < 3; ++i) await browser.key('ArrowLeft');
    await pause(700);
    const slid = await text(browser, 'sentence');
    check(/CPU work 0\.\d+× as long/.test(slid), `arrows move the slider: ${slid}`);
    const link = await browser.run('location.href');

    await browser.run('document.getElementById("timeline").focus()');
    await browser.key('ArrowRight');
    await browser.key('ArrowRight');
    await pause(300);
    check((await browser.run('document.querySelector("#slice h3")?.textContent ?? ""')).length > 0, 'arrows choose a slice');
    check((await text(browser, 'slice')).includes('takes'), 'a slice says how long it takes');
    await browser.key('Escape');
    await pause(200);
    check((await text(browser, 'slice')).startsWith('Select'), 'escape lets it go');

    // a link restores the view
    await browser.navigate('about:blank');
    await browser.open(link);
    check(await text(browser, 'sentence') === slid, `a link restores what was shown: ${await text(browser, 'sentence')}`);

    // newest wins: many moves in a row end where the last one was
    await browser.run(`for (let i = 0; i < 1000; ++i) { const s = document.getElementById('slider-device'); s.value = i % 17; s.dispatchEvent(new Event('input')); }
      { const s = document.getElementById('slider-device'); s.value = 4; s.dispatchEvent(new Event('input')); }`);
    await pause(1000);
    check((await text(browser, 'output-device')).startsWith('0.33'), 'of a thousand moves the newest is shown');
    check((await text(browser, 'sentence')).includes('GPU work 0.33'), 'and simulated');
    const complaints = browser.complaints();
    check(complaints.length === 0, complaints.join('\n'));
  } finally {
    await browser.stop();
  }
  // without scripts the answer and the ranking can be read
  const plain = await Browser.start(program, { scripts: false });
  try {
    await plain.navigate(url);
    await pause(1500);
    const html = await plain.markup();
    check(/<h1 id="sentence">[^<]/.test(html) && html.includes('class="between"'), 'it can be read without scripts');
  } finally {
    await plain.stop();
  }
}
console.log(failures === 0 ? 'all as a user expects' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
