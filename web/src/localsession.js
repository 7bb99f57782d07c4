// As whom one acts, and signing in and out.

import {FieldError, FormDialog} from './localform.js';
import {show} from './localparts.js';
import {el} from './shell.js';

// The token in what `muster web` prints, or the token itself.
export function tokenOf(text) {
  return text.trim().match(/[?&]token=([^&\s]*)/)?.[1] ?? text.trim();
}

// The browser's cookie is of the user whose token it was given for; scripts do
// not see either.
async function signIn(token) {
  const answer = await fetch(`/login?token=${encodeURIComponent(token)}`);
  if (answer.status === 401) {
    throw new FieldError('token', 'nobody has this token');
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`);
}

export class Session {
  constructor(page) {
    this.page = page;
    this.button = el('button', {type: 'button', class: 'who',
      onclick: () => this.open()}, 'Sign in');
    this.token = el('input', {type: 'password', autocomplete: 'off',
      spellcheck: 'false'});
    this.out = el('button', {type: 'button', onclick: () => this.signOut()},
      'Sign out');
    this.form = new FormDialog({title: 'Signed in', action: 'Sign in',
      buttons: [this.out], send: async () => {
        await signIn(tokenOf(this.field.value));
        location.reload();
      }});
    this.about = el('p', {class: 'whole'});
    this.form.body.append(this.about);
    this.field = this.form.field('token', 'Token', this.token, {whole: true,
      note: 'of the line that `muster web` prints for you; or all of it'});
  }

  // null: nobody is signed in.
  set(self) {
    this.self = self;
    show(this.button, self ? `as ${self.name || self.uid}` : 'Sign in');
    this.button.setAttribute('aria-label', self ?
      `You act as ${self.name || self.uid}. Sign in or out` : 'Sign in');
    this.out.hidden = !self;
    show(this.about, self ? 'You act as ' : 'Nobody is signed in. ',
      self ? el('b', {}, self.name || `user ${self.uid}`) : null,
      self ? `, user ${self.uid}, who may change ${self.privileged ?
        'everybody’s jobs, and the machine' : 'jobs of his or her own'}. ` +
        'What is submitted here runs as this user. With the token of ' +
        'another user you act as that one.' :
        'With a token you act as its user.');
  }

  open() {
    this.token.value = '';
    this.form.open(this.self ? 'Signed in' : 'Sign in');
    this.token.focus();
  }

  async signOut() {
    await this.form.run(async () => {
      const answer = await fetch('/logout', {method: 'POST'});
      if (!answer.ok) throw new Error((await answer.text()).trim());
      location.reload();
    });
  }
}
