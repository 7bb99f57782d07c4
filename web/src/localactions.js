// What can be done with a job: buttons, keys and dialogs for it.

import {send} from './localapi.js';
import {EditDialog, PriorityDialog, ResizeDialog} from './localedit.js';
import {isQueued, MoveDialog, peersOf, waits} from './localmove.js';
import {isOver} from './localparts.js';
import {el} from './shell.js';

// Each a route of its own: what it is called, its key, what is said then.
const ROUTES = {
  release: ['Release', 'h', 'is released'],
  hold: ['Hold', 'h', 'is held'],
  resume: ['Resume', 's', 'goes on'],
  suspend: ['Suspend', 's', 'is being suspended'],
  cancel: ['Cancel', 'c', 'is being stopped'],
};
// Each asks for more.
const DIALOGS = {
  edit: ['Edit…', 'e'],
  priority: ['Priority…', 'p'],
  earlier: ['Earlier', 'K'],
  later: ['Later', 'J'],
  move: ['Move…', 'm'],
  resize: ['Resize…', 'r'],
};

// {hold: 'Hold', ...}: what can be asked of it now. Whether it is elastic is
// told of one job alone, not in lists.
export function actionsOf(job) {
  if (isOver(job)) return {};
  const names = [job.held ? 'release' : 'hold',
    job.phase === 'suspended' ? 'resume' : 'suspend', 'edit', 'priority'];
  if (isQueued(job)) names.push('earlier', 'later');
  if (waits(job)) names.push('move');
  if (job.elastic?.length) names.push('resize');
  names.push('cancel');
  return Object.fromEntries(names.map((name) =>
    [name, (ROUTES[name] ?? DIALOGS[name])[0]]));
}

export function actionOfKey(key, job) {
  return Object.keys(actionsOf(job)).find((name) =>
    (ROUTES[name] ?? DIALOGS[name])[1] === key);
}

export function actionButton(id, action, text, more = {}) {
  return el('button', {type: 'button', 'data-action': action, 'data-job': id,
    ...more}, text);
}

// The rest of what can be done with a job of the queue, in a list.
class Menu {
  constructor() {
    this.heading = el('h2', {});
    this.list = el('div', {class: 'menu'});
    this.dialog = el('dialog', {class: 'card narrow', 'aria-label': 'Actions',
      onclick: (e) => {
        if (e.target === this.dialog || e.target.closest('button')) {
          this.dialog.close();
        }
      }}, this.heading, this.list, el('div', {class: 'controls'},
      el('button', {type: 'button'}, 'Close')));
    document.body.append(this.dialog);
  }

  open(job) {
    this.heading.textContent = `#${job.id} ${job.name}`;
    this.list.replaceChildren(...Object.entries(actionsOf(job)).map(
      ([action, text]) => {
        const button = actionButton(job.id, action, text);
        button.append(' ', el('kbd', {},
          (ROUTES[action] ?? DIALOGS[action])[1]));
        return button;
      }));
    this.dialog.showModal();
  }
}

export class Actions {
  constructor(page) {
    this.page = page;
    this.menu = new Menu();
    this.dialogs = {edit: new EditDialog(page),
      priority: new PriorityDialog(page), resize: new ResizeDialog(page),
      move: new MoveDialog(page)};
  }

  // Whatever it is: nothing is thrown.
  async act(id, action) {
    try {
      const job = this.page.known(id) ?? {id, name: ''};
      if (action === 'more') this.menu.open(await this.page.whole(id));
      else if (action === 'earlier' || action === 'later') {
        await this.step(job, action === 'earlier' ? -1 : 1);
      } else if (this.dialogs[action]) await this.dialogs[action].open(id);
      else await this.ask(job, action);
    } catch (error) {
      this.page.say(error.message, true);
    }
  }

  async ask(job, action) {
    if (action === 'cancel' &&
        !confirm(`Cancel #${job.id} ${job.name} for good?`)) {
      return;
    }
    try {
      await this.send(job.id, action);
      this.page.say(`#${job.id} ${job.name}: ${ROUTES[action][2]}`);
    } finally {
      this.page.refresh();
    }
  }

  send(id, action) {
    return action === 'cancel' ? send('DELETE', `/v1/jobs/${id}`) :
      send('POST', `/v1/jobs/${id}/${action}`);
  }

  // The same of all these; says how many could not.
  async askAll(jobs, action) {
    const able = jobs.filter((job) => actionsOf(job)[action]);
    if (action === 'cancel' && !confirm(`Cancel ${able.length} jobs for good?`)) {
      return;
    }
    let refused = 0;
    let why = '';
    for (const job of able) {
      await this.send(job.id, action).catch((error) => {
        ++refused;
        why = error.message;
      });
    }
    this.page.say(`${able.length - refused} of ${able.length} jobs: ` +
      ROUTES[action][2] + (why ? `. ${why}` : ''), refused > 0);
    this.page.refresh();
  }

  // One place towards the front (-1) or the end (1) among those it may change
  // places with.
  async step(job, by) {
    const peers = peersOf(job, this.page.queue.list.jobs).filter(isQueued);
    const at = peers.findIndex(({id}) => id === job.id);
    const beside = at < 0 ? undefined : peers[at + by];
    if (!beside) {
      this.page.say(at < 0 ? `#${job.id} ${job.name}: has no place to change` :
        `#${job.id} ${job.name}: is the ${by < 0 ? 'first' : 'last'} of ` +
        'its user, queue and priority', true);
      return;
    }
    await send('POST', `/v1/jobs/${job.id}/order`,
      {to: by < 0 ? 'before' : 'after', job: beside.id});
    this.page.say(`#${job.id} ${job.name}: is ${by < 0 ? 'before' : 'behind'} ` +
      `#${beside.id} ${beside.name}`);
    await this.page.refresh();
  }
}
