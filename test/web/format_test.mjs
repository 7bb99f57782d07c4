// What the pages compute, without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';

import {compact, gpus, gpuTime, moment, number, ranges, share, span, tick}
  from '../../web/src/format.js';
import {MapStates} from '../../web/src/mapdata.js';
import {groupNodes, layOut} from '../../web/src/maplayout.js';

test('numbers are as people write them', () => {
  assert.equal(number(12345.6), '12,346');
  assert.equal(number(1.2345), '1.23');
  assert.equal(compact(12345), '12.3k');
  assert.equal(compact(1.5e6), '1.5M');
  assert.equal(share(0.1234), '12.3 %');
  assert.equal(gpus(1), '1 GPU');
  assert.equal(gpus(0.5), '0.5 GPU');
  assert.equal(gpus(64), '64 GPUs');
  assert.equal(gpuTime(881.2), '881 h');
  assert.equal(ranges([0, 1, 2, 3, 8]), '0-3, 8');
  assert.equal(ranges([]), '');
  assert.equal(gpuTime(10 / 3600), '10 s');
});

test('times have the unit that suits them', () => {
  assert.equal(span(0), '0 s');
  assert.equal(span(0.25), '250 ms');
  assert.equal(span(12.5), '12.5 s');
  assert.equal(span(250), '4.17 min');
  assert.equal(span(5 * 86400), '5 d');
  assert.equal(moment(0), '0 s');
  assert.equal(moment(250), '4 min 10 s');
  assert.equal(moment(3600), '1 h');
  assert.equal(moment(3600 + 59.9 * 60), '2 h');
  assert.equal(moment(12.2 * 86400), '12 d 5 h');
});

test('the ticks of an axis have one unit', () => {
  assert.deepEqual([0, 60, 120].map((t) => tick(t, 60)),
    ['0', '1 min', '2 min']);
  assert.equal(tick(172800, 86400), '2 d');
  assert.equal(tick(0.5, 0.5), '500 ms');
});

// Two nodes of two GPUs. Step 0: gang 0 takes the first node. Step 1: its
// second GPU is free, and gang 1 shares the third.
const MAP = {
  nodes: [['a', 2, 0, 0], ['b', 2, 0, 1]], models: [''], levels: ['rack'],
  domains: [['r1', 'r2']], steps_s: [0, 10],
  changes: Buffer.from([1, 0, 2, 4, 2, 1, 1, 0, 0, 1, 5]).toString('base64'),
  occupancies: [1, [300, 0, 1, 2]],
};

test('the map shows each step, forwards and backwards', () => {
  const states = new MapStates(MAP);
  assert.equal(states.devices, 4);
  const first = [4, 4, 0, 0], second = [4, 0, 5, 0];
  assert.deepEqual([...states.at(0)], first);
  assert.deepEqual([...states.at(1)], second);
  assert.deepEqual([...states.at(0)], first);
  assert.deepEqual(states.occupancy(4),
    {milli: 1000, working: true, gangs: [0]});
  assert.deepEqual(states.occupancy(5),
    {milli: 300, working: false, gangs: [1, 2]});
  assert.equal(states.occupancy(0), null);
  assert.deepEqual([-1, 0, 9, 10, 99].map((t) => states.stepAt(t)),
    [0, 0, 0, 1, 1]);
});

// racks x per nodes, in pods of 4 racks.
function cluster(racks, per, gpus) {
  const nodes = [];
  for (let r = 0; r < racks; ++r) {
    for (let n = 0; n < per; ++n) {
      nodes.push([`n-${r}-${n}`, gpus, 0, Math.floor(r / 4), r]);
    }
  }
  const names = (n) => Array.from({length: n}, (_, i) => `d${i}`);
  return {nodes, models: [''], levels: ['pod', 'rack'],
    domains: [names(Math.ceil(racks / 4)), names(racks)]};
}

for (const [racks, per, gpus, width] of
  [[2, 4, 8, 330], [48, 16, 8, 330], [48, 16, 8, 1200], [780, 16, 8, 1200],
    [2, 2, 80, 330], [8, 16, 128, 1200]]) {
  const devices = racks * per * gpus;
  test(`${devices} of ${gpus} a node lie side by side in ${width} pixels`, () => {
    const map = cluster(racks, per, gpus);
    const out = layOut(groupNodes(map), {devices,
      nodes: map.nodes.length, width, maxHeight: 900, text: 12});
    const taken = new Set();
    for (let d = 0; d < out.x.length; ++d) {
      assert.ok(out.x[d] >= 0 && out.x[d] + out.cell <= width + 1);
      assert.ok(out.y[d] >= 0 && out.y[d] + out.cell <= out.height + 1);
      taken.add(`${out.x[d]},${out.y[d]}`);
    }
    assert.equal(taken.size, out.x.length, 'no two in one place');
    // A level with one domain in all tells nothing and is left out.
    const pods = Math.ceil(racks / 4);
    assert.equal(out.groups.length, racks + (pods > 1 ? pods : 0));
  });
}
