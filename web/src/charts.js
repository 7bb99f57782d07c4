// Charts over time that belong together: one cursor, one zoom, one moment.
// Drawn by uPlot; keyboard, announcements and the table are ours.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {compact, moment, tick, TIME_STEPS} from './format.js';
import {announce, css, el, font, rem} from './shell.js';

const HELP = 'Arrow keys move the cursor, with Shift ten times as far. ' +
    'Enter sets the moment of the map. Plus and minus zoom, 0 shows all.';

// Of things that come in whole numbers.
const WHOLE_STEPS = Array.from({length: 10}, (_, i) => 10 ** i)
    .flatMap((s) => [s, 2 * s, 5 * s]);

export function timeAxis() {
  return {
    stroke: () => css('--soft'),
    grid: {stroke: () => css('--line'), width: 1},
    ticks: {stroke: () => css('--line'), width: 1},
    font: font(),
    size: 2.3 * rem(),
    gap: 0.3 * rem(),
    incrs: TIME_STEPS,
    space: 5 * rem(),
    values: (u, ticks, a, b, step) => ticks.map((t) => tick(t, step)),
  };
}

function valueAxis(spec) {
  return {
    stroke: () => css('--soft'),
    grid: {stroke: () => css('--line'), width: 1},
    ticks: {show: false},
    font: font(),
    size: 4 * rem(),
    gap: 0.3 * rem(),
    space: 1.6 * rem(),
    incrs: spec.whole ? WHOLE_STEPS : undefined,
    values: (u, ticks) => ticks.map(spec.tick ?? compact),
  };
}

// What all charts share: drawing on the zoomed part only, the line at the
// shared moment, zooming by dragging.
export function timeOptions(shared, range) {
  return {
    legend: {show: false},
    cursor: {
      sync: {key: 'time', setSeries: false},
      drag: {x: true, y: false, setScale: false},
      points: {size: 7},
      bind: {
        dblclick: () => () => {
          shared.set('view', null);
          return null;
        },
      },
    },
    scales: {x: {time: false, range: () => shared.get('view') ?? range}},
    hooks: {
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        shared.set('view', [u.posToVal(u.select.left, 'x'),
          u.posToVal(u.select.left + u.select.width, 'x')]);
        u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
      }],
      draw: [(u) => drawMoment(u, shared.get('moment'))],
    },
  };
}

function drawMoment(u, at) {
  if (at === undefined || at < u.scales.x.min || at > u.scales.x.max) return;
  const x = Math.round(u.valToPos(at, 'x', true));
  u.ctx.save();
  u.ctx.strokeStyle = css('--mark');
  u.ctx.lineWidth = 2 * devicePixelRatio;
  u.ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
  u.ctx.beginPath();
  u.ctx.moveTo(x, u.bbox.top);
  u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
  u.ctx.stroke();
  u.ctx.restore();
}

// Follows the width of its host, the theme, the zoom and the moment; a click
// sets the moment.
export function keepUp(u, host, shared, range) {
  new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width > 0 && width !== u.width) u.setSize({width, height: u.height});
  }).observe(host);
  shared.on('theme', () => u.redraw(false, true));
  shared.on('moment', () => u.redraw(false, false));
  shared.on('view', (view) => {
    const [min, max] = view ?? range;
    u.setScale('x', {min, max});
  });
  let downAt = 0;
  u.over.addEventListener('pointerdown', (e) => { downAt = e.clientX; });
  u.over.addEventListener('click', (e) => {
    if (Math.abs(e.clientX - downAt) > 3) return;
    const x = e.clientX - u.over.getBoundingClientRect().left;
    shared.set('moment', u.posToVal(x, 'x'));
  });
}

// Zooms by a factor around a time, within `range`.
export function zoom(shared, range, around, factor) {
  const [min, max] = shared.get('view') ?? range;
  const from = Math.max(range[0], around - (around - min) * factor);
  const to = Math.min(range[1], around + (max - around) * factor);
  const all = to - from >= range[1] - range[0];
  if (to > from) shared.set('view', all ? null : [from, to]);
}

function summary(spec, all) {
  const parts = spec.series.map((s, i) => {
    const values = all[i + 1].filter((v) => v !== null);
    const top = values.reduce((a, b) => Math.max(a, b), 0);
    return `${s.label}: at most ${spec.value(top)}`;
  });
  return `${spec.title}. ${parts.join('; ')}. ${HELP}`;
}

