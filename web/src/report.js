// The page of muster-sim --report.

import {timeChart} from './charts.js';
import {compact, gpuTime, moment, number, plural, share, span}
  from './format.js';
import {GangChart} from './gangs.js';
import {ClusterMap} from './map.js';
import {el, figures, openPage, pageData, section, Shared, table}
  from './shell.js';
import {waitingTable} from './waiting.js';
import {spanTable} from './waits.js';

function headline(data, devices) {
  const {run} = data;
  const c = run.counts;
  const lost = Object.values(run.gpu_hours_lost).reduce((a, b) => a + b, 0);
  const stops = Object.entries(run.stops)
      .filter(([cause]) => cause !== 'finished')
      .reduce((sum, [, n]) => sum + n, 0);
  const device = Object.keys(run.utilisation).find((k) => k === 'gpu') ??
    Object.keys(run.utilisation)[0];
  const used = run.utilisation[device] ?? 0;
  const list = [
    {label: 'Gangs finished', value: number(c.finished),
      note: `of ${number(c.submitted)} submitted` +
        (run.counts.left_over ? `, ${number(c.left_over)} left over` : '')},
    {label: 'GPUs in all', value: number(devices),
      note: `on ${plural(data.map.nodes.length, 'node')}`},
    {label: `${device === 'gpu' ? 'GPUs' : device} used`, value: share(used),
      note: `of all capacity over ${span(run.makespan_s)}`},
    {label: 'Mean wait', value: span(run.wait_s.mean),
      note: run.wait_s.p50 > 0 ?
        `half waited less than ${span(run.wait_s.p50)}` :
        'half did not wait at all'},
    {label: 'Longest wait', value: span(run.wait_s.max),
      note: run.wait_s.p99 > 0 ?
        `99 % waited less than ${span(run.wait_s.p99)}` :
        '99 % did not wait at all'},
    {label: 'Interruptions', value: number(stops),
      note: `${number(run.stops.preempted)} of them preemptions`},
    {label: 'GPU time lost', value: gpuTime(lost),
      note: 'work thrown away, and restarts'},
    {label: 'Longest pass', value: span(run.worst_pass_s),
      note: `${number(c.passes)} passes, ${number(c.decisions)} decisions`},
  ];
  return figures(list);
}

function bucketTimes(s) {
  const times = s.seconds.map((_, i) => s.origin_s + i * s.width_s);
  const last = times.length - 1;
  times.push(times[last] + Math.max(s.seconds[last], s.width_s * 1e-3));
  return times;
}

function overTime(main, data, shared, range) {
  const s = data.series;
  const times = bucketTimes(s);
  const used = Object.entries(s.used)
      .filter(([name, values]) => name === 'gpu' ?
        s.capacity[name].some((c) => c > 0) : values.some((v) => v > 0));
  const order = (name) => name === 'gpu' ? 0 : 1;
  used.sort(([a], [b]) => order(a) - order(b));
  const percent = (v) => `${Math.round(100 * v)} %`;
  const chart = (spec) => timeChart(spec, times, shared, range);
  const charts = [
    chart({title: 'Utilisation', about: 'Share of the capacity in use.',
      value: share, tick: percent, top: 1,
      series: used.slice(0, 5).map(([name, values], i) => ({
        label: name === 'gpu' ? 'GPUs' : name, values, color: `--c${i}`,
        fill: i === 0}))}),
    chart({title: 'Queue length', about: 'Gangs that wait.',
      value: number, whole: true, series: [
        {label: 'mean', values: s.waiting, color: '--c1', fill: true},
        {label: 'most', values: s.waiting_most, color: '--c1', dash: true}]}),
    chart({title: 'Gangs at work', value: number, whole: true,
      series: [{label: 'mean', values: s.working, color: '--c0', fill: true}]}),
    chart({title: 'GPUs asked for', value: number, whole: true,
      about: 'By gangs that wait, beside what the cluster has.', series: [
        {label: 'GPUs waited for', values: s.waiting_gpus, color: '--c1',
          fill: true},
        {label: 'GPUs in the cluster', color: '--c4', dash: true,
          values: (s.capacity.gpu ?? s.waiting_gpus.map(() => 0))
              .map((v) => v / 1000)}]}),
    chart({title: 'Fragmentation', value: number,
      about: 'Free GPUs, and what of them is scattered. On average ' +
        `${share(data.run.fragmentation.scattered_share)} of the free whole ` +
        'GPUs were on nodes in partial use, and ' +
        `${share(data.run.fragmentation.partly_used_share)} of the free ` +
        'capacity on GPUs in partial use.',
      series: [
        {label: 'free GPUs', values: s.free_gpus, color: '--c4'},
        {label: 'whole, on nodes in partial use', values: s.scattered_gpus,
          color: '--c2', fill: true},
        {label: 'parts of GPUs in partial use', values: s.partly_gpus,
          color: '--c3', fill: true}]}),
  ];
  section(main, 'Over time',
    'Drag to zoom in, double-click to see all again; a click sets the moment ' +
    'that the map shows. Charts can be walked through with the arrow keys.',
    el('div', {class: 'grid'}, ...charts));
}

