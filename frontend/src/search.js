// Finding nodes by what they say.

import { branchText, testOf } from "./words.js";

/** Nodes, in preorder, whose test, branch or class has a text in it; `#12` is node 12. */
export function find(tree, text, attributes, classes) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  if (/^#\d+$/.test(wanted)) {
    const node = Number(wanted.slice(1));
    return node < tree.n ? [node] : [];
  }
  const found = [];
  for (let node = 0; node < tree.n; node++) {
    if (said(tree, node, attributes, classes).toLowerCase().includes(wanted)) found.push(node);
  }
  return found;
}

function said(tree, node, attributes, classes) {
  const says = tree.isLeaf(node) ? classes[tree.label[node]] : testOf(tree, node, attributes);
  if (!node) return says;
  return `${attributes[tree.attribute[tree.parent[node]]].name} ${branchText(tree, node, attributes)}\n${says}`;
}
