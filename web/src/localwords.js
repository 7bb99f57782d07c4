// Commands, times and changes as people write them. No DOM.

const PLAIN = /^[A-Za-z0-9_@%+=:,./{}-]+$/;

// Words as in a shell, whose quotes and backslashes they have; nothing is
// expanded. Throws an Error.
export function wordsOf(line) {
  const words = [];
  let word = null;
  let quote = '';
  for (let i = 0; i < line.length; ++i) {
    const c = line[i];
    if (quote === "'" || (quote === '"' && c !== '\\')) {
      if (c === quote) quote = '';
      else word += c;
    } else if (c === '\\') {
      if (++i >= line.length) throw new Error('a backslash is its end');
      const kept = quote === '"' && !'"\\$`'.includes(line[i]);
      word = (word ?? '') + (kept ? '\\' : '') + line[i];
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= '';
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (quote) throw new Error(`a ${quote} has no end`);
  if (word !== null) words.push(word);
  return words;
}

// Back.
export function lineOf(words) {
  return words.map((word) => PLAIN.test(word) ? word :
    `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

const UNITS = {s: 1, m: 60, h: 3600, d: 86400};

// "90m", "1h30m", "1:30:00"; "none", or nothing: 0. Throws an Error.
export function secondsOf(text) {
  if (['', 'none', '0'].includes(text)) return 0;
  const clock = /^\d{1,6}(:[0-5]?\d){1,2}$/.test(text);
  if (clock) {
    return text.split(':').reduce((sum, part) => 60 * sum + Number(part), 0);
  }
  if (!/^(\d+(\.\d+)?[smhd])+$/.test(text)) {
    throw new Error('expected a time such as 90m, 2h or 1:30:00, or none');
  }
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)) {
    sum += Number(number) * UNITS[unit];
  }
  return Math.ceil(sum);
}

export function timeText(seconds) {
  if (seconds === 0) return 'none';
  const [unit, size] = Object.entries(UNITS).reverse()
      .find(([, size]) => seconds % size === 0);
  return `${seconds / size}${unit}`;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// What is other of a role: {requests, command}; requests that are left out, or
// empty, ask for nothing any more.
function otherRole(before, after) {
  const other = {};
  const requests = {};
  for (const resource of new Set([...Object.keys(before.requests),
    ...Object.keys(after.requests)])) {
    const was = before.requests[resource] ?? '0';
    const is = after.requests[resource] || '0';
    if (was !== is) requests[resource] = is;
  }
  if (Object.keys(requests).length) other.requests = requests;
  if (after.command?.length && !same(after.command, before.command)) {
    other.command = after.command;
  }
  return other;
}

// The body of an edit: what is other in `after` than in `before`, both as
// GET /v1/jobs/ID/edit answers.
export function otherOf(before, after) {
  const other = {};
  for (const name of ['name', 'queue', 'priority', 'time']) {
    if (after[name] !== before[name]) other[name] = after[name];
  }
  for (const [name, role] of Object.entries(after.roles ?? {})) {
    const changed = otherRole(before.roles[name], role);
    if (Object.keys(changed).length) (other.roles ??= {})[name] = changed;
  }
  return other;
}
