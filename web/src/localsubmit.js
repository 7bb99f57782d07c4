// The form that submits a job, or a grid of them.

import {plural} from './format.js';
import {environmentOf, get, manifestOf, send} from './localapi.js';
import {FieldError, fillSelect, FormDialog} from './localform.js';
import {axesOf, axisOfPoints, MOST_POINTS, pointAt, pointText, sizeOf}
  from './localgrid.js';
import {el} from './shell.js';

const OUTCOMES = {'starts': 'would start at once', 'makes-room':
  'would start when others have made room', 'waits': 'would wait'};
const MOST_SHOWN = 6;  // Points.
const PATHS = [[/metadata\.name/, 'name'], [/requests\.cpu/, 'cpus'],
  [/requests\.memory/, 'memory'], [/gpu/, 'gpus'],
  [/parallelism|completions/, 'tasks']];

const area = (rows, placeholder) => el('textarea', {rows, placeholder,
  spellcheck: 'false'});
const line = (placeholder) => el('input', {type: 'text', placeholder,
  spellcheck: 'false'});
const count = (min, step, value) =>
  el('input', {type: 'number', min, step, value});

export class SubmitForm {
  constructor(page) {
    this.page = page;
    this.form = new FormDialog({title: 'Submit a job', action: 'Submit',
      send: () => this.submit(), at: (error) => this.at(error), buttons: [el('button', {type: 'button',
        onclick: () => this.forecast()}, 'What would become of it?')]});
    this.switch = el('button', {type: 'button', class: 'link whole',
      onclick: () => this.turn()});
    this.byCommand = el('div', {class: 'fields whole'});
    this.byManifest = el('div', {class: 'fields whole'});
    const where = el('div', {class: 'fields whole'});
    this.grid = el('details', {class: 'whole grid-of'},
      el('summary', {}, 'A grid of parameters'));
    this.form.body.append(this.switch, this.byCommand, this.byManifest, where,
      this.grid);
    this.fields = {};
    this.addCommand(this.byCommand);
    this.add('manifest', 'Manifest or script', area(8,
      'A manifest of Kubernetes, or a script with #SBATCH lines'),
    {whole: true, into: this.byManifest});
    this.add('queue', 'Queue', el('select', {}), {into: where});
    this.add('priority', 'Priority', el('select', {}), {into: where});
    this.add('directory', 'Directory', line(), {into: where});
    this.add('hold', 'hold it until it is released',
      el('input', {type: 'checkbox'}), {ticks: true, into: where});
    this.addGrid(this.grid);
    this.turn(false);
  }

  add(name, label, input, more) {
    this.fields[name] = this.form.field(name, label, input, more);
  }

  addCommand(into) {
    this.add('command', 'Command', area(3, 'python3 train.py --epochs 3'),
      {whole: true, into, note: 'A line of the shell, or several'});
    this.add('name', 'Name', line('as the command'), {into});
    this.add('gpus', 'GPUs', count(0, 'any', 0), {into, note: '0.5: half of one'});
    this.add('tasks', 'Tasks', count(1, 1, 1),
      {into, note: 'that start together'});
    this.add('cpus', 'CPU cores', line('1'), {into});
    this.add('memory', 'Memory', line('16G'), {into});
    this.add('checkpoint', 'saves its work when it is asked to',
      el('input', {type: 'checkbox'}), {ticks: true, into});
  }

  addGrid(into) {
    this.add('parameters', 'Parameters', area(2, 'lr=0.1,0.01\nbs=32,64'),
      {whole: true, into, note: 'A line each: a job for each point of their ' +
        'product. {lr} in the command is the point’s value, $MUSTER_PARAM_lr ' +
        'in its environment too'});
    this.add('points', 'Points that are no product', area(2,
      'lr=0.1 bs=32\nlr=0.3 bs=8'), {whole: true, into, note: 'A line each, ' +
        'or CSV with the names in its first line; one more factor'});
    this.preview = el('p', {class: 'about', role: 'status'});
    into.append(this.preview);
    for (const name of ['parameters', 'points']) {
      this.fields[name].input.addEventListener('input', () => this.look());
    }
  }

  turn(manifest = this.byManifest.hidden) {
    this.byManifest.hidden = !manifest;
    this.byCommand.hidden = manifest;
    this.switch.textContent = manifest ? 'A command instead' :
      'A manifest or a script instead';
  }

