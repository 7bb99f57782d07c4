// The jobs of one array together: trials of a grid, with their parameters.

import {plural} from './format.js';
import {actionsOf} from './localactions.js';
import {get} from './localapi.js';
import {compareValues} from './localgrid.js';
import {age, badge, isOver, jobLink, KeyedList, show, stateOf}
  from './localparts.js';
import {el} from './shell.js';

const PAGE = 500;  // Jobs that are asked for at a time.

// The array's id is that of its first job, and its others have the next ones.
// Those that are kept no more are left out.
async function jobsOf(array) {
  const jobs = [];
  for (let from = array; ; from += PAGE) {
    const {jobs: page} = await get(
      `/v1/history?before=${from + PAGE}&limit=${PAGE}`);
    const here = page.filter((job) => job.id >= from);
    jobs.push(...here.filter((job) => job.array === array).reverse());
    // Ids come newest first: another's job, or none, is behind the last one.
    const last = here[0];
    if (last?.id !== from + PAGE - 1 || last.array !== array) return jobs;
  }
}

const COLUMNS = {
  job: ['Job', (a, b) => a.id - b.id],
  state: ['State', (a, b) => compareValues(stateOf(a), stateOf(b))],
  ran: ['Ran', (a, b) => ranFor(a) - ranFor(b)],
  code: ['Code', (a, b) => (a.exit_code ?? -1) - (b.exit_code ?? -1)],
};

function ranFor(job) {
  if (!job.started) return -1;
  return (job.finished ?? Date.now() / 1000) - job.started;
}

export class TrialsPage {
  #by = 'job';
  #down = false;

  constructor(page, id) {
    Object.assign(this, {page, id, jobs: [], names: []});
    this.title = el('h2', {tabindex: -1}, `Array #${id}`);
    this.actions = el('div', {class: 'controls'});
    this.counts = el('p', {class: 'why'});
    this.head = el('tr', {});
    this.body = el('tbody', {});
    this.rows = new KeyedList(this.body, () => el('tr', {}),
      (row, job) => this.fillRow(row, job));
    this.element = el('div', {class: 'job'},
      el('p', {}, el('a', {href: '#/'}, '← All jobs')),
      el('div', {class: 'top'}, this.title, this.actions), this.counts,
      el('div', {class: 'card trials'}, el('table', {class: 'cards'},
        el('caption', {class: 'unseen'}, 'Jobs of the array'),
        el('thead', {}, this.head), this.body)));
  }

  close() {}

  async refresh() {
    this.jobs = await jobsOf(this.id);
    this.names = [...new Set(this.jobs.flatMap((job) =>
      Object.keys(job.parameters ?? {})))];
    this.fill();
  }

  fill() {
    const name = (this.jobs[0]?.name ?? '').replace(/-\d+$/, '');
    document.title = `Array #${this.id} ${name}`;
    show(this.title, this.jobs.length ? `Array #${this.id} ${name}` :
      `There is no array #${this.id}`);
    const counts = new Map();
    for (const job of this.jobs) {
      counts.set(stateOf(job), (counts.get(stateOf(job)) ?? 0) + 1);
    }
    show(this.counts, `${plural(this.jobs.length, 'job')}: `,
      [...counts].map(([state, count]) => `${count} ${state}`).join(', '));
    show(this.actions, ...this.buttons());
    const columns = ['job', ...this.names.map((n) => `parameter ${n}`), 'state',
      'ran', 'code'];
    show(this.head, ...columns.map((column) => this.headCell(column)));
    this.rows.set(this.sorted(), (job) => job.id);
  }

  // What at least one of them can be asked.
  buttons() {
    const able = new Set(this.jobs.filter((job) => this.page.may(job))
        .flatMap((job) => Object.keys(actionsOf(job))));
    return [['hold', 'Hold all'], ['release', 'Release all'],
      ['suspend', 'Suspend all'], ['resume', 'Resume all'],
      ['cancel', 'Cancel all']].filter(([action]) => able.has(action))
        .map(([action, text]) => el('button', {type: 'button',
          'data-array-action': action}, text));
  }

  click({target}) {
    const {arrayAction, sort} =
        target.closest?.('button')?.dataset ?? {};
    if (arrayAction) {
      this.page.actions.askAll(this.jobs.filter((job) => this.page.may(job)),
        arrayAction);
    }
    if (!sort) return;
    this.#down = this.#by === sort && !this.#down;
    this.#by = sort;
    this.fill();
    this.head.querySelector(`button[aria-pressed="true"]`)?.focus();
  }

  headCell(column) {
    const text = COLUMNS[column]?.[0] ?? column.replace(/^parameter /, '');
    const sorted = this.#by === column;
    return el('th', {scope: 'col', 'aria-sort': !sorted ? 'none' :
      this.#down ? 'descending' : 'ascending'},
    el('button', {type: 'button', class: 'link', 'data-sort': column,
      'aria-pressed': String(sorted)},
    text + (sorted ? (this.#down ? ' ▾' : ' ▴') : '')));
  }

  sorted() {
    const name = this.#by.replace(/^parameter /, '');
    const order = COLUMNS[this.#by]?.[1] ?? ((a, b) =>
      compareValues(a.parameters?.[name], b.parameters?.[name]));
    const sign = this.#down ? -1 : 1;
    return [...this.jobs].sort((a, b) => sign * order(a, b) || a.id - b.id);
  }

  fillRow(row, job) {
    const td = (label, ...children) =>
      el('td', {'data-label': label}, ...children);
    show(row, el('th', {scope: 'row'}, jobLink(job.id), ' ',
      el('span', {class: 'name'}, job.name)),
    ...this.names.map((name) => td(name, job.parameters?.[name] ?? '')),
    td('State', badge(stateOf(job))),
    td('Ran', job.started ? age(job.started, job.finished) : '–'),
    td('Code', isOver(job) ? String(job.exit_code ?? '') : ''));
  }
}