function lostChart(data, times, shared, range) {
  const lost = Object.entries(data.series.lost_gpu_hours)
      .filter(([, values]) => values.some((v) => v > 0));
  if (lost.length === 0) return null;
  const all = lost.reduce((sum, [, v]) => sum + v.reduce((a, b) => a + b), 0);
  const [unit, name, factor] =
      all >= 1 ? ['h', 'hours', 1] : ['s', 'seconds', 3600];
  const sum = (values) => {
    let before = 0;
    return values.map((v) => before += v * factor);
  };
  return timeChart({title: `GPU-${name} lost, added up`,
    value: (v) => `${number(v)} ${unit}`, tick: (v) => `${compact(v)} ${unit}`,
    series: lost.slice(0, 6).map(([cause, values], i) => ({
      label: cause.replace('-', ' '), values: sum(values),
      color: `--c${i}`}))}, times, shared, range);
}

function waits(main, run) {
  const all = {name: 'all', count: run.counts.finished, wait_s: run.wait_s,
    completion_s: run.completion_s};
  const sizes = run.by_size.map((g) => ({...g,
    name: g.name === '1' || g.name === '<1' ? `${g.name} GPU` :
      `${g.name} GPUs`}));
  const card = (title, ...tables) =>
    el('div', {class: 'card'}, el('h3', {}, title), ...tables);
  const children = [card('Waiting, by size',
    spanTable('Waiting time by size', sizes, all, 'wait_s'))];
  if (run.by_class.length > 0) {
    children.push(card('Waiting, by priority class',
      spanTable('Waiting time by class', run.by_class, all, 'wait_s')));
  }
  children.push(card('In all, by size',
    spanTable('Time from submission to end by size', sizes, all,
      'completion_s')));
  section(main, 'Waits',
    'From submission to the first work, and to the end, of gangs that ' +
    'finished. The bar reaches from the median (dot) over 90 % (ring) to 99 %.',
    el('div', {class: 'grid wide'}, ...children));
}

function losses(main, data, shared, range) {
  const {run} = data;
  const rows = Object.keys(run.stops)
      .filter((cause) => cause !== 'finished' && run.stops[cause] > 0)
      .map((cause) => ({cause, stops: run.stops[cause],
        hours: run.gpu_hours_lost[cause]}));
  if (rows.length === 0) {
    section(main, 'Interruptions', null,
      el('p', {}, 'No gang was interrupted.'));
    return;
  }
  const most = Math.max(...rows.map((r) => r.hours), 1e-9);
  rows.sort((a, b) => b.hours - a.hours);
  section(main, 'Interruptions',
    'How often gangs were stopped before their end, and the GPU-hours that ' +
    'cost: work since the last checkpoint, and restarts.',
    el('div', {class: 'grid'}, el('div', {class: 'card'},
      el('h3', {}, 'By cause'), table('GPU-hours lost by cause', [
      {title: 'Cause', cell: (r) => r.cause.replace('-', ' ')},
      {title: 'Stops', number: true, cell: (r) => number(r.stops)},
      {title: 'GPU time lost', number: true, cell: (r) => gpuTime(r.hours)},
      {title: 'Per stop', number: true,
        cell: (r) => gpuTime(r.hours / r.stops)},
      {title: '', cell: (r) =>
        el('div', {class: 'range', 'aria-hidden': 'true'},
          el('i', {class: 'bar', style: `width:${100 * r.hours / most}%`}))},
    ], rows)), lostChart(data, bucketTimes(data.series), shared, range)));
}

