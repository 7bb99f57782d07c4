// A musterd of its own for a test of its page, with GPUs that are invented.
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const START_MS = 30_000;

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Until `true_` says so.
export async function until(true_, what, ms = 20_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await true_();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not come true: ${what}`);
    await pause(50);
  }
}

export class Daemon {
  // `programs`: the folder of musterd, muster and muster-shim. `config`: YAML.
  constructor(programs, config) {
    this.programs = programs;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-local-'));
    fs.chmodSync(this.folder, 0o755);
    this.socket = path.join(this.folder, 'socket');
    this.config = path.join(this.folder, 'config.yaml');
    fs.writeFileSync(this.config, config);
    this.listen = '127.0.0.1:0';
  }

  async start() {
    const log = fs.openSync(path.join(this.folder, 'log'), 'a');
    this.process = spawn(path.join(this.programs, 'musterd'), ['--state',
      path.join(this.folder, 'state'), '--socket', this.socket, '--config',
      this.config, '--listen', this.listen], {stdio: ['ignore', log, log]});
    fs.closeSync(log);
    this.ended = new Promise((done) => this.process.on('exit', done));
    await until(() => {
      if (this.process.exitCode !== null) throw new Error(this.said());
      try {
        return this.muster('version');
      } catch {
        return false;
      }
    }, 'musterd starts', START_MS);
    this.url = this.muster('web').trim();
    const {host, searchParams} = new URL(this.url);
    this.listen = host;  // Where the next one is, too.
    this.origin = `http://${host}`;
    this.token = searchParams.get('token');
    return this;
  }

  said() {
    return fs.readFileSync(path.join(this.folder, 'log'), 'utf8');
  }

  muster(...words) { return this.musterAs({}, ...words); }

  // As {uid, gid}.
  musterAs(user, ...words) {
    return execFileSync(path.join(this.programs, 'muster'),
      ['--socket', this.socket, ...words],
      {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...user});
  }

  // A request over TCP with the token; its JSON.
  async ask(method, target, body = undefined) {
    const answer = await fetch(this.origin + target, {method,
      headers: {Authorization: `Bearer ${this.token}`},
      body: body && JSON.stringify(body)});
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${target}: ${json.error}`);
    return json;
  }

  job(id) { return this.ask('GET', `/v1/jobs/${id}`); }

  // Submits a command of a shell; its id.
  submit(command, ...options) {
    const {jobs} = JSON.parse(this.muster('--json', 'submit', ...options, '--',
      'sh', '-c', command));
    return jobs[0].id;
  }

  // As a crash; its port stays its own.
  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  async cancelAll() {
    const {jobs} = await this.ask('GET', '/v1/jobs');
    for (const {id} of jobs) {
      // It may have finished by itself.
      await this.ask('DELETE', `/v1/jobs/${id}`).catch(() => {});
    }
    await until(async () => (await this.ask('GET', '/v1/jobs')).jobs.length ===
      0, 'jobs are gone');
  }

  // Nothing stays behind.
  async end() {
    await this.cancelAll();
    this.process.kill('SIGTERM');
    await this.ended;
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }
}
