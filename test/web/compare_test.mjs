// The page of muster-sim compare in headless Chromium:
//   node compare_test.mjs MUSTER_SIM SCENARIOS [FOLDER]
// As page_test.mjs, which sees to what all pages have in common.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {Browser, findChromium} from './browser.mjs';

const [sim, scenarios, pictures] = process.argv.slice(2);

function skip(why) {
  console.log(`[  SKIPPED ] ${why}`);
  process.exit(77);
}

const chromium = findChromium();
if (!chromium) skip('there is no Chromium (Debian: chromium)');
const probe = spawnSync(sim, ['compare', 'no such file', '--variant', 'a',
  '--page', os.devNull]);
if (/needs a build with npm/.test(probe.stderr)) skip('built without npm');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-compare-'));

function compare(name, ...args) {
  const page = path.join(folder, `${name}.html`);
  execFileSync(sim, ['compare', ...args, '--page', page], {stdio: 'pipe'});
  return pathToFileURL(page).href;
}

const seeds = compare('seeds', '--generate', 'preset=small,load=0.95,days=1',
  '--seeds', '4', '--variant', '<b>base</b>', '--variant',
  'spread:placement.policy=spread', '--variant',
  'patient:scheduler.preemption=false', '--variant',
  'again:scheduler.preemption=true');
const LIVE = `document.getElementById('live').textContent`;
const TIP = `(() => {
  const tip = document.querySelector('.tip');
  return tip.hidden ? '' : tip.innerText;
})()`;

const tests = {
  async 'nothing is wide, wrong or fetched, on any screen, light or dark'(b) {
    for (const dark of [false, true]) {
      for (const width of [360, 1280, 3840]) {
        const page = await b.open(seeds, {width, height: 800, dark});
        const wide = await page.value('document.documentElement.scrollWidth');
        assert.ok(wide <= width, `${wide} pixels in a window of ${width}`);
        assert.deepEqual(await page.value(`[...document.querySelectorAll(
          '.card > *')].filter((e) => e.getBoundingClientRect().right >
            innerWidth + 1).map((e) => e.className)`), []);
        assert.deepEqual(page.errors, []);
        assert.deepEqual(page.requests, []);
        if (pictures) {
          await page.screenshot(path.join(pictures,
            `compare-${width}-${dark ? 'dark' : 'light'}.png`));
        }
        await page.close();
      }
    }
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
    /<b>base<\/b>.*the base.*placement.policy=spread.*again.*the same decisions/s);
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
      path.join(scenarios, 'story-a-precious-node.yaml'), '--variant', 'as-is',
      '--variant', 'patient:scheduler.preemption=false'));
    const text = await page.value('document.body.innerText');
    assert.match(text, /There is one input, and so no interval/);
    assert.match(text, /better here/);
    assert.equal(await page.value(
      `document.querySelectorAll('.whisker, .run').length`), 0);
    assert.deepEqual(page.errors, []);
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
