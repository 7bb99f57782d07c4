// The time line of gangs: a row each, with its waiting, its stretches of work,
// and how each of them ended.

import uPlot from 'uplot';
import {keepUp, timeAxis, timeOptions, zoom} from './charts.js';
import {gpus, moment, number, plural, span} from './format.js';
import {classColour} from './map.js';
import {announce, choice, css, el, fitText, font, rem, showTip}
  from './shell.js';

// Forms, so that no end is told by colour alone.
export const ENDS = {
  'preempted': '▼', 'node-lost': '✕', 'drained': '◆', 'task-failed': '✕',
  'suspended': '‖', 'cancelled': '○', 'other': '•',
};

export function describeEnd(stint) {
  if (stint.to === null) return 'still at work';
  const by = stint.by ? ` by ${stint.by}` : '';
  const lost = stint.lost ? `, ${span(stint.lost)} of work lost` : '';
  return `${stint.end.replace('-', ' ')}${by}${lost}`;
}

export function describeStint(stint) {
  const lines = [`${moment(stint.from)} to ` +
    (stint.to === null ? 'the end' : moment(stint.to)) +
    (stint.to === null ? '' : ` (${span(stint.to - stint.from)})`),
  `${plural(stint.tasks, 'task')} on ${stint.nodes.slice(0, 4).join(', ')}` +
    ((stint.nodes_in_all ?? stint.nodes.length) > 4 ?
      ` and ${(stint.nodes_in_all ?? stint.nodes.length) - 4} more` : '')];
  const sizes = (stint.sizes ?? []).slice(1).map(([at, tasks]) =>
    `${plural(tasks, 'task')} from ${moment(at)}`);
  if (sizes.length > 0) {
    lines.push('then ' + sizes.slice(0, 6).join(', ') +
      (sizes.length > 6 ? `, and ${sizes.length - 6} more changes` : ''));
  }
  lines.push(describeEnd(stint));
  return lines;
}

function reasonAt(gang, at) {
  let text = '';
  for (const [from, , reason] of gang.reasons) {
    if (from > at && text) break;
    text = reason;
  }
  return text;
}

const ORDERS = {
  submitted: ['submission', (a, b) => a.submitted - b.submitted],
  gpus: ['GPUs, most first', (a, b) => b.gpus - a.gpus],
  waited: ['waiting, longest first', (a, b) => b.waited - a.waited],
  stops: ['interruptions, most first', (a, b) => b.stops - a.stops],
};

export class GangChart {
  constructor(data, classes, shared, range) {
    this.all = data.gangs.sample;
    this.standings = data.gangs.standings;
    this.complete = data.gangs.complete;
    this.classes = classes;
    this.shared = shared;
    this.range = range;
    this.rowHeight = Math.round(1.35 * rem());
    this.axisHeight = 2.3 * rem();
    this.order = this.all.length <= 40 ? 'submitted' :
      this.all.some((g) => g.stops > 0) ? 'stops' :
        this.all.some((g) => g.waited > 0) ? 'waited' : 'gpus';
    this.which = 'all';
    this.row = 0;
    this.stint = -1;
    this.#build();
    this.#arrange();
    shared.on('gang', (key) => {
      const row = this.rows.findIndex((g) => g.key === key);
      if (row >= 0) this.#reveal(row);
      this.u.redraw(false, false);
    });
  }

