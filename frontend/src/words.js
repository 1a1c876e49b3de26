// How tests, conditions and numbers are said.

import { THRESHOLD } from "./tree.js";

const TRACE = 1e-9; // what rounding leaves of parts of cases
const LEAST_DECIMAL = 0.05; // what one decimal would show as nothing
const MOST_VALUES = 6; // of a condition that are listed in a drawing

/** A weight: whole ones look like counts, also where adding up parts left a trace. */
export function amount(weight) {
  const whole = Math.round(weight);
  if (Math.abs(weight - whole) < TRACE) return String(whole);
  return weight < LEAST_DECIMAL ? String(Number(weight.toPrecision(1))) : weight.toFixed(1);
}

export function percent(part) {
  const hundredths = 100 * part;
  return `${hundredths > 0 && hundredths < 10 ? hundredths.toFixed(1) : hundredths.toFixed(0)} %`;
}

/** A number with six digits; `exact` has all of them. */
export function figure(number, exact = false) {
  return exact ? String(number) : String(Number(number.toPrecision(6)));
}

export function listed(values, most = values.length) {
  const shown = values.length > most ? [...values.slice(0, most), `… ${values.length - most} more`] : values;
  return shown.join(", ");
}

/** What a node asks. */
export function testOf(tree, node, attributes, exact = false) {
  const { name } = attributes[tree.attribute[node]];
  return tree.kind[node] === THRESHOLD ? `${name} ≤ ${figure(tree.threshold[node], exact)}` : name;
}

/** The condition that leads from its parent to a node: {attribute, above | below | values}. */
export function conditionTo(tree, node) {
  const parent = tree.parent[node];
  const attribute = tree.attribute[parent];
  if (tree.kind[parent] !== THRESHOLD) return { attribute, values: tree.valuesOf(parent, tree.place[node]) };
  const threshold = tree.threshold[parent];
  return tree.place[node] === 0 ? { attribute, below: threshold } : { attribute, above: threshold };
}

/** A condition without its attribute's name. */
function relation({ attribute, above = -Infinity, below = Infinity, values }, attributes, exact, most) {
  if (values) {
    const names = values.map((value) => attributes[attribute].values[value]);
    return names.length === 1 ? `= ${names[0]}` : `in {${listed(names, most)}}`;
  }
  const parts = [];
  if (above > -Infinity) parts.push(`> ${figure(above, exact)}`);
  if (below < Infinity) parts.push(`≤ ${figure(below, exact)}`);
  return parts.join(" and ") || "is any number";
}

export function conditionText(condition, attributes, { exact = false, most = Infinity } = {}) {
  return `${attributes[condition.attribute].name} ${relation(condition, attributes, exact, most)}`;
}

/** A branch in the drawing, where its attribute stands beside it. */
export function branchText(tree, node, attributes) {
  return relation(conditionTo(tree, node), attributes, false, MOST_VALUES);
}

/** The conditions on the path to a node, one for each attribute: bounds meet, and values that are left. */
export function ruleOf(tree, node) {
  const merged = new Map();
  for (const step of tree.path(node).slice(1)) {
    const { attribute, above = -Infinity, below = Infinity, values } = conditionTo(tree, step);
    const so = merged.get(attribute) ?? { attribute, above: -Infinity, below: Infinity };
    if (values) {
      merged.set(attribute, { attribute, values: so.values ? so.values.filter((v) => values.includes(v)) : values });
    } else {
      merged.set(attribute, { attribute, above: Math.max(so.above, above), below: Math.min(so.below, below) });
    }
  }
  return [...merged.values()];
}
