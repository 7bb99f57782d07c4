// What the page of a comparison computes: texts of its measures, and the scale
// of their plots.

import {gpuTime, number, span} from './format.js';

const share = (value) => number(100 * value) + ' %';
const FORMATS = {'s': span, 'share': share, 'GPU-h': gpuTime, '': number};

export function valueText(measure, value) {
  return value === null ? '–' : FORMATS[measure.unit](value);
}

// With its sign: +2.5 h, -12 points
export function differenceText(measure, difference) {
  if (difference === 0) return '0';
  const size = Math.abs(difference);
  const text = measure.unit === 'share' ? `${number(100 * size)} points` :
    FORMATS[measure.unit](size);
  return (difference < 0 ? '-' : '+') + text;
}

export function intervalText(measure, interval) {
  return interval.map((end) => differenceText(measure, end)).join(' to ');
}

export function verdictText(measure, cell) {
  if (measure.better === 'neither') return 'not judged';
  return cell.verdict || '–';
}

// The ends of an interval of differences, where the values are.
export function whisker(cell) {
  if (!cell.interval) return null;
  return cell.interval.map((end) => cell.mean - cell.difference + end);
}

// The least and the largest value that is shown; of single runs, which have no
// spread to be measured by, from 0 on.
export function rangeOf(measure) {
  const shown = measure.variants.flatMap((cell) =>
    [...cell.values, cell.values.some((v) => v !== null) ? cell.mean : null,
      ...(whisker(cell) ?? [])]).filter((v) => v !== null);
  if (shown.length === 0) return [0, 1];
  if (measure.variants.every((cell) => cell.values.length === 1)) shown.push(0);
  const low = Math.min(...shown), high = Math.max(...shown);
  return low < high ? [low, high] : [low - 1, high + 1];
}

// Where a value stands, in percent of the width; dots at the ends have room.
export function place([low, high], value) {
  return 3 + 94 * (value - low) / (high - low);
}

// Which run is nearest to this place, in percent.
export function nearestRun(cell, range, at) {
  let best = null, distance = Infinity;
  cell.values.forEach((value, i) => {
    if (value === null) return;
    const d = Math.abs(place(range, value) - at);
    if (d < distance) [best, distance] = [i, d];
  });
  return best;
}
