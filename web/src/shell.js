// What every page of muster-sim is made of: elements, sections, the theme, one
// tooltip, announcements to screen readers, and the state that views share.

import './page.css';

// el('p', {class: 'note'}, 'text', child, ...): text is never read as HTML.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (value === true) {
      node.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

export function pageData() {
  return JSON.parse(document.getElementById('muster-data').textContent);
}

// A colour or size of the current theme: css('--c1').
export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
      .trim();
}

// The size of the page's text in pixels; what is drawn follows it.
export function rem() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize);
}

// For canvases.
export function font(size = 0.8) {
  return `${Math.round(size * rem())}px system-ui, sans-serif`;
}

// Values that several views show and change. A listener to a name is called with
// its value whenever it is set to another one.
export class Shared {
  #values = {};
  #listeners = {};
  get(name) { return this.#values[name]; }
  set(name, value) {
    if (this.#values[name] === value) return;
    this.#values[name] = value;
    for (const listener of this.#listeners[name] ?? []) listener(value);
  }
  on(name, listener) { (this.#listeners[name] ??= []).push(listener); }
}

// --- Theme -------------------------------------------------------------------

const THEMES = ['auto', 'light', 'dark'];

function storedTheme() {
  try {
    const theme = localStorage.getItem('muster-theme');
    return THEMES.includes(theme) ? theme : 'auto';
  } catch {
    return 'auto';  // Pages from files may have no storage.
  }
}

// A button; shared 'theme' changes whenever the colours do.
function themeButton(shared) {
  let theme = storedTheme();
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = el('button', {type: 'button', class: 'theme'});
  const apply = () => {
    const dark = theme === 'dark' || (theme === 'auto' && system.matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    button.textContent = `Theme: ${theme}`;
    button.setAttribute('aria-label', `Theme: ${theme}. Press to change.`);
    shared.set('theme', dark ? 'dark' : 'light');
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem('muster-theme', theme);
    } catch { /* It lasts as long as the page. */ }
    apply();
  });
  system.addEventListener('change', apply);
  apply();
  return button;
}

// --- The page ----------------------------------------------------------------

let live;
let tip;

// Says something to screen readers.
export function announce(text) {
  live.textContent = text;
}

// lines: texts; the first is the heading. Null: no tooltip.
export function showTip(x, y, lines) {
  if (lines === null) {
    tip.hidden = true;
    return;
  }
  tip.replaceChildren(...lines.map((line, i) =>
    el(i === 0 ? 'strong' : 'span', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = x + 14 + box.width > width ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
  tip.style.left = `${Math.max(4, Math.min(left, width - box.width - 4))}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

// The frame of a page; returns its <main>, which is empty but for the header.
export function openPage(shared, {title, about}) {
  const main = document.getElementById('page');
  live = el('div', {class: 'unseen', 'aria-live': 'polite', id: 'live'});
  tip = el('div', {class: 'tip', role: 'tooltip', hidden: true});
  document.body.append(live, tip);
  addEventListener('keydown', (e) => {
    if (e.key === 'Escape') showTip(0, 0, null);
  });
  main.append(el('header', {},
    el('div', {class: 'top'}, el('h1', {}, title), themeButton(shared)),
    ...about.map((text) => el('p', {class: 'about'}, text))));
  return main;
}

// section(main, 'Title', 'what it shows', ...)
export function section(main, title, about, ...children) {
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  const s = el('section', {'aria-labelledby': id},
    el('h2', {id}, title),
    about ? el('p', {class: 'about'}, about) : null,
    ...children.filter(Boolean));
  main.append(s);
  return s;
}

// Headline figures: [{label, value, note}].
export function figures(list) {
  return el('dl', {class: 'figures'}, ...list.map((f) =>
    el('div', {}, el('dt', {}, f.label), el('dd', {}, f.value),
      f.note ? el('dd', {class: 'note'}, f.note) : null)));
}

// columns: [{title, cell(row): text or node, number}]. A wide table scrolls
// inside its own box.
export function table(caption, columns, rows) {
  const cells = (row) => columns.map((c, i) => {
    const cell = c.cell(row);
    const kind = i === 0 ? ['th', {scope: 'row'}] : ['td', {}];
    return el(kind[0], {...kind[1], class: c.number ? 'number' : ''}, cell);
  });
  return el('div', {class: 'scroll', tabindex: 0, role: 'region',
    'aria-label': caption},
  el('table', {},
    el('caption', {class: 'unseen'}, caption),
    el('thead', {}, el('tr', {}, ...columns.map((c) =>
      el('th', {scope: 'col', class: c.number ? 'number' : ''}, c.title)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...cells(row))))));
}

// A labelled <select>; options: [[value, text]].
export function choice(label, options, onchange, chosen) {
  const select = el('select', {onchange: () => onchange(select.value)},
    ...options.map(([value, text]) =>
      el('option', {value, selected: value === chosen}, text)));
  return el('label', {class: 'choice'}, label + ' ', select);
}

// A canvas that fills its host's width in device pixels. draw(context, width,
// height) is called in CSS pixels.
export function fitCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

// The text, cut to fit: its beginning, or its end; nothing if that is little.
export function fitText(context, text, width, keepEnd = false) {
  if (context.measureText(text).width <= width) return text;
  const cut = (n) =>
    keepEnd ? '…' + text.slice(text.length - n) : text.slice(0, n) + '…';
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(cut(middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 3 ? cut(low) : '';
}
