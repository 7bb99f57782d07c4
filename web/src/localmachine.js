// The machine: its GPUs and who has which; and the shares of queues.

import {gpus, number, ranges, share} from './format.js';
import {Drains, drainText} from './localdrain.js';
import {bar, bytes, cardTable, Colours, gpuCount, jobPath, KeyedList, show}
  from './localparts.js';
import {el} from './shell.js';

const GPU = 'gpu';

function holdersOf(device) {
  const sums = new Map();
  for (const {job, milli} of device.held) {
    sums.set(job, (sums.get(job) ?? 0) + milli);
  }
  return [...sums];
}

export class Machine {
  constructor(page) {
    this.page = page;
    this.drains = new Drains(page);
    this.colours = new Colours();
    this.devices = el('ul', {class: 'devices', 'aria-label': 'GPUs'});
    this.cells = new KeyedList(this.devices, () => el('li', {}),
      (item, device) => this.fillDevice(item, device));
    this.amounts = el('div', {class: 'amounts'});
    this.cpus = el('ul', {class: 'cpus', 'aria-label': 'CPUs of tasks'});
    this.about = el('p', {class: 'about'});
    this.service = el('div', {class: 'controls service'});
    this.element = el('div', {class: 'card',
      onclick: (e) => this.drains.click(e)}, this.about, this.service,
    this.devices, this.amounts, this.cpus);
  }

  set(node) {
    this.node = node;
    const {devices} = node;
    const free = devices.filter((d) => !node.drained && d.healthy &&
      d.held.length === 0 && d.others === 0).length;
    show(this.about, devices.length === 0 ? 'It has no GPU.' :
      `${gpus(devices.length)}, ${number(free)} of them free.`);
    show(this.service, node.drained ? el('span', {class: 'bad'},
      this.drainText(node.drained)) : null, this.drains.button(node.drained));
    this.devices.classList.toggle('many', devices.length > 16);
    this.colours.keep(devices.flatMap((d) => d.held.map((h) => h.job)));
    this.cells.set(devices, (d) => d.index);
    show(this.amounts, this.amount('CPU cores', 'cpu',
      (milli) => number(milli / 1000)), this.amount('Memory', 'memory', bytes));
    show(this.cpus, ...this.cpuLines(node.cpus));
  }

  // Which CPUs tasks have of their own, and which all others share.
  cpuLines(cpus) {
    if (!cpus || cpus.held.length === 0) return [];
    const lines = cpus.held.map((held) => el('li', {},
      el('b', {}, `CPU ${ranges(held.cpus)}`), ' ', this.link(held.job),
      el('small', {}, `, ${held.task}`)));
    lines.push(el('li', {class: 'soft'}, cpus.shared.length === 0 ?
      'None is left for others.' :
      `CPU ${ranges(cpus.shared)}: shared by all others`));
    return lines;
  }

  drainText(drained) {
    return drainText(drained, (uid) => this.page.user(uid));
  }

  // To the job, by its number and its name.
  link(job, ...more) {
    const row = this.page.job(job);
    return el('a', {href: jobPath(job)},
      `#${job}` + (row ? ` ${row.name}` : ''), ...more);
  }

  // Who has it, or why nobody does.
  linesOf(device, holders) {
    const lines = holders.map(([job, milli]) => {
      const row = this.page.job(job);
      return this.link(job,
        el('small', {}, (row ? ` ${this.page.user(row.uid)}` : '') +
          (milli < 1000 ? `, ${number(milli / 1000)}` : '')));
    });
    for (const {pid, uid, memory} of device.processes ?? []) {
      lines.push(el('span', {class: 'soft'}, `process ${pid} of ` +
        this.page.user(uid) + (memory ? `, ${bytes(memory)}` : '')));
    }
    if (device.others && !device.processes) {
      lines.push(el('span', {class: 'soft'}, 'processes outside the queue'));
    }
    if (device.drained) {
      lines.push(el('span', {class: 'bad'}, this.drainText(device.drained)));
    } else if (!device.healthy || this.node.drained) {
      lines.push(el('span', {class: 'bad'},
        device.healthy ? 'out of service' : 'unhealthy'));
    }
    if (lines.length === 0) lines.push(el('span', {class: 'soft'}, 'free'));
    return lines;
  }

