// A headless browser, spoken to over its debugging protocol: pages, real keys and pictures. Chromium over its own, Firefox over
// WebDriver BiDi. Needs a Node with WebSocket: 22, or 20 with --experimental-websocket.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const pinchSteps = 6;
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Whether a page lives: one of the program says so, another one does once it is loaded. */
const whether = (url) => `document.documentElement.dataset.ready
  ?? (document.readyState === 'complete' && !document.documentElement.dataset.source && location.href.startsWith(${JSON.stringify(url.split('#')[0])}) ? 'yes' : '')`;

export class Browser {
  static async start(program, { width = 1440, height = 1000, dark = false, scripts = true } = {}) {
    const browser = /firefox/i.test(basename(program)) ? new Firefox() : new Chromium();
    browser.folder = mkdtempSync(join(tmpdir(), 'foretrace-browser-'));
    browser.waiting = new Map();
    browser.events = [];
    await browser.launch(program, { width, height, dark, scripts });
    return browser;
  }

  async connect(address) {
    this.socket = new WebSocket(address);
    this.socket.onmessage = ({ data }) => this.receive(JSON.parse(data));
    await new Promise((done, fail) => { this.socket.onopen = done; this.socket.onerror = fail; });
  }

  receive(message) {
    if (message.id) {
      this.waiting.get(message.id)(message);
      this.waiting.delete(message.id);
    } else {
      this.events.push(message);
    }
  }

  async send(method, params = {}) {
    this.last = (this.last ?? 0) + 1;
    const id = this.last;
    this.socket.send(JSON.stringify({ id, method, params }));
    const { result, error, message } = await new Promise((done) => { this.waiting.set(id, done); });
    if (error) throw new Error(`${method}: ${error.message ?? message ?? error}`);
    return result;
  }

  /** Opens a page and waits until it lives; ms from the request to that. */
  async open(url) {
    const begin = performance.now();
    await this.navigate(url);
    for (let i = 0; i < 1500; ++i) {
      const ready = await this.run(whether(url)).catch(() => '');
      if (ready === 'yes') return performance.now() - begin;
      if (ready === 'no') throw new Error(await this.run('document.getElementById("trouble").textContent'));
      await pause(20);
    }
    throw new Error('the page did not come alive');
  }

  async stop() {
    // it may be gone before it answers
    const gone = new Promise((done) => { this.process.once('exit', done); setTimeout(done, 3000); });
    await Promise.race([this.close().catch(() => {}), gone]);
    await gone;
    this.process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Chromium extends Browser {
  async launch(program, { width, height, dark, scripts }) {
    this.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars',
      '--remote-debugging-port=0', `--user-data-dir=${this.folder}`, `--window-size=${width},${height}`,
      'about:blank'], { stdio: 'ignore' });
    const port = join(this.folder, 'DevToolsActivePort');
    for (let i = 0; i < 300 && !existsSync(port); ++i) await pause(100);
    await pause(200);
    const [number] = readFileSync(port, 'utf8').split('\n');
    const pages = await (await fetch(`http://127.0.0.1:${number}/json`)).json();
    await this.connect(pages.find((each) => each.type === 'page').webSocketDebuggerUrl);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    if (dark) {
      await this.send('Emulation.setEmulatedMedia',
        { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    }
    if (!scripts) await this.send('Emulation.setScriptExecutionDisabled', { value: true });
  }

  navigate(url) { return this.send('Page.navigate', { url }); }

  async run(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** The document as it stands; without scripts, too. */
  async markup() {
    const { root } = await this.send('DOM.getDocument', { depth: -1 });
    return (await this.send('DOM.getOuterHTML', { nodeId: root.nodeId })).outerHTML;
  }

  /** ms that the page's own thread has worked, whatever else the machine does. */
  async worked() {
    await this.send('Performance.enable', { timeDomain: 'threadTicks' });
    const { metrics } = await this.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  }

  /** ms of processor time of each task of the page's own thread during `act`, longest first: what else the machine does is in none. */
  async tasksOf(act) {
    this.events = this.events.filter(({ method }) => !method.startsWith('Tracing.'));
    await this.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'devtools.timeline'] } });
    await act();
    await this.send('Tracing.end');
    while (!this.events.some(({ method }) => method === 'Tracing.tracingComplete')) await pause(20);
    const events = this.events.filter(({ method }) => method === 'Tracing.dataCollected').flatMap(({ params }) => params.value);
    // the thread that lays pages out
    const own = events.find(({ name }) => name === 'Layout' || name === 'UpdateLayoutTree' || name === 'FunctionCall');
    return events.filter(({ name, ph, pid, tid }) => /RunTask$/.test(name) && ph === 'X' && pid === own?.pid && tid === own.tid)
      .map(({ tdur }) => (tdur ?? 0) / 1000).sort((a, b) => b - a);
  }

  resize(width, height) {
    return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** `kind`: pressed, moved or released, at a place of the window. */
  mouse(kind, x, y, { shift = false, held = kind !== 'moved' } = {}) {
    return this.send('Input.dispatchMouseEvent', { type: `mouse${kind[0].toUpperCase()}${kind.slice(1)}`, x, y, clickCount: 1,
      button: held ? 'left' : 'none', buttons: held && kind !== 'released' ? 1 : 0, modifiers: shift ? 8 : 0 });
  }

  /** Two fingers that move apart, or together, from so many px on each side of a place. */
  async pinch(x, y, from, to) {
    const at = (away) => [{ x: x - away, y, id: 0 }, { x: x + away, y, id: 1 }];
    await this.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(from).slice(0, 1) });
    await this.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(from) });
    for (let k = 1; k <= pinchSteps; ++k) await this.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(from + (to - from) * k / pinchSteps) });
    await this.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  }

  async key(key, code = key) {
    const text = key.length === 1 ? { text: key } : {};
    const codes = { Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Tab: 9, ' ': 32, Escape: 27 };
    const windowsVirtualKeyCode = codes[key] ?? key.toUpperCase().charCodeAt(0);
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, code, windowsVirtualKeyCode, ...text });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, windowsVirtualKeyCode });
  }

  /** What was written to the console, and what was asked for beside the page itself. */
  complaints() {
    return this.events.filter(({ method, params }) => method === 'Runtime.consoleAPICalled'
      || method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded'
      || (method === 'Network.requestWillBeSent' && params.type !== 'Document'))
      .map(({ method, params }) => `${method}: ${JSON.stringify(params).slice(0, 300)}`);
  }

  async picture() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }

  close() { return this.send('Browser.close'); }
}

