// A tree from the columns of the report's document (c45gpu/report/columns.py): typed arrays, nodes in preorder.
// Nothing here recurses, so a tree may be as deep as it likes.

export const LEAF = 0;
export const DISCRETE = 1;
export const THRESHOLD = 2;
export const SUBSET = 3;
export const NO_BRANCH = -1;

const UNKNOWN = null;

export class Tree {
  constructor(columns) {
    this.n = columns.kind.length;
    this.kind = Int8Array.from(columns.kind);
    this.attribute = Int32Array.from(columns.attribute);
    this.label = Int32Array.from(columns.label);
    this.weight = Float64Array.from(columns.weight, Number);
    this.errors = Float64Array.from(columns.errors, Number);
    this.threshold = spread(columns.threshold, this.kind, (kind) => kind === THRESHOLD);
    this.lower = columns.lower ? spread(columns.lower, this.kind, (kind) => kind === THRESHOLD) : null;
    this.upper = columns.upper ? spread(columns.upper, this.kind, (kind) => kind === THRESHOLD) : null;
    this.maps = columns.maps;
    this.mapOf = numbered(this.kind, (kind) => kind === DISCRETE || kind === SUBSET);
    this.classes = new ClassWeights(columns.classes);
    this.#link(columns.branches);
  }

  /** Parents, branches, depths and ends of subtrees, from the number of branches of each node. */
  #link(branches) {
    const { n } = this;
    this.branchStart = starts(branches);
    this.branchNodes = new Int32Array(Math.max(n - 1, 0));
    this.parent = new Int32Array(n).fill(-1);
    this.place = new Int32Array(n); // which branch of its parent a node is
    this.depth = new Int32Array(n);
    this.end = new Int32Array(n);
    const above = []; // nodes that wait for branches
    const given = new Int32Array(n);
    for (let node = 0; node < n; node++) {
      if (node) {
        const parent = above[above.length - 1];
        this.parent[node] = parent;
        this.place[node] = given[parent];
        this.depth[node] = this.depth[parent] + 1;
        this.branchNodes[this.branchStart[parent] + given[parent]++] = node;
        if (given[parent] === branches[parent]) above.pop();
      }
      if (branches[node]) above.push(node);
    }
    for (let node = n - 1; node >= 0; node--) {
      const last = this.branchStart[node + 1] - 1;
      this.end[node] = branches[node] ? this.end[this.branchNodes[last]] : node + 1;
    }
  }

  isLeaf(node) {
    return this.kind[node] === LEAF;
  }

  /** The branches of a node, in order. */
  branches(node) {
    return this.branchNodes.subarray(this.branchStart[node], this.branchStart[node + 1]);
  }

  /** The nodes from the root to a node, both included. */
  path(node) {
    const path = [];
    for (let here = node; here >= 0; here = this.parent[here]) path.push(here);
    return path.reverse();
  }

  /** The branch that a value takes: a number of a continuous attribute, else a value's number; null is unknown. */
  branchOf(node, value) {
    if (value === UNKNOWN) return NO_BRANCH;
    if (this.kind[node] === THRESHOLD) return value <= this.threshold[node] ? 0 : 1;
    const map = this.maps[this.mapOf[node]];
    if (map === 0) return value < this.branchStart[node + 1] - this.branchStart[node] ? value : NO_BRANCH;
    return map[value] ?? NO_BRANCH;
  }

  /** The numbers of the values that take a branch of a discrete test. */
  valuesOf(node, branch) {
    const map = this.maps[this.mapOf[node]];
    if (map === 0) return [branch];
    return map.flatMap((taken, value) => (taken === branch ? [value] : []));
  }
}

/** Weights of classes at nodes, of which only those above 0 are kept. */
export class ClassWeights {
  constructor({ count, number, weight }) {
    this.start = starts(count);
    this.number = number;
    this.weight = weight;
  }

  /** Pairs of a class and its weight. */
  at(node) {
    const pairs = [];
    for (let i = this.start[node]; i < this.start[node + 1]; i++) pairs.push([this.number[i], this.weight[i]]);
    return pairs;
  }

  total(node) {
    return this.at(node).reduce((sum, [, weight]) => sum + weight, 0);
  }
}

function starts(counts) {
  const start = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) start[i + 1] = start[i] + counts[i];
  return start;
}

/** Values of some nodes in a column of all; NaN elsewhere. */
function spread(values, kinds, wanted) {
  const column = new Float64Array(kinds.length).fill(NaN);
  let next = 0;
  kinds.forEach((kind, node) => {
    if (wanted(kind)) column[node] = Number(values[next++]);
  });
  return column;
}

/** Nodes of some kinds, numbered in their order; -1 elsewhere. */
function numbered(kinds, wanted) {
  let next = 0;
  return Int32Array.from(kinds, (kind) => (wanted(kind) ? next++ : -1));
}
