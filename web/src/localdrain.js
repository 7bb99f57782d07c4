// Taking the machine, or a GPU of it, out of service, and back.

import {send} from './localapi.js';
import {FormDialog} from './localform.js';
import {clock} from './localparts.js';
import {el} from './shell.js';

// Why it is out of service.
export function drainText({since, quarantine, uid, reason}, user) {
  const who = quarantine ? 'in quarantine' : `drained by ${user(uid)}`;
  return `${who} since ${clock(since)}${reason ? `: ${reason}` : ''}`;
}

const what = (device) => device === undefined ? 'The machine' : `GPU ${device}`;

export class Drains {
  constructor(page) {
    this.page = page;
    this.reason = el('input', {type: 'text', placeholder: 'new fan'});
    this.form = new FormDialog({title: 'Drain', action: 'Drain',
      send: () => this.drain()});
    this.form.field('reason', 'Why', this.reason, {whole: true,
      note: 'for those who wonder; may be left out'});
    this.form.body.append(el('p', {class: 'about whole'},
      'No task starts there any more; what runs goes on.'));
  }

  // A button for what is in service, or out of it; null: it is not this user's
  // to say.
  button(drained, device) {
    if (!this.page.self.privileged) return null;
    const text = drained ? 'Resume' : 'Drain';
    const of = device === undefined ? ' the machine' : '';
    return el('button', {type: 'button', class: 'small',
      'data-drain': drained ? 'resume' : 'drain', 'data-device': device,
      'aria-label': `${text} ${of || what(device)}`},
    text + of + (drained ? '' : '…'));
  }

  click({target}) {
    const {drain, device} = target.closest('button')?.dataset ?? {};
    if (!drain) return;
    this.body = {node: this.page.machine.node.name};
    if (device !== undefined) this.body.device = Number(device);
    if (drain === 'resume') this.resume();
    else this.form.open(`Drain ${what(device)}`);
  }

  async drain() {
    await send('POST', '/v1/nodes/drain',
      {...this.body, reason: this.reason.value.trim()});
    this.page.say(`${what(this.body.device)}: is drained`);
    this.page.refresh();
  }

  async resume() {
    try {
      await send('POST', '/v1/nodes/resume', this.body);
      this.page.say(`${what(this.body.device)}: is in service again`);
    } catch (error) {
      this.page.say(error.message, true);
    }
    this.page.refresh();
  }
}
