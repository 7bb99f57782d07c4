// The page of muster-sim compare in headless Chromium; see pages.mjs.
import assert from 'node:assert/strict';

import {LIVE, TIP, looksRight, pageOf, run, scenario} from './pages.mjs';

const compare = (name, ...args) => pageOf(name, '--page', 'compare', ...args);
const seeds = compare('seeds', '--generate', 'preset=small,load=0.95,days=1',
  '--seeds', '4', '--variant', '<b>base</b>', '--variant',
  'spread:placement.policy=least-allocated', '--variant',
  'patient:scheduler.preemption=false', '--variant',
  'again:scheduler.preemption=true');

await run({
  async 'nothing is wide, wrong or fetched, on any screen, light or dark'(b) {
    await looksRight(b, seeds, 'compare');
  },

  async 'every measure has its verdicts, and a plot'(b) {
    const page = await b.open(seeds);
    const [measures, cards, verdicts] = await page.value(`[
      document.querySelectorAll('section:nth-of-type(2) tbody tr').length,
      document.querySelectorAll('.card.measure').length,
      [...document.querySelectorAll('td .verdict')].map((v) => v.innerText)]`);
    assert.ok(measures >= 11);
    assert.equal(cards, measures);
    assert.equal(verdicts.length, 3 * measures);
    for (const text of verdicts) {
      assert.match(text, /^(better|worse|equal|no difference shown|not judged|–)$/);
    }
    assert.match(await page.value(
      `document.querySelector('.variants').innerText`),
    /<b>base<\/b>.*the base.*placement.policy=least-allocated.*again.*the same decisions/s);
    await page.close();
  },

  async 'each run tells its seed, to mouse and keyboard'(b) {
    const page = await b.open(seeds);
    const at = await page.place('.lane:nth-of-type(4) .run');
    await page.mouse('mouseMoved', at.x, at.y);
    await page.settle();
    assert.match(await page.value(TIP), /spread, seed \d: .*difference/s);
    // The seed is marked in every line of its measure.
    assert.equal(await page.value(`document.querySelector('.card.measure')
      .querySelectorAll('.picked').length`), 4);
    await page.value(`document.querySelectorAll('.lane')[1].focus()`);
    await page.key('ArrowRight');
    assert.match(await page.value(LIVE), /^spread, seed 1: /);
    await page.key('End');
    assert.match(await page.value(LIVE), /^spread, seed 4: .*95 % interval/);
    await page.key('Escape');
    assert.equal(await page.value(TIP), '');
    assert.deepEqual(page.errors, []);
    await page.close();
  },

  async 'one input has no intervals, and says so'(b) {
    const page = await b.open(compare('one',
      scenario('story-a-precious-node'), '--variant', 'as-is', '--variant',
      'patient:scheduler.preemption=false'));
    const text = await page.value('document.body.innerText');
    assert.match(text, /There is one input, and so no interval/);
    assert.match(text, /better here/);
    assert.equal(await page.value(
      `document.querySelectorAll('.whisker, .run').length`), 0);
    assert.deepEqual(page.errors, []);
    await page.close();
  },
});
