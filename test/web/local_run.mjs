// Runs tests of musterd's page: of one daemon, in one browser.
import {Browser, findChromium} from './browser.mjs';
import {Daemon} from './local_daemon.mjs';

// Expressions in the page: what an element says; the queue's row of a job.
export const text = (selector) =>
  `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? '')`;
export const row = (id) => text(`tr[data-job="${id}"]`);

function skip(why) {
  console.log(`[  SKIPPED ] ${why}`);
  process.exit(77);
}

// tests: {name: async (daemon, browser) => ...}. Ends the process: 0; 1 where
// one has failed; 77 where there is no Chromium or musterd has no page.
export async function runTests(tests, programs, config) {
  const chromium = findChromium();
  if (!chromium) skip('there is no Chromium (Debian: chromium)');
  const daemon = new Daemon(programs, config);
  const browser = new Browser(chromium);
  let failed = 0;
  try {
    await daemon.start();
    const {headers} = await fetch(daemon.origin);
    if (headers.get('content-type').startsWith('text/plain')) {
      await browser.close();
      await daemon.end();
      skip('built without npm');
    }
    for (const [name, test] of Object.entries(tests)) {
      try {
        await test(daemon, browser);
        console.log(`ok      ${name}`);
      } catch (error) {
        ++failed;
        console.log(`FAILED  ${name}\n${error.stack}`);
      }
      await daemon.cancelAll();
    }
  } finally {
    await browser.close();
    await daemon.end();
  }
  process.exit(failed > 0 ? 1 : 0);
}