function aggregated(data) {
  const {series, map, gangs} = data;
  const notes = [`Charts over time: means over ${span(series.width_s)} each ` +
    `(${number(series.seconds.length)} points).`];
  notes.push(map.spacing_s > 0 ?
    `The map has ${number(map.steps_s.length)} moments, at least ` +
      `${span(map.spacing_s)} apart; changes in between are left out.` :
    `The map has a step for each of the ${number(map.steps_s.length)} ` +
      'moments at which the cluster changed.');
  notes.push(gangs.complete ?
    'The time line shows all gangs.' :
    `The time line shows ${number(gangs.sample.length)} of ` +
      `${number(gangs.in_all)} gangs: the largest, the most interrupted, ` +
      'those that waited longest, and some picked by lot.');
  notes.push('Who waited: the gangs of the time line' +
    (gangs.waiting_in_all > 0 ?
      `, and ${number(gangs.waiting.length)} of the ` +
        `${number(gangs.waiting_in_all)} that wait at the end.` : '.') +
    (gangs.reasons_complete ? '' :
      ' Not every gang was asked why it waits, for that takes time.'));
  notes.push('All other figures are of all gangs.');
  return el('ul', {class: 'about'}, ...notes.map((n) => el('li', {}, n)));
}

function classesOf(data) {
  const names = new Set(data.run.by_class.map((g) =>
    g.name === '(no class)' ? '' : g.name));
  for (const name of data.map.gangs.classes) names.add(name);
  for (const g of data.gangs.sample) names.add(g.class);
  return [...names].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
}

function main() {
  const data = pageData();
  const shared = new Shared();
  const page = openPage(shared, {title: data.title || 'A run of muster-sim',
    about: data.story ? [data.story] : []});
  const start = data.series.origin_s;
  // The host may have woken up once more when all was over.
  const over = data.run.counts.left_over === 0;
  const end = Math.max(start + 1e-3,
    over ? start + data.run.makespan_s : data.end_s);
  const range = [start, end];
  const classes = classesOf(data);
  const map = new ClusterMap(data.map, classes, shared);
  page.append(headline(data, map.states.devices));
  overTime(page, data, shared, range);
  section(page, 'The cluster',
    'Each cell is a GPU. Point at one, or walk there with the arrow keys, to ' +
    'see who holds it; a click marks its gang here and in the time line.',
    map.node);
  section(page, 'Gangs', gangsAbout(data.gangs),
    new GangChart(data, classes, shared, range).node);
  waits(page, data.run);
  losses(page, data, shared, range);
  section(page, 'Who waited, and why', null, waitingTable(data, shared));
  section(page, 'About this page', null, aggregated(data),
    el('p', {class: 'about'}, `Simulated time: ${moment(end - start)}. State ` +
      `hash at the end: ${data.run.state_hash}.`));
  shared.set('moment', map.states.steps[0]);
}

function gangsAbout(gangs) {
  const what = gangs.complete ? 'Every gang has a row.' :
    `${number(gangs.sample.length)} of ${number(gangs.in_all)} gangs: the ` +
    'largest, the most interrupted, those that waited longest, and some ' +
    'picked by lot.';
  return what + ' Thin lines are waiting, bars are work, thinner with fewer ' +
    'tasks; a mark tells how a stretch ended, and striped work was lost.';
}

main();
