// The pages in headless Chromium:
//   node page_test.mjs MUSTER_SIM SCENARIOS [FOLDER]
// With a folder, pictures of what was looked at are left there. Skipped, with
// exit code 77, where there is no Chromium or muster-sim has no pages.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {Browser, findChromium} from './browser.mjs';

const [sim, scenarios, pictures] = process.argv.slice(2);
const WIDTHS = [360, 1280, 3840];

function skip(why) {
  console.log(`[  SKIPPED ] ${why}`);
  process.exit(77);
}

const chromium = findChromium();
if (!chromium) skip('there is no Chromium (Debian: chromium)');
const probe = spawnSync(sim, ['run', 'no such file', '--report', os.devNull]);
if (/needs a build with npm/.test(probe.stderr)) skip('built without npm');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-page-'));

// A scenario whose names attack the page, with gangs left waiting.
const HOSTILE = `
title: "</title><script>document.title='broken'</script>"
nodes: [{key: "</script><b>n", count: 2, capacity: {cpu: 4}, devices: 2}]
gangs:
  - {key: "</script><img src=x onerror=fail()>", run: 100s, per_task: {gpu: 1},
     tasks: 4}
  - {key: "<!--<script>", submit: 1s, run: 50s, per_task: {gpu: 1}, tasks: 3}
  - {key: too-large, submit: 2s, run: 50s, per_task: {gpu: 1}, tasks: 5}
expect: {waiting: {too-large: never-fits}}
`;

function report(scenario) {
  const page = path.join(folder, path.basename(scenario, '.yaml') + '.html');
  execFileSync(sim, ['run', scenario, '--report', page], {stdio: 'pipe'});
  return pathToFileURL(page).href;
}

const story = (name) => report(path.join(scenarios, `story-${name}.yaml`));
// The picture of the map, as a number that changes with it.
const PICTURE = `(() => {
  const c = document.querySelector('.mapframe canvas');
  const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  let hash = 7;
  for (const byte of data) hash = (hash * 31 + byte) | 0;
  return hash;
})()`;
const MOMENT = `document.querySelector('output.moment').textContent`;
const LIVE = `document.getElementById('live').textContent`;
const TIP = `(() => {
  const tip = document.querySelector('.tip');
  return tip.hidden ? '' : tip.innerText;
})()`;
const focus = (selector) => `document.querySelector('${selector}').focus()`;