  #build() {
    this.scroller = el('div', {class: 'gangs', tabindex: 0,
      role: 'application', 'aria-label': 'Time line of gangs. Up and down ' +
        'choose a gang, left and right a stretch of its work, Enter marks it ' +
        'on the map. Plus and minus zoom, 0 shows all.'});
    this.sticky = el('div', {class: 'sticky'});
    this.spacer = el('div', {});
    this.scroller.append(this.sticky, this.spacer);
    this.count = el('span', {class: 'at'});
    const controls = el('div', {class: 'controls'},
      choice('Order by', Object.entries(ORDERS).map(([k, [name]]) => [k, name]),
        (order) => { this.order = order; this.#arrange(); }, this.order),
      this.complete ? null : choice('Show', [['all', 'all of the sample'],
        ...this.standings.map((name, i) => [String(i), name])],
      (which) => { this.which = which; this.#arrange(); }),
      el('button', {type: 'button', onclick: () => this.#zoom(0.5)}, 'Zoom in'),
      el('button', {type: 'button', onclick: () => this.#zoom(2)}, 'Zoom out'),
      el('button', {type: 'button',
        onclick: () => this.shared.set('view', null)}, 'Show all'),
      this.count);
    this.node =
      el('div', {class: 'card'}, controls, this.scroller, this.#key());
    const options = timeOptions(this.shared, this.range);
    options.hooks.draw.unshift((u) => this.#draw(u));
    this.u = new uPlot({...options, width: 320, height: 200,
      padding: [4, 12, 0, 0],
      axes: [{...timeAxis(), size: this.axisHeight},
        {size: (u) => Math.min(13 * rem(), Math.max(72, u.width * 0.18)),
          grid: {show: false}, ticks: {show: false}, values: () => []}],
      scales: {...options.scales, y: {range: [0, 1]}},
      series: [{}, {show: false}],
    }, [[this.range[0], this.range[1]], [0, 0]], this.sticky);
    keepUp(this.u, this.sticky, this.shared, this.range);
    this.scroller.addEventListener('scroll', () => this.u.redraw(false, false));
    this.scroller.addEventListener('keydown', (e) => this.#keydown(e));
    this.scroller.addEventListener('focus', () => this.u.redraw(false, false));
    this.scroller.addEventListener('blur', () => {
      showTip(0, 0, null);
      this.u.redraw(false, false);
    });
    this.u.over.addEventListener('pointermove', (e) => this.#hover(e));
    this.u.over.addEventListener('pointerleave', () => showTip(0, 0, null));
    this.u.over.addEventListener('dblclick', (e) => {
      const gang = this.rows[this.#rowAt(e.clientY)];
      if (gang) this.shared.set('gang', gang.key);
    });
  }

  #key() {
    const seen = new Set(this.all.flatMap((g) => g.work.map((w) => w.end)));
    const ends = Object.entries(ENDS).filter(([end]) => seen.has(end));
    const classes = this.classes.slice(0, 24);
    return el('div', {class: 'legend keys'},
      el('span', {}, el('i', {class: 'waits'}), 'waits'),
      ...classes.map((name) => el('span', {},
        el('i', {style: `background:var(${classColour(this.classes, name)})`}),
        classes.length > 1 ? `works, class ${name || '(none)'}` : 'works')),
      el('span', {}, el('i', {class: 'lostwork'}), 'work that was lost'),
      ...ends.map(([end, form]) => el('span', {}, el('b', {class: 'end'}, form),
        ` ${end.replace('-', ' ')}`)));
  }

  #arrange() {
    this.rows = this.all.filter((g) => this.which === 'all' ||
      g.standing.includes(Number(this.which)));
    this.rows.sort((a, b) =>
      ORDERS[this.order][1](a, b) || a.submitted - b.submitted);
    this.count.textContent = plural(this.rows.length, 'gang');
    const needed = this.rows.length * this.rowHeight + this.axisHeight + 8;
    this.height = Math.max(90, Math.min(36 * rem(), needed));
    this.scroller.style.height = `${this.height}px`;
    this.spacer.style.height = `${Math.max(0, needed - this.height)}px`;
    this.scroller.scrollTop = 0;
    this.row = Math.min(this.row, this.rows.length - 1);
    this.u.setSize({width: this.u.width, height: this.height});
    this.u.redraw(false, false);
  }

  #zoom(factor) {
    const [min, max] = this.shared.get('view') ?? this.range;
    const at = this.shared.get('moment');
    const around = at >= min && at <= max ? at : (min + max) / 2;
    zoom(this.shared, this.range, around, factor);
  }

  // --- Drawing ---------------------------------------------------------------

  #draw(u) {
    const scale = devicePixelRatio;
    const c = u.ctx;
    const {left, top, width, height} = u.bbox;
    const p = {text: css('--text'), wait: css('--wait'), lost: css('--lost'),
      mark: css('--mark'), line: css('--line'), surface: css('--surface')};
    c.save();
    c.beginPath();
    c.rect(0, top, left + width, height);
    c.clip();
    c.textBaseline = 'middle';
    c.font = font(0.8 * scale);
    const ROW = this.rowHeight;
    const first = Math.floor(this.scroller.scrollTop / ROW);
    const shown = Math.ceil(height / scale / ROW) + 1;
    for (let r = first; r < Math.min(this.rows.length, first + shown); ++r) {
      const y = top + (r * ROW - this.scroller.scrollTop) * scale;
      this.#drawName(c, p, r, y, left, scale);
    }
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    for (let r = first; r < Math.min(this.rows.length, first + shown); ++r) {
      const y = top + (r * ROW - this.scroller.scrollTop) * scale;
      this.#drawRow(c, p, u, this.rows[r], y, scale);
    }
    c.restore();
  }

  #drawName(c, p, r, y, left, scale) {
    const gang = this.rows[r];
    const chosen = r === this.row && document.activeElement === this.scroller;
    if (chosen || gang.key === this.shared.get('gang')) {
      c.fillStyle = p.line;
      c.fillRect(0, y, c.canvas.width, this.rowHeight * scale);
    }
    c.fillStyle = p.text;
    c.textAlign = 'left';
    c.fillText(fitText(c, gang.key, left - 10 * scale, true), 2 * scale,
      y + this.rowHeight / 2 * scale);
  }

  #drawRow(c, p, u, gang, y, scale) {
    const x = (t) => u.valToPos(t, 'x', true);
    const middle = y + this.rowHeight / 2 * scale;
    const half = 0.3 * this.rowHeight * scale;
    const end = gang.ended ?? this.range[1];
    c.fillStyle = p.wait;
    c.fillRect(x(gang.submitted), middle - 1.5 * scale,
      Math.max(1, x(end) - x(gang.submitted)), 3 * scale);
    const colour = css(classColour(this.classes, gang.class));
    const bar = (from, to, fill, high = 1) => {
      c.fillStyle = fill;
      c.fillRect(from, middle - high * half, Math.max(scale, to - from),
        2 * high * half);
    };
    for (const stint of gang.work) {
      const from = x(stint.from), to = x(stint.to ?? this.range[1]);
      // With fewer tasks than it would like to have, a bar is thinner.
      const sizes = stint.sizes ?? [[stint.from, stint.tasks]];
      sizes.forEach(([at, tasks], i) => bar(x(at),
        i + 1 < sizes.length ? x(sizes[i + 1][0]) : to, colour,
        Math.max(0.35, Math.min(1, tasks / gang.tasks))));
      if (stint.lost) {
        const lost = Math.max(from, x(stint.to - stint.lost));
        bar(lost, to, p.surface);
        c.strokeStyle = p.lost;
        c.lineWidth = scale;
        c.strokeRect(lost + .5, middle - half + .5,
          Math.max(scale, to - lost - 1), 2 * half - 1);
        c.beginPath();
        for (let s = lost + 4 * scale; s < to; s += 5 * scale) {
          c.moveTo(s, middle - half);
          c.lineTo(Math.max(lost, s - half), middle + half);
        }
        c.stroke();
      }
    }
    c.textAlign = 'center';
    c.font = font(0.75 * scale);
    for (const stint of gang.work) {
      if (!(stint.end in ENDS)) continue;
      c.strokeStyle = p.surface;
      c.lineWidth = 3 * scale;
      c.strokeText(ENDS[stint.end], x(stint.to), middle);
      c.fillStyle = p.lost;
      c.fillText(ENDS[stint.end], x(stint.to), middle);
    }
  }

  // --- Pointing --------------------------------------------------------------

  #rowAt(clientY) {
    const box = this.u.over.getBoundingClientRect();
    return Math.floor((clientY - box.top + this.scroller.scrollTop) /
      this.rowHeight);
  }

  #head(gang) {
    return [`${gang.key}: ${gpus(gang.gpus)}` +
        (gang.class ? `, class ${gang.class}` : ''),
    `submitted at ${moment(gang.submitted)}, waited ${span(gang.waited)}` +
      (gang.stops ? `, ${plural(gang.stops, 'interruption')}` : '')];
  }

  #describe(gang, at) {
    const lines = this.#head(gang);
    const stint =
      gang.work.find((w) => w.from <= at && at <= (w.to ?? Infinity));
    if (stint) return lines.concat(describeStint(stint));
    const over = at > (gang.ended ?? Infinity);
    if (at >= gang.submitted && !over) {
      const reason = reasonAt(gang, at);
      lines.push('waits' + (reason ? `: ${reason}` : ''));
    } else if (over) {
      lines.push(gang.gone ? `gone: ${gang.gone}` : 'finished');
    }
    return lines;
  }

  #hover(e) {
    const gang = this.rows[this.#rowAt(e.clientY)];
    if (!gang) return showTip(0, 0, null);
    const x = e.clientX - this.u.over.getBoundingClientRect().left;
    const at = this.u.posToVal(x, 'x');
    showTip(e.clientX, e.clientY, this.#describe(gang, at));
  }

  #reveal(row) {
    this.row = row;
    const top = row * this.rowHeight;
    const last = top + this.rowHeight - (this.height - this.axisHeight - 8);
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (last > this.scroller.scrollTop) this.scroller.scrollTop = last;
  }

  #keydown(e) {
    const gang = this.rows[this.row];
    if (!gang) return;
    const by = {ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20,
      Home: -this.rows.length, End: this.rows.length}[e.key];
    if (by !== undefined) {
      this.#reveal(Math.max(0, Math.min(this.rows.length - 1, this.row + by)));
      this.stint = -1;
    } else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      const next = this.stint + (e.key === 'ArrowLeft' ? -1 : 1);
      this.stint = Math.max(0, Math.min(gang.work.length - 1, next));
      if (gang.work.length === 0) this.stint = -1;
    } else if (e.key === 'Enter') {
      this.shared.set('gang', gang.key);
      if (this.stint >= 0) {
        this.shared.set('moment', gang.work[this.stint].from);
      }
    } else if (e.key === '+' || e.key === '-') {
      this.#zoom(e.key === '+' ? 0.5 : 2);
    } else if (e.key === '0') {
      this.shared.set('view', null);
    } else {
      return;
    }
    e.preventDefault();
    this.#tell(this.rows[this.row]);
  }

  #tell(gang) {
    const stint = this.stint < 0 ? null : gang.work[this.stint];
    const lines = this.#head(gang).concat(stint ?
      [`stretch ${this.stint + 1} of ${number(gang.work.length)}`,
        ...describeStint(stint)] :
      [plural(gang.work.length, 'stretch', 'stretches') + ' of work']);
    const box = this.u.over.getBoundingClientRect();
    const x = stint ? this.u.valToPos(stint.from, 'x') : 20;
    showTip(box.left + Math.max(0, Math.min(x, box.width)),
      box.top + (this.row + 1) * this.rowHeight - this.scroller.scrollTop,
      lines);
    announce(lines.join(', '));
    this.u.redraw(false, false);
  }
}
