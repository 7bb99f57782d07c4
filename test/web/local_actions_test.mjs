// What musterd's page does to jobs, calendars and the machine, in headless
// Chromium:
//   node local_actions_test.mjs PROGRAMS [FOLDER]
// As local_page_test.mjs.
import assert from 'node:assert/strict';
import path from 'node:path';

import {until} from './local_daemon.mjs';
import {row, runTests, text} from './local_run.mjs';

const [programs, pictures] = process.argv.slice(2);

const CONFIG = `
node: {name: box, cpus: 8, memory: 16Gi, gpus: {count: 4, model: A100}}
queues:
- {key: default}
- {key: lab, weight: 2}
priority_classes:
- {key: low, value: 1}
- {key: normal, value: 10}
- {key: high, value: 100}
default_priority_class: normal
`;
const DIALOG = text('dialog[open]');
const EVIL = '<img src=x onerror=document.title="broken">';

const quoted = JSON.stringify;

// Of the open dialog.
const named = (name) => `document.querySelector(${quoted(
  `dialog[open] [name=${quoted(name)}]`)})`;
const wrong = (name) => `(${named(name)}?.closest('label')
  .querySelector('.bad:not([hidden])')?.innerText ?? '')`;

function set(page, name, value) {
  return page.value(`(() => {
    const e = ${named(name)};
    e.value = ${quoted(value)};
    for (const what of ['input', 'change']) {
      e.dispatchEvent(new Event(what, {bubbles: true}));
    }
  })()`);
}

const press = (page, selector) =>
  page.value(`document.querySelector(${quoted(selector)}).click()`);
const send = (page) =>
  page.value(`document.querySelector('dialog[open] form').requestSubmit()`);
const action = (id, name) =>
  `button[data-action="${name}"][data-job="${id}"]`;
const closed = (page, why) =>
  until(() => page.value(`!document.querySelector('dialog[open]')`), why);
const opened = (page, why) =>
  until(() => page.value(`!!document.querySelector('dialog[open]')`), why);

// Answers the question that the browser asks when `work` is done.
async function agreeing(page, work) {
  const asked = page.event('Page.javascriptDialogOpening');
  const done = work();
  await asked;
  await page.call('Page.handleJavaScriptDialog', {accept: true});
  await done;
}

async function openLive(b, d, more = {}) {
  const page = await b.open(d.url, more);
  await until(() => page.value(`${text('.live')} === 'live'`), 'live');
  return page;
}

const noErrors = (page, ...statuses) => assert.deepEqual(page.errors.filter(
  (e) => !statuses.some((s) => e.includes(`status of ${s}`))), []);

const order = (page) => page.value(
  `[...document.querySelectorAll('tr[data-job]')]
    .map((e) => Number(e.dataset.job))`);

// One that has the machine, and so many that wait, on its priority.
function waiting(d, count, ...options) {
  const first = d.submit('sleep 100', '--name', 'has-it', '--gpus', '4');
  return [first, ...Array.from({length: count}, (_, i) =>
    d.submit('sleep 100', '--name', `w${i}`, '--gpus', '4', ...options))];
}

const grid = (d, name = 'sweep') => JSON.parse(d.muster('--json', 'submit',
  '--name', name, '--gpus', '2', '--grid', 'lr=10,9,0.5', '--grid', 'bs=1,2',
  '--', 'sh', '-c', 'sleep 100')).jobs.map(({id}) => id);

const cron = (d, name, schedule = '0 3 * * *') => JSON.parse(d.muster('--json',
  'submit', '--cron', schedule, '--name', name, '--', 'true')).crons[0].id;

