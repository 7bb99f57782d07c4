// The page that musterd serves: the queue of one machine, as it is now.

import './local.css';
import {number, plural, share} from './format.js';
import {actionOfKey, Actions} from './localactions.js';
import {Changes, get} from './localapi.js';
import {Calendars} from './localcrons.js';
import {JobPage} from './localjob.js';
import {Machine, Shares} from './localmachine.js';
import {clock, jobLink, jobPath, show} from './localparts.js';
import {History, Queue} from './localqueue.js';
import {Session} from './localsession.js';
import {SubmitForm} from './localsubmit.js';
import {TrialsPage} from './localtrials.js';
import {announce, el, openPage, section, Shared} from './shell.js';

const SHORTEST_MS = 250;   // Between an event and a look at all there is.
const MOST_OF = 4;         // Of the time, one part in so many is for looking.
const LONGEST_MS = 5000;   // Others' processes tell nothing.
const SAID_MS = 8000;
const MOST_EVENTS = 200;
const FINISHED = 20;

const KEYS = [
  ['j, k', 'to the next or previous job of the queue; arrow keys, too'],
  ['Enter', 'open that job'],
  ['c', 'cancel it'],
  ['h', 'hold it, or release it'],
  ['s', 'suspend it, or let it go on'],
  ['e, p', 'edit it; change its priority alone'],
  ['J, K', 'a place later or earlier among one’s own jobs'],
  ['m', 'move it before or behind another'],
  ['r', 'resize it, if it is elastic'],
  ['.', 'all that can be done with it'],
  ['n', 'submit a new job'],
  ['/', 'filter the queue'],
  ['g', 'all jobs'],
  ['t', 'light or dark'],
  ['?', 'this help; Escape closes it'],
];

const STATES = {live: 'live', lost: 'musterd does not answer; trying again',
  out: 'not signed in'};

class LocalPage {
  self = {uid: -1, home: '/', name: '', privileged: false};
  #names = new Map();
  #rows = new Map();     // The queue's jobs by id.
  #finished = new Map();
  #devices = new Map();  // Indices of GPUs, by job.
  #events = [];          // The newest first.
  #timer = 0;
  #last = 0;   // When it was looked,
  #cost = 0;   // and how long that took.
  #busy = false;
  #again = false;

  async start() {
    this.main = openPage(new Shared(), {title: 'Muster', about: []});
    this.head();
    this.overview();
    this.dialogs();
    this.notice = el('p', {class: 'said', role: 'status', hidden: true});
    document.body.append(this.notice);
    addEventListener('hashchange', () => this.go());
    addEventListener('keydown', (e) => this.key(e));
    document.addEventListener('click', (e) => this.click(e));
    if (!await this.learnWhoOneIs()) return;
    this.go();
    new Changes({state: (state) => this.state(state),
      event: (event) => this.event(event)});
    setInterval(() => { if (!document.hidden) this.refresh(); }, LONGEST_MS);
  }

