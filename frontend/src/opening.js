// Which nodes are open, that is have their branches drawn. Only what is open costs anything.

/** As many upper levels as a number of drawn nodes allows, beginning at a node; the first is open in any case. */
export function openLevels(tree, most, top = 0, open = new Set()) {
  let level = [top];
  let drawn = 1;
  while (level.length) {
    const inner = level.filter((node) => !tree.isLeaf(node));
    const below = inner.flatMap((node) => Array.from(tree.branches(node)));
    if (drawn > 1 && drawn + below.length > most) break;
    inner.forEach((node) => open.add(node));
    drawn += below.length;
    level = below;
  }
  return open;
}

/** Open whatever is above a node. */
export function openTo(tree, node, open) {
  for (let here = tree.parent[node]; here >= 0; here = tree.parent[here]) open.add(here);
}

/** The nodes that are drawn, in preorder. */
export function drawnNodes(tree, open) {
  const drawn = [];
  for (let node = 0; node < tree.n;) {
    drawn.push(node);
    node = open.has(node) ? node + 1 : tree.end[node]; // what is not open is skipped whole
  }
  return drawn;
}

/** The open nodes of one tree in another: those that are in the same place. */
export function openAlike(open, found) {
  return new Set([...open].map((node) => found[node]).filter((node) => node >= 0));
}
