// The queue: who runs, who waits and why; and those that have finished.

import {number, plural} from './format.js';
import {actionButton, actionsOf} from './localactions.js';
import {pointText} from './localgrid.js';
import {age, badge, cardTable, gpuCount, jobLink, jobPath, KeyedList, now, show,
  stateOf, whyText} from './localparts.js';
import {el} from './shell.js';

const COLUMNS = ['Job', 'State', 'Priority', 'User', 'GPUs', 'Queue', 'Since',
  ''];

// Of what can be done with it; the rest is behind "⋯".
const FIRST = ['hold', 'release', 'resume', 'cancel'];

// Of an element of an array: the way to all of them, and its point.
function arrayNote({array, parameters}) {
  if (!array) return null;
  return el('small', {class: 'reason'}, el('a', {href: `#/arrays/${array}`},
    `of array #${array}`), parameters ?
    ` ${pointText(Object.entries(parameters))}` : '');
}

function cell(label, ...children) {
  return el('td', {'data-label': label}, ...children);
}

export class Queue {
  constructor(page) {
    this.page = page;
    this.search = el('input', {type: 'search', placeholder: 'Filter',
      'aria-label': 'Filter the queue', oninput: () => this.fill()});
    this.note = el('p', {class: 'about'});
    this.body = el('tbody', {});
    this.table = cardTable('Queue', COLUMNS, this.body);
    this.table.classList.add('queue');
    this.rows = new KeyedList(this.body, (job) => this.make(job),
      (row, job) => this.fillRow(row, job));
    this.element = el('div', {class: 'card'},
      el('div', {class: 'controls'}, this.search), this.note, this.table);
    this.list = {jobs: [], waiting: 0, running: 0, left_out: 0};
  }

  // Not shown yet.
  keep(list) {
    this.list = list;
  }

  fill() {
    const active = document.activeElement;
    const word = this.search.value.trim().toLowerCase();
    const has = (job) => [job.name, `#${job.id}`, stateOf(job), job.queue,
      job.priority, this.page.user(job.uid), job.why ?? '',
      pointText(Object.entries(job.parameters ?? {}))]
        .some((text) => text.toLowerCase().includes(word));
    const jobs = this.list.jobs.filter((job) => !word || has(job));
    this.rows.set(jobs, (job) => job.id);
    // Who has the focus keeps it where its row has another place now.
    if (active !== document.activeElement && this.body.contains(active)) {
      active.focus();
    }
    const {running, waiting, left_out: out} = this.list;
    show(this.note, running + waiting === 0 ? 'Nothing runs, nothing waits.' :
      `${plural(running, 'job')} with a place, ${number(waiting)} waiting, in ` +
      'the order in which they are decided' +
      (out ? `; ${number(out)} more are not shown` : '') + '.');
    this.table.hidden = jobs.length === 0;
  }

  make(job) {
    return el('tr', {tabindex: -1, 'data-job': job.id, onclick: (e) => {
      if (!e.target.closest('button, a')) location.hash = jobPath(job.id);
    }});
  }

  fillRow(row, job) {
    const state = stateOf(job);
    const since = state === 'running' && job.started ? job.started :
      job.submitted;
    const devices = this.page.devicesOf(job.id);
    show(row,
      el('th', {scope: 'row'}, jobLink(job.id), ' ',
        el('span', {class: 'name'}, job.name),
        job.why ? el('small', {class: 'reason'},
          whyText(job.why, job.blocked_by)) : null, arrayNote(job)),
      cell('State', badge(state), job.preemptions > 0 && state === 'running' ?
        el('small', {}, ` preempted ${job.preemptions}×`) : null),
      cell('Priority', job.priority),
      cell('User', this.page.user(job.uid)),
      cell('GPUs', gpuCount(job.gpus), devices.length ?
        el('small', {}, ` on ${devices.join(', ')}`) : null),
      cell('Queue', job.queue),
      cell('Since', age(since, now())),
      el('td', {class: 'actions'}, ...this.buttons(job)));
  }

  buttons(job) {
    if (!this.page.may(job)) return [];
    const list = Object.entries(actionsOf(job))
        .filter(([action]) => FIRST.includes(action));
    return [...list, ['more', '⋯']].map(([action, text]) =>
      actionButton(job.id, action, text, {'aria-label': `${action === 'more' ?
        'All that can be done with' : text} #${job.id}`}));
  }

  // --- Keyboard ---

  get selected() {
    return document.activeElement?.closest('tr[data-job]') ?? null;
  }

  step(by) {
    const rows = [...this.body.rows];
    if (rows.length === 0) return;
    const at = rows.indexOf(this.selected);
    const to = at < 0 ? (by > 0 ? 0 : rows.length - 1) :
      Math.max(0, Math.min(rows.length - 1, at + by));
    rows[to].focus();
    rows[to].scrollIntoView({block: 'nearest'});
  }
}

// Jobs that have finished, newest first.
export class History {
  constructor(page) {
    this.page = page;
    this.body = el('tbody', {});
    this.rows = new KeyedList(this.body, () => el('tr', {}),
      (row, job) => this.fillRow(row, job));
    this.none = el('p', {class: 'about'}, 'None yet.');
    this.table = cardTable('Finished', ['Job', 'State', 'Code', 'User', 'Ran',
      'Ended'], this.body);
    this.element = el('div', {class: 'card'}, this.none, this.table);
  }

  set(jobs) {
    this.rows.set(jobs, (job) => job.id);
    this.none.hidden = jobs.length > 0;
    this.table.hidden = jobs.length === 0;
  }

  fillRow(row, job) {
    show(row,
      el('th', {scope: 'row'}, jobLink(job.id), ' ',
        el('span', {class: 'name'}, job.name), arrayNote(job)),
      cell('State', badge(stateOf(job))),
      cell('Code', String(job.exit_code ?? '')),
      cell('User', this.page.user(job.uid)),
      cell('Ran', job.started ? age(job.started, job.finished) : '–'),
      cell('Ended', `${age(job.finished)} ago`));
  }
}
