// How long gangs waited, by class and by size: tables whose rows carry a bar
// from the median to the 99th percentile, on one logarithmic scale.

import {number, span} from './format.js';
import {el, table} from './shell.js';

const LEAST = 1;  // Seconds; shorter waits sit at the left end.

function bar(spans, most) {
  const place = (s) => 100 * Math.log(Math.max(LEAST, s) / LEAST) /
    Math.log(most / LEAST);
  const p50 = place(spans.p50), p99 = place(spans.p99);
  return el('div', {class: 'range', 'aria-hidden': 'true'},
    el('i', {class: 'whisker',
      style: `left:${p50}%;width:${Math.max(0, p99 - p50)}%`}),
    el('i', {class: 'dot', style: `left:${p50}%`}),
    el('i', {class: 'dot hollow', style: `left:${place(spans.p90)}%`}),
    el('i', {class: 'tickmark', style: `left:${p99}%`}));
}

function scale(most) {
  const marks = [[1, '1 s'], [60, '1 min'], [3600, '1 h'], [86400, '1 d'],
    [2592000, '30 d']].filter(([s]) => s <= most);
  return el('div', {class: 'range scale', 'aria-hidden': 'true'},
    ...marks.map(([s, text]) => el('span', {
      style: `left:${100 * Math.log(s) / Math.log(most)}%`}, text)));
}

// kind: 'wait_s' or 'completion_s'.
export function spanTable(caption, groups, all, kind) {
  const most = Math.max(10, ...groups.map((g) => g[kind].max), all[kind].max);
  return table(caption, [
    {title: '', cell: (g) => g.name},
    {title: 'Gangs', number: true, cell: (g) => number(g.count)},
    {title: 'Mean', number: true, cell: (g) => span(g[kind].mean)},
    {title: 'Median', number: true, cell: (g) => span(g[kind].p50)},
    {title: '90 %', number: true, cell: (g) => span(g[kind].p90)},
    {title: '99 %', number: true, cell: (g) => span(g[kind].p99)},
    {title: 'Longest', number: true, cell: (g) => span(g[kind].max)},
    {title: scale(most), cell: (g) => bar(g[kind], most)},
  ], [...groups, all]);
}
