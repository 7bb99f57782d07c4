// Forms of musterd's page: dialogs whose fields show what is wrong with them.

import {el} from './shell.js';

let made = 0;  // Fields: each has an id of its own.

// What the page itself finds wrong with a field; as a Refused of the daemon.
export class FieldError extends Error {
  constructor(field, text) {
    super(`${field}: ${text}`);
    this.field = field;
  }
}

export class Field {
  constructor(label, input, {note = '', whole = false, ticks = false} = {}) {
    this.input = input;
    this.label = label;
    const id = `field-${++made}`;
    this.problem = el('small', {class: 'bad', id, hidden: true});
    input.setAttribute('aria-describedby', id);
    const about = note ? el('small', {}, note) : null;
    this.element = ticks ?
      el('label', {class: 'tickbox'}, input, ` ${label}`, this.problem) :
      el('label', {class: whole ? 'field whole' : 'field'},
        el('span', {}, label), input, about, this.problem);
  }

  get value() { return this.input.value.trim(); }

  // '': nothing is.
  wrong(text) {
    this.problem.textContent = text;
    this.problem.hidden = text === '';
    if (text) this.input.setAttribute('aria-invalid', 'true');
    else this.input.removeAttribute('aria-invalid');
  }
}

// Fields by their names; an error is shown at the field that it names, else
// below all of them.
export class FormDialog {
  #fields = new Map();

  // send(): what is to be done when it is submitted; the dialog closes then,
  // unless it throws. at(error): the name of the field that it is about.
  constructor({title, action, send, buttons = [], at = ({field}) => field}) {
    this.send = send;
    this.at = at;
    this.heading = el('h2', {}, title);
    this.body = el('div', {class: 'fields'});
    this.told = el('p', {role: 'status', class: 'told'});
    this.done = el('button', {type: 'submit', class: 'first'}, action);
    this.form = el('form', {novalidate: true, onsubmit: (e) => {
      e.preventDefault();
      this.run(async () => {
        await this.send();
        this.dialog.close();
      });
    }}, this.heading, this.body, this.told,
    el('div', {class: 'controls'}, this.done, ...buttons,
      el('button', {type: 'button', onclick: () => this.dialog.close()},
        'Close')));
    this.dialog = el('dialog', {class: 'card', 'aria-label': title}, this.form);
    document.body.append(this.dialog);
  }

  field(name, label, input, more = {}) {
    const field = new Field(label, input, more);
    input.name = name;
    this.#fields.set(name, field);
    (more.into ?? this.body).append(field.element);
    return field;
  }

  clear() {
    this.#fields.clear();
    this.body.replaceChildren();
    this.say('');
  }

  open(title = this.heading.textContent) {
    this.heading.textContent = title;
    this.dialog.setAttribute('aria-label', title);
    this.say('');
    for (const field of this.#fields.values()) field.wrong('');
    if (!this.dialog.open) this.dialog.showModal();
  }

  say(text, bad = false) {
    this.told.classList.toggle('bad', bad);
    this.told.textContent = text;
  }

  // Does something that may be refused, once at a time.
  async run(work) {
    if (this.done.disabled) return;
    this.done.disabled = true;
    for (const field of this.#fields.values()) field.wrong('');
    this.say('…');
    try {
      await work();
      if (this.told.textContent === '…') this.say('');
    } catch (error) {
      this.fail(error);
    } finally {
      this.done.disabled = false;
    }
  }

  fail(error) {
    const [, field] = this.fieldOf(this.at(error) ?? '') ?? [];
    if (!field) return this.say(error.message, true);
    const named = `${error.field}: `;
    this.say('');
    for (let at = field.element.parentElement; at; at = at.parentElement) {
      if (at.tagName === 'DETAILS') at.open = true;
    }
    field.wrong(error.field && error.message.startsWith(named) ?
      error.message.slice(named.length) : error.message);
    field.input.focus();
  }

  // Of this name; or of the longest that `path` begins with.
  fieldOf(path) {
    const fits = ([name]) => path === name || path.startsWith(`${name}.`);
    return [...this.#fields].filter(fits)
        .sort(([a], [b]) => b.length - a.length)[0];
  }
}

// A <select> with these names; `first`: what '' is called, if that is a choice.
export function fillSelect(select, names, {first, chosen = select.value} = {}) {
  select.replaceChildren(
    ...(first === undefined ? [] : [el('option', {value: ''}, first)]),
    ...names.map((name) => el('option', {value: name}, name)));
  if (names.includes(chosen)) select.value = chosen;
}

// A text input that suggests `names`, and takes any.
export function suggesting(names, attributes = {}) {
  const id = `list-${++made}`;
  return [el('input', {type: 'text', list: id, autocomplete: 'off',
    ...attributes}), el('datalist', {id}, ...names.map((name) =>
    el('option', {value: name})))];
}