const tests = {
  async 'jobs are suspended, and go on, by buttons and keys'(d, b) {
    const id = d.submit('sleep 100', '--name', 'one', '--gpus', '1');
    const page = await openLive(b, d);
    await until(() => page.value(`/running/.test(${row(id)})`), 'it runs');
    await page.key('j');
    await page.key('s');
    await until(async () => (await d.job(id)).phase === 'suspended', 'by a key');
    await until(() => page.value(`/suspended/.test(${row(id)})`), 'is shown');
    await press(page, action(id, 'resume'));
    await until(async () => (await d.job(id)).phase === 'running', 'by a button');
    await page.value(`location.hash = '#/jobs/${id}'`);
    await until(() => page.value(
      `!!document.querySelector('.job ${action(id, 'suspend')}')`), 'its page');
    await press(page, `.job ${action(id, 'suspend')}`);
    await until(() => page.value(`/suspended/.test(${text('.job h2')})`),
      'suspended');
    noErrors(page);
    await page.close();
  },

  async 'a priority is a class or an integer, and errors are at the field'(d, b) {
    const [, low] = waiting(d, 1, '--priority', 'low');
    const page = await openLive(b, d);
    await until(() => page.value(`!!${row(low)}`), 'rows');
    await page.value(`document.querySelector('tr[data-job="${low}"]').focus()`);
    await page.key('p');
    await opened(page, 'its dialog');
    assert.equal(await page.value(`${named('priority')}.value`), 'low');
    await set(page, 'priority', EVIL);
    await send(page);
    await until(() => page.value(`/there is no class/.test(
      ${wrong('priority')})`), 'the error');
    assert.ok((await page.value(wrong('priority'))).includes(EVIL));
    assert.equal(await page.value(
      `document.activeElement === ${named('priority')}`), true);
    await set(page, 'priority', '5');
    await send(page);
    await closed(page, 'it is changed');
    assert.equal((await d.job(low)).priority, 'priority-5');
    noErrors(page, 422);
    await page.close();
  },

  async 'jobs change places by keys, buttons and a dialog'(d, b) {
    const [first, x, y, z] = waiting(d, 3);
    const page = await openLive(b, d);
    await until(async () => (await order(page)).length === 4, 'rows');
    const becomes = (list) => until(async () =>
      (await order(page)).join() === [first, ...list].join(), list.join());
    await page.value(`document.querySelector('tr[data-job="${z}"]').focus()`);
    await page.key('K', {shift: true});
    await becomes([x, z, y]);
    // Its row keeps the focus, and moves on.
    await page.key('K', {shift: true});
    await becomes([z, x, y]);
    await page.key('K', {shift: true});
    await until(() => page.value(`/is the first/.test(${text('.said')})`),
      'no further');
    await page.key('J', {shift: true});
    await becomes([x, z, y]);
    await press(page, action(y, 'more'));
    await until(() => page.value(`/Move/.test(${DIALOG})`), 'a menu');
    await press(page, `dialog[open] ${action(y, 'move')}`);
    await until(() => page.value(`!!${named('to')}`), 'where to');
    await set(page, 'to', 'before');
    await set(page, 'job', String(x));
    await send(page);
    await closed(page, 'it is moved');
    await becomes([y, x, z]);
    await press(page, action(y, 'more'));
    await until(() => page.value(`/Later/.test(${DIALOG})`), 'a menu');
    await press(page, `dialog[open] ${action(y, 'later')}`);
    await becomes([x, y, z]);
    noErrors(page);
    await page.close();
  },

  async 'a job that waits is edited, and each error is at its field'(d, b) {
    const [first, id] = waiting(d, 1);
    const page = await openLive(b, d);
    await page.value(`location.hash = '#/jobs/${id}'`);
    await until(() => page.value(
      `!!document.querySelector('.job ${action(id, 'edit')}')`), 'its page');
    await page.key('e');
    await until(() => page.value(`!!${named('name')}`), 'fields');
    const {roles} = await d.ask('GET', `/v1/jobs/${id}/edit`);
    const [role] = Object.keys(roles);
    const gpus = `${role}.requests.nvidia.com/gpu`;
    const command = `${role}.command`;
    assert.equal(await page.value(`${named(gpus)}.value`), '4');
    assert.equal(await page.value(`${named(command)}.value`),
      "sh -c 'sleep 100'");
    for (const [field, bad, good, error] of [
      ['time', 'soon', '90m', /expected a time/],
      [command, 'echo "a', 'sh -c "echo edited; sleep 100"', /has no end/],
      [gpus, 'two', '1', /two/], ['priority', 'none', 'high', /no class/],
      ['name', '-x', 'better', /lower case/]]) {
      await set(page, field, bad);
      await send(page);
      await until(() => page.value(`${error}.test(${wrong(field)})`),
        `the error of ${field}`);
      if (pictures) {
        await page.screenshot(path.join(pictures, 'local-edit.png'), false);
      }
      await set(page, field, good);
    }
    await set(page, `${role}.requests.cpu`, '2');
    await set(page, 'queue', 'lab');
    await send(page);
    await closed(page, 'it is edited');
    const job = await d.job(id);
    assert.deepEqual([job.name, job.queue, job.priority],
      ['better', 'lab', 'high']);
    assert.deepEqual(job.edits, {time: 5400, roles: {[role]: {
      requests: {'cpu': '2', 'nvidia.com/gpu': '1'},
      command: ['sh', '-c', 'echo edited; sleep 100']}}});
    await until(() => page.value(`/time 90m.*cpu 2/.test(${text('.facts')})`),
      'what was edited');
    // Of one that runs, its command is none of the fields.
    await page.value(`location.hash = '#/jobs/${first}'`);
    await until(() => page.value(
      `!!document.querySelector('.job ${action(first, 'edit')}')`), 'its page');
    await press(page, `.job ${action(first, 'edit')}`);
    await until(() => page.value(`/does not only wait/.test(${DIALOG})`), 'less');
    assert.equal(await page.value(`!${named(command)} && !!${named('time')}`),
      true);
    noErrors(page, 422);
    await page.close();
  },

  async 'a grid is submitted, and its trials are seen together'(d, b) {
    const page = await openLive(b, d);
    await page.key('n');
    await opened(page, 'the form');
    await set(page, 'command', 'echo {lr} {bs}; sleep 100');
    await set(page, 'name', 'sweep');
    await set(page, 'gpus', '2');
    await page.value(`${named('parameters')}.closest('details').open = true`);
    for (const [text_, error] of [['lr', /expected NAME=VALUE/],
      ['a b=1', /expected a name/]]) {
      await set(page, 'parameters', text_);
      await send(page);
      await until(() => page.value(`${error}.test(${wrong('parameters')})`),
        `the error of ${text_}`);
    }
    await set(page, 'parameters', `lr=10,9,${EVIL}`);
    await set(page, 'points', 'bs,opt\n1,"a,b"\n2,sgd');
    assert.match(await page.value(text('dialog[open] details')),
      /6 jobs: lr=10 bs=1 opt=a,b; lr=10 bs=2 opt=sgd; .*onerror/);
    if (pictures) await page.screenshot(path.join(pictures, 'local-grid.png'));
    await page.value(`[...document.querySelectorAll('dialog[open] button')]
      .find((e) => /become/.test(e.textContent)).click()`);
    await until(() => page.value(`/The first of 6 jobs would start/.test(
      ${text('dialog[open] .told')})`), 'a forecast');
    await send(page);
    await closed(page, 'it is submitted');
    await until(() => page.value(`/^Array #\\d+ sweep$/.test(
      ${text('.job h2')})`), 'the array');
    const column = (n) => page.value(`[...document.querySelectorAll(
      '.trials tbody tr')].map((e) => e.cells[${n}].innerText)`);
    await until(() => page.value(`/6 jobs: 2 running, 4 queued/.test(
      ${text('.job .why')})`), 'who runs');
    assert.deepEqual(await column(1), ['10', '10', '9', '9', EVIL, EVIL]);
    await press(page, '.trials button[data-sort="parameter lr"]');
    assert.deepEqual(await column(1), ['9', '9', '10', '10', EVIL, EVIL]);
    await press(page, '.trials button[data-sort="parameter bs"]');
    await press(page, '.trials button[data-sort="parameter bs"]');
    assert.deepEqual(await column(2), ['2', '2', '2', '1', '1', '1']);
    assert.equal(await page.value(`document.querySelectorAll('img').length`), 0);
    await agreeing(page, () => press(page,
      'button[data-array-action="cancel"]'));
    await until(() => page.value(`/6 jobs: 6 cancelled/.test(
      ${text('.job .why')})`), 'all are cancelled');
    noErrors(page, 422, 400);
    await page.close();
  },

  async 'of an array each job leads to all of them'(d, b) {
    const ids = grid(d);
    const page = await openLive(b, d);
    await until(() => page.value(`/lr=10 bs=1/.test(${row(ids[0])})`), 'a point');
    await press(page, `tr[data-job="${ids[3]}"] a[href^="#/arrays"]`);
    await until(() => page.value(`document.querySelectorAll(
      '.trials tbody tr').length === 6`), 'all');
    await press(page, '.trials tbody tr:nth-child(2) a');
    await until(() => page.value(`/lr=10 bs=2/.test(${text('.facts')})`),
      'one of them');
    noErrors(page);
    await page.close();
  },

  async 'an elastic job is resized'(d, b) {
    const {jobs: [{id}]} = await d.ask('POST', '/v1/jobs', {directory: '/',
      environment: [`PATH=${process.env.PATH}`], manifest: JSON.stringify({
        apiVersion: 'batch/v1', kind: 'Job', metadata: {name: 'elastic'},
        spec: {parallelism: 3, completions: 3, completionMode: 'Indexed',
          template: {spec: {restartPolicy: 'Never', containers: [
            {name: 'main', command: ['sleep', '100']}]}}}})});
    const fixed = d.submit('sleep 100', '--name', 'fixed');
    const page = await openLive(b, d);
    await page.value(`location.hash = '#/jobs/${fixed}'`);
    await until(() => page.value(
      `!!document.querySelector('.job ${action(fixed, 'edit')}')`), 'a page');
    assert.equal(await page.value(
      `!document.querySelector('.job ${action(fixed, 'resize')}')`), true);
    await page.value(`location.hash = '#/jobs/${id}'`);
    await until(() => page.value(
      `!!document.querySelector('.job ${action(id, 'resize')}')`), 'its page');
    await page.key('r');
    await until(() => page.value(`/may have \\d to 3/.test(${DIALOG})`), 'sizes');
    await set(page, 'size', '7');
    await send(page);
    await until(() => page.value(`/7 is not between/.test(${wrong('size')})`),
      'the error');
    await set(page, 'size', '2');
    await send(page);
    await closed(page, 'it is resized');
    await until(async () => (await d.job(id)).elastic[0].size === 2, 'two');
    noErrors(page, 422);
    await page.close();
  },

  async 'a GPU and the machine are drained, and come back'(d, b) {
    const page = await openLive(b, d);
    await until(() => page.value(`document.querySelectorAll(
      'button[data-drain]').length === 5`), 'buttons');
    await press(page, 'button[data-drain="drain"][data-device="2"]');
    await opened(page, 'why');
    await set(page, 'reason', `fan ${EVIL}`);
    await send(page);
    await closed(page, 'it is drained');
    const cell = text('.devices li:nth-child(3)');
    await until(() => page.value(`/drained by .*: fan <img/.test(${cell})`),
      'who, and why');
    const node = async () => (await d.ask('GET', '/v1/nodes')).nodes[0];
    assert.equal((await node()).devices[2].drained.reason, `fan ${EVIL}`);
    await press(page, 'button[data-drain="drain"]:not([data-device])');
    await opened(page, 'why');
    await set(page, 'reason', 'the room is hot');
    await send(page);
    await until(() => page.value(`/hot/.test(${text('.service')})`), 'all of it');
    if (pictures) await page.screenshot(path.join(pictures, 'local-drained.png'));
    await press(page, 'button[data-drain="resume"]:not([data-device])');
    await until(async () => !(await node()).drained, 'it is back');
    assert.equal((await node()).devices.some((device) => device.drained), false);
    await until(() => page.value(`!/drained/.test(${text('.devices')})`),
      'the page says so');
    assert.equal(await page.value(`document.querySelectorAll('img').length`), 0);
    noErrors(page);
    await page.close();
  },

  async 'calendars are listed, suspended, resumed and removed'(d, b) {
    const [tick, other] = [cron(d, 'tick'), cron(d, 'other', '*/5 * * * *')];
    const page = await openLive(b, d);
    const button = (id, what) =>
      `button[data-cron="${id}"][data-cron-action="${what}"]`;
    await until(() => page.value(
      `!!document.querySelector('${button(tick, 'suspend')}')`), 'a calendar');
    const crons = async () => (await d.ask('GET', '/v1/crons')).crons;
    const list = `document.querySelector('${button(other, 'remove')}')
      ?.closest('table').innerText ?? ''`;
    assert.match(await page.value(list), /tick[^]*0 3 \* \* \*[^]*other/);
    await press(page, button(tick, 'suspend'));
    await until(() => page.value(
      `!!document.querySelector('${button(tick, 'resume')}')`), 'suspended');
    assert.equal((await crons())[0].suspended, true);
    await press(page, button(tick, 'resume'));
    await until(async () => !(await crons())[0].suspended, 'resumed');
    await until(() => page.value(
      `!!document.querySelector('${button(tick, 'suspend')}')`), 'is shown');
    for (const id of [tick, other]) {
      await agreeing(page, () => press(page, button(id, 'remove')));
      await until(async () => !(await crons()).some((c) => c.id === id), 'gone');
    }
    await until(() => page.value(
      `!document.querySelector('[data-cron]')`), 'the page says so');
    // One that is submitted here.
    await page.key('n');
    await opened(page, 'the form');
    await press(page, 'dialog[open] button.link');
    await set(page, 'manifest', JSON.stringify({apiVersion: 'batch/v1',
      kind: 'CronJob', metadata: {name: 'made'}, spec: {schedule: '0 1 * * *',
        jobTemplate: {spec: {template: {spec: {restartPolicy: 'Never',
          containers: [{name: 'main', command: ['true']}]}}}}}}));
    await send(page);
    await until(() => page.value(`/Submitted calendar/.test(${text('.said')})`),
      'it is submitted');
    await d.ask('DELETE', `/v1/crons/${(await crons())[0].id}`);
    noErrors(page);
    await page.close();
  },

  async 'one sees as whom one acts, signs out, and in again'(d, b) {
    const me = (await d.ask('GET', '/v1/users')).self;
    const page = await openLive(b, d);
    assert.match(await page.value(text('button.who')), /^as ./);
    await press(page, 'button.who');
    assert.match(await page.value(DIALOG),
      new RegExp(`user ${me}, who may change everybody`));
    const loaded = page.event('Page.loadEventFired');
    await page.value(`[...document.querySelectorAll('dialog[open] button')]
      .find((e) => e.textContent === 'Sign out').click()`);
    await loaded;
    await until(() => page.value(`/Nobody is signed in/.test(${DIALOG})`),
      'the way in');
    assert.equal(await page.value(text('.live')), 'not signed in');
    assert.equal(await page.value(`document.querySelectorAll(
      'tr[data-job]').length`), 0);
    if (pictures) await page.screenshot(path.join(pictures, 'local-signin.png'));
    await set(page, 'token', '0'.repeat(64));
    await send(page);
    await until(() => page.value(`/nobody has this/.test(${wrong('token')})`),
      'a wrong one');
    // As another user, who may do less; only root can be one here.
    const other = me === 0 ? {uid: 65534, gid: 65534} : {};
    const hers = d.submit('sleep 100', '--name', 'hers');
    await set(page, 'token', d.musterAs(other, 'web'));
    const again = page.event('Page.loadEventFired');
    await send(page);
    await again;
    await until(() => page.value(`${text('.live')} === 'live'`), 'live');
    await until(() => page.value(`!!${row(hers)}`), 'the queue');
    assert.equal(await page.value('location.search'), '');
    const mine = `document.querySelectorAll(
      'tr[data-job="${hers}"] button, [data-drain]').length`;
    assert.equal(await page.value(mine) > 0, me !== 0);
    if (me === 0) {
      await press(page, 'button.who');
      assert.match(await page.value(DIALOG), /65534, who may change jobs of his/);
    }
    noErrors(page, 401);
    await page.close();
  },

  async 'dialogs, arrays and calendars fit every screen, light or dark'(d, b) {
    const ids = grid(d);
    const tick = cron(d, 'tick-' + 't'.repeat(40));
    const last = ids.at(-1);
    const fits = async (page, width, what) => {
      await page.settle();
      const wide = await page.value(`[document.documentElement.scrollWidth,
        ...[...document.querySelectorAll('dialog[open], dialog[open] *, .card')]
          .map((e) => Math.ceil(e.getBoundingClientRect().right))]
        .reduce((a, b) => Math.max(a, b))`);
      assert.ok(wide <= width + 1, `${what}: ${wide} in a window of ${width}`);
      if (pictures) {
        const dark = await page.value('document.documentElement.dataset.theme');
        await page.screenshot(path.join(pictures,
          `local-${width}-${dark}-${what}.png`), !/dialog/.test(what));
      }
    };
    for (const dark of [false, true]) {
      for (const width of [360, 1280, 3840]) {
        const page = await openLive(b, d, {width, height: 800, dark});
        await until(() => page.value(`!!${row(last)}`), 'all is there');
        await fits(page, width, 'all');
        for (const name of ['more', 'edit', 'priority', 'move']) {
          if (name === 'more') await press(page, action(last, name));
          else {
            await page.value(`document.querySelector(
              'tr[data-job="${last}"]').focus()`);
            await page.key(name[0]);
          }
          await opened(page, name);
          await fits(page, width, `dialog-${name}`);
          await page.value(`document.querySelector('dialog[open]').close()`);
        }
        await page.key('n');
        await opened(page, 'the form');
        await page.value(`document.querySelector('dialog[open] details')
          .open = true`);
        await fits(page, width, 'dialog-submit');
        await page.value(`document.querySelector('dialog[open]').close()`);
        await page.value(`location.hash = '#/arrays/${ids[0]}'`);
        await until(() => page.value(`document.querySelectorAll(
          '.trials tbody tr').length === 6`), 'the array');
        await fits(page, width, 'array');
        noErrors(page);
        await page.close();
      }
    }
    await d.ask('DELETE', `/v1/crons/${tick}`);
  },
};

await runTests(tests, programs, CONFIG);
