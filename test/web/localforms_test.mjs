// Commands, times, edits and grids as musterd's page reads them.
import assert from 'node:assert/strict';
import test from 'node:test';

import {axesOf, axisOfPoints, compareValues, pointAt, pointText, sizeOf}
  from '../../web/src/localgrid.js';
import {lineOf, otherOf, secondsOf, timeText, wordsOf}
  from '../../web/src/localwords.js';

test('words are split as a shell does, and nothing is expanded', () => {
  assert.deepEqual(wordsOf('sh -c "echo $HOME \\"x\\" \\n" \'a b\' c\\ d'),
    ['sh', '-c', 'echo $HOME "x" \\n', 'a b', 'c d']);
  assert.deepEqual(wordsOf('a""b \'\' "\'"'), ['ab', '', "'"]);
  assert.deepEqual(wordsOf(' \n '), []);
  for (const open of ["'a", '"a', 'a\\']) {
    assert.throws(() => wordsOf(open), Error, open);
  }
});

test('a command comes back from its line as it was', () => {
  for (const words of [['true'], ['sh', '-c', 'a\nb  c'], ["it's", '', '"'],
    ['{lr}', '${lr}', '$(x) `y`', '\\', 'ä', '*']]) {
    assert.deepEqual(wordsOf(lineOf(words)), words);
  }
  assert.equal(lineOf(['train.py', '--lr', '0.1']), 'train.py --lr 0.1');
});

test('times are those of muster edit', () => {
  const times = {'90m': 5400, '1h30m': 5400, '1:30:00': 5400, '2:05': 125,
    '1.5h': 5400, '2d': 172800, 'none': 0, '': 0, '0': 0};
  for (const [text, seconds] of Object.entries(times)) {
    assert.equal(secondsOf(text), seconds, text);
  }
  for (const text of ['5', 'h', '1:60', '1:2:3:4', '1x', '-1s', '1h ']) {
    assert.throws(() => secondsOf(text), /expected a time/, text);
  }
  for (const seconds of [0, 1, 59, 60, 90, 3600, 5400, 86400, 100000]) {
    assert.equal(secondsOf(timeText(seconds)), seconds);
  }
  assert.equal(timeText(5400), '90m');
});

test('an edit has what is other, and nothing else', () => {
  const before = {id: 3, waits: true, name: 'a', queue: 'q', priority: 'low',
    time: 0, roles: {worker: {requests: {'cpu': '2', 'nvidia.com/gpu': '1'},
      command: ['x', 'y']}, ps: {requests: {}}}};
  const after = (change) => ({...before, ...change});
  assert.deepEqual(otherOf(before, before), {});
  assert.deepEqual(otherOf(before, after({name: 'b', time: 60})),
    {name: 'b', time: 60});
  assert.deepEqual(otherOf(before, after({roles: {worker: {requests:
    {'cpu': '2', 'nvidia.com/gpu': '', 'memory': '1Gi'},
  command: ['x', 'y']}}})), {roles: {worker: {requests:
    {'nvidia.com/gpu': '0', 'memory': '1Gi'}}}});
  assert.deepEqual(otherOf(before, after({roles: {worker: {
    requests: before.roles.worker.requests, command: ['z']},
  ps: {requests: {cpu: ''}, command: undefined}}})),
  {roles: {worker: {command: ['z']}}});
});

test('a grid is the product of its lines, the last one fastest', () => {
  const axes = [...axesOf('lr=0.1,0.01\n\n# no line\nopt="a,b",c'),
    axisOfPoints('bs=1 wd=2\nwd=4 bs=3')];
  assert.equal(sizeOf(axes), 8);
  assert.equal(sizeOf([]), 0);
  assert.deepEqual([0, 1, 2, 7].map((i) => pointText(pointAt(axes, i))),
    ['lr=0.1 opt=a,b bs=1 wd=2', 'lr=0.1 opt=a,b bs=3 wd=4',
      'lr=0.1 opt=c bs=1 wd=2', 'lr=0.01 opt=c bs=3 wd=4']);
  assert.deepEqual(axesOf('a=1'), [{names: ['a'], rows: [['1']]}]);
});

test('points come from CSV as well, and errors name the line', () => {
  assert.deepEqual(axisOfPoints('opt,wd\nsgd,0\n"a ""b"", c",'),
    {names: ['opt', 'wd'], rows: [['sgd', '0'], ['a "b", c', '']]});
  for (const [text, why] of [['a,b\n1', /line 2: has 1 values/],
    ['a=1\n\nb=2', /line 3: 'b': the first/], ['a=1 b=2\na=1', /'b' is missing/],
    ['a=1 a=2', /'a' is there twice/], ['a=1 x', /'x': expected NAME=VALUE/],
    ['a,b\n"x,1', /double quotes/]]) {
    assert.throws(() => axisOfPoints(text), why, text);
  }
  for (const text of ['lr', '=1', 'lr=']) {
    assert.throws(() => axesOf(text), /expected NAME=VALUE/, text);
  }
});

test('values are ordered by their numbers where they are numbers', () => {
  assert.deepEqual(['10', '9', '1e-3', 'b', 'a', ''].sort(compareValues).slice(0, 1),
    ['']);
  assert.ok(compareValues('9', '10') < 0 && compareValues('a', 'b') < 0);
  assert.equal(compareValues(undefined, ''), 0);
});