  fillDevice(item, device) {
    const holders = holdersOf(device);
    const parts = holders.map(([job, milli]) => ({part: milli / 1000,
      kind: `k${this.colours.get(job)}`}));
    if (device.others) {
      parts.push({part: device.others / 1000, kind: 'others'});
    }
    item.className = device.healthy ? '' : 'down';
    const about = [device.model.replace(/^NVIDIA /, ''), device.memory ? bytes(device.memory) : '']
        .filter(Boolean).join(', ');
    show(item, el('div', {class: 'head'}, el('b', {}, `GPU ${device.index}`),
      about ? el('small', {}, about) : null),
    bar(`GPU ${device.index}: ` + (holders.map(([job, milli]) =>
      `${share(milli / 1000)} of #${job}`).join(', ') || 'no job'), parts),
    ...this.linesOf(device, holders),
    this.drains.button(device.drained, device.index));
  }

  amount(title, resource, text) {
    const all = this.node.capacity[resource] ?? 0;
    if (all === 0) return null;
    const used = this.node.used[resource] ?? 0;
    const others = this.node.others[resource] ?? 0;
    const label = `${text(used)} of ${text(all)} asked for` +
        (others ? `, ${text(others)} others` : '');
    return el('div', {}, el('b', {}, title), ' ', el('small', {}, label),
      bar(`${title}: ${label}`, [{part: used / all, kind: 'work'},
        {part: others / all, kind: 'others'}]));
  }
}

// What a queue has of the machine, with its quotas.
export class Shares {
  constructor() {
    this.body = el('tbody', {});
    this.rows = new KeyedList(this.body, () => el('tr', {}),
      (row, queue) => this.fillRow(row, queue));
    this.element = el('div', {class: 'card'}, cardTable('Queues', ['Queue',
      'Run', 'Wait', 'GPUs', 'Share', 'Quota', 'Weight'], this.body));
  }

  set(queues, node) {
    const resource = (node.capacity[GPU] ?? 0) > 0 ? GPU : 'cpu';
    this.resource = resource;
    this.capacity = node.capacity[resource] || 1;
    this.rows.set(queues, (queue) => queue.name);
  }

  // "1 to 2", of GPUs: what it is guaranteed, and its limit.
  quotas(queue) {
    const amount = {gpu: gpuCount, memory: bytes, cpu: gpuCount};
    return queue.quotas.map(({resource, guarantee, limit}) => {
      const text = amount[resource] ?? number;
      return (resource === GPU ? '' : `${resource} `) +
        `${guarantee ? text(guarantee) : '0'} to ` +
        (limit === undefined ? 'all' : text(limit));
    }).join(', ') || '–';
  }

  fillRow(row, queue) {
    const used = queue.used[this.resource] ?? 0;
    const td = (label, ...children) =>
      el('td', {'data-label': label}, ...children);
    const part = used / this.capacity;
    show(row, el('th', {scope: 'row'}, queue.name,
      queue.closed ? el('small', {}, ' closed') : null,
      queue.held ? el('small', {}, ' held') : null),
    td('Run', number(queue.running)), td('Wait', number(queue.waiting)),
    td('GPUs', gpuCount(queue.used[GPU] ?? 0)),
    td('Share', el('div', {class: 'sharebar'},
      bar(`${queue.name}: ${share(part)}`, [{part, kind: 'work'}]),
      el('small', {}, share(part)))),
    td('Quota', this.quotas(queue)),
    td('Weight', String(queue.weight)));
  }
}