// At most 24 of the points, for those who cannot see the chart.
function dataTable(spec, data) {
  const details = el('details', {class: 'data'},
    el('summary', {}, 'As a table'));
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    const n = data[0].length - 1;
    const step = Math.max(1, Math.ceil(n / 24));
    const rows = [];
    for (let i = 0; i < n; i += step) {
      rows.push(el('tr', {}, el('th', {scope: 'row'}, moment(data[0][i])),
        ...spec.series.map((s, k) =>
          el('td', {class: 'number'}, spec.value(data[k + 1][i] ?? 0)))));
    }
    details.append(el('div', {class: 'scroll', tabindex: 0, role: 'region',
      'aria-label': `${spec.title}, as a table`},
    el('table', {},
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Time'),
        ...spec.series.map((s) =>
          el('th', {scope: 'col', class: 'number'}, s.label)))),
      el('tbody', {}, ...rows))));
  });
  return details;
}

// The key of the chart, with the values under the cursor or, without one, at
// the shared moment.
function legend(spec, data, shared) {
  const values = spec.series.map(() => el('b', {}));
  const time = el('span', {class: 'at'});
  const show = (index) => {
    if (index === null || index === undefined) {
      index = indexAt(data[0], shared.get('moment') ?? 0);
    }
    time.textContent = `at ${moment(data[0][index])}`;
    spec.series.forEach((s, k) => {
      values[k].textContent = spec.value(data[k + 1][index] ?? 0);
    });
  };
  shared.on('moment', () => show(null));
  const node = el('div', {class: 'legend'}, ...spec.series.map((s, k) =>
    el('span', {}, el('i', {style: `background:var(${s.color})`,
      class: s.dash ? 'dashed' : ''}), `${s.label} `, values[k])), time);
  return {node, show};
}

function indexAt(times, at) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

// spec: {title, about, value(v): text, tick(v): text of an axis, top: the
// least upper end of the axis, whole: only whole numbers on it, series:
// [{label, color: '--c1', values, dash, fill}]}. `times` are the beginnings of
// the buckets, and the end of the last.
export function timeChart(spec, times, shared, range) {
  const host = el('div', {class: 'plot'});
  const last = (values) => [...values, values[values.length - 1]];
  const data = [times, ...spec.series.map((s) => last(s.values))];
  const key = legend(spec, data, shared);
  const options = timeOptions(shared, range);
  options.hooks.setCursor = [(u) => key.show(u.cursor.idx)];
  const u = new uPlot({
    ...options,
    width: 320,
    height: 14 * rem(),
    scales: {...options.scales, y: {
      range: (u, min, max) => {
        const top = Math.max(spec.top ?? 0, max ?? 0);
        return [0, top > (spec.top ?? 0) || top === 0 ? top * 1.08 || 1 : top];
      }}},
    axes: [timeAxis(), valueAxis(spec)],
    series: [{}, ...spec.series.map((s) => ({
      label: s.label,
      stroke: () => css(s.color),
      width: s.dash ? 1 : 2,
      dash: s.dash ? [4, 3] : undefined,
      fill: s.fill ? () => css(s.color) + '33' : undefined,
      paths: uPlot.paths.stepped({align: 1}),
      points: {show: false},
    }))],
  }, data, host);
  keepUp(u, host, shared, range);
  const chart = el('figure', {class: 'chart', tabindex: 0, role: 'group',
    'aria-roledescription': 'chart', 'aria-label': summary(spec, data)},
  el('figcaption', {}, el('h3', {}, spec.title),
    spec.about ? el('p', {class: 'about'}, spec.about) : null, key.node),
  host);
  chart.addEventListener('keydown', (e) =>
    onKey(e, u, spec, data, shared, range));
  return el('div', {class: 'card'}, chart, dataTable(spec, data));
}

function onKey(e, u, spec, data, shared, range) {
  const times = data[0];
  const moves = {ArrowLeft: -1, ArrowRight: 1};
  let index = u.cursor.idx ?? indexAt(times, shared.get('moment') ?? 0);
  if (e.key in moves) {
    const pixels = u.posToVal(1, 'x') - u.posToVal(0, 'x');
    const bucket = times.length > 1 ? times[1] - times[0] : 1;
    const by = Math.max(1, Math.round(pixels * 4 / bucket));
    index += moves[e.key] * by * (e.shiftKey ? 10 : 1);
  } else if (e.key === 'Home') {
    index = 0;
  } else if (e.key === 'End') {
    index = times.length - 1;
  } else if (e.key === '+' || e.key === '-') {
    zoom(shared, range, times[index], e.key === '+' ? 0.5 : 2);
  } else if (e.key === '0') {
    shared.set('view', null);
  } else if (e.key === 'Enter') {
    shared.set('moment', times[index]);
  } else {
    return;
  }
  e.preventDefault();
  index = Math.max(0, Math.min(times.length - 1, index));
  u.setCursor({left: u.valToPos(times[index], 'x'),
    top: u.over.clientHeight / 2});
  announce(`${moment(times[index])}: ` + spec.series.map((s, k) =>
    `${s.label} ${spec.value(data[k + 1][index] ?? 0)}`).join(', '));
}
