// The page of a real musterd in headless Chromium:
//   node local_page_test.mjs PROGRAMS [FOLDER]
// PROGRAMS is the folder of musterd, muster and muster-shim. With a second
// folder, pictures of what was looked at are left there. Skipped, with exit
// code 77, where there is no Chromium or musterd has no page.
import assert from 'node:assert/strict';
import path from 'node:path';

import {until} from './local_daemon.mjs';
import {row, runTests, text} from './local_run.mjs';

const [programs, pictures] = process.argv.slice(2);

const CONFIG = `
node: {name: box, cpus: 8, memory: 16Gi, gpus: {count: 2, model: A100}}
queues:
- {key: default}
- {key: lab, weight: 2, quotas: [{resource: gpu, guarantee: 1, limit: 2}]}
`;

// Saves its work as it begins, and goes on from there.
const TRAIN = `
trap 'exit 143' TERM
touch "$MUSTER_CHECKPOINT"  # Once: what comes after it is lost with the attempt.
while :; do
  echo "step on GPUs $MUSTER_GPUS, attempt $MUSTER_ATTEMPT"
  sleep 1
done`;

const LOG = text('pre.log');

const tests = {
  async 'without the token nothing is to be had'(daemon) {
    const {origin, token} = daemon;
    for (const target of ['/v1/users', '/v1/jobs', '/v1/events',
      `/login?token=${'0'.repeat(64)}`]) {
      assert.equal((await fetch(origin + target)).status, 401, target);
    }
    const cookie = {Cookie: `muster-${new URL(origin).port}=${token}`};
    const jobs = `${origin}/v1/jobs`;
    assert.equal((await fetch(jobs, {headers: cookie})).status, 401);
    const answer = await fetch(`${origin}/login?token=${token}`,
      {redirect: 'manual'});
    assert.equal(answer.status, 303);
    const set = answer.headers.get('set-cookie');
    assert.match(set, /; HttpOnly; SameSite=Strict$/);
    assert.ok(!set.includes(token));
    const mine = {Cookie: set.split(';')[0]};
    assert.equal((await fetch(jobs, {headers: mine})).status, 200);
    const page = await fetch(origin);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-security-policy'),
      /script-src 'self'/);
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(page.headers.get('access-control-allow-origin'), null);
    // A change that comes from nowhere, or from another page.
    for (const headers of [{}, {Origin: 'http://127.0.0.1:1'}]) {
      const change = await fetch(jobs, {method: 'POST',
        body: '{}', headers: {...mine, ...headers}});
      assert.equal(change.status, 403);
    }
  },

  async 'a job is submitted, runs, tells its log and is cancelled'(d, b) {
    const page = await b.open(d.url);
    assert.equal(await page.value('location.pathname + location.search'), '/');
    await until(() => page.value(`${text('.live')} === 'live'`), 'live');
    await page.key('n');
    await until(() => page.value(
      `document.querySelectorAll('dialog[open] select option').length >= 6`),
    'queues and classes');
    await page.value(`(() => {
      const [command] = document.querySelectorAll('dialog[open] textarea');
      command.value = 'echo begins with $MUSTER_GPUS; while :; do ' +
          'echo "tick"; sleep 0.2; done';
      document.querySelector('dialog[open] input[type=number]').value = 1;
    })()`);
    await page.value(`[...document.querySelectorAll('dialog[open] button')]
      .find((e) => /become/.test(e.textContent)).click()`);
    await until(() => page.value(
      `/would start at once/.test(${text('dialog[open] .told')})`), 'a forecast');
    await page.value(`document.querySelector('dialog[open] form')
      .requestSubmit()`);
    await until(() => page.value(`!document.querySelector('dialog[open]')`),
      'it is submitted');
    const [{id}] = await until(async () => {
      const {jobs} = await d.ask('GET', '/v1/jobs');
      return jobs.length === 1 && jobs;
    }, 'one job');
    await until(() => page.value(`/running/.test(${row(id)})`), 'it runs');
    assert.match(await page.value(row(id)), /echo.*normal.*1 on 0.*default/s);
    await until(() => page.value(`/#${id} echo/.test(${text('.devices')})`),
      'the map shows it');

    await page.key('j');
    await page.key('Enter');
    await until(() => page.value(
      `/^begins with 0\\n(tick\\n){3}/.test(${LOG})`), 'its log');
    const length = `document.querySelector('pre.log').textContent.length`;
    const now = await page.value(length);
    await until(async () => await page.value(length) > now, 'more of it');
    assert.match(await page.value(text('.job .happened')),
      /Submitted.*Started \(1 task, GPU 0\)/s);

    page.call('Page.enable');
    const asked = page.event('Page.javascriptDialogOpening');
    const pressed = page.key('c');
    await asked;
    await page.call('Page.handleJavaScriptDialog', {accept: true});
    await pressed;
    await until(async () => (await d.job(id)).phase === 'forgotten', 'cancelled');
    await until(() => page.value(`/cancelled/.test(${text('.job h2')})`),
      'the page says so');
    await until(() => page.value(`/Cancelled/.test(${text('.job .happened')})`),
      'and its time line');
    await page.key('g');
    await until(() => page.value(`!${row(id)}`), 'it is gone from the queue');
    assert.deepEqual(page.errors, []);
    await page.close();
  },

  async 'a preemption is shown with the work it cost, and the resumption'(d, b) {
    const train = d.submit(TRAIN, '--name', 'train', '--gpus', '2',
      '--priority', 'low', '--grace', '5s');
    const page = await b.open(d.url);
    await until(() => page.value(`/running/.test(${row(train)})`), 'it runs');
    await until(() => page.value(`/train checkpoint/.test(
      ${text('.happened')})`), 'a checkpoint');
    const urgent = d.submit('sleep 3', '--name', 'urgent', '--gpus', '2',
      '--priority', 'high');
    await until(() => page.value(`/preempted/.test(${row(train)}) &&
      /running/.test(${row(urgent)})`), 'who has whose GPUs');
    assert.match(await page.value(row(train)),
      /needs 2 GPUs, 0 GPU available/);
    // Those that run come first.
    assert.deepEqual(await page.value(
      `[...document.querySelectorAll('tr[data-job]')]
        .map((e) => Number(e.dataset.job))`), [urgent, train]);
    await page.value(`location.hash = '#/jobs/${train}'`);
    await until(() => page.value(`/attempt 2/.test(${LOG})`), 'it goes on');
    await until(() => page.value(`/Preempted.*lost.*Started again/s.test(
      ${text('.job .happened')})`), 'its time line');
    assert.equal(await page.value(
      `document.querySelectorAll('.lane .work').length`), 2);
    await page.key('h');
    await until(async () => (await d.job(train)).held, 'held by a key');
    await until(() => page.value(
      `!!document.querySelector('button[data-action=release]')`), 'a way back');
    await page.value(`document.querySelector('button[data-action=release]')
      .click()`);
    await until(async () => !(await d.job(train)).held, 'released');
    assert.deepEqual(page.errors, []);
    await page.close();
  },

  async 'scripts in names, logs and paths stay text'(d, b) {
    const evil = '</pre><img src=x onerror=document.title="broken">' +
      '<script>document.title="broken"</script>';
    const none = async () => {
      assert.equal(await page.value(`document.querySelectorAll(
        'img, body script:not([src="/page.js"])').length`), 0);
      assert.doesNotMatch(await page.value('document.title'), /broken/);
    };
    const page = await b.open(d.url);
    // Names have letters and the like: the daemon says so, with the name.
    await page.key('n');
    await page.value(`(() => {
      document.querySelector('dialog[open] textarea').value = 'true';
      document.querySelector('dialog[open] input[type=text]').value =
          ${JSON.stringify(evil)};
      document.querySelector('dialog[open] form').requestSubmit();
    })()`);
    await until(() => page.value(
      `${text('dialog[open] form')}.includes('<script>')`), 'a refusal');
    await none();
    await page.value(`document.querySelector('dialog[open]').close()`);
    // It may be in a log, a manifest, and why a job could not be started.
    const id = d.submit(`echo '${evil}'; sleep 60`, '--name', 'evil');
    await page.value(`location.hash = '#/jobs/${id}'`);
    await until(() => page.value(`${LOG}.includes('<script>')`), 'a log');
    await page.value(`document.querySelector('details.data').open = true`);
    assert.match(await page.value(text('details.data')), /<script>/);
    await none();
    const {jobs: [{id: lost}]} = await d.ask('POST', '/v1/jobs', {
      manifest: (await d.job(id)).manifest, directory: `/none/${evil}`});
    await until(async () => (await d.job(lost)).phase === 'failed', 'it fails');
    await page.value(`location.hash = '#/jobs/${lost}'`);
    await until(() => page.value(`${text('.facts')}.includes('<script>')`),
      'where it was to run');
    await none();
    // The browser's own note of the refusal.
    assert.deepEqual(page.errors.filter((e) => !/status of 422/.test(e)), []);
    await page.close();
  },

  async 'it fits every screen, light or dark, and loads from its daemon'(d, b) {
    const ids = [d.submit('sleep 60', '--name', 'half', '--gpus', '0.5'),
      d.submit('sleep 60', '--name', 'other', '--gpus', '1', '--queue', 'lab'),
      d.submit('sleep 60', '--name', 'waits-' + 'w'.repeat(50), '--gpus', '2')];
    for (const dark of [false, true]) {
      for (const width of [360, 800, 1280, 3840]) {
        const page = await b.open(d.url, {width, height: 800, dark});
        await until(() => page.value(`/half/.test(${text('.happened')})`),
          'all is there');
        for (const hash of ['#/', `#/jobs/${ids[0]}`]) {
          await page.value(`location.hash = '${hash}'`);
          await until(() => page.value(hash === '#/' ? `!!${row(ids[0])}` :
            `document.querySelectorAll('.lane .work').length === 1`), hash);
          await page.settle();
          const [wide, colour] = await page.value(`[
            document.documentElement.scrollWidth,
            getComputedStyle(document.documentElement).backgroundColor]`);
          assert.ok(wide <= width, `${wide} pixels in a window of ${width}`);
          const shade = Number(colour.match(/\d+/)[0]);
          assert.ok(dark ? shade < 60 : shade > 200, colour);
          assert.deepEqual(await page.value(`[...document.querySelectorAll(
            '.card > *')].filter((e) => e.getBoundingClientRect().right >
              innerWidth + 1).map((e) => e.innerText)`), [], `${width} ${hash}`);
          if (pictures) {
            await page.screenshot(path.join(pictures, `local-${width}-` +
              `${dark ? 'dark' : 'light'}${hash === '#/' ? '' : '-job'}.png`));
          }
        }
        assert.ok(page.requests.every((url) => url.startsWith(d.origin)));
        assert.deepEqual(page.errors, []);
        await page.close();
      }
    }
  },

  async 'the keyboard has its help, and a filter'(d, b) {
    const ids = ['one', 'two'].map((name) => d.submit('sleep 60', '--name', name));
    const page = await b.open(d.url);
    await until(() => page.value(`!!${row(ids[1])}`), 'rows');
    await page.key('?', {shift: true});
    assert.match(await page.value(text('dialog[open]')), /cancel it/);
    await page.value(`document.querySelector('dialog[open]').close()`);
    await page.key('/');
    assert.equal(await page.value('document.activeElement.type'), 'search');
    await page.call('Input.insertText', {text: 'TWO'});
    assert.equal(await page.value(row(ids[0])), '');
    assert.match(await page.value(row(ids[1])), /two/);
    await page.close();
  },

  // The last one: it ends the daemon.
  async 'the page goes on when musterd was killed and started anew'(d, b) {
    const id = d.submit('while :; do echo tick; sleep 0.2; done', '--name',
      'lives');
    const page = await b.open(d.url);
    await until(() => page.value(`/running/.test(${row(id)})`), 'it runs');
    await d.kill();
    await until(() => page.value(`/trying again/.test(${text('.live')})`),
      'the page knows');
    await d.start();
    await until(() => page.value(`${text('.live')} === 'live'`), 'live again');
    const other = d.submit('sleep 60', '--name', 'after');
    await until(() => page.value(`/running/.test(${row(other)})`),
      'what happens is shown again');
    assert.match(await page.value(row(id)), /running/);
    await page.close();
  },
};

await runTests(tests, programs, CONFIG);
