// The page of muster-sim compare.

import './compare.css';
import {differenceText, intervalText, nearestRun, place, rangeOf, valueText,
  verdictText, whisker} from './comparedata.js';
import {number, plural} from './format.js';
import {announce, el, openPage, pageData, section, Shared, showTip, table}
  from './shell.js';

const GOOD = {less: 'less is better', more: 'more is better',
  neither: 'not judged: it is never the same twice'};

function verdict(measure, cell) {
  const text = verdictText(measure, cell);
  return el('span', {class: `verdict ${text.replaceAll(' ', '-')}`}, text);
}

function sameText(data, variant, i) {
  if (i === 0) return 'the base';
  if (variant.same_decisions === data.runs) return 'the same decisions';
  if (variant.same_decisions === 0) {
    return 'other decisions' + (data.runs > 1 ? ' in every run' : '');
  }
  return `other decisions in ${number(data.runs - variant.same_decisions)} of ` +
    plural(data.runs, 'run');
}

function variants(main, data) {
  const rows = data.variants.map((v, i) => ({...v, i}));
  section(main, 'What is compared', null, el('div', {class: 'card variants'},
    table('Variants', [
      {title: 'Variant', cell: (v) => v.name},
      {title: 'Settings', cell: (v) => Object.entries(v.settings)
          .map(([key, value]) => `${key}=${value}`).join(', ') ||
          'the input as it is'},
      {title: '', cell: (v) => sameText(data, v, v.i)},
    ], rows)));
}

function verdicts(main, data) {
  const columns = [
    {title: 'Measure', cell: (m) => m.name},
    {title: data.variants[0].name, number: true,
      cell: (m) => valueText(m, mean(m.variants[0]))}];
  data.variants.forEach((v, i) => {
    if (i === 0) return;
    columns.push(
      {title: v.name, number: true,
        cell: (m) => valueText(m, mean(m.variants[i]))},
      {title: 'Difference', number: true, cell: (m) =>
        'difference' in m.variants[i] ?
          differenceText(m, m.variants[i].difference) : '–'},
      {title: 'Verdict', cell: (m) => verdict(m, m.variants[i])});
  });
  section(main, 'Verdicts', data.runs > 1 ?
    `Means over ${plural(data.runs, 'run')}. Better and worse: the 95 % ` +
    'confidence interval of the difference, run by run on the same input, ' +
    'leaves out 0. Of twenty verdicts on things that do not differ, one says ' +
    'by chance that they do.' :
    'There is one input, and so no interval: the verdicts hold for it alone.',
  el('div', {class: 'card'}, table('Verdicts', columns, data.measures)));
}

function mean(cell) {
  return cell.values.some((v) => v !== null) ? cell.mean : null;
}

function summary(measure, cell, name) {
  const parts = [`${name}: ${valueText(measure, mean(cell))}`];
  if ('difference' in cell) {
    parts.push(`difference ${differenceText(measure, cell.difference)}`);
    if (cell.interval) {
      parts.push(`95 % interval ${intervalText(measure, cell.interval)}`);
    }
    parts.push(verdictText(measure, cell));
  }
  return parts;
}

