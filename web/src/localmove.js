// The place of a job among those that wait.

import {send} from './localapi.js';
import {FieldError, FormDialog} from './localform.js';
import {el} from './shell.js';

// It only waits, as far as the queue tells.
export function waits({phase}) {
  return phase === 'queued' || phase === 'new' || phase === 'suspended';
}

// It waits for nothing but its places.
export function isQueued(job) {
  return waits(job) && !job.held && job.phase !== 'suspended';
}

// Jobs that it can change places with, itself among them, in their order: the
// queue's, of the same user, queue and priority.
export function peersOf(job, jobs) {
  return jobs.filter((other) => waits(other) && other.uid === job.uid &&
    other.queue === job.queue && other.priority === job.priority);
}

const PLACES = [['first', 'first of all these'], ['before', 'before'],
  ['after', 'behind'], ['last', 'last of all these']];

export class MoveDialog {
  constructor(page) {
    this.page = page;
    this.to = el('select', {onchange: () => this.show()}, ...PLACES.map(
      ([value, text]) => el('option', {value}, text)));
    this.beside = el('select', {});
    this.form = new FormDialog({title: 'Move', action: 'Move',
      send: () => this.move()});
    this.form.field('to', 'Where to', this.to);
    this.other = this.form.field('job', 'Job', this.beside);
    this.form.body.append(el('p', {class: 'about whole'},
      'Jobs of one user that wait in one queue with one priority change ' +
      'places. Nobody else’s job is overtaken.'));
  }

  show() {
    this.other.element.hidden = this.to.value === 'first' ||
      this.to.value === 'last';
  }

  open(id) {
    this.job = this.page.known(id);
    if (!this.job) throw new Error(`#${id}: is not in the queue`);
    const others = peersOf(this.job, this.page.queue.list.jobs)
        .filter((other) => other.id !== id);
    this.beside.replaceChildren(...others.map((other) =>
      el('option', {value: other.id}, `#${other.id} ${other.name}`)));
    this.show();
    this.form.open(`Move #${id} ${this.job.name}`);
  }

  async move() {
    const to = this.to.value;
    const body = {to};
    if (to === 'before' || to === 'after') {
      if (!this.beside.value) throw new FieldError('job', 'there is no other');
      body.job = Number(this.beside.value);
    }
    await send('POST', `/v1/jobs/${this.job.id}/order`, body);
    this.page.say(`#${this.job.id} ${this.job.name}: has its new place`);
    this.page.refresh();
  }
}