const tests = {
  async 'nothing is wide, wrong or fetched, on any screen, light or dark'(b) {
    const url = story('d-one-rack');
    for (const dark of [false, true]) {
      for (const width of WIDTHS) {
        const page = await b.open(url, {width, height: 800, dark});
        const [wide, background] = await page.value(`[
          document.documentElement.scrollWidth,
          getComputedStyle(document.documentElement).backgroundColor]`);
        assert.ok(wide <= width, `${wide} pixels in a window of ${width}`);
        const shade = Number(background.match(/\d+/)[0]);
        assert.ok(dark ? shade < 60 : shade > 200, background);
        // Whatever sticks out of its card would be cut off.
        assert.deepEqual(await page.value(`[...document.querySelectorAll(
          '.card > *')].filter((e) => e.getBoundingClientRect().right >
            innerWidth + 1).map((e) => e.className)`), []);
        assert.deepEqual(page.errors, []);
        assert.deepEqual(page.requests, []);
        if (pictures) {
          await page.screenshot(path.join(pictures,
            `${width}-${dark ? 'dark' : 'light'}.png`));
        }
        await page.close();
      }
    }
  },

  async 'the slider and the keyboard move the map through time'(b) {
    const page = await b.open(story('e-node-dies'));
    assert.equal(await page.value(MOMENT), '0 s');
    const first = await page.value(PICTURE);
    await page.value(focus('input[type=range]'));
    await page.key('ArrowRight');
    assert.equal(await page.value(MOMENT), '1 min 15 s');
    const second = await page.value(PICTURE);
    assert.notEqual(second, first, 'a node is down now');
    assert.match(await page.value(
      `document.querySelector('.mapframe').previousSibling.innerText`),
    /down 4/);
    await page.key('ArrowLeft');
    assert.equal(await page.value(PICTURE), first);
    const to = await page.place('input[type=range]', 0.98);
    await page.click(to.x, to.y);
    assert.notEqual(await page.value(MOMENT), '0 s');
    await page.value(`document.querySelector('.controls button').click()`);
    assert.equal(await page.value(
      `document.querySelector('.controls button').textContent`), 'Pause');
    await page.close();
  },

  async 'each GPU tells who holds it, to mouse and keyboard'(b) {
    const page = await b.open(story('a-precious-node'));
    const at = await page.place('.mapframe canvas', 0.005);
    await page.mouse('mouseMoved', at.x, at.y);
    await page.settle();
    assert.match(await page.value(TIP),
      /precious, GPU 0.*gang test1: 1 GPU.*at work/s);
    await page.value(focus('.mapframe canvas'));
    await page.key('.');
    assert.equal(await page.value(MOMENT), '1 min 40 s');
    await page.key('ArrowRight');
    assert.match(await page.value(LIVE), /gang test2/);
    await page.key('Enter');
    assert.match(await page.value(
      `document.querySelector('.mapframe').previousSibling.innerText`),
    /marked: test2/);
    await page.close();
  },

  async 'charts tell their values to the keyboard, zoom and set the moment'(b) {
    const page = await b.open(story('a-precious-node'));
    await page.value(focus('.chart'));
    await page.key('End');
    assert.match(await page.value(LIVE), /6 min 50 s: GPUs/);
    await page.key('Home');
    await page.key('ArrowRight', {shift: true});
    assert.match(await page.value(LIVE), /s: GPUs 100.0 %/);
    await page.key('Enter');
    assert.equal(await page.value(MOMENT), '0 s');
    const before = await page.value(`document.querySelector('.gangs canvas')
      .toDataURL()`);
    await page.key('+');
    assert.notEqual(await page.value(`document.querySelector('.gangs canvas')
      .toDataURL()`), before, 'the time line zooms with the charts');
    await page.key('0');
    const drag = await page.place('.chart .u-over', 0.3);
    await page.mouse('mouseMoved', drag.x, drag.y);
    await page.mouse('mousePressed', drag.x, drag.y, 'left');
    await page.mouse('mouseMoved', drag.x + 80, drag.y, 'left');
    await page.mouse('mouseReleased', drag.x + 80, drag.y, 'left');
    await page.settle();
    await page.click(drag.x + 40, drag.y);
    assert.match(await page.value(MOMENT), /1 min 40 s|2 min 30 s/);
    assert.deepEqual(page.errors, []);
    await page.close();
  },

  async 'the time line tells of preemptions'(b) {
    const page = await b.open(story('a-precious-node'));
    await page.value(focus('.gangs'));
    await page.key('ArrowDown');
    assert.match(await page.value(LIVE), /^test2: 1 GPU.*1 interruption/);
    await page.key('ArrowRight');
    assert.match(await page.value(LIVE),
      /stretch 1 of 2.*preempted by test-p1, 10 s of work lost/);
    assert.match(await page.value(TIP), /preempted by test-p1/);
    await page.close();
  },

  async 'the table of waits can be searched'(b) {
    const page = await b.open(story('a-precious-node'));
    const rows = `[...document.querySelectorAll('.tall tbody tr')]
      .map((row) => row.innerText)`;
    assert.equal((await page.value(rows)).length, 3);
    await page.value(`(() => {
      const search = document.querySelector('input[type=search]');
      search.value = 'TEST3';
      search.dispatchEvent(new Event('input'));
    })()`);
    const found = await page.value(rows);
    assert.equal(found.length, 1);
    assert.match(found[0], /test3.*5.17 min.*needs 1 GPUs?, 0 available/s);
    await page.close();
  },

  async 'the theme can be chosen'(b) {
    const page = await b.open(story('a-precious-node'));
    const theme = 'document.documentElement.dataset.theme';
    assert.equal(await page.value(theme), 'light');
    const press = `document.querySelector('button.theme').click()`;
    await page.value(press);
    assert.equal(await page.value(theme), 'light');
    await page.value(press);
    assert.equal(await page.value(theme), 'dark');
    assert.deepEqual(page.errors, []);
    await page.close();
  },

  async 'hostile names are shown as they are'(b) {
    const scenario = path.join(folder, 'hostile.yaml');
    fs.writeFileSync(scenario, HOSTILE);
    const page = await b.open(report(scenario));
    assert.match(await page.value('document.title'), /^<\/title><script>/);
    assert.match(await page.value(`document.body.innerText`),
      /<\/script><img src=x onerror=fail\(\)>|<!--<script>/);
    assert.equal(await page.value(
      `document.querySelectorAll('img, main b[onerror]').length`), 0);
    assert.deepEqual(page.errors, []);
    assert.deepEqual(page.requests, []);
    await page.close();
  },
};

const browser = new Browser(chromium);
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test(browser);
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
fs.rmSync(folder, {recursive: true});
process.exit(failed > 0 ? 1 : 0);