// What Firefox sends of a value, as the value.
const plain = ({ type, value }) => {
  if (type === 'array') return value.map(plain);
  if (type === 'object') return Object.fromEntries(value.map(([key, each]) => [key, plain(each)]));
  return type === 'null' ? null : value;
};

class Firefox extends Browser {
  async launch(program, { width, height, dark, scripts }) {
    writeFileSync(join(this.folder, 'user.js'), `user_pref("layout.css.prefers-color-scheme.content-override", ${dark ? 0 : 1});
user_pref("javascript.enabled", ${scripts});\n`);
    this.process = spawn(program, ['--headless', '--no-remote', '--profile', this.folder, '--remote-debugging-port=0',
      `--width=${width}`, `--height=${height}`], { stdio: ['ignore', 'ignore', 'pipe'] });
    const address = await new Promise((done, fail) => {
      let said = '';
      this.process.stderr.on('data', (data) => {
        said += data;
        const found = said.match(/WebDriver BiDi listening on (ws:\S+)/);
        if (found) done(found[1]);
      });
      this.process.once('exit', () => fail(new Error(`firefox ended: ${said.slice(-300)}`)));
    });
    await this.connect(`${address}/session`);
    await this.send('session.new', { capabilities: {} });
    [{ context: this.context }] = (await this.send('browsingContext.getTree')).contexts;
    await this.send('browsingContext.setViewport', { context: this.context, viewport: { width, height } });
    await this.send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });
  }

  navigate(url) { return this.send('browsingContext.navigate', { context: this.context, url, wait: 'none' }); }

  async run(expression) {
    const { type, result, exceptionDetails } = await this.send('script.evaluate',
      { expression, target: { context: this.context }, awaitPromise: true });
    if (type === 'exception') throw new Error(exceptionDetails.text);
    return plain(result);
  }

  /** The debugger's own scripts run in any case. */
  markup() { return this.run('document.documentElement.outerHTML'); }

  /** Firefox does not tell. */
  async worked() { return undefined; }

  resize(width, height) {
    return this.send('browsingContext.setViewport', { context: this.context, viewport: { width, height } });
  }

  async mouse(kind, x, y, { shift = false } = {}) {
    const act = (id, type, ...actions) => ({ type, id, actions, ...(type === 'pointer' ? { parameters: { pointerType: 'mouse' } } : {}) });
    const ends = { pressed: [{ type: 'pointerDown', button: 0 }], moved: [], released: [{ type: 'pointerUp', button: 0 }] }[kind];
    const perform = (...actions) => this.send('input.performActions', { context: this.context, actions });
    if (shift && kind === 'pressed') await perform(act('keys', 'key', { type: 'keyDown', value: '\uE008' }));
    await perform(act('mouse', 'pointer', { type: 'pointerMove', x: Math.round(x), y: Math.round(y), origin: 'viewport' }, ...ends));
    if (shift && kind === 'released') await perform(act('keys', 'key', { type: 'keyUp', value: '\uE008' }));
  }

  async pinch(x, y, from, to) {
    const finger = (id, way) => {
      const at = (away) => ({ type: 'pointerMove', x: Math.round(x + way * away), y: Math.round(y), origin: 'viewport' });
      return { type: 'pointer', id, parameters: { pointerType: 'touch' }, actions: [at(from), { type: 'pointerDown', button: 0 },
        ...Array.from({ length: pinchSteps }, (_, k) => at(from + (to - from) * (k + 1) / pinchSteps)), { type: 'pointerUp', button: 0 }] };
    };
    await this.send('input.performActions', { context: this.context, actions: [finger('one', -1), finger('two', 1)] });
  }

  async key(key) {
    // Firefox presses nothing with the space key while its window has no focus, and a headless one never has.
    if (key === ' ') return this.run('document.activeElement.click()');
    const values = { ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015', Tab: '\uE004', Escape: '\uE00C', Enter: '\uE007' };
    const value = values[key] ?? key;
    return this.send('input.performActions', { context: this.context,
      actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value }, { type: 'keyUp', value }] }] });
  }

  complaints() {
    return this.events.filter(({ method, params }) => method === 'log.entryAdded'
      || (method === 'network.beforeRequestSent' && params.navigation === null
        && !params.request.url.startsWith('data:')))
      .map(({ method, params }) => `${method}: ${JSON.stringify(params).slice(0, 300)}`);
  }

  async picture() {
    const { data } = await this.send('browsingContext.captureScreenshot', { context: this.context });
    return Buffer.from(data, 'base64');
  }

  close() { return this.send('browser.close'); }
}
export { pause };
