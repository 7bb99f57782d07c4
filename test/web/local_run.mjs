// Runs tests of musterd's page: of one daemon, in one browser.
import {Browser, findChromium} from './browser.mjs';
import {Daemon} from './local_daemon.mjs';
import {endOfTests, report, skip} from './reported.mjs';

// Expressions in the page: what an element says; the queue's row of a job.
export const text = (selector) =>
  `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? '')`;
export const row = (id) => text(`tr[data-job="${id}"]`);

// tests: {name: async (daemon, browser) => ...}. Ends the process; all are
// skipped where there is no Chromium or musterd has no page.
export async function runTests(tests, programs, config) {
  const chromium = findChromium();
  if (!chromium) skip('there is no Chromium (Debian: chromium)');
  const daemon = new Daemon(programs, config);
  const browser = new Browser(chromium);
  try {
    await daemon.start();
    const {headers} = await fetch(daemon.origin);
    if (headers.get('content-type').startsWith('text/plain')) {
      await browser.close();
      await daemon.end();
      skip('built without npm');
    }
    for (const [name, test] of Object.entries(tests)) {
      await report(name, () => test(daemon, browser));
      await daemon.cancelAll();
    }
  } finally {
    await browser.close();
    await daemon.end();
  }
  endOfTests();
}
