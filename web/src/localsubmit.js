// The form that submits a job.

import {environmentOf, get, manifestOf, send} from './localapi.js';
import {el} from './shell.js';

const OUTCOMES = {'starts': 'It would start at once', 'makes-room':
  'It would start when others have made room', 'waits': 'It would wait'};

function field(label, input, note = '') {
  return el('label', {class: 'field'}, el('span', {}, label), input,
    note ? el('small', {}, note) : null);
}

export class SubmitForm {
  constructor(page) {
    this.page = page;
    this.inputs = {
      command: el('textarea', {rows: 3, spellcheck: 'false',
        placeholder: 'python3 train.py --epochs 3'}),
      manifest: el('textarea', {rows: 8, spellcheck: 'false', placeholder:
        'A manifest of Kubernetes, or a script with #SBATCH lines'}),
      name: el('input', {type: 'text', placeholder: 'as the command'}),
      gpus: el('input', {type: 'number', min: 0, step: 'any', value: 0}),
      tasks: el('input', {type: 'number', min: 1, step: 1, value: 1}),
      cpus: el('input', {type: 'text', placeholder: '1'}),
      memory: el('input', {type: 'text', placeholder: '16G'}),
      queue: el('select', {}),
      priority: el('select', {}),
      directory: el('input', {type: 'text'}),
      checkpoint: el('input', {type: 'checkbox'}),
      hold: el('input', {type: 'checkbox'}),
    };
    const i = this.inputs;
    this.told = el('p', {role: 'status', class: 'told'});
    this.byCommand = el('div', {class: 'fields'},
      el('div', {class: 'whole'}, field('Command', i.command,
        'A line of the shell, or several')),
      field('Name', i.name), field('GPUs', i.gpus, '0.5: half of one'),
      field('Tasks', i.tasks, 'that start together'),
      field('CPU cores', i.cpus), field('Memory', i.memory),
      el('label', {class: 'tickbox'}, i.checkpoint,
        ' saves its work when it is asked to'));
    this.byManifest = el('div', {class: 'fields', hidden: true},
      el('div', {class: 'whole'}, field('Manifest or script', i.manifest)));
    this.switch = el('button', {type: 'button', class: 'link',
      onclick: () => this.turn()});
    this.form = el('form', {onsubmit: (e) => {
      e.preventDefault();
      this.submit();
    }}, el('h2', {}, 'Submit a job'), this.switch, this.byCommand,
    this.byManifest, el('div', {class: 'fields'}, field('Queue', i.queue),
      field('Priority', i.priority), field('Directory', i.directory),
      el('label', {class: 'tickbox'}, i.hold, ' hold it until it is released')),
    this.told, el('div', {class: 'controls'},
      el('button', {type: 'submit', class: 'first'}, 'Submit'),
      el('button', {type: 'button', onclick: () => this.forecast()},
        'What would become of it?'),
      el('button', {type: 'button', onclick: () => this.dialog.close()},
        'Close')));
    this.dialog = el('dialog', {class: 'card', 'aria-label': 'Submit a job'},
      this.form);
    this.turn(false);
  }

  turn(manifest = this.byManifest.hidden) {
    this.byManifest.hidden = !manifest;
    this.byCommand.hidden = manifest;
    this.switch.textContent = manifest ? 'A command instead' :
      'A manifest or a script instead';
  }

  async open() {
    this.told.textContent = '';
    this.dialog.showModal();
    this.inputs.command.focus();
    const {queues, priority_classes: classes} = await get('/v1/queues');
    const fill = (select, names) => {
      const chosen = select.value;
      select.replaceChildren(el('option', {value: ''}, 'the default'),
        ...names.map((name) => el('option', {value: name}, name)));
      select.value = names.includes(chosen) ? chosen : '';
    };
    fill(this.inputs.queue, queues.filter((q) => !q.closed)
        .map((q) => q.name));
    fill(this.inputs.priority, classes.map((c) => c.name));
    this.inputs.directory.placeholder = this.page.self.home;
  }

  body() {
    const value = (name) => this.inputs[name].value.trim();
    const form = {checkpoint: this.inputs.checkpoint.checked};
    for (const name of ['command', 'name', 'gpus', 'tasks', 'cpus', 'memory']) {
      form[name] = value(name);
    }
    const byCommand = this.byManifest.hidden;
    if (byCommand && !form.command) throw new Error('Command: is missing');
    const body = {
      manifest: byCommand ? manifestOf(form) : this.inputs.manifest.value,
      directory: value('directory') || this.page.self.home,
      environment: environmentOf(this.page.self)};
    for (const name of ['queue', 'priority']) {
      if (value(name)) body[name] = value(name);
    }
    if (this.inputs.hold.checked) body.hold = true;
    return body;
  }

  async ask(path, tell) {
    try {
      this.told.classList.remove('bad');
      this.told.textContent = '…';
      tell(await send('POST', path, this.body()));
    } catch (error) {
      this.told.classList.add('bad');
      this.told.textContent = error.message;
    }
  }

  forecast() {
    return this.ask('/v1/what-if', ({jobs: [job]}) => {
      const victims = job.victims.length ?
        `: ${job.victims.map((id) => `#${id}`).join(', ')} would be preempted` :
        '';
      this.told.textContent = OUTCOMES[job.outcome] + victims +
        (job.why ? `: ${job.why}` : '') + '.';
    });
  }

  submit() {
    return this.ask('/v1/jobs', ({jobs, notes}) => {
      this.dialog.close();
      const ids = jobs.map((job) => `#${job.id}`).join(', ');
      this.page.say(`Submitted ${ids}. ${notes.join(' ')}`);
      this.page.refresh();
    });
  }
}