// A line of dots, one a run, with the mean and the interval; arrow keys walk
// from run to run, in order of the seeds.
class Lane {
  constructor(data, measure, i, range, pick) {
    Object.assign(this, {data, measure, i, range, pick, at: -1});
    this.cell = measure.variants[i];
    const color = `--v:var(--k${i % 8})`;
    const left = (value) => `left:${place(range, value)}%`;
    const ends = whisker(this.cell);
    this.dots = data.runs === 1 ? [] : this.cell.values.map((value) =>
      value === null ? null : el('i', {class: 'run', style: left(value)}));
    this.node = el('div', {class: 'lane', style: color, tabindex: 0,
      role: 'img', 'aria-label': summary(measure, this.cell,
        data.variants[i].name).join(', ')},
    mean(measure.variants[0]) === null ? null :
      el('i', {class: 'base', style: left(measure.variants[0].mean)}),
    ends === null ? null : el('i', {class: 'whisker',
      style: `${left(ends[0])};width:${
        place(range, ends[1]) - place(range, ends[0])}%`}),
    ...this.dots,
    mean(this.cell) === null ? null :
      el('i', {class: 'mean', style: left(this.cell.mean)}));
    this.node.addEventListener('pointermove', (e) => this.#point(e));
    this.node.addEventListener('pointerleave', () => this.#leave());
    this.node.addEventListener('blur', () => this.#leave());
    this.node.addEventListener('focus', () => this.#tellAll());
    this.node.addEventListener('keydown', (e) => this.#key(e));
  }

  mark(run) {
    this.dots.forEach((dot, i) => dot?.classList.toggle('picked', i === run));
  }

  #lines(run) {
    const name = this.data.variants[this.i].name;
    if (run === null || this.data.runs === 1) {
      return summary(this.measure, this.cell, name);
    }
    const value = this.cell.values[run];
    const base = this.measure.variants[0].values[run];
    const seed = this.data.seeds[run];
    const lines = [`${name}, seed ${seed}: ${valueText(this.measure, value)}`];
    if (this.i > 0 && value !== null && base !== null) {
      lines.push(`${this.data.variants[0].name}: ` +
        `${valueText(this.measure, base)}, difference ` +
        differenceText(this.measure, value - base));
    }
    return [...lines, ...summary(this.measure, this.cell, 'mean')];
  }

  #point(e) {
    const box = this.node.getBoundingClientRect();
    const at = 100 * (e.clientX - box.left) / box.width;
    const run = nearestRun(this.cell, this.range, at);
    this.pick(run);
    showTip(e.clientX, e.clientY, this.#lines(run));
  }

  #tell(run) {
    this.pick(run);
    const lines = this.#lines(run);
    const box = this.node.getBoundingClientRect();
    const value = run === null ? mean(this.cell) : this.cell.values[run];
    const part = value === null ? 0 : place(this.range, value) / 100;
    showTip(box.left + part * box.width, box.bottom - 10, lines);
    announce(lines.join(', '));
  }

  #tellAll() {
    if (!this.node.matches(':focus-visible')) return;
    this.at = -1;
    this.#tell(null);
  }

  #leave() {
    this.pick(null);
    showTip(0, 0, null);
  }

  #key(e) {
    const last = this.data.runs - 1;
    const to = {ArrowRight: Math.min(last, this.at + 1),
      ArrowLeft: Math.max(0, this.at - 1), Home: 0, End: last}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    this.at = to;
    this.#tell(to);
  }
}

function measureCard(data, measure) {
  const range = rangeOf(measure);
  const lanes = [];
  const pick = (run) => lanes.forEach((lane) => lane.mark(run));
  for (let i = 0; i < data.variants.length; ++i) {
    lanes.push(new Lane(data, measure, i, range, pick));
  }
  const [low, high] = range;
  return el('div', {class: 'card measure'},
    el('h3', {}, measure.name, el('small', {}, GOOD[measure.better])),
    el('div', {class: 'dots'}, ...lanes.flatMap((lane, i) => [
      el('div', {class: 'name'}, data.variants[i].name,
        i === 0 ? null : verdict(measure, measure.variants[i])), lane.node]),
    el('span', {}), el('div', {class: 'ends', 'aria-hidden': 'true'},
      el('span', {}, valueText(measure, Math.max(0, low))),
      el('span', {}, valueText(measure, high)))));
}

function plots(main, data) {
  section(main, 'Measure by measure',
    data.runs > 1 ? 'A ring is a run, the diamond the mean; the bar is the 95 % ' +
      'interval of the difference, drawn from the mean of ' +
      `${data.variants[0].name} (dashed): where it does not touch that line, ` +
      'a difference is shown. Point at a ring, or walk with the arrow keys, ' +
      'to see its seed in every line.' :
      `The diamond is the value, the dashed line that of ` +
      `${data.variants[0].name}.`,
    el('div', {class: 'grid'},
      ...data.measures.map((m) => measureCard(data, m))));
}

function main() {
  const data = pageData();
  const seeds = data.seeds.length > 0 ?
    `, seeds ${data.seeds[0]} to ${data.seeds[data.seeds.length - 1]}` : '';
  const page = openPage(new Shared(), {
    // Options may be parted at their commas.
    title: data.title.replaceAll(',', ',\u200b'), about: [
    `${data.variants.map((v) => v.name).join(', ')}: ` +
    `${plural(data.runs, 'run')} of each${seeds}.`]});
  variants(page, data);
  verdicts(page, data);
  plots(page, data);
}

main();
