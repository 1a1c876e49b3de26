// What there is to say of one node.

import { colourOf } from "./colours.js";
import { bar, classMark, make, table } from "./dom.js";
import { scanView } from "./scan.js";
import { amount, conditionText, conditionTo, percent, ruleOf, testOf } from "./words.js";

const MOST_CLASSES = 30;
const LONGEST_PATH = 60; // steps that are listed; of a longer one the first and the last
const FIRST_STEPS = 20;

/** Fill the panel: `report` is the document, `state` what is shown, `go(node)` selects another node. */
export function showNode(panel, report, state, go) {
  const { tree, selected: node, name } = state;
  const atNodes = state.casesAt;
  const title = tree.isLeaf(node)
    ? classMark(report.classes[tree.label[node]], colourOf(tree.label[node]))
    : `${testOf(tree, node, report.attributes, true)}?`;
  panel.replaceChildren(
    make("h2", { id: "node-title" }, title),
    make("p", { class: "hint" }, facts(report, state)),
    weights(report, tree, node, atNodes),
    rule(report, tree, node),
    path(report, state, go),
    ...scanView(report, report.cases?.scans?.[name]?.[node], tree, node),
  );
}

function facts(report, { tree, selected: node, name }) {
  const kind = tree.isLeaf(node) ? "leaf" : `test with ${tree.branches(node).length} branches`;
  const estimated = name === "pruned";
  const count = amount(tree.errors[node]);
  const errors = `${count} ${count === "1" ? "error" : "errors"} ${estimated ? "expected" : "of its leaves"}`;
  const soft =
    tree.lower && !Number.isNaN(tree.lower[node]) ? `, soft from ${tree.lower[node]} to ${tree.upper[node]}` : "";
  return `Node ${node}, a ${kind} at depth ${tree.depth[node]}; ${amount(tree.weight[node])} training cases, ${errors}${soft}.`;
}

function weights(report, tree, node, atNodes) {
  const cases = new Map(atNodes?.at(node) ?? []);
  const training = new Map(tree.classes.at(node));
  const here = [...new Set([...training.keys(), ...cases.keys()])].map((c) => [c, training.get(c) ?? 0]);
  here.sort((one, other) => other[1] - one[1]);
  const whole = tree.weight[node] || 1;
  const rows = here
    .slice(0, MOST_CLASSES)
    .map(([c, weight]) => [
      classMark(report.classes[c], colourOf(c)),
      bar(weight / whole, `${amount(weight)} (${percent(weight / whole)})`, colourOf(c)),
      ...(atNodes ? [amount(cases.get(c) ?? 0)] : []),
    ]);
  const others = here.length > MOST_CLASSES ? make("p", {}, `and ${here.length - MOST_CLASSES} more classes`) : null;
  const says = report.classes[tree.label[node]];
  const empty = training.size
    ? null
    : make("p", {}, `No training case came here; it says ${says}, as its parent does.`);
  const headings = ["class", "training cases", ...(atNodes ? [report.cases.name] : [])];
  return make("div", {}, empty, rows.length ? table("Class weights", headings, rows) : null, others);
}

function rule(report, tree, node) {
  const conditions = ruleOf(tree, node);
  const says = report.classes[tree.label[node]];
  const parts = conditions.map((condition) =>
    make("li", {}, conditionText(condition, report.attributes, { exact: true })),
  );
  return make(
    "section",
    { class: "rule", "aria-labelledby": "rule-title" },
    make("h3", { id: "rule-title" }, "Rule"),
    parts.length ? make("div", {}, "if", make("ul", {}, ...parts)) : make("p", {}, "for every case"),
    make("p", {}, "then ", classMark(says, colourOf(tree.label[node]))),
  );
}

/** A path with its middle left out where it is long: there stands minus the number of steps left out. */
function shortened(path) {
  if (path.length <= LONGEST_PATH) return path;
  const last = path.slice(FIRST_STEPS - LONGEST_PATH);
  return [...path.slice(0, FIRST_STEPS), LONGEST_PATH - path.length, ...last];
}

function path(report, { tree, selected: node, casesAt: atNodes }, go) {
  const row = (step) => [
    make(
      "button",
      { type: "button", class: "link", click: () => go(step) },
      step ? conditionText(conditionTo(tree, step), report.attributes) : "all cases",
    ),
    amount(tree.weight[step]),
    ...(atNodes ? [amount(atNodes.total(step))] : []),
    report.classes[tree.label[step]],
  ];
  const gap = (steps) => [`… ${steps} more …`, "", ...(atNodes ? [""] : []), ""];
  const rows = shortened(tree.path(node)).map((step) => (step < 0 ? gap(-step) : row(step)));
  const headings = ["condition", "training cases", ...(atNodes ? [report.cases.name] : []), "class so far"];
  return table("The cases' path", headings, rows);
}
