// The map: each device a cell, coloured by what it does, stepped through time.

import {gpus, moment, number, plural, share} from './format.js';
import {ABSENT, DOWN, MapStates, OTHERS} from './mapdata.js';
import {groupNodes, layOut} from './maplayout.js';
import {announce, choice, css, el, fitCanvas, fitText, font, rem, showTip}
  from './shell.js';

const SIZES = ['less than 1 GPU', '1 GPU', '2-4 GPUs', '5-8 GPUs', '9-16 GPUs',
  '17-32 GPUs', '33-64 GPUs', 'more than 64 GPUs'];
const LIMITS = [0.9995, 1, 4, 8, 16, 32, 64];
const CATEGORIES = 8;

export function sizeOf(count) {
  const i = LIMITS.findIndex((limit) => count <= limit);
  return i < 0 ? LIMITS.length : i;
}

// The class's place among all, so that every view gives it the same colour.
export function classColour(classes, name) {
  return `--k${Math.max(0, classes.indexOf(name)) % CATEGORIES}`;
}

export class ClusterMap {
  // `classes`: names of all priority classes, in the order of their colours.
  constructor(map, classes, shared) {
    this.map = map;
    this.classes = classes;
    this.shared = shared;
    this.states = new MapStates(map);
    this.tree = groupNodes(map);
    this.step = 0;
    this.mode = 'state';
    this.cursor = 0;
    this.marked = null;  // A gang's key.
    this.#build();
    shared.on('moment', (at) => this.#showStep(this.states.stepAt(at)));
    shared.on('theme', () => this.#draw());
    shared.on('gang', (key) => { this.marked = key; this.#draw(); });
    new ResizeObserver(() => this.#resize()).observe(this.frame);
  }

  #build() {
    const steps = this.states.steps;
    this.slider = el('input', {type: 'range', min: 0, max: steps.length - 1,
      value: 0, step: 1, 'aria-label': 'Moment of the map',
      oninput: () => this.#goTo(Number(this.slider.value))});
    this.play = el('button', {type: 'button', onclick: () => this.#toggle()},
      'Play');
    this.time = el('output', {class: 'moment'});
    this.figures = el('p', {class: 'legend', 'aria-live': 'off'});
    this.keys = el('div', {class: 'legend keys'});
    this.canvas = el('canvas', {tabindex: 0, role: 'application',
      'aria-label': 'Map of the cluster. Arrow keys move from GPU to GPU, ' +
        'Enter marks the gang there, comma and full stop step through time.'});
    this.frame = el('div', {class: 'mapframe'}, this.canvas);
    const button = (text, label, by) => el('button', {type: 'button',
      'aria-label': label, onclick: () => this.#goTo(this.step + by)}, text);
    this.node = el('div', {class: 'card'},
      el('div', {class: 'controls'}, this.play,
        button('◀', 'One step back', -1), this.slider,
        button('▶', 'One step on', 1), this.time,
        choice('Colour by', [['state', 'state'], ['class', 'priority class'],
          ['size', 'size of the gang'], ['gang', 'gang']], (mode) => {
          this.mode = mode;
          this.#draw();
        })),
      this.figures, this.frame, this.keys);
    this.canvas.addEventListener('pointermove', (e) => this.#hover(e));
    this.canvas.addEventListener('pointerleave', () => showTip(0, 0, null));
    this.canvas.addEventListener('click', (e) => {
      const device = this.#deviceAt(e);
      this.#mark(device);
    });
    this.canvas.addEventListener('keydown', (e) => this.#key(e));
    this.canvas.addEventListener('focus', () => this.#draw());
    this.canvas.addEventListener('blur', () => {
      showTip(0, 0, null);
      this.#draw();
    });
  }

  #resize() {
    const width = this.frame.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    const limit = Math.max(360, Math.min(innerHeight * 0.8, 1100));
    this.layout = layOut(this.tree, {devices: this.states.devices,
      nodes: this.map.nodes.length, width, maxHeight: limit,
      text: 0.8 * rem()});
    this.#draw();
  }

  #goTo(step) {
    const bounded = Math.max(0, Math.min(this.states.steps.length - 1, step));
    this.shared.set('moment', this.states.steps[bounded]);
  }

  #showStep(step) {
    this.step = step;
    this.slider.value = step;
    const text = moment(this.states.steps[step]);
    this.time.textContent = text;
    this.slider.setAttribute('aria-valuetext', text);
    this.#draw();
  }

  #toggle() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
      this.play.textContent = 'Play';
      return;
    }
    const count = this.states.steps.length;
    if (this.step === count - 1) this.#goTo(0);
    this.play.textContent = 'Pause';
    const every = Math.max(60, Math.min(800, 20000 / count));
    this.timer = setInterval(() => {
      if (this.step === count - 1) this.#toggle();
      else this.#goTo(this.step + 1);
    }, every);
  }

  // --- Colours ---------------------------------------------------------------

  #palette() {
    const colours = (prefix, n) =>
      Array.from({length: n}, (_, i) => css(`--${prefix}${i}`));
    return {free: css('--free'), down: css('--down'), others: css('--others'),
      work: css('--work'), idle: css('--idle'), text: css('--text'),
      surface: css('--surface'), line: css('--line'), soft: css('--soft'),
      mark: css('--mark'), k: colours('k', CATEGORIES), s: colours('s', 8)};
  }

  #colour(occupancy, p) {
    const gang = occupancy.gangs[0];
    const {gangs} = this.map;
    if (this.mode === 'gang') return p.k[gang % CATEGORIES];
    if (this.mode === 'size') return p.s[sizeOf(gangs.gpus[gang])];
    if (this.mode === 'class') {
      const name = gangs.classes[gangs.class[gang]];
      return p.k[Math.max(0, this.classes.indexOf(name)) % CATEGORIES];
    }
    return occupancy.working ? p.work : p.idle;
  }

  // --- Drawing ---------------------------------------------------------------

  #draw() {
    if (!this.layout || !this.width) return;
    const {layout} = this;
    this.state = this.states.at(this.step);
    const c = fitCanvas(this.canvas, this.width, layout.height);
    const p = this.#palette();
    this.#drawGroups(c, p);
    this.filled = null;
    const count = {free: 0, down: 0, others: 0, work: 0, idle: 0, all: 0};
    for (let d = 0; d < this.state.length; ++d) this.#drawCell(c, p, d, count);
    if (this.marked !== null) this.#outline(c, p);
    if (document.activeElement === this.canvas) {
      c.strokeStyle = p.text;
      c.lineWidth = 3;
      const size = Math.max(6, layout.cell);
      c.strokeRect(layout.x[this.cursor] - 2, layout.y[this.cursor] - 2,
        size + 2, size + 2);
    }
    this.#tell(count);
  }

  #drawGroups(c, p) {
    c.font = font();
    c.textBaseline = 'top';
    c.strokeStyle = p.line;
    c.lineWidth = 1;
    c.fillStyle = p.soft;
    for (const {x, y, width, height, group, labelled} of this.layout.groups) {
      c.strokeRect(x + .5, y + .5, width - 1, height - 1);
      if (!labelled) continue;
      const full = /^\d/.test(group.name) && group.level ?
        `${group.level} ${group.name}` : group.name;
      c.fillText(fitText(c, full, width - 8), x + 4, y + 3);
    }
    if (!this.layout.named) return;
    for (const {x, y, width, node} of this.layout.nodes) {
      c.fillStyle = p.text;
      c.fillText(fitText(c, node.key, width - 6), x, y + 1);
    }
  }

  // Sets the colour only where it changes: that is what drawing costs.
  #fill(c, colour, x, y, width, height) {
    if (colour !== this.filled) c.fillStyle = this.filled = colour;
    c.fillRect(x, y, width, height);
  }

  #drawCell(c, p, d, count) {
    const value = this.state[d];
    if (value === ABSENT) return;
    ++count.all;
    const {cell} = this.layout;
    const size = cell - (cell > 4 ? 1 : cell > 2 ? .5 : 0);
    const x = this.layout.x[d], y = this.layout.y[d];
    const o = this.states.occupancy(value);
    if (o === null) {
      const kind = value === DOWN ? 'down' : value === OTHERS ? 'others' :
        'free';
      ++count[kind];
      this.#fill(c, p[kind], x, y, size, size);
      if (value === DOWN && cell >= 6) this.#cross(c, p, x, y, size);
      return;
    }
    ++count[o.working ? 'work' : 'idle'];
    const part = Math.max(0.15, o.milli / 1000) * size;
    if (part < size) this.#fill(c, p.free, x, y, size, size - part);
    this.#fill(c, this.#colour(o, p), x, y + size - part, size, part);
    // Held, but not at work: a stripe tells it without colour.
    if (!o.working && cell >= 5) {
      this.#fill(c, p.surface, x + size * .4, y, size * .2, size);
    }
  }

  #cross(c, p, x, y, size) {
    c.strokeStyle = p.surface;
    c.lineWidth = Math.max(1, size / 10);
    c.beginPath();
    c.moveTo(x + 2, y + 2);
    c.lineTo(x + size - 2, y + size - 2);
    c.moveTo(x + size - 2, y + 2);
    c.lineTo(x + 2, y + size - 2);
    c.stroke();
  }

