import assert from "node:assert/strict";
import { test } from "node:test";
import { classOf, frequenciesOf, leavesReached, sharesOf, valueOf } from "../src/follow.js";
import { CHANGED, counterparts, fates, GONE, KEPT } from "../src/match.js";
import { drawnNodes, openAlike, openLevels, openTo } from "../src/opening.js";
import { find } from "../src/search.js";
import { NO_BRANCH, Tree } from "../src/tree.js";
import { amount, branchText, conditionText, conditionTo, figure, percent, ruleOf, testOf } from "../src/words.js";

const ATTRIBUTES = [
  { name: "size", type: "continuous" },
  { name: "colour", type: "discrete", values: ["red", "green", "blue"] },
];
const CLASSES = ["no", "yes"];

// size <= 5                   0
//   size <= 2                 1
//     no (6)                  2
//     colour in ...           3
//       {red, blue}: yes (2)  4
//       {green}: no (0)       5
//   yes (2)                   6
const COLUMNS = {
  kind: [2, 2, 0, 3, 0, 0, 0],
  branches: [2, 2, 0, 2, 0, 0, 0],
  attribute: [0, 0, -1, 1, -1, -1, -1],
  threshold: [5, 2],
  maps: [[0, 1, 0]],
  label: [0, 0, 0, 1, 1, 0, 1],
  weight: [10, 8, 6, 2, 2, 0, 2],
  errors: [0, 0, 0, 0, 0, 0, 0],
  classes: { count: [2, 2, 1, 1, 1, 0, 1], number: [0, 1, 0, 1, 0, 1, 1, 1], weight: [6, 4, 6, 2, 6, 2, 2, 2] },
};
const tree = new Tree(COLUMNS);

/** A tree that is one path. */
function chain(depth) {
  const kind = Array.from({ length: 2 * depth + 1 }, (_, node) => (node < 2 * depth && node % 2 === 0 ? 2 : 0));
  // in preorder each test is followed by a leaf, and then by the next test
  return new Tree({
    kind,
    branches: kind.map((k) => (k ? 2 : 0)),
    attribute: kind.map((k) => (k ? 0 : -1)),
    threshold: kind.filter(Boolean).map((_, i) => i),
    maps: [],
    label: kind.map(() => 0),
    weight: kind.map(() => 1),
    errors: kind.map(() => 0),
    classes: { count: kind.map(() => 1), number: kind.map(() => 0), weight: kind.map(() => 1) },
  });
}

test("the structure follows from preorder and numbers of branches", () => {
  assert.deepEqual([...tree.parent], [-1, 0, 1, 1, 3, 3, 0]);
  assert.deepEqual([...tree.place], [0, 0, 0, 1, 0, 1, 1]);
  assert.deepEqual([...tree.depth], [0, 1, 2, 2, 3, 3, 1]);
  assert.deepEqual([...tree.end], [7, 6, 3, 6, 5, 6, 7]);
  assert.deepEqual([...tree.branches(0)], [1, 6]);
  assert.deepEqual(tree.path(5), [0, 1, 3, 5]);
  assert.deepEqual(tree.classes.at(0), [
    [0, 6],
    [1, 4],
  ]);
  assert.equal(tree.classes.total(1), 8);
});

test("a tree of 50,000 levels is read, opened and searched", () => {
  const deep = chain(50_000);
  assert.equal(deep.depth[deep.n - 1], 50_000);
  assert.equal(deep.path(deep.n - 1).length, 50_001);
  const open = new Set();
  openTo(deep, deep.n - 1, open);
  assert.equal(drawnNodes(deep, open).length, deep.n);
  assert.equal(sharesOf(deep, [1e9]).size, 50_001);
  assert.equal(find(deep, "no", ATTRIBUTES, CLASSES).length, 50_001);
});

test("branches that values take", () => {
  assert.equal(tree.branchOf(0, 5), 0);
  assert.equal(tree.branchOf(0, 5.000001), 1);
  assert.equal(tree.branchOf(0, null), NO_BRANCH);
  assert.deepEqual(
    [0, 1, 2, 3].map((value) => tree.branchOf(3, value)),
    [0, 1, 0, NO_BRANCH],
  );
});

