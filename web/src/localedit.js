// Dialogs that change a job which is there.

import {get, send} from './localapi.js';
import {FieldError, fillSelect, FormDialog, suggesting} from './localform.js';
import {lineOf, otherOf, secondsOf, timeText, wordsOf} from './localwords.js';
import {el} from './shell.js';

const USUAL = ['cpu', 'memory', 'nvidia.com/gpu'];
const LABELS = {'cpu': 'CPU cores', 'memory': 'Memory',
  'nvidia.com/gpu': 'GPUs', 'muster.dev/gpu-milli': 'Thousandths of a GPU',
  'muster.dev/gpu-memory': 'Memory of a GPU'};

// Parses what a field has; what is wrong is told there.
function parsed(name, parse, text) {
  try {
    return parse(text);
  } catch (error) {
    throw new FieldError(name, error.message);
  }
}

// What `muster edit` changes: all of what waits, and of what runs its name,
// queue, priority and time limit.
export class EditDialog {
  constructor(page) {
    this.page = page;
    // "roles.worker.requests.cpu" is the field "worker.requests.cpu".
    this.form = new FormDialog({title: 'Edit', action: 'Save',
      send: () => this.save(),
      at: ({field}) => field?.replace(/^(roles|metadata)\./, '')});
  }

  async open(id) {
    const [job, {queues, priority_classes: classes}] = await Promise.all(
      [get(`/v1/jobs/${id}/edit`), get('/v1/queues')]);
    this.job = job;
    this.form.clear();
    const text = (value) => {
      const input = el('input', {type: 'text', spellcheck: 'false'});
      input.value = value;
      return input;
    };
    const queue = el('select', {});
    fillSelect(queue, [...new Set([job.queue, ...queues.filter((q) => !q.closed)
        .map((q) => q.name)])], {chosen: job.queue});
    const [priority, names] = suggesting(classes.map((c) => c.name));
    priority.value = job.priority;
    this.fields = {
      name: this.form.field('name', 'Name', text(job.name)),
      queue: this.form.field('queue', 'Queue', queue),
      priority: this.form.field('priority', 'Priority', priority,
        {note: 'a class, or an integer'}),
      time: this.form.field('time', 'Time limit', text(timeText(job.time)),
        {note: '90m, 2h, 1:30:00 or none'}),
    };
    this.form.body.append(names);
    this.roles = job.waits ? Object.entries(job.roles).map(([name, role]) =>
      this.addRole(name, role, text)) : [];
    if (!job.waits) {
      this.form.body.append(el('p', {class: 'about whole'}, 'It does not only ' +
        'wait: what it runs and asks for stays as it is.'));
    }
    this.form.open(`Edit #${id} ${job.name}`);
  }

  // Fields of one role; returns what reads them.
  addRole(name, role, text) {
    const box = el('fieldset', {class: 'fields whole'},
      el('legend', {}, Object.keys(this.job.roles).length > 1 ?
        `Each task of ${name}` : 'Each task'));
    this.form.body.append(box);
    const requests = [...new Set([...USUAL, ...Object.keys(role.requests)])]
        .map((resource) => [resource, this.form.field(
          `${name}.requests.${resource}`, LABELS[resource] ?? resource,
          text(role.requests[resource] ?? ''), {into: box})]);
    const line = el('textarea', {rows: 3, spellcheck: 'false'});
    line.value = lineOf(role.command ?? []);
    const at = `${name}.command`;
    const command = role.command ? this.form.field(at, 'Command', line,
      {into: box, whole: true,
        note: 'Words, quoted as in a shell; nothing is expanded'}) : null;
    return () => [name, {
      requests: Object.fromEntries(requests.map(([resource, field]) =>
        [resource, field.value])),
      command: command ? this.words(at, line.value) : undefined}];
  }

  words(at, line) {
    const words = parsed(at, wordsOf, line);
    if (words.length === 0) throw new FieldError(at, 'is missing');
    return words;
  }

  async save() {
    const {name, queue, priority, time} = this.fields;
    const other = otherOf(this.job, {name: name.value, queue: queue.value,
      priority: priority.value, time: parsed('time', secondsOf, time.value),
      roles: Object.fromEntries(this.roles.map((read) => read()))});
    if (Object.keys(other).length === 0) {
      this.page.say('Nothing was changed');
      return;
    }
    await send('POST', `/v1/jobs/${this.job.id}/edit`, other);
    this.page.say(`#${this.job.id} ${this.job.name}: is edited`);
    this.page.refresh();
  }
}

export class PriorityDialog {
  constructor(page) {
    this.page = page;
    this.form = new FormDialog({title: 'Priority', action: 'Change',
      send: () => this.save()});
  }

  async open(id) {
    const [job, {priority_classes: classes}] = await Promise.all(
      [this.page.whole(id), get('/v1/queues')]);
    this.job = job;
    this.form.clear();
    const [input, names] = suggesting(classes.map((c) => c.name));
    this.field = this.form.field('priority', 'Priority', input,
      {note: `a class (${classes.map((c) => c.name).join(', ')}), or an ` +
        'integer', whole: true});
    this.form.body.append(names);
    input.value = job.priority;
    this.form.open(`Priority of #${id} ${job.name}`);
    input.select();
  }

  async save() {
    await send('POST', `/v1/jobs/${this.job.id}/priority`,
      {priority: this.field.value});
    this.page.say(`#${this.job.id} ${this.job.name}: has priority ` +
      this.field.value);
    this.page.refresh();
  }
}

// How many tasks an elastic job has.
export class ResizeDialog {
  constructor(page) {
    this.page = page;
    this.role = el('select', {onchange: () => this.show()});
    this.size = el('input', {type: 'number', step: 1});
    this.form = new FormDialog({title: 'Resize', action: 'Resize',
      send: () => this.save()});
    this.roles = this.form.field('role', 'Role', this.role);
    this.field = this.form.field('size', 'Tasks', this.size);
    this.note = el('p', {class: 'about whole'});
    this.form.body.append(this.note);
  }

  show() {
    const role = this.job.elastic.find(({role}) => role === this.role.value);
    Object.assign(this.size, {min: role.min, max: role.max, value: role.size});
    this.note.textContent = `It has ${role.size} now, and may have ` +
      `${role.min} to ${role.max}.`;
  }

  async open(id) {
    this.job = await this.page.whole(id);
    const {elastic = []} = this.job;
    if (elastic.length === 0) throw new Error(`#${id}: has one size`);
    fillSelect(this.role, elastic.map(({role}) => role));
    this.roles.element.hidden = elastic.length === 1;
    this.show();
    this.form.open(`Resize #${id} ${this.job.name}`);
    this.size.select();
  }

  async save() {
    const size = Number(this.field.value);
    if (!Number.isInteger(size) || size < 0 || this.field.value === '') {
      throw new FieldError('size', 'expected how many tasks');
    }
    await send('POST', `/v1/jobs/${this.job.id}/resize`,
      {size, role: this.role.value});
    this.page.say(`#${this.job.id} ${this.job.name}: is to have ${size} tasks`);
    this.page.refresh();
  }
}
