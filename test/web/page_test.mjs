// The page of muster-sim run --report in headless Chromium; see pages.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import {LIVE, TIP, folder, looksRight, pageOf, run, scenario} from './pages.mjs';

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

const report = (file) =>
  pageOf(path.basename(file, '.yaml'), '--report', 'run', file);
const story = (name) => report(scenario(`story-${name}`));
// The picture of the map, as a number that changes with it.
const PICTURE = `(() => {
  const c = document.querySelector('.mapframe canvas');
  const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  let hash = 7;
  for (const byte of data) hash = (hash * 31 + byte) | 0;
  return hash;
})()`;
const MOMENT = `document.querySelector('output.moment').textContent`;
const focus = (selector) => `document.querySelector('${selector}').focus()`;

await run({
  async 'nothing is wide, wrong or fetched, on any screen, light or dark'(b) {
    await looksRight(b, story('d-one-rack'), 'report');
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
    const file = path.join(folder, 'hostile.yaml');
    fs.writeFileSync(file, HOSTILE);
    const page = await b.open(report(file));
    assert.match(await page.value('document.title'), /^<\/title><script>/);
    assert.match(await page.value(`document.body.innerText`),
      /<\/script><img src=x onerror=fail\(\)>|<!--<script>/);
    assert.equal(await page.value(
      `document.querySelectorAll('img, main b[onerror]').length`), 0);
    assert.deepEqual(page.errors, []);
    assert.deepEqual(page.requests, []);
    await page.close();
  },
});
