// A headless Chromium, driven over a pipe with the DevTools protocol: no
// package is needed for it.
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const DEADLINE_MS = 60_000;

// Where Chromium is; undefined: nowhere.
export function findChromium() {
  return ['chromium', 'chromium-browser', 'google-chrome']
      .flatMap((name) => process.env.PATH.split(':')
          .map((folder) => path.join(folder, name)))
      .find((program) => fs.existsSync(program));
}

export class Browser {
  #waiting = new Map();  // Replies by number of the call.
  #listeners = new Set();
  #next = 1;
  #rest = '';

  constructor(program) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-web-'));
    this.process = spawn(program, [
      '--headless=new', '--remote-debugging-pipe', '--no-sandbox',
      '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
      '--disable-background-networking', '--disable-component-update',
      '--hide-scrollbars', `--user-data-dir=${this.profile}`, 'about:blank',
    ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: {...process.env, HOME: this.profile}});
    this.process.on('exit', () => {
      for (const {reject} of this.#waiting.values()) {
        reject(new Error('the browser ended'));
      }
    });
    this.process.stdio[4].on('data', (bytes) => this.#read(bytes));
  }

  #read(bytes) {
    const parts = (this.#rest + bytes).split('\0');
    this.#rest = parts.pop();
    for (const message of parts.map((p) => JSON.parse(p))) {
      const reply = this.#waiting.get(message.id);
      if (!reply) {
        for (const listener of this.#listeners) listener(message);
        continue;
      }
      this.#waiting.delete(message.id);
      if (message.error) reply.reject(new Error(message.error.message));
      else reply.resolve(message.result);
    }
  }

  call(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    const text = JSON.stringify({id, method, params, sessionId});
    this.process.stdio[3].write(text + '\0');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(
        new Error(`${method}: no answer`)), DEADLINE_MS);
      const settle = (f) => (value) => { clearTimeout(timer); f(value); };
      this.#waiting.set(id,
        {resolve: settle(resolve), reject: settle(reject)});
    });
  }

  // Opens a page of its own, in a window of this size.
  async open(url, {width = 1280, height = 900, dark = false} = {}) {
    const {targetId} =
        await this.call('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.call('Target.attachToTarget',
      {targetId, flatten: true});
    const page = new Page(this, targetId, sessionId);
    this.#listeners.add(page.listener);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) {
      await page.call(`${domain}.enable`);
    }
    await page.resize(width, height);
    await page.call('Emulation.setEmulatedMedia', {features: [
      {name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
    const loaded = page.event('Page.loadEventFired');
    const start = performance.now();
    await page.call('Page.navigate', {url});
    await loaded;
    await page.settle();
    page.loadedIn = performance.now() - start;
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    await this.call('Browser.close').catch(() => {});
    await ended;
    fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

class Page {
  errors = [];    // What the page reported as wrong.
  requests = [];  // URLs that it asked for, itself left out.
  #events = new Map();

  constructor(browser, target, session) {
    this.browser = browser;
    this.target = target;
    this.session = session;
    this.listener = (m) => { if (m.sessionId === session) this.#hear(m); };
  }

  #hear({method, params}) {
    if (method === 'Runtime.exceptionThrown') {
      const {exceptionDetails: d} = params;
      this.errors.push(d.exception?.description ?? d.text);
    } else if (method === 'Runtime.consoleAPICalled' &&
        ['error', 'warning', 'assert'].includes(params.type)) {
      this.errors.push(params.args.map((a) => a.value).join(' '));
    } else if (method === 'Log.entryAdded') {
      this.errors.push(params.entry.text);
    } else if (method === 'Network.requestWillBeSent') {
      const {url} = params.request;
      if (params.type !== 'Document' && !url.startsWith('data:')) {
        this.requests.push(url);
      }
    }
    this.#events.get(method)?.();
    this.#events.delete(method);
  }

  event(method) {
    return new Promise((resolve) => this.#events.set(method, resolve));
  }

  call(method, params = {}) {
    return this.browser.call(method, params, this.session);
  }

  // The value of an expression in the page.
  async value(expression) {
    const {result, exceptionDetails: wrong} = await this.call(
      'Runtime.evaluate',
      {expression, returnByValue: true, awaitPromise: true});
    if (wrong) throw new Error(wrong.exception?.description ?? wrong.text);
    return result.value;
  }

  // Until all that was asked to be drawn is drawn.
  settle() {
    return this.value(`new Promise((done) => requestAnimationFrame(
      () => requestAnimationFrame(() => setTimeout(done, 30))))`);
  }

  async resize(width, height) {
    await this.call('Emulation.setDeviceMetricsOverride',
      {width, height, deviceScaleFactor: 1, mobile: false});
  }

  async key(key, {shift = false} = {}) {
    const params = {key, code: key, modifiers: shift ? 8 : 0,
      text: key.length === 1 ? key : undefined};
    await this.call('Input.dispatchKeyEvent', {type: 'keyDown', ...params});
    await this.call('Input.dispatchKeyEvent', {type: 'keyUp', ...params});
    await this.settle();
  }

  async mouse(type, x, y, button = 'none') {
    await this.call('Input.dispatchMouseEvent', {type, x, y, button,
      buttons: button === 'left' ? 1 : 0, clickCount: 1});
  }

  async click(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.mouse('mousePressed', x, y, 'left');
    await this.mouse('mouseReleased', x, y, 'left');
    await this.settle();
  }

  // The middle of an element, scrolled into view; or part of its width.
  async place(selector, part = 0.5) {
    return this.value(`(() => {
      const e = document.querySelector(${JSON.stringify(selector)});
      e.scrollIntoView({block: 'center'});
      const b = e.getBoundingClientRect();
      return {x: b.left + b.width * ${part}, y: b.top + b.height / 2};
    })()`);
  }

  // A picture of the whole page, or of the window alone.
  async screenshot(file, whole = true) {
    const {data} = await this.call('Page.captureScreenshot',
      {format: 'png', captureBeyondViewport: whole});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async close() {
    await this.browser.call('Target.closeTarget', {targetId: this.target});
  }
}
