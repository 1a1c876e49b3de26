// Where the tree as grown and the pruned one are the same, and what pruning did elsewhere.

export const KEPT = 0; // the node is in the other tree, with the same test
export const CHANGED = 1; // there is another test, or a leaf, in its place in the other tree
export const GONE = 2; // its place is not in the other tree

/** For each node of a tree the node in the same place of the other one, -1 if there is none. */
export function counterparts(tree, other) {
  const found = new Int32Array(tree.n).fill(-1);
  found[0] = 0;
  for (let node = 0; node < tree.n; node++) {
    const there = found[node];
    if (there < 0 || !sameTest(tree, node, other, there)) continue;
    const mine = tree.branches(node);
    const theirs = other.branches(there);
    for (let b = 0; b < Math.min(mine.length, theirs.length); b++) found[mine[b]] = theirs[b];
  }
  return found;
}

/** What became of each node in the other tree. */
export function fates(tree, other) {
  return Int8Array.from(counterparts(tree, other), (there, node) => {
    if (there < 0) return GONE;
    return sameTest(tree, node, other, there) ? KEPT : CHANGED;
  });
}

function sameTest(tree, node, other, there) {
  return (
    tree.kind[node] === other.kind[there] &&
    tree.attribute[node] === other.attribute[there] &&
    Object.is(tree.threshold[node], other.threshold[there])
  );
}
