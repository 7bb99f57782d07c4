// What the page of a comparison computes, without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';

import {differenceText, intervalText, nearestRun, place, rangeOf, valueText,
  verdictText, whisker} from '../../web/src/comparedata.js';

const WAIT = {unit: 's', better: 'less', variants: [
  {mean: 100, values: [50, 150]},
  {mean: 130, values: [70, 190], difference: 30, interval: [-10, 70],
    verdict: 'no difference shown'}]};

test('values and differences have the unit of their measure', () => {
  assert.equal(valueText(WAIT, 7200), '2 h');
  assert.equal(valueText({unit: 'share'}, 0.00757), '0.757 %');
  assert.equal(valueText({unit: 'GPU-h'}, 881.2), '881 h');
  assert.equal(valueText({unit: ''}, 35.7), '35.7');
  assert.equal(valueText(WAIT, null), '–');
  assert.equal(differenceText(WAIT, -90), '-1.5 min');
  assert.equal(differenceText({unit: 'share'}, 0.0123), '+1.23 points');
  assert.equal(differenceText(WAIT, 0), '0');
  assert.equal(intervalText(WAIT, [-10, 70]), '-10 s to +1.17 min');
});

test('verdicts are told as they are, and none where there is none', () => {
  assert.equal(verdictText(WAIT, WAIT.variants[1]), 'no difference shown');
  assert.equal(verdictText({better: 'neither'}, {verdict: ''}), 'not judged');
  assert.equal(verdictText(WAIT, {verdict: ''}), '–');
});

test('the interval of the difference is drawn around the mean', () => {
  assert.deepEqual(whisker(WAIT.variants[1]), [90, 170]);
  assert.equal(whisker(WAIT.variants[0]), null);
  // It touches the base's mean just when it holds 0.
  const [low, high] = whisker(WAIT.variants[1]);
  assert.ok(low <= WAIT.variants[0].mean && WAIT.variants[0].mean <= high);
});

test('a plot has room for all it shows', () => {
  assert.deepEqual(rangeOf(WAIT), [50, 190]);
  assert.deepEqual(rangeOf({variants: [{mean: 5, values: [5]}]}), [0, 5]);
  assert.deepEqual(rangeOf({variants: [{mean: 5, values: [5, 5]}]}), [4, 6]);
  assert.deepEqual(rangeOf({variants: [{mean: 0, values: [null]}]}), [0, 1]);
  assert.ok(place([50, 190], 50) > 0 && place([50, 190], 190) < 100);
});

test('the pointer finds the nearest run', () => {
  const cell = {values: [50, null, 150, 60]};
  const at = (value) => place([50, 190], value);
  assert.equal(nearestRun(cell, [50, 190], at(149)), 2);
  assert.equal(nearestRun(cell, [50, 190], at(57)), 3);
  assert.equal(nearestRun({values: [null]}, [50, 190], 10), null);
});
