// Calendars: what is submitted again and again.

import {send} from './localapi.js';
import {badge, cardTable, clock, jobLink, KeyedList, show}
  from './localparts.js';
import {el} from './shell.js';

const DONE = {suspend: 'is suspended: its times are left out', resume: 'goes on',
  remove: 'is removed; its jobs go on'};

export class Calendars {
  constructor(page) {
    this.page = page;
    this.body = el('tbody', {});
    this.rows = new KeyedList(this.body, () => el('tr', {}),
      (row, cron) => this.fillRow(row, cron));
    this.none = el('p', {class: 'about'}, 'None.');
    this.table = cardTable('Calendars', ['Calendar', 'State', 'Times', 'Next',
      'Last', 'User', ''], this.body);
    this.element = el('div', {class: 'card', onclick: (e) => this.click(e)},
      this.none, this.table);
  }

  set(crons) {
    this.crons = crons;
    this.rows.set(crons, (cron) => cron.id);
    this.none.hidden = crons.length > 0;
    this.table.hidden = crons.length === 0;
  }

  fillRow(row, cron) {
    const td = (label, ...children) =>
      el('td', {'data-label': label}, ...children);
    show(row,
      el('th', {scope: 'row'}, `#${cron.id} `,
        el('span', {class: 'name'}, cron.name),
        cron.said ? el('small', {class: 'reason'}, cron.said) : null,
        cron.jobs.length ? el('small', {class: 'reason'}, 'its jobs: ',
          ...cron.jobs.flatMap((id) => [jobLink(id), ' '])) : null),
      td('State', badge(cron.suspended ? 'suspended' : 'on')),
      td('Times', el('code', {}, cron.schedule), el('small', {},
        (cron.time_zone ? ` ${cron.time_zone}` : '') +
        (cron.concurrency === 'Allow' ? '' : `, ${cron.concurrency}`))),
      td('Next', cron.next ? clock(cron.next) : '–'),
      td('Last', cron.last ? clock(cron.last) : '–'),
      td('User', this.page.user(cron.uid)),
      el('td', {class: 'actions'}, ...this.buttons(cron)));
  }

  buttons(cron) {
    if (!this.page.may(cron)) return [];
    return [cron.suspended ? ['resume', 'Resume'] : ['suspend', 'Suspend'],
      ['remove', 'Remove']].map(([action, text]) => el('button',
      {type: 'button', 'data-cron': cron.id, 'data-cron-action': action,
        'aria-label': `${text} calendar ${cron.id}`}, text));
  }

  async click({target}) {
    const {cron: id, cronAction: action} =
        target.closest('button')?.dataset ?? {};
    if (!id) return;
    const {name} = this.crons.find((cron) => cron.id === Number(id));
    if (action === 'remove' && !confirm(`Remove calendar ${id} ${name}?`)) {
      return;
    }
    try {
      if (action === 'remove') await send('DELETE', `/v1/crons/${id}`);
      else await send('POST', `/v1/crons/${id}/${action}`);
      this.page.say(`Calendar ${id} ${name}: ${DONE[action]}`);
    } catch (error) {
      this.page.say(error.message, true);
    }
    this.page.refresh();
  }
}