test("words", () => {
  assert.equal(testOf(tree, 0, ATTRIBUTES), "size ≤ 5");
  assert.equal(branchText(tree, 6, ATTRIBUTES), "> 5");
  assert.equal(branchText(tree, 4, ATTRIBUTES), "in {red, blue}");
  assert.equal(conditionText(conditionTo(tree, 5), ATTRIBUTES), "colour = green");
  assert.deepEqual(
    ruleOf(tree, 4).map((c) => conditionText(c, ATTRIBUTES)),
    ["size > 2 and ≤ 5", "colour in {red, blue}"],
  );
  assert.deepEqual(ruleOf(tree, 0), []);
  assert.deepEqual([amount(3), amount(2.25), amount(151.99999999999997), amount(0.033)], ["3", "2.3", "152", "0.03"]);
  assert.deepEqual([percent(0.5), percent(0.0123), percent(0)], ["50 %", "1.2 %", "0 %"]);
  assert.deepEqual([figure(43.29999923706055), figure(43.29999923706055, true)], ["43.3", "43.29999923706055"]);
});

test("a known case takes one path, an unknown value divides it by the weight of the branches", () => {
  assert.deepEqual(
    [...sharesOf(tree, [1, null])],
    [
      [0, 1],
      [1, 1],
      [2, 1],
    ],
  );
  const shares = sharesOf(tree, [null, null]);
  assert.deepEqual(leavesReached(tree, shares), [
    [2, ((8 / 10) * 6) / 8],
    [4, ((8 / 10) * 2) / 8],
    [6, 2 / 10],
  ]);
  const frequencies = frequenciesOf(tree, shares, 2);
  assert.equal(classOf(frequencies), 0);
  assert.equal(
    classOf(frequencies, [
      [0, 1],
      [9, 0],
    ]),
    1,
  );
  assert.deepEqual(frequenciesOf(tree, sharesOf(tree, [3, 1]), 2), [1, 0]); // an empty leaf is its label's
});

test("typed values", () => {
  const [size, colour] = ATTRIBUTES;
  assert.deepEqual(
    [valueOf(" 1.5 ", size), valueOf("", size), valueOf("?", size), valueOf("x", size)],
    [1.5, null, null, undefined],
  );
  assert.deepEqual([valueOf("blue", colour), valueOf("black", colour)], [2, undefined]);
  assert.deepEqual([valueOf("0.1", size, true), valueOf("-999", size, true)], [Math.fround(0.1), null]);
});

test("what pruning did", () => {
  const pruned = new Tree({
    ...COLUMNS,
    kind: [2, 0, 0],
    branches: [2, 0, 0],
    attribute: [0, -1, -1],
    threshold: [5],
    maps: [],
    label: [0, 0, 1],
    weight: [10, 8, 2],
    errors: [0, 0, 0],
    classes: { count: [2, 2, 1], number: [0, 1, 0, 1, 1], weight: [6, 4, 6, 2, 2] },
  });
  assert.deepEqual([...counterparts(tree, pruned)], [0, 1, -1, -1, -1, -1, 2]);
  assert.deepEqual([...fates(tree, pruned)], [KEPT, CHANGED, GONE, GONE, GONE, GONE, KEPT]);
  assert.deepEqual([...openAlike(new Set([0, 1, 3]), counterparts(tree, pruned))], [0, 1]);
});

test("opening by levels, and what is drawn then", () => {
  assert.deepEqual([...openLevels(tree, 5)], [0, 1]);
  assert.deepEqual([...openLevels(tree, 1)], [0]);
  assert.deepEqual([...openLevels(tree, 100)], [0, 1, 3]);
  assert.deepEqual(drawnNodes(tree, new Set([0])), [0, 1, 6]);
  assert.deepEqual(drawnNodes(tree, new Set([3])), [0]);
});

test("search", () => {
  const found = (text) => find(tree, text, ATTRIBUTES, CLASSES);
  assert.deepEqual(found("COLOUR"), [3, 4, 5]);
  assert.deepEqual(found("green"), [5]);
  assert.deepEqual(found("yes"), [4, 6]);
  assert.deepEqual(found("#6"), [6]);
  assert.deepEqual(found("#7"), []);
  assert.deepEqual(found("  "), []);
});
