// Who waited, and why: a table to be searched.

import {gpus, moment, number, plural, span} from './format.js';
import {el} from './shell.js';

const SHOWN = 200;

// Rows: a gang's time of waiting, with the reasons it was given.
function waitsOf(gang, end) {
  const rows = [];
  let from = gang.submitted;
  const add = (to) => {
    if (to <= from) return;
    const given = gang.reasons.filter(([at]) => at >= from && at <= to);
    const before = gang.reasons.filter(([at]) => at < from).slice(-1);
    // Of reasons that differ in numbers only, the last one; that it starts, or
    // stops, is one only where there is no other.
    const kinds = new Map();
    for (const [, code, text] of given.length ? given : before) {
      kinds.set(code, text);
    }
    if (kinds.size > 1) kinds.delete('none');
    rows.push({gang, from, to, reasons: [...kinds.values()]});
  };
  for (const stint of gang.work) {
    add(stint.from);
    from = stint.to ?? end;
  }
  if ((gang.work_in_all ?? gang.work.length) === gang.work.length) {
    add(gang.ended ?? end);
  }
  return rows;
}

export function waitingTable(data, shared) {
  const byKey = new Map();
  for (const gang of [...data.gangs.sample, ...data.gangs.waiting]) {
    byKey.set(gang.key, {...byKey.get(gang.key), ...gang});
  }
  const rows = [...byKey.values()].flatMap((g) => waitsOf(g, data.end_s));
  rows.sort((a, b) => (b.to - b.from) - (a.to - a.from));

  const search = el('input', {type: 'search', oninput: () => show(),
    placeholder: 'gang, class, queue or reason'});
  const now = el('input', {type: 'checkbox', onchange: () => show()});
  const nowText = el('span', {});
  const count = el('p', {class: 'about', role: 'status'});
  const body = el('tbody', {});
  const line = (r) => el('tr', {},
    el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link',
      onclick: () => shared.set('gang', r.gang.key)}, r.gang.key)),
    el('td', {}, r.gang.class || '-'),
    el('td', {class: 'number'}, gpus(r.gang.gpus)),
    el('td', {class: 'number'}, moment(r.from)),
    el('td', {class: 'number'}, span(r.to - r.from)),
    el('td', {}, r.to >= data.end_s && r.gang.ended === null ?
      'still waits' + (r.gang.ahead > 0 ?
        `, behind ${number(r.gang.ahead)}` : '') :
      r.gang.gone && r.to === r.gang.ended ? r.gang.gone : 'started'),
    el('td', {class: 'reason'}, ...(r.reasons.length ?
      r.reasons.map((text) => el('div', {}, text)) :
      ['not asked'])));
  const tellNow = () => {
    const at = shared.get('moment') ?? 0;
    nowText.textContent = ` Only who waits at ${moment(at)}`;
  };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const at = shared.get('moment') ?? 0;
    tellNow();
    const found = rows.filter((r) =>
      (!now.checked || (r.from <= at && at < r.to)) &&
      words.every((w) => [r.gang.key, r.gang.class, r.gang.queue, ...r.reasons]
          .some((text) => text.toLowerCase().includes(w))));
    body.replaceChildren(...found.slice(0, SHOWN).map(line));
    count.textContent = found.length === 0 ? 'Nobody.' :
      `${plural(found.length, 'wait')}, the longest first` +
      (found.length > SHOWN ? `; the first ${SHOWN} are shown.` : '.');
  };
  shared.on('moment', () => {
    if (now.checked) show();
    else tellNow();
  });
  show();
  const titles = ['Gang', 'Class', 'Size', 'From', 'For', 'Until it', 'Why'];
  return el('div', {class: 'card'},
    el('div', {class: 'controls'},
      el('label', {class: 'choice grow'}, 'Search ', search),
      el('label', {class: 'choice'}, now, nowText)),
    count,
    el('div', {class: 'scroll tall', tabindex: 0, role: 'region',
      'aria-label': 'Who waited, and why'},
    el('table', {},
      el('caption', {class: 'unseen'}, 'Who waited, and why'),
      el('thead', {}, el('tr', {}, ...titles.map((title, i) =>
        el('th', {scope: 'col', class: i >= 2 && i <= 4 ? 'number' : ''},
          title)))), body)));
}
