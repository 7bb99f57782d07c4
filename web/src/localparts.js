// Small parts of musterd's page.

import {gpus, moment, number, plural, span} from './format.js';
import {el} from './shell.js';

const FINAL = {succeeded: 'succeeded', failed: 'failed',
  forgotten: 'cancelled'};

export function stateOf(job) {
  const waits = job.phase === 'queued' || job.phase === 'new';
  if (waits && job.held) return 'held';
  if (waits && job.preemptions > 0) return 'preempted';
  return FINAL[job.phase] ?? job.phase;
}

export function isOver(job) {
  return job.finished !== undefined;
}

// What it is, in a word and a colour.
export function badge(state) {
  return el('span', {class: `badge is-${state}`}, state);
}

export const now = () => Date.now() / 1000;

export function clock(seconds) {
  const date = new Date(seconds * 1000);
  const time = date.toLocaleTimeString('en-GB');
  if (date.toDateString() === new Date().toDateString()) return time;
  return date.toLocaleDateString('en-CA') + ' ' + time;
}

// Since then, in whole seconds: it counts while one looks.
export function age(from, to = now()) {
  return moment(Math.max(0, Math.floor(to - from)));
}

export function lost(seconds) {
  return seconds < 0.5 ? 'no work lost' : `${span(seconds)} of work lost`;
}

export function gpuCount(milli) {
  return milli === 0 ? '–' : number(milli / 1000);
}

export function bytes(amount) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; amount >= 1024 && i < units.length - 1; ++i) amount /= 1024;
  return `${number(Math.round(amount * 10) / 10)} ${units[i]}`;
}

// A table whose rows are cards where there is little room. The caption is read
// out alone.
export function cardTable(caption, columns, body) {
  return el('table', {class: 'cards'},
    el('caption', {class: 'unseen'}, caption),
    el('thead', {}, el('tr', {}, ...columns.map((c) =>
      el('th', {scope: 'col'}, c)))), body);
}

export const jobPath = (id) => `#/jobs/${id}`;

export function jobLink(id, text = `#${id}`) {
  return el('a', {href: jobPath(id)}, text);
}

// Colours of jobs that are shown together: each keeps its own, and no two have
// the same as long as there are enough.
export class Colours {
  static COUNT = 8;
  #of = new Map();

  keep(ids) {
    this.#of = new Map([...this.#of].filter(([id]) => ids.includes(id)));
    for (const id of ids) {
      if (this.#of.has(id)) continue;
      const uses = Array(Colours.COUNT).fill(0);
      for (const colour of this.#of.values()) ++uses[colour];
      this.#of.set(id, uses.indexOf(Math.min(...uses)));
    }
  }
  get(id) { return this.#of.get(id) ?? 0; }
}

// Why a job waits, with amounts in units that people have.
export function whyText(why, reason) {
  const amount = {gpu: (n) => gpus(n / 1000), memory: bytes,
    cpu: (n) => plural(n / 1000, 'core')}[reason?.resource];
  if (!amount || !reason.needed) return why ?? '';
  return `${reason.code.replaceAll('-', ' ')}: needs ` +
    `${amount(reason.needed)}, ${amount(reason.available ?? 0)} available`;
}

// A bar of parts, {part: of 1, kind: a class, text}: widths are set by script,
// as the page's policy wants it.
export function bar(label, parts) {
  const box = el('div', {class: 'stack', role: 'img', 'aria-label': label,
    title: label});
  for (const {part, kind} of parts) {
    if (!(part > 0)) continue;
    const piece = el('i', {class: kind});
    piece.style.width = `${100 * Math.min(1, part)}%`;
    box.append(piece);
  }
  return box;
}

// Shows the nodes there, leaving those alone that say the same already: so
// whoever reads, selects or has the focus is not disturbed.
export function show(parent, ...nodes) {
  const wanted = nodes.flat().filter((n) => n !== null && n !== undefined)
      .map((n) => typeof n === 'object' ? n : document.createTextNode(n));
  const there = [...parent.childNodes];
  wanted.forEach((node, i) => {
    if (!there[i]) parent.append(node);
    else if (!there[i].isEqualNode(node)) there[i].replaceWith(node);
  });
  for (const node of there.slice(wanted.length)) node.remove();
}

// The same of a list whose items have keys, each made once: make(item) returns
// an element, fill(element, item) says what is in it.
export class KeyedList {
  #elements = new Map();
  constructor(parent, make, fill) {
    Object.assign(this, {parent, make, fill});
  }
  set(items, keyOf) {
    const kept = new Map();
    let before = null;
    for (const item of items) {
      const key = keyOf(item);
      const element = this.#elements.get(key) ?? this.make(item);
      this.fill(element, item);
      kept.set(key, element);
      const next = before ? before.nextSibling : this.parent.firstChild;
      if (next !== element) this.parent.insertBefore(element, next);
      before = element;
    }
    for (const [key, element] of this.#elements) {
      if (!kept.has(key)) element.remove();
    }
    this.#elements = kept;
  }
}
