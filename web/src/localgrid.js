// Grids of parameters, as people write them and as docs/local-api.yaml has them:
// axes of {names, rows}, the last of which varies fastest. No DOM.

export const MOST_POINTS = 10_000;

// Values between commas; one in double quotes may have commas.
function splitCommas(text) {
  const values = [];
  let at = 0;
  for (;;) {
    if (text[at] === '"') {
      const quoted = text.slice(at).match(/^"((?:[^"]|"")*)"(?=,|$)/);
      if (!quoted) {
        throw new Error('a value in double quotes ends at a comma or the end ' +
          'of the line');
      }
      values.push(quoted[1].replaceAll('""', '"'));
      at += quoted[0].length;
    } else {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      values.push(text.slice(at, end).trim());
      at = end;
    }
    if (at >= text.length) return values;
    ++at;
  }
}

// "lr=0.1,0.01": a parameter and its values.
export function axisOfLine(line) {
  const is = line.indexOf('=');
  if (is < 1 || is + 1 === line.length) {
    throw new Error(`'${line}': expected NAME=VALUE,VALUE… such as lr=0.1,0.01`);
  }
  return {names: [line.slice(0, is).trim()],
    rows: splitCommas(line.slice(is + 1).trim()).map((value) => [value])};
}

// "lr=0.1 bs=32": values in the order of `names`, which the first point sets.
function pointOf(line, names) {
  const point = new Map();
  for (const word of line.split(/\s+/)) {
    const is = word.indexOf('=');
    const name = word.slice(0, is);
    if (is < 1) throw new Error(`'${word}': expected NAME=VALUE`);
    if (point.has(name)) throw new Error(`'${name}' is there twice`);
    point.set(name, word.slice(is + 1));
  }
  if (names.length === 0) names.push(...point.keys());
  for (const name of point.keys()) {
    if (!names.includes(name)) {
      throw new Error(`'${name}': the first point does not have it`);
    }
  }
  return names.map((name) => {
    if (!point.has(name)) throw new Error(`'${name}' is missing`);
    return point.get(name);
  });
}

function linesOf(text) {
  return text.split('\n').map((line, i) => [line.trim(), i + 1])
      .filter(([line]) => line && !line.startsWith('#'));
}

// Points that are no product: a line each, or CSV with the names in its first
// line. Errors name the line.
export function axisOfPoints(text) {
  const names = [];
  const rows = [];
  let commas;
  for (const [line, number] of linesOf(text)) {
    commas ??= !line.includes('=');
    try {
      if (!commas) {
        rows.push(pointOf(line, names));
      } else if (names.length === 0) {
        names.push(...splitCommas(line));
      } else {
        const row = splitCommas(line);
        if (row.length !== names.length) {
          throw new Error(`has ${row.length} values; the first line has ` +
            `${names.length} names`);
        }
        rows.push(row);
      }
    } catch (error) {
      throw new Error(`line ${number}: ${error.message}`);
    }
  }
  return {names, rows};
}

// Of a text with a parameter a line.
export function axesOf(text) {
  return linesOf(text).map(([line]) => axisOfLine(line));
}

export function sizeOf(axes) {
  return axes.length === 0 ? 0 :
    axes.reduce((product, {rows}) => product * rows.length, 1);
}

// [[name, value], ...]
export function pointAt(axes, index) {
  const point = [];
  for (const {names, rows} of [...axes].reverse()) {
    const row = rows[index % rows.length];
    index = Math.floor(index / rows.length);
    point.unshift(...names.map((name, i) => [name, row[i]]));
  }
  return point;
}

export const pointText = (point) =>
  point.map(([name, value]) => `${name}=${value}`).join(' ');

// Values of a parameter in their order: by their numbers where both are.
export function compareValues(a = '', b = '') {
  const [x, y] = [Number(a), Number(b)];
  if (a !== '' && b !== '' && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a < b ? -1 : a > b ? 1 : 0;
}
