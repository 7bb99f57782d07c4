// What the tests of all pages have in common:
//   node NAME_test.mjs MUSTER_SIM SCENARIOS [FOLDER]
// With a folder, pictures of what was looked at are left there. Skipped, with
// exit code 77, where there is no Chromium or muster-sim has no pages.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {Browser, findChromium} from './browser.mjs';
import {endOfTests, report, skip} from './reported.mjs';

const [sim, scenarioFolder, pictures] = process.argv.slice(2);

const chromium = findChromium();
if (!chromium) skip('there is no Chromium (Debian: chromium)');
const probe = spawnSync(sim,
  ['run', 'no such file', '--report', os.devNull], {encoding: 'utf8'});
if (/needs a build with npm/.test(probe.stderr)) skip('built without npm');

// Gone after the tests.
export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-page-'));

export const scenario = (name) => path.join(scenarioFolder, `${name}.yaml`);

// The address of the page that muster-sim makes with these arguments.
export function pageOf(name, option, ...args) {
  const file = path.join(folder, `${name}.html`);
  execFileSync(sim, [...args, option, file],
    {stdio: ['ignore', 'ignore', 'inherit']});
  return pathToFileURL(file).href;
}

// Expressions in a page: what a screen reader is told, and the open hint.
export const LIVE = `document.getElementById('live').textContent`;
export const TIP = `(() => {
  const tip = document.querySelector('.tip');
  return tip.hidden ? '' : tip.innerText;
})()`;

// Nothing is wide, wrong or fetched, on any screen, light or dark.
export async function looksRight(browser, url, name) {
  for (const dark of [false, true]) {
    for (const width of [360, 1280, 3840]) {
      const page = await browser.open(url, {width, height: 800, dark});
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
          `${name}-${width}-${dark ? 'dark' : 'light'}.png`));
      }
      await page.close();
    }
  }
}

// Runs tests, functions of a browser by name, and ends the program.
export async function run(tests) {
  const browser = new Browser(chromium);
  for (const [name, test] of Object.entries(tests)) {
    await report(name, () => test(browser));
  }
  await browser.close();
  fs.rmSync(folder, {recursive: true});
  endOfTests();
}
