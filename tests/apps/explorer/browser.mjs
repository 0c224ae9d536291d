// A headless Chromium, spoken to over its debugging protocol: pages, real keys and pictures.
// Needs a Node with WebSocket: 22, or 20 with --experimental-websocket.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class Browser {
  static async start(program, { width = 1440, height = 1000, dark = false } = {}) {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), 'foretrace-browser-'));
    browser.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars',
      '--remote-debugging-port=0', `--user-data-dir=${browser.folder}`, `--window-size=${width},${height}`,
      'about:blank'], { stdio: 'ignore' });
    const port = join(browser.folder, 'DevToolsActivePort');
    for (let i = 0; i < 300 && !existsSync(port); ++i) await pause(100);
    await pause(200);
    const [number] = readFileSync(port, 'utf8').split('\n');
    const pages = await (await fetch(`http://127.0.0.1:${number}/json`)).json();
    const page = pages.find((each) => each.type === 'page');
    browser.socket = new WebSocket(page.webSocketDebuggerUrl);
    browser.waiting = new Map();
    browser.events = [];
    browser.socket.onmessage = ({ data }) => browser.receive(JSON.parse(data));
    await new Promise((done) => { browser.socket.onopen = done; });
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.send(`${domain}.enable`);
    if (dark) {
      await browser.send('Emulation.setEmulatedMedia',
        { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    }
    return browser;
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
    const { result, error } = await new Promise((done) => { this.waiting.set(id, done); });
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Opens a page and waits until it lives; ms from the request to that. */
  async open(url) {
    const begin = performance.now();
    await this.send('Page.navigate', { url });
    for (let i = 0; i < 600; ++i) {
      const ready = await this.run('document.documentElement.dataset.ready ?? ""').catch(() => '');
      if (ready === 'yes') return performance.now() - begin;
      if (ready === 'no') throw new Error(await this.run('document.getElementById("trouble").textContent'));
      await pause(20);
    }
    throw new Error('the page did not come alive');
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async key(key, code = key) {
    const text = key.length === 1 ? { text: key } : {};
    const codes = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Tab: 9, ' ': 32, Escape: 27 };
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

  async stop() {
    // it may be gone before it answers
    const gone = new Promise((done) => { this.process.once('exit', done); setTimeout(done, 3000); });
    await Promise.race([this.send('Browser.close').catch(() => {}), gone]);
    await gone;
    this.process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
export { pause };
