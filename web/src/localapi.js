// How musterd's page asks its daemon: docs/local-api.yaml. No DOM.

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

// The daemon's answer is no success; `field`: what of the request is wrong, if it
// says so.
export class Refused extends Error {
  constructor(status, text, field = '') {
    super(text);
    this.status = status;
    this.field = field;
  }
}

async function check(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let error = text.trim();
  let field = '';
  try {
    const json = JSON.parse(text);
    error = json.error ?? error;
    field = json.field ?? '';
  } catch { /* It is no JSON. */ }
  throw new Refused(answer.status, error || `status ${answer.status}`, field);
}

export async function get(path, signal) {
  return (await check(await fetch(path, {signal}))).json();
}

export async function send(method, path, body = undefined) {
  const answer = await fetch(path, {method,
    headers: {'Content-Type': 'application/json'},
    body: body === undefined ? undefined : JSON.stringify(body)});
  return (await check(answer)).json();
}

// What `path` answers, text as it comes: take(text). Returns at its end.
export async function follow(path, take, signal, opened = () => {}) {
  const answer = await check(await fetch(path, {signal}));
  opened();
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const {value, done} = await reader.read();
    if (value) take(decoder.decode(value, {stream: true}));
    if (done) return;
  }
}

// Lines out of pieces of text.
export function lineReader(take) {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) take(line);
  };
}

// A log as it is shown: terminal colours are left out, and of a line that was
// overwritten its end is kept.
export function plain(text) {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
      .replace(/[^\n]*\r(?=[^\n])/g, '').replace(/\r/g, '');
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The daemon's events, for as long as the page is looked at: a page that nobody
// sees holds no connection, of which a browser has few. on.state is told 'live',
// 'lost' and 'out' (nobody is logged in), on.event each event.
export class Changes {
  #after = 0;
  #abort = null;

  constructor(on) {
    this.on = on;
    document.addEventListener('visibilitychange', () => this.#look());
    this.#look();
  }

  #look() {
    if (document.hidden) {
      this.#abort?.abort();
      this.#abort = null;
    } else if (!this.#abort) {
      this.#abort = new AbortController();
      this.#run(this.#abort.signal);
    }
  }

  async #run(signal) {
    let wait = FIRST_PAUSE_MS;
    const take = lineReader((line) => {
      const event = JSON.parse(line);
      this.#after = event.id;
      this.on.event(event);
    });
    while (!signal.aborted) {
      try {
        await follow(`/v1/events?follow=1&after=${this.#after}`, take, signal,
          () => { wait = FIRST_PAUSE_MS; this.on.state('live'); });
      } catch (error) {
        if (signal.aborted) return;
        this.on.state(error.status === 401 ? 'out' : 'lost');
      }
      await pause(wait);
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
  }
}

// --- What is submitted -------------------------------------------------------

// "train.sh --fast" is called "train.sh": as names of jobs may be.
export function nameOf(command) {
  const word = command.trim().split(/\s/)[0].split('/').pop();
  return word.toLowerCase().replace(/[^a-z0-9.-]/g, '-').slice(0, 60)
      .replace(/^[-.]+|[-.]+$/g, '') || 'job';
}

// Requests of a task: 2 GPUs, or 0.5 of one.
function requests({gpus, cpus, memory}) {
  const list = {};
  const milli = Math.round(1000 * Number(gpus || 0));
  if (milli > 0 && milli < 1000) list['muster.dev/gpu-milli'] = String(milli);
  else if (milli > 0) list['nvidia.com/gpu'] = String(milli / 1000);
  if (cpus) list.cpu = cpus;
  if (memory) list.memory = memory;
  return list;
}

// A batch/v1 Job, as `muster submit` makes it; the command is a shell's.
export function manifestOf(form) {
  const container = {name: 'main', command: ['/bin/sh', '-c', form.command],
    resources: {requests: requests(form)}};
  const tasks = Number(form.tasks || 1);
  const metadata = {name: form.name || nameOf(form.command)};
  const annotations = {};
  if (tasks > 1) annotations['muster.dev/min-pods'] = String(tasks);
  if (form.checkpoint) annotations['muster.dev/checkpoint'] = 'true';
  if (Object.keys(annotations).length) metadata.annotations = annotations;
  const spec = {backoffLimit: 0, template: {spec:
    {restartPolicy: 'Never', containers: [container]}}};
  if (tasks > 1) {
    Object.assign(spec, {parallelism: tasks, completions: tasks,
      completionMode: 'Indexed'});
  }
  return JSON.stringify({apiVersion: 'batch/v1', kind: 'Job', metadata, spec});
}

// What a shell would have at its beginning; `user`: of /v1/users.
export function environmentOf({home, name}) {
  return ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    `HOME=${home}`, ...(name ? [`USER=${name}`, `LOGNAME=${name}`] : [])];
}
