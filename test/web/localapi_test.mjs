import assert from 'node:assert/strict';
import test from 'node:test';

import {environmentOf, lineReader, manifestOf, nameOf, plain}
  from '../../web/src/localapi.js';

test('a job is called as its command, as far as names may be', () => {
  assert.equal(nameOf('/opt/Train_it.sh --fast'), 'train-it.sh');
  assert.equal(nameOf('  ./.x. y'), 'x');
  assert.equal(nameOf('"$CMD" a'), 'cmd');
  assert.equal(nameOf('…'), 'job');
  assert.equal(nameOf('a'.repeat(80)).length, 60);
});

test('a form becomes a job of Kubernetes', () => {
  const job = JSON.parse(manifestOf({command: 'echo hi', gpus: '2', cpus: '0.5',
    memory: '4G', tasks: '3', checkpoint: true}));
  assert.equal(job.metadata.name, 'echo');
  assert.deepEqual(job.metadata.annotations,
    {'muster.dev/min-pods': '3', 'muster.dev/checkpoint': 'true'});
  assert.equal(job.spec.parallelism, 3);
  const [container] = job.spec.template.spec.containers;
  assert.deepEqual(container.command, ['/bin/sh', '-c', 'echo hi']);
  assert.deepEqual(container.resources.requests,
    {'nvidia.com/gpu': '2', 'cpu': '0.5', 'memory': '4G'});
  const plainJob = JSON.parse(manifestOf({command: 'true', name: 'x'}));
  assert.equal(plainJob.metadata.name, 'x');
  assert.equal(plainJob.spec.parallelism, undefined);
});

test('a part of a GPU is asked for as one', () => {
  const requests = (gpus) => JSON.parse(manifestOf({command: 'x', gpus}))
      .spec.template.spec.containers[0].resources.requests;
  assert.deepEqual(requests('0.25'), {'muster.dev/gpu-milli': '250'});
  assert.deepEqual(requests('0'), {});
  assert.deepEqual(requests(''), {});
  // The daemon refuses it, and says so.
  assert.deepEqual(requests('1.5'), {'nvidia.com/gpu': '1.5'});
});

test('a job of the page has what a shell begins with', () => {
  const list = environmentOf({home: '/home/a', name: 'a'});
  assert.ok(list.includes('HOME=/home/a') && list.includes('USER=a'));
  assert.ok(list[0].startsWith('PATH='));
  assert.ok(!environmentOf({home: '/', name: ''}).some((v) => /^USER/.test(v)));
});

test('lines come whole out of pieces', () => {
  const lines = [];
  const take = lineReader((line) => lines.push(line));
  for (const piece of ['a', 'b\nc\n', '', '\nd']) take(piece);
  assert.deepEqual(lines, ['ab', 'c', '']);
});

test('logs lose colours, and what was overwritten', () => {
  assert.equal(plain('\x1b[1;31mred\x1b[0m\n'), 'red\n');
  assert.equal(plain(' 1 %\r50 %\r100 %\nend\r\n'), '100 %\nend\n');
  assert.equal(plain('a\n 7 %\r'), 'a\n 7 %');
  assert.equal(plain('<b>&amp;'), '<b>&amp;');
});
