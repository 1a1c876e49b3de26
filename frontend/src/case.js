// The form in which a case is typed, and what becomes of it.

import { colourOf } from "./colours.js";
import { bar, classMark, make, table } from "./dom.js";
import { classOf, frequenciesOf, leavesReached, sharesOf, valueOf } from "./follow.js";
import { percent } from "./words.js";

const MOST_IN_LIST = 200; // values up to which an attribute has a list to choose from
const MOST_LEAVES = 12;

/** Fill the form with a field for each attribute that is tested; `follow(values)` and `clear()` are called. */
export function caseForm(form, report, tested, { follow, clear }) {
  const fields = tested.map((a) => ({ a, ...field(report.attributes[a], a) }));
  const fault = make("p", { class: "fault", role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const values = new Array(report.attributes.length).fill(null);
    for (const { a, input, read } of fields) {
      values[a] = read(report.release8);
      input.setAttribute("aria-invalid", values[a] === undefined);
    }
    const wrong = fields.find(({ a }) => values[a] === undefined);
    fault.textContent = wrong ? `${report.attributes[wrong.a].name}: ${wanted(report.attributes[wrong.a])}` : "";
    if (wrong) wrong.input.focus();
    else follow(values);
  };
  const reset = () => {
    fault.textContent = "";
    clear();
  };
  form.replaceChildren(
    make("p", { class: "hint" }, "A value left empty is unknown: the case then goes down every branch, in parts."),
    make("div", { class: "fields" }, ...fields.flatMap(({ label, input, list }) => [label, input, list])),
    fault,
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "submit" }, "Follow"),
      make("button", { type: "reset" }, "Clear"),
    ),
  );
  form.addEventListener("submit", submit);
  form.addEventListener("reset", reset);
}

function wanted(attribute) {
  return attribute.type === "continuous" ? "type a number, or nothing" : "type one of its values, or nothing";
}

function field(attribute, a) {
  const id = `value-${a}`;
  const label = make("label", { for: id }, attribute.name);
  if (attribute.type !== "continuous" && attribute.values.length <= MOST_IN_LIST) {
    const options = attribute.values.map((value, number) => make("option", { value: number }, value));
    const input = make("select", { id }, make("option", { value: "" }, "unknown"), ...options);
    return { label, input, list: null, read: () => (input.value === "" ? null : Number(input.value)) };
  }
  const continuous = attribute.type === "continuous";
  const list = continuous
    ? null
    : make("datalist", { id: `${id}-list` }, ...attribute.values.map((value) => make("option", { value })));
  const input = make("input", {
    id,
    autocomplete: "off",
    placeholder: "unknown",
    inputmode: continuous ? "decimal" : null,
    list: continuous ? null : `${id}-list`,
  });
  return { label, input, list, read: (release8) => valueOf(input.value, attribute, release8) };
}

/** What a tree says of a case; returns the shares of the case at the nodes. */
export function showCase(result, report, tree, values, go) {
  const shares = sharesOf(tree, values);
  const frequencies = frequenciesOf(tree, shares, report.classes.length);
  const label = classOf(frequencies, report.costs);
  const likely = frequencies
    .map((part, c) => [c, part])
    .filter(([, part]) => part > 0)
    .sort((one, other) => other[1] - one[1]);
  const rows = likely.map(([c, part]) => [
    classMark(report.classes[c], colourOf(c)),
    bar(part, percent(part), colourOf(c)),
  ]);
  const leaves = leavesReached(tree, shares).sort((one, other) => other[1] - one[1]);
  const items = leaves
    .slice(0, MOST_LEAVES)
    .map(([leaf, share]) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "link", click: () => go(leaf) },
          `${percent(share)} reach node ${leaf}: ${report.classes[tree.label[leaf]]}`,
        ),
      ),
    );
  if (leaves.length > MOST_LEAVES) items.push(make("li", {}, `and ${leaves.length - MOST_LEAVES} more leaves`));
  result.replaceChildren(
    make("h3", {}, "It is given ", classMark(report.classes[label], colourOf(label))),
    table("Class probabilities", ["class", "probability"], rows),
    make("p", {}, leaves.length === 1 ? "It reaches one leaf:" : `It divides and reaches ${leaves.length} leaves:`),
    make("ul", { class: "plain" }, ...items),
  );
  return shares;
}
