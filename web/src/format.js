// Numbers, spans of time and moments as people read them. Times in seconds.

const grouped = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

function trimmed(value, digits) {
  return value.toLocaleString('en', {maximumSignificantDigits: digits});
}

// 12,345 and 1.25
export function number(value) {
  return Math.abs(value) >= 1000 ? grouped.format(value) : trimmed(value, 3);
}

// For axes: 12k, 1.5M
export function compact(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return trimmed(value / 1e9, 3) + 'G';
  if (size >= 1e6) return trimmed(value / 1e6, 3) + 'M';
  if (size >= 1e4) return trimmed(value / 1e3, 3) + 'k';
  return trimmed(value, 4);
}

export function share(value) {
  return (100 * value).toFixed(1) + ' %';
}

const UNITS = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's'], [1e-3, 'ms'],
  [1e-6, 'µs']];

// One unit: 250 ms, 12.5 s, 4.2 min, 3.2 h, 1.4 d
export function span(seconds) {
  if (!(seconds > 0)) return '0 s';
  const [size, unit] =
      UNITS.find(([size]) => seconds >= size) ?? UNITS[UNITS.length - 1];
  const value = seconds / size;
  return (value >= 1000 ? grouped.format(value) : trimmed(value, 3)) + ' ' +
      unit;
}

// Two units: 12.5 s, 4 min 10 s, 3 h 25 min, 12 d 4 h
export function moment(seconds) {
  if (seconds < 0) return '-' + moment(-seconds);
  if (seconds < 60) return trimmed(seconds, 4) + ' s';
  const i = UNITS.findIndex(([size]) => seconds >= size);
  const [size, unit] = UNITS[i];
  const [small, smallUnit] = UNITS[i + 1];
  const parts = Math.round(seconds / small);
  const whole = Math.floor(parts / (size / small));
  const rest = parts % (size / small);
  return `${grouped.format(whole)} ${unit}` +
      (rest > 0 ? ` ${rest} ${smallUnit}` : '');
}

// The steps between ticks that a time axis may have.
export const TIME_STEPS = [
  1e-3, 2e-3, 5e-3, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 30, 60, 120,
  300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000,
  864000, 1728000, 4320000, 8640000, 17280000, 43200000, 86400000,
];

// A tick of an axis whose ticks lie `step` apart: one unit for all of them.
export function tick(seconds, step) {
  if (seconds === 0) return '0';
  const [size, unit] = UNITS.find(([size]) => step >= size) ?? UNITS[3];
  return trimmed(Math.round(seconds / size * 100) / 100, 6) + ' ' + unit;
}

export function plural(count, one, many = one + 's') {
  return `${number(count)} ${count === 1 ? one : many}`;
}

// GPU-hours, or less than one in a smaller unit: 881 h, 10 s
export function gpuTime(hours) {
  return hours >= 1 ? number(hours) + ' h' : span(hours * 3600);
}

// 1 GPU, 12 GPUs, 0.5 GPU
export function gpus(count) {
  return number(count) + (count > 1 ? ' GPUs' : ' GPU');
}

// "0-3, 8" of [0, 1, 2, 3, 8]: ascending numbers.
export function ranges(numbers) {
  const parts = [];
  for (const n of numbers) {
    const last = parts.at(-1);
    if (last && n === last[1] + 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([from, to]) => from === to ? from : `${from}-${to}`)
      .join(', ');
}
