// Tells of each test of a script, as test/reported.py does: into the folder that MUSTER_RESULTS
// names, from which ctest's tests read it; then the script ends with 0. Without it the exit code
// says what became of all.
import fs from 'node:fs';
import path from 'node:path';

const [PASSED, FAILED, SKIPPED] = [0, 1, 77];
const folder = process.env.MUSTER_RESULTS;
if (folder) {
  fs.rmSync(folder, {recursive: true, force: true});
  fs.mkdirSync(folder, {recursive: true});
}

const told = [];
let failed = false;

function write(name, code, text) {
  if (folder) fs.writeFileSync(path.join(folder, name), `${code}\n${text}\n`);
}

function end(code) {
  write('all', code, told.join('\n'));
  process.exit(folder ? PASSED : code);
}

function say(line) {
  told.push(line);
  console.log(line);
}

// Ends the script, of which nothing can run here.
export function skip(why) {
  say(`[  SKIPPED ] ${why}`);
  end(SKIPPED);
}

// Runs a test, and tells what became of it.
export async function report(name, test) {
  try {
    await test();
    say(`ok      ${name}`);
    write(name, PASSED, '');
  } catch (error) {
    failed = true;
    say(`FAILED  ${name}\n${error.stack}`);
    write(name, FAILED, error.stack);
  }
}

export function endOfTests() {
  end(failed ? FAILED : PASSED);
}