  #outline(c, p) {
    const {layout} = this;
    c.strokeStyle = p.mark;
    c.lineWidth = 2;
    for (let d = 0; d < this.state.length; ++d) {
      const o = this.states.occupancy(this.state[d]);
      if (o === null) continue;
      if (!o.gangs.some((g) => this.map.gangs.key[g] === this.marked)) continue;
      c.strokeRect(layout.x[d], layout.y[d], layout.cell - 1, layout.cell - 1);
    }
  }

  #tell(count) {
    const parts = [
      ['--work', 'at work', count.work, ''],
      ['--idle', 'held, not at work', count.idle, 'stripe'],
      ['--others', 'used by others', count.others, ''],
      ['--free', 'free', count.free, ''],
      ['--down', 'down', count.down, 'cross']];
    this.figures.replaceChildren(...parts
        .filter(([, , n], i) => n > 0 || i === 0 || i === 3)
        .map(([colour, name, n, form]) => el('span', {},
          this.mode === 'state' || !/at work/.test(name) ?
            el('i', {class: form, style: `background:var(${colour})`}) : null,
          `${name} `, el('b', {}, `${number(n)}`))),
      el('span', {class: 'at'}, `of ${gpus(count.all)}` +
        (this.marked === null ? '' : `, marked: ${this.marked}`)));
    const key = (colour, text) => el('span', {},
      el('i', {style: `background:var(${colour})`}), text);
    const keys = [];
    if (this.mode === 'class') {
      keys.push(...this.classes.slice(0, 40).map((name) =>
        key(classColour(this.classes, name), name || '(no class)')));
    } else if (this.mode === 'size') {
      keys.push(...SIZES.map((name, i) => key(`--s${i}`, name)));
    } else if (this.mode === 'gang') {
      keys.push('Each gang has one colour; colours repeat.');
    }
    this.keys.replaceChildren(...keys);
  }

  // --- Pointing --------------------------------------------------------------

  #deviceAt(e) {
    const box = this.canvas.getBoundingClientRect();
    const x = e.clientX - box.left, y = e.clientY - box.top;
    const {layout} = this;
    for (const n of layout.nodes) {
      if (x < n.x || y < n.y || x >= n.x + n.width || y >= n.y + n.height) {
        continue;
      }
      for (let d = n.node.first; d < n.node.first + n.node.devices; ++d) {
        if (x >= layout.x[d] && x < layout.x[d] + layout.cell &&
            y >= layout.y[d] && y < layout.y[d] + layout.cell) {
          return d;
        }
      }
      return n.node.first;
    }
    return -1;
  }

  #describe(device) {
    const n = this.layout.nodes.find(({node}) => device >= node.first &&
      device < node.first + node.devices).node;
    const entry = this.map.nodes[n.index];
    const where = this.map.levels.map((level, l) =>
      `${level} ${this.map.domains[l][entry[3 + l]] || '-'}`).join(', ');
    const model = this.map.models[entry[2]];
    const lines = [`${n.key}, GPU ${device - n.first}` +
      (model ? ` (${model})` : '')];
    if (where) lines.push(where);
    const value = this.state[device];
    const o = this.states.occupancy(value);
    if (o === null) {
      lines.push(['free', 'down', 'used by others', 'not there'][value]);
      return lines;
    }
    const {gangs} = this.map;
    for (const g of o.gangs.slice(0, 6)) {
      const name = gangs.classes[gangs.class[g]];
      lines.push(`gang ${gangs.key[g]}: ${gpus(gangs.gpus[g])}` +
        (name ? `, class ${name}` : ''));
    }
    if (o.gangs.length > 6) {
      lines.push(`and ${plural(o.gangs.length - 6, 'more gang')}`);
    }
    if (o.milli !== 1000) lines.push(`${share(o.milli / 1000)} in use`);
    lines.push(o.working ? 'at work' : 'held, not at work');
    return lines;
  }

  #hover(e) {
    const device = this.#deviceAt(e);
    showTip(e.clientX, e.clientY, device < 0 ? null : this.#describe(device));
  }

  #mark(device) {
    const o = device < 0 ? null : this.states.occupancy(this.state[device]);
    const key = o === null ? null : this.map.gangs.key[o.gangs[0]];
    this.shared.set('gang', key === this.marked ? null : key);
  }

  // The nearest device in a direction.
  #neighbour(dx, dy) {
    const {layout, cursor} = this;
    let best = cursor, least = Infinity;
    for (let d = 0; d < layout.x.length; ++d) {
      const x = layout.x[d] - layout.x[cursor];
      const y = layout.y[d] - layout.y[cursor];
      const along = x * dx + y * dy;
      if (d === cursor || along <= 0) continue;
      const off = along + 4 * Math.abs(x * dy) + 4 * Math.abs(y * dx);
      if (off < least) {
        least = off;
        best = d;
      }
    }
    return best;
  }

  #key(e) {
    const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
      ArrowDown: [0, 1]};
    if (e.key in moves) this.cursor = this.#neighbour(...moves[e.key]);
    else if (e.key === ',') this.#goTo(this.step - 1);
    else if (e.key === '.') this.#goTo(this.step + 1);
    else if (e.key === 'Enter' || e.key === ' ') this.#mark(this.cursor);
    else return;
    e.preventDefault();
    this.#draw();
    const lines = this.#describe(this.cursor);
    const box = this.canvas.getBoundingClientRect();
    showTip(box.left + this.layout.x[this.cursor],
      box.top + this.layout.y[this.cursor], lines);
    announce(lines.join(', '));
  }
}
