// A job's time line: bars of its attempts, what was lost, and what happened.

import {moment, tick, TIME_STEPS} from './format.js';
import {age, clock, lost, now, show} from './localparts.js';
import {el} from './shell.js';

const MOST_TASKS = 32;
const TICKS = 6;

const WORDS = {
  'submitted': 'Submitted',
  'started': 'Started',
  'started again': 'Started again',
  'preempted': 'Preempted: its GPUs went to other work',
  'restarting': 'Restarts after a failure',
  'checkpoint': 'Checkpoint: the work up to here is safe',
  'suspended': 'Suspended',
  'resumed': 'Goes on',
  'held': 'Held by its owner',
  'released': 'Released',
  'changed': 'Changed',
  'succeeded': 'Succeeded',
  'failed': 'Failed',
  'cancelled': 'Cancelled',
};

// Attempts of each task, in their order: [[task, [attempt, ...]], ...]
function byTask(attempts) {
  const tasks = new Map();
  for (const attempt of attempts) {
    if (attempt.started === undefined) continue;
    if (!tasks.has(attempt.task)) tasks.set(attempt.task, []);
    tasks.get(attempt.task).push(attempt);
  }
  return [...tasks];
}

// When an attempt ended that was alive then.
function stopOf(attempts, at) {
  const ends = attempts.filter((a) => a.started <= at && !(a.ended < at))
      .map((a) => a.ended);
  return ends.length ? Math.max(...ends) : at;
}

export class TimeLine {
  constructor() {
    this.axis = el('div', {class: 'ticks', 'aria-hidden': 'true'});
    this.lanes = el('div', {class: 'lanes'});
    this.note = el('p', {class: 'about'});
    this.events = el('ol', {class: 'happened'});
    this.element = el('div', {class: 'card'},
      el('div', {class: 'timeline', role: 'img',
        'aria-label': 'Time line; the list below says the same'},
      this.lanes, this.axis),
      el('p', {class: 'legend'},
        ...[['wait', 'waits'], ['work', 'runs'], ['lostwork', 'work lost'],
          ['check', 'checkpoint']].map(([kind, text]) =>
          el('span', {}, el('i', {class: kind}), text))),
      this.note, this.events);
  }

  set(job, line) {
    this.from = job.submitted;
    this.to = Math.max(job.finished ?? now(), this.from + 1);
    const tasks = byTask(line.attempts);
    show(this.lanes, ...(tasks.length ? tasks.slice(0, MOST_TASKS) :
      [['', []]]).map(([task, attempts]) =>
      this.lane(task, attempts, line, job)));
    show(this.axis, ...this.ticks());
    const more = tasks.length - MOST_TASKS;
    show(this.note, more > 0 ? `${more} more tasks are not drawn.` : '');
    show(this.events, ...line.events.map((event) => this.event(event)));
  }

  part(at) {
    return Math.max(0, Math.min(1, (at - this.from) / (this.to - this.from)));
  }

  piece(kind, from, to, title) {
    const piece = el('i', {class: kind, title});
    piece.style.left = `${100 * this.part(from)}%`;
    piece.style.width = `${100 * (this.part(to) - this.part(from))}%`;
    return piece;
  }

  lane(task, attempts, line, job) {
    const box = el('div', {class: 'lane'});
    if (attempts.length === 0) {
      box.append(this.piece('wait', this.from, this.to,
        `waits for ${age(this.from, this.to)}`));
    } else {
      box.append(this.piece('wait', this.from, attempts[0].started,
        `waits for ${age(this.from, attempts[0].started)}`));
    }
    attempts.forEach((a, i) => {
      const end = a.ended ?? this.to;
      box.append(this.piece(`work end-${a.reason ?? ''}`, a.started, end,
        `attempt ${a.attempt}: ${clock(a.started)}, ${age(a.started, end)}`));
      const next = attempts[i + 1]?.started ??
        (a.ended && job.finished === undefined ? this.to : undefined);
      if (next > end) {
        box.append(this.piece('wait', end, next, `waits for ${age(end, next)}`));
      }
    });
    for (const event of line.events) {
      if (event.lost > 0) {
        const stop = stopOf(attempts, event.at);
        box.append(this.piece('lostwork', stop - event.lost, stop,
          lost(event.lost)));
      } else if (event.what === 'checkpoint') {
        box.append(this.piece('check', event.at, event.at, 'checkpoint'));
      }
    }
    return el('div', {class: 'row'}, el('span', {}, task), box);
  }

  ticks() {
    const length = this.to - this.from;
    const step = TIME_STEPS.find((s) => s >= 1 && length / s <= TICKS) ??
      TIME_STEPS.at(-1);
    const list = [];
    for (let at = 0; at <= length; at += step) {
      const mark = el('span', {}, tick(at, step));
      mark.style.left = `${100 * at / length}%`;
      if (at / length > 0.92) mark.className = 'last';
      list.push(mark);
    }
    return list;
  }

  event({at, what, text, lost: work}) {
    return el('li', {class: `is-${what.replace(' ', '-')}`},
      el('time', {}, clock(at)), ' ',
      el('b', {}, WORDS[what] ?? what), text ? ` (${text})` : '',
      work > 0 ? el('span', {class: 'lostnote'}, `, ${lost(work)}`) : null,
      el('small', {}, ` after ${moment(Math.floor(at - this.from))}`));
  }
}
