// The page of one job.

import {actionButton, actionsOf} from './localactions.js';
import {get} from './localapi.js';
import {pointText} from './localgrid.js';
import {Log} from './locallog.js';
import {age, badge, cardTable, clock, gpuCount, isOver, KeyedList, show, stateOf,
  whyText} from './localparts.js';
import {TimeLine} from './localtime.js';
import {lineOf, timeText} from './localwords.js';
import {el, section} from './shell.js';

function fact(label, value) {
  return value === undefined || value === '' || value === null ? null :
    el('div', {}, el('dt', {}, label), el('dd', {}, value));
}

// What was edited since its submission: its manifest stays as it was.
function editText({time, roles = {}}) {
  const texts = time === undefined ? [] : [`time ${timeText(time)}`];
  for (const {requests = {}, command} of Object.values(roles)) {
    texts.push(...Object.entries(requests).map((pair) => pair.join(' ')));
    if (command) texts.push(lineOf(command));
  }
  return texts.join(', ');
}

export class JobPage {
  constructor(page, id) {
    this.page = page;
    this.id = id;
    this.title = el('h2', {tabindex: -1});
    this.actions = el('div', {class: 'controls'});
    this.why = el('p', {class: 'why'});
    this.facts = el('dl', {class: 'facts'});
    this.timeline = new TimeLine();
    this.log = new Log();
    this.tasks = el('tbody', {});
    this.taskRows = new KeyedList(this.tasks, () => el('tr', {}),
      (row, task) => this.fillTask(row, task));
    this.manifest = el('pre', {class: 'log', tabindex: 0,
      'aria-label': 'Manifest'});
    this.element = el('div', {class: 'job'});
    this.element.append(el('p', {}, el('a', {href: '#/'}, '← All jobs')),
      el('div', {class: 'top'}, this.title, this.actions), this.why,
      this.facts);
    section(this.element, 'Time line', null, this.timeline.element);
    section(this.element, 'Log', null, this.log.element);
    section(this.element, 'Tasks', null, el('div', {class: 'card'},
      cardTable('Tasks', ['Task', 'State', 'GPUs', 'Started', 'Ran', 'Code',
        'Reason'], this.tasks)));
    this.element.append(el('details', {class: 'data'},
      el('summary', {}, 'Manifest, as it was submitted'), this.manifest));
  }

  close() {
    this.log.close();
  }

  async refresh() {
    const job = await get(`/v1/jobs/${this.id}`);
    if (job.tasks === undefined) return this.fillHead(job);  // Another's.
    const line = await get(`/v1/jobs/${this.id}/timeline`);
    this.job = job;
    this.fillHead(job);
    this.timeline.set(job, line);
    this.log.set(this.id, line.attempts);
    this.taskRows.set(job.tasks, (task) => task.task);
    if (this.manifest.textContent !== job.manifest) {
      this.manifest.textContent = job.manifest;
    }
  }

  fillHead(job) {
    const why = job.explanation;
    const state = stateOf(job);
    document.title = `#${job.id} ${job.name}: ${state}`;
    show(this.title, `#${job.id} ${job.name} `, badge(state));
    show(this.actions, ...(this.page.may(job) ? Object.entries(actionsOf(job)) :
      []).map(([action, text]) => actionButton(job.id, action, text)));
    const told = isOver(job) ? job.reason : whyText(why?.why, why?.reason);
    show(this.why, told ?? '', why?.ahead ? `; ${why.ahead} before it` : '');
    this.fillFacts(job, this.page.job(job.id));
  }

  fillFacts(job, row) {
    show(this.facts, fact('User', this.page.user(job.uid)),
      fact('Queue', job.queue), fact('Priority', job.priority),
      row ? fact('GPUs', gpuCount(row.gpus)) : null,
      fact('Submitted', clock(job.submitted)),
      fact('Waited', age(job.submitted, job.started ?? job.finished)),
      job.started ? fact('Since its start', age(job.started, job.finished)) :
        null,
      job.finished ? fact('Ended', clock(job.finished)) : null,
      fact('Exit code', job.exit_code === undefined ? '' :
        String(job.exit_code)),
      fact('Preempted', job.preemptions ? `${job.preemptions}×` : ''),
      fact('Failed and restarted', job.restarts ? `${job.restarts}×` : ''),
      job.array ? fact('Array', el('a', {href: `#/arrays/${job.array}`},
        `all of #${job.array}`)) : null,
      fact('Parameters', pointText(Object.entries(job.parameters ?? {}))),
      fact('Edited', job.edits ? editText(job.edits) : ''),
      job.elastic?.length ? fact('Tasks', job.elastic.map(
        ({role, size, min, max}) =>
          `${job.elastic.length > 1 ? `${role}: ` : ''}${size} of ${min} to ` +
          max).join(', ')) : null,
      fact('Directory', job.directory));
  }

  fillTask(row, task) {
    const td = (label, ...children) =>
      el('td', {'data-label': label}, ...children);
    show(row, el('th', {scope: 'row'}, task.task, task.attempt > 1 ?
      el('small', {}, ` attempt ${task.attempt}`) : null),
    td('State', task.state), td('GPUs', task.devices.join(', ') || '–'),
    td('Started', task.started ? clock(task.started) : '–'),
    td('Ran', task.started ? age(task.started, task.ended) : '–'),
    td('Code', String(task.exit_code ?? '')),
    td('Reason', task.state === 'ended' ? task.reason ?? '' : ''));
  }
}
