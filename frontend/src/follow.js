// A case on its way down: a known value takes its branch, an unknown one every branch, in proportion to the weight of
// the training cases. The same operations in the same order as in c45gpu/model/predict.py, so the same numbers.

import { NO_BRANCH } from "./tree.js";

/** The share of a case at each node that it comes to. `values` has an entry for each attribute, null if unknown. */
export function sharesOf(tree, values) {
  const shares = new Map([[0, 1]]);
  const pending = [0];
  while (pending.length) {
    const node = pending.pop();
    if (tree.isLeaf(node)) continue;
    const share = shares.get(node);
    const branches = tree.branches(node);
    const taken = tree.branchOf(node, values[tree.attribute[node]] ?? null);
    const parts =
      taken === NO_BRANCH
        ? Array.from(branches, (branch) => [branch, (share * tree.weight[branch]) / tree.weight[node]])
        : [[branches[taken], share]];
    for (const [branch, part] of parts) {
      if (part > 0) {
        shares.set(branch, part);
        pending.push(branch);
      }
    }
  }
  return shares;
}

/** The leaves that a case reaches, with its shares, in the order of the leaves. */
export function leavesReached(tree, shares) {
  return [...shares].filter(([node]) => tree.isLeaf(node)).sort(([one], [other]) => one - other);
}

/** Class frequencies of a case. */
export function frequenciesOf(tree, shares, nClasses) {
  const frequencies = new Array(nClasses).fill(0);
  for (const [leaf, share] of leavesReached(tree, shares)) {
    if (tree.weight[leaf] > 0) {
      for (const [c, weight] of tree.classes.at(leaf)) frequencies[c] += share * (weight / tree.weight[leaf]);
    } else {
      frequencies[tree.label[leaf]] += share;
    }
  }
  return frequencies;
}

/** The class of the least expected cost, without costs the most frequent one; of equals the first. */
export function classOf(frequencies, costs) {
  const worth = frequencies.map((frequency, given) =>
    costs ? frequencies.reduce((sum, part, c) => sum - part * costs[c][given], 0) : frequency,
  );
  return worth.indexOf(Math.max(...worth));
}

/** The value that was typed for an attribute: null if unknown, undefined if it is none. */
export function valueOf(text, attribute, release8 = false) {
  const typed = text.trim();
  if (typed === "" || typed === "?") return null;
  if (attribute.type !== "continuous") {
    const value = attribute.values.indexOf(text);
    return value < 0 ? undefined : value;
  }
  const number = Number(typed);
  if (Number.isNaN(number)) return undefined;
  if (!release8) return number;
  return Math.fround(number) === -999 ? null : Math.fround(number);
}
