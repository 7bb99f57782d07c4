// Where each device is drawn: blocks hold racks, racks hold nodes, nodes hold
// devices. The largest cells are taken with which all of it fits. No DOM.

const CELLS = [42, 34, 26, 22, 18, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2];

// The tree of domains over the nodes. Levels that tell nothing (one domain in
// all, or one for each node) are left out; without any, nodes are grouped by
// the model of their devices.
export function groupNodes(map) {
  const nodes =
    map.nodes.map((n, index) => ({key: n[0], devices: n[1], index}));
  let first = 0;
  for (const node of nodes) {
    node.first = first;
    first += node.devices;
  }
  const levels = map.levels
      .map((name, l) =>
        ({name, of: (n) => map.domains[l][map.nodes[n][3 + l]]}))
      .filter(({of}) => {
        const count = new Set(nodes.map((n) => of(n.index))).size;
        return count > 1 && count < nodes.length;
      });
  if (levels.length === 0 && map.models.length > 1) {
    levels.push({name: '', of: (n) => map.models[map.nodes[n][2]]});
  }
  const split = (list, depth) => {
    if (depth === levels.length) return {nodes: list};
    const groups = new Map();
    for (const node of list) {
      const name = levels[depth].of(node.index);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(node);
    }
    return {groups: [...groups].map(([name, part]) => ({
      name: name || 'other', level: levels[depth].name, depth,
      ...split(part, depth + 1)}))};
  };
  return {...split(nodes, 0), depth: -1};
}

function nodeSize(node, {cell, named, text}) {
  const columns = node.devices <= 4 ? node.devices :
    Math.min(16, Math.ceil(node.devices / 2));
  const rows = Math.ceil(node.devices / columns);
  const gap = Math.max(1, Math.round(cell / 5));
  return {columns,
    width: Math.max(columns * cell, named ? 5.5 * text : 0) + gap,
    height: rows * cell + gap + (named ? 1.25 * text : 0)};
}

// Boxes from left to right, line after line.
function flow(boxes, width, gap) {
  let x = 0, y = 0, line = 0, right = 0;
  for (const box of boxes) {
    if (x > 0 && x + box.width > width) {
      x = 0;
      y += line + gap;
      line = 0;
    }
    box.x = x;
    box.y = y;
    x += box.width + gap;
    right = Math.max(right, x - gap);
    line = Math.max(line, box.height);
  }
  return {width: right, height: y + line};
}

function arrange(group, width, style) {
  const {cell} = style;
  let inset = group.depth < 0 ? 0 : cell < 6 ? 3 : 6;
  let boxes, inner;
  if (group.nodes) {
    boxes = group.nodes.map((n) => ({node: n, ...nodeSize(n, style)}));
    const area = boxes.reduce((sum, b) => sum + b.width * b.height, 0);
    const widest = boxes.reduce((w, b) => Math.max(w, b.width), 0);
    const square = group.depth < 0 ? width : Math.sqrt(area * 1.8);
    inner = Math.min(width - 2 * inset, Math.max(widest, square));
    inner = flow(boxes, inner, 0);
  } else {
    boxes = group.groups.map((g) => arrange(g, width - 2 * inset, style));
    inner = flow(boxes, width - 2 * inset, cell < 4 ? 2 : cell < 6 ? 4 : 8);
  }
  // A box too narrow for its name goes without, and is as small as it can be.
  const labelled = group.depth >= 0 && inner.width >= 2.4 * style.text;
  if (!labelled) inset = Math.min(inset, 2);
  const top = labelled ? 1.5 * style.text : inset;
  return {group, boxes, inset, top, labelled, width: inner.width + 2 * inset,
    height: inner.height + inset + top};
}

// {height, cell, x, y: by device, nodes: [{x, y, width, height, node}],
// groups: [{x, y, width, height, group, labelled}], named}. `text`: its height
// in pixels.
export function layOut(tree, {devices, nodes, width, maxHeight, text}) {
  let root, cell, named;
  for (cell of CELLS.filter((c) => c <= 2.3 * text)) {
    named = nodes <= 48 && cell >= 15;
    root = arrange(tree, width, {cell, named, text});
    if (root.height <= maxHeight && root.width <= width) break;
  }
  const out = {cell, named, height: Math.ceil(root.height), nodes: [],
    groups: [], x: new Float32Array(devices), y: new Float32Array(devices)};
  const place = (box, x, y) => {
    if (box.node) {
      const {node} = box;
      out.nodes.push({x, y, width: box.width, height: box.height, node});
      for (let d = 0; d < node.devices; ++d) {
        out.x[node.first + d] = x + (d % box.columns) * cell;
        out.y[node.first + d] = y + (named ? 1.25 * text : 0) +
            Math.floor(d / box.columns) * cell;
      }
      return;
    }
    if (box.group.depth >= 0) {
      out.groups.push({x, y, width: box.width, height: box.height,
        group: box.group, labelled: box.labelled});
    }
    for (const inner of box.boxes) {
      place(inner, x + box.inset + inner.x, y + box.top + inner.y);
    }
  };
  place(root, 0, 0);
  return out;
}
