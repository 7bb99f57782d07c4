// The page of a real musterd that binds tasks to CPUs, in headless Chromium:
//   node local_cpus_test.mjs PROGRAMS [FOLDER]
// as local_page_test.mjs.
import assert from 'node:assert/strict';
import path from 'node:path';

import {until} from './local_daemon.mjs';
import {row, runTests, text} from './local_run.mjs';

const [programs, pictures] = process.argv.slice(2);

const CONFIG = `
node: {name: box, gpus: 0, cpus: {amount: 2, bind: cores, unit: thread}}
`;

const CPUS = text('.cpus');

const tests = {
  async 'who has CPUs of his own is shown while he has them'(d, b) {
    const page = await b.open(d.url);
    await until(() => page.value(`/It has no GPU/.test(${text('body')})`),
      'the machine');
    assert.equal(await page.value(CPUS), '', 'nobody has any');
    const one = d.submit('sleep 60', '--name', 'one', '--cpus', '1');
    await until(() => page.value(`/running/.test(${row(one)})`), 'it runs');
    await until(() => page.value(
      `/^CPU \\d+ #${one} one, \\S+\\nCPU \\d+: shared by all others/.test(${CPUS})`),
    'its CPU, and the rest');
    if (pictures) await page.screenshot(path.join(pictures, 'cpus.png'));
    const other = d.submit('sleep 60', '--name', 'other', '--cpus', '1');
    await until(() => page.value(`/#${other} other.*\\nNone is left/.test(${CPUS})`),
      'all are taken');
    d.muster('cancel', String(one), String(other));
    await until(() => page.value(`${CPUS} === ''`), 'they are free again');
    assert.deepEqual(page.errors, []);
    await page.close();
  },
};

await runTests(tests, programs, CONFIG);