  async open() {
    this.form.open();
    this.fields.command.input.focus();
    const {queues, priority_classes: classes} = await get('/v1/queues');
    const first = 'the default';
    fillSelect(this.fields.queue.input, queues.filter((q) => !q.closed)
        .map((q) => q.name), {first});
    fillSelect(this.fields.priority.input, classes.map((c) => c.name), {first});
    this.fields.directory.input.placeholder = this.page.self.home;
  }

  // --- Grids ---

  axes() {
    const read = (name, parse) => {
      const text = this.fields[name].value;
      if (!text) return [];
      try {
        return parse(text);
      } catch (error) {
        throw new FieldError(name, error.message);
      }
    };
    const axes = [...read('parameters', axesOf),
      ...read('points', (text) => [axisOfPoints(text)])];
    if (sizeOf(axes) > MOST_POINTS) {
      throw new FieldError('parameters',
        `${sizeOf(axes)} points are more than ${MOST_POINTS}`);
    }
    return axes;
  }

  // Tells the points, or what is wrong with them.
  look() {
    for (const name of ['parameters', 'points']) this.fields[name].wrong('');
    this.preview.textContent = '';
    try {
      const axes = this.axes();
      const size = sizeOf(axes);
      if (size === 0) return;
      const shown = Math.min(size, MOST_SHOWN);
      const points = Array.from({length: shown},
        (_, i) => pointText(pointAt(axes, i)));
      this.preview.textContent = `${plural(size, 'job')}: ` +
        points.join('; ') + (size > shown ? '; …' : '');
    } catch (error) {
      this.fields[error.field]?.wrong(error.message.slice(
        error.field.length + 2));
    }
  }

  // --- What is sent ---

  body() {
    const value = (name) => this.fields[name].value;
    const form = {checkpoint: this.fields.checkpoint.input.checked};
    for (const name of ['command', 'name', 'gpus', 'tasks', 'cpus', 'memory']) {
      form[name] = value(name);
    }
    const byCommand = this.byManifest.hidden;
    const what = byCommand ? 'command' : 'manifest';
    if (!value(what)) throw new FieldError(what, 'is missing');
    const body = {
      manifest: byCommand ? manifestOf(form) :
        this.fields.manifest.input.value,
      directory: value('directory') || this.page.self.home,
      environment: environmentOf(this.page.self)};
    for (const name of ['queue', 'priority']) {
      if (value(name)) body[name] = value(name);
    }
    if (this.fields.hold.input.checked) body.hold = true;
    const axes = this.axes();
    if (axes.length) body.parameters = axes;
    return body;
  }

  // Of a manifest that the page has made each field has its path.
  at({field = '', message}) {
    if (field in this.fields) return field;
    if (!this.byManifest.hidden) return 'manifest';
    return PATHS.find(([path]) => path.test(field || message))?.[1];
  }

  // Of an array the daemon tells of its first job.
  forecast() {
    return this.form.run(async () => {
      const body = this.body();
      const {jobs, notes} = await send('POST', '/v1/what-if', body);
      const size = sizeOf(body.parameters ?? []);
      const who = (job) => size > 1 ? `The first of ${size} jobs` :
        jobs.length > 1 ? job.name : 'It';
      this.form.say(jobs.map((job) => outcomeOf(job, who(job))).join(' ') ||
        notes.join(' ') || 'It is a calendar.');
    });
  }

  async submit() {
    const {jobs, crons = [], notes} =
        await send('POST', '/v1/jobs', this.body());
    const ids = jobs.length > 3 ? `#${jobs[0].id} to #${jobs.at(-1).id}` :
      jobs.map((job) => `#${job.id}`).join(', ');
    const calendars = crons.map(({id, name}) => `calendar ${id} ${name}`);
    this.page.say('Submitted ' + [ids, ...calendars].filter(Boolean)
        .join(', ') + `. ${notes.join(' ')}`);
    const array = jobs[0]?.array;
    if (array) location.hash = `#/arrays/${array}`;
    this.page.refresh();
  }
}

function outcomeOf(job, who) {
  const victims = job.victims.length ?
    `: ${job.victims.map((id) => `#${id}`).join(', ')} would be preempted` : '';
  return `${who} ${OUTCOMES[job.outcome]}` + victims +
    (job.why ? `: ${job.why}` : '') + '.';
}
