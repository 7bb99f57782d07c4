// What a task writes, as it comes.

import {follow, plain} from './localapi.js';
import {el} from './shell.js';

const LAST_BYTES = 256 << 10;  // Of what was written before one looks.
const MOST_CHARS = 1 << 20;    // That are kept.
const PAUSE_MS = 1000;

export class Log {
  #abort = null;
  #text = '';
  #drawn = '';

  constructor() {
    this.task = el('select', {onchange: () => this.open()});
    this.stream = el('select', {onchange: () => this.open()},
      el('option', {value: 'output'}, 'output'),
      el('option', {value: 'error'}, 'error output'));
    this.state = el('span', {class: 'soft', role: 'status'});
    this.text = el('pre', {tabindex: 0, 'aria-label': 'Log', class: 'log'});
    this.element = el('div', {class: 'card'}, el('div', {class: 'controls'},
      el('label', {class: 'choice'}, 'Task ', this.task),
      el('label', {class: 'choice'}, 'Stream ', this.stream), this.state),
    this.text);
  }

  // Attempts of the time line. Follows the last attempt of the chosen task.
  set(job, attempts) {
    const list = attempts.filter((a) => a.started !== undefined)
        .map((a) => `${a.task}/${a.attempt}`);
    if (job === this.job && list.join() === this.list?.join()) return;
    const old = this.task.value;
    const wasLast = !old || old === this.newest(this.list ?? []);
    Object.assign(this, {job, list});
    this.task.replaceChildren(...list.map((key) => {
      const [task, attempt] = key.split('/');
      return el('option', {value: key}, attempt === '1' ? task :
        `${task}, attempt ${attempt}`);
    }));
    const choice = wasLast || !list.includes(old) ? this.newest(list) : old;
    this.task.value = choice;
    if (list.length === 0) {
      this.say('', 'Nothing has started yet.');
    } else if (choice !== old) {
      this.open();
    }
  }

  // The first task's last attempt.
  newest(list) {
    const task = list[0]?.split('/')[0];
    return list.filter((key) => key.split('/')[0] === task).at(-1) ?? '';
  }

  say(text, state) {
    this.#text = text;
    this.state.textContent = state;
    this.draw();
  }

  draw() {
    if (this.#drawn === this.#text) return;
    const box = this.text;
    const end = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
    box.textContent = plain(this.#text);
    this.#drawn = this.#text;
    if (end) box.scrollTop = box.scrollHeight;
  }

  close() {
    this.#abort?.abort();
    this.#abort = null;
  }

  async open() {
    this.close();
    const abort = this.#abort = new AbortController();
    const [task, attempt] = this.task.value.split('/');
    const path = `/v1/jobs/${this.job}/logs?follow=1&task=` +
      `${encodeURIComponent(task)}&attempt=${attempt}` +
      `&stream=${this.stream.value}&last=${LAST_BYTES}`;
    while (!abort.signal.aborted) {
      this.say('', 'as it comes');
      try {
        await follow(path, (piece) => {
          this.#text = (this.#text + piece).slice(-MOST_CHARS);
          requestAnimationFrame(() => this.draw());
        }, abort.signal);
        this.state.textContent = 'to its end';
        return;
      } catch (error) {
        if (abort.signal.aborted) return;
        this.state.textContent = error.message;
        if (error.status) return;
      }
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}
