// The map's states: decoding, and stepping through them. No DOM.

export const FREE = 0, DOWN = 1, OTHERS = 2, ABSENT = 3, FIRST = 4;

const KEYFRAME = 32;

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// What the page holds, and the state of each device at each step.
export class MapStates {
  #runs = [];  // Per step: Uint32Array of (first, count, value).
  #keys = [];  // Every KEYFRAME steps: the state before that step's runs.

  constructor(map) {
    this.steps = map.steps_s;
    this.devices = map.nodes.reduce((sum, node) => sum + node[1], 0);
    const bytes = bytesOf(map.changes);
    let at = 0;
    const varint = () => {
      let value = 0;
      for (let shift = 1; ; shift *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * shift;
        if (byte < 128) return value;
      }
    };
    const state = new Uint32Array(this.devices);
    for (let step = 0; step < this.steps.length; ++step) {
      if (step % KEYFRAME === 0) this.#keys.push(state.slice());
      const runs = new Uint32Array(3 * varint());
      let behind = 0;
      for (let i = 0; i < runs.length; i += 3) {
        runs[i] = behind + varint();
        runs[i + 1] = varint();
        runs[i + 2] = varint();
        behind = runs[i] + runs[i + 1];
        state.fill(runs[i + 2], runs[i], behind);
      }
      this.#runs.push(runs);
    }
    this.occupancies = map.occupancies.map((o) => typeof o === 'number' ?
      {milli: 1000, working: o % 2 === 1, gangs: [o >> 1]} :
      {milli: o[0], working: o[1] === 1, gangs: o.slice(2)});
  }

  // Uint32Array by device: FREE, DOWN, OTHERS, ABSENT, or FIRST + the position
  // of an occupancy.
  at(step) {
    const key = Math.floor(step / KEYFRAME);
    const state = this.#keys[key].slice();
    for (let s = key * KEYFRAME; s <= step; ++s) {
      const runs = this.#runs[s];
      for (let i = 0; i < runs.length; i += 3) {
        state.fill(runs[i + 2], runs[i], runs[i] + runs[i + 1]);
      }
    }
    return state;
  }

  // The last step at or before a moment.
  stepAt(moment) {
    let low = 0, high = this.steps.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.steps[middle] <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Null: no gang is there.
  occupancy(value) {
    return value < FIRST ? null : this.occupancies[value - FIRST];
  }
}