  // Whether anybody is signed in; if not, all there is is the way in.
  async learnWhoOneIs() {
    try {
      const {self, home, privileged, users} = await get('/v1/users');
      this.#names = new Map(users.map(({uid, name}) => [uid, name]));
      this.self = {uid: self, home, privileged,
        name: this.#names.get(self) ?? ''};
      this.session.set(this.self);
      return true;
    } catch (error) {
      if (error.status !== 401) throw error;
      this.all.hidden = true;
      this.submit.hidden = true;
      this.state('out');
      return false;
    }
  }

  // --- What there is ---

  head() {
    this.status = el('span', {class: 'live is-lost', role: 'status'}, '…');
    this.theme = this.main.querySelector('button.theme');
    this.session = new Session(this);
    this.submit = el('button', {type: 'button', class: 'first',
      'data-open': 'submit'}, 'Submit');
    const buttons = el('div', {class: 'controls'}, this.status,
      this.session.button,
      this.submit,
      el('button', {type: 'button', 'data-open': 'help',
        'aria-label': 'Keys of this page'}, '?'));
    this.theme.replaceWith(buttons);
    buttons.append(this.theme);
  }

  overview() {
    this.all = el('div', {});
    this.queue = new Queue(this);
    this.machine = new Machine(this);
    this.shares = new Shares();
    this.history = new History(this);
    this.calendars = new Calendars(this);
    this.happened = el('ol', {class: 'happened card', tabindex: 0,
      'aria-label': 'Events'});
    this.numbers = el('p', {class: 'numbers'});
    this.all.append(this.numbers);
    const columns = el('div', {class: 'columns'});
    const left = el('div', {});
    const right = el('div', {});
    section(left, 'Queue', null, this.queue.element);
    section(left, 'Calendars', null, this.calendars.element);
    section(left, 'Finished', null, this.history.element);
    section(right, 'Machine', null, this.machine.element);
    section(right, 'Queues and shares', null, this.shares.element);
    section(right, 'Events', null, this.happened);
    columns.append(left, right);
    this.all.append(columns);
    this.main.append(this.all);
  }

  dialogs() {
    this.form = new SubmitForm(this);
    this.actions = new Actions(this);
    this.help = el('dialog', {class: 'card', 'aria-label': 'Keys'},
      el('h2', {}, 'Keys'), el('dl', {class: 'keys'}, ...KEYS.flatMap(
        ([keys, text]) => [el('dt', {}, keys), el('dd', {}, text)])),
      el('button', {type: 'button', onclick: () => this.help.close()},
        'Close'));
    document.body.append(this.help);
  }

  user(uid) { return this.#names.get(uid) ?? String(uid); }
  job(id) { return this.#rows.get(id); }
  devicesOf(id) { return this.#devices.get(id) ?? []; }
  // As far as the page knows it: of the job that is looked at, of the queue.
  known(id) {
    return this.opened?.job?.id === id ? this.opened.job : this.job(id);
  }
  whole(id) { return get(`/v1/jobs/${id}`); }
  // Whether one may change it: a job, or a calendar.
  may({uid}) { return this.self.privileged || uid === this.self.uid; }

  // --- What is told ---

  state(state) {
    this.status.className = `live is-${state}`;
    show(this.status, STATES[state]);
    if (state === 'live') this.refresh();
    if (state === 'out' && !this.out) {
      this.session.set(null);
      if (!document.querySelector('dialog[open]')) this.session.open();
    }
    this.out = state === 'out';
  }

  event(event) {
    this.#events.unshift(event);
    this.#events.length = Math.min(this.#events.length, MOST_EVENTS);
    this.soon();
  }

  say(text, bad = false) {
    this.notice.textContent = text;
    this.notice.classList.toggle('bad', bad);
    this.notice.hidden = false;
    announce(text);
    clearTimeout(this.saidTimer);
    this.saidTimer = setTimeout(() => { this.notice.hidden = true; }, SAID_MS);
  }

  // --- Looking anew ---

  soon() {
    if (this.#timer) return;
    const wait = Math.max(SHORTEST_MS,
      this.#last + Math.max(2 * SHORTEST_MS, MOST_OF * this.#cost) -
        performance.now());
    this.#timer = setTimeout(() => this.refresh(), wait);
  }

  // One look at a time, and one more if something has happened meanwhile.
  async refresh() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    const start = performance.now();
    try {
      await this.look();
    } catch (error) {
      if (error.status === 401) this.state('out');
      else if (error.status) this.say(error.message, true);
    }
    this.#busy = false;
    this.#last = performance.now();
    this.#cost = this.#last - start;
    if (this.#again) {
      this.#again = false;
      this.soon();
    }
  }

  async look() {
    const [list, {nodes: [node]}, {queues}, {jobs: newest}, {crons}] =
        await Promise.all([get('/v1/queue?limit=500'), get('/v1/nodes'),
          get('/v1/queues'), get('/v1/history?limit=100'), get('/v1/crons')]);
    this.#rows = new Map(list.jobs.map((job) => [job.id, job]));
    this.#finished = new Map(newest.map((job) => [job.id, job]));
    this.#devices = new Map();
    for (const {index, held} of node.devices) {
      for (const {job} of held) {
        const indices = this.#devices.get(job) ?? [];
        if (!indices.includes(index)) indices.push(index);
        this.#devices.set(job, indices);
      }
    }
    this.queue.keep(list);
    if (this.opened) return this.opened.refresh();
    this.fill(list, node, {queues, newest, crons});
  }

  fill(list, node, {queues, newest, crons}) {
    document.title = `Muster on ${node.name}`;
    show(this.main.querySelector('h1'), `Muster on ${node.name}`);
    this.figures(list, node);
    this.queue.fill();
    this.calendars.set(crons);
    this.machine.set(node);
    this.shares.set(queues, node);
    this.history.set(newest.filter((job) => job.finished !== undefined)
        .slice(0, FINISHED));
    show(this.happened, ...this.#events.map((event) => this.eventItem(event)));
  }

  figures(list, {devices}) {
    const milli = devices.flatMap((d) => d.held)
        .reduce((sum, h) => sum + h.milli, 0);
    const held = milli / (1000 * Math.max(1, devices.length));
    show(this.numbers,
      el('span', {}, el('b', {}, number(list.running)), ' running'),
      el('span', {}, el('b', {}, number(list.waiting)), ' waiting'),
      devices.length ? el('span', {}, el('b', {}, share(held)),
        ` of ${plural(devices.length, 'GPU')} used by jobs`) : null);
  }

  eventItem({at, job, what, text}) {
    const row = this.job(job) ?? this.#finished.get(job);
    return el('li', {}, el('time', {}, clock(at)), ' ', jobLink(job),
      row ? ` ${row.name}` : '', ' ', el('b', {}, what),
      text ? ` (${text})` : '');
  }

  // --- Going somewhere ---

  go() {
    const [, kind, number] =
        location.hash.match(/^#\/(jobs|arrays)\/(\d+)$/) ?? [];
    const id = Number(number ?? 0);
    this.opened?.close();
    this.opened?.element.remove();
    this.opened = id === 0 ? null : kind === 'jobs' ? new JobPage(this, id) :
      new TrialsPage(this, id);
    this.all.hidden = id > 0;
    if (this.opened) {
      this.main.append(this.opened.element);
      scrollTo(0, 0);
      this.opened.title.focus();
    }
    this.refresh();
  }

  click(e) {
    const button = e.target.closest?.('button[data-action]');
    if (button) {
      this.actions.act(Number(button.dataset.job), button.dataset.action);
    }
    this.opened?.click?.(e);
    const open = e.target.closest?.('button[data-open]')?.dataset.open;
    if (open === 'submit') this.openForm();
    if (open === 'help') this.help.showModal();
  }

  openForm() {
    this.form.open().catch((error) => this.say(error.message, true));
  }

  // --- Keyboard ---

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector(
      'dialog[open]')) return;
    if (e.target.closest('input, textarea, select')) {
      if (e.key === 'Escape') e.target.blur();
      return;
    }
    const run = this.command(e);
    if (!run) return;
    e.preventDefault();
    run();
  }

  command({key, target}) {
    const row = this.queue.selected;
    const id = this.opened ? this.opened.id : Number(row?.dataset.job ?? 0);
    const job = this.opened ? this.opened.job : this.job(id);
    const action = job && this.may(job) ? actionOfKey(key, job) : null;
    if (action) return () => this.actions.act(id, action);
    switch (key) {
      case 'j':
        return this.opened ? null : () => this.queue.step(1);
      case 'k':
        return this.opened ? null : () => this.queue.step(-1);
      case 'ArrowDown':
        return row && target === row ? () => this.queue.step(1) : null;
      case 'ArrowUp':
        return row && target === row ? () => this.queue.step(-1) : null;
      case 'Enter':
        return row && target === row ? () => { location.hash = jobPath(id); } :
          null;
      case '.':
        return job && this.may(job) ? () => this.actions.act(id, 'more') : null;
      case 'n': return () => this.openForm();
      case '/':
        return this.opened ? null : () => this.queue.search.focus();
      case 'g': return () => { location.hash = '#/'; };
      case 't': return () => this.theme.click();
      case '?': return () => this.help.showModal();
      default: return null;
    }
  }
}

new LocalPage().start().catch((error) => {
  document.getElementById('page').append(
    el('p', {class: 'bad', role: 'alert'}, error.message));
});
