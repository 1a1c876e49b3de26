// What there is to say of the whole tree: how it does, what matters in it, its rules, how it was trained.

import { colourOf } from "./colours.js";
import { bar, classMark, make, table } from "./dom.js";
import { amount, conditionText, percent } from "./words.js";

const LARGEST_MATRIX = 30; // classes
const NARROW_MATRIX = 4; // classes whose matrix fits a column of the page
const MOST_CONFUSIONS = 30;
const MOST_ATTRIBUTES = 40;

export function summary(report, name) {
  return [evaluation(report, name), importances(report, name), rules(report), record(report)].filter(Boolean);
}

function card(id, title, ...content) {
  return make("section", { class: "card", "aria-labelledby": id }, make("h2", { id }, title), ...content);
}

function evaluation(report, name) {
  if (!report.cases) {
    return card(
      "evaluation",
      "On cases",
      make(
        "p",
        { class: "hint" },
        "Made without cases: c45gpu report MODEL --data FILE shows how the tree does on them.",
      ),
    );
  }
  const { cases, classes } = report;
  const facts = cases.evaluation[name];
  const on = `${cases.name} (${facts.cases} cases${cases.training ? ", those of training" : ""})`;
  const cost = facts.cost === undefined ? "" : `, mean cost of a case ${facts.cost.toPrecision(4)}`;
  const told = `On ${on}: ${amount(facts.errors)} errors, accuracy ${ratio(facts.accuracy)}, macro F1 ${ratio(facts.macro_f1)}${cost}.`;
  const byClass = classes.map((c, i) => [
    classMark(c, colourOf(i)),
    ratio(facts.precision[i]),
    ratio(facts.recall[i]),
    ratio(facts.f1[i]),
  ]);
  const whole = card(
    "evaluation",
    "On cases",
    make("p", {}, told),
    classes.length <= LARGEST_MATRIX ? matrix(classes, facts.confusion) : confusions(classes, facts.confusion),
    make(
      "details",
      {},
      make("summary", {}, "By class"),
      table("Precision and recall", ["class", "precision", "recall", "F1"], byClass),
    ),
  );
  whole.classList.toggle("wide", classes.length > NARROW_MATRIX && classes.length <= LARGEST_MATRIX);
  return whole;
}

function ratio(value) {
  return value === null ? "none" : value.toFixed(4);
}

function matrix(classes, [trues, givens, weights]) {
  const cells = classes.map(() => classes.map(() => 0));
  trues.forEach((c, i) => (cells[c][givens[i]] = weights[i]));
  const rows = classes.map((name, c) => {
    const whole = cells[c].reduce((sum, weight) => sum + weight, 0) || 1;
    return [
      classMark(name, colourOf(c)),
      ...cells[c].map((weight, given) => shaded(weight, weight / whole, given === c)),
    ];
  });
  return make(
    "div",
    { class: "scroll" },
    table("True class by row, given class by column", ["class", ...classes], rows, { class: "matrix" }),
  );
}

function shaded(weight, part, right) {
  const cell = make("span", { class: right ? "right" : "wrong" }, weight ? amount(weight) : "");
  cell.style.setProperty("--part", part.toFixed(3));
  return cell;
}

function confusions(classes, [trues, givens, weights]) {
  const wrong = trues.map((c, i) => [c, givens[i], weights[i]]).filter(([c, given]) => c !== given);
  wrong.sort((one, other) => other[2] - one[2]);
  const rows = wrong
    .slice(0, MOST_CONFUSIONS)
    .map(([c, given, weight]) => [classes[c], classes[given], amount(weight)]);
  return table("The most frequent mistakes", ["class", "taken for", "cases"], rows);
}

function importances(report, name) {
  const all = report.importances[name].map((part, a) => [a, Number(part)]).filter(([, part]) => part > 0);
  all.sort((one, other) => other[1] - one[1]);
  const rows = all.slice(0, MOST_ATTRIBUTES).map(([a, part]) => [report.attributes[a].name, bar(part, percent(part))]);
  const more =
    all.length > MOST_ATTRIBUTES ? make("p", {}, `and ${all.length - MOST_ATTRIBUTES} more attributes`) : null;
  const content = rows.length
    ? table("Share of the information gained by the tests of each attribute", ["attribute", "importance"], rows)
    : make("p", {}, "The tree tests nothing.");
  return card("importances", "Importances", content, more);
}

function rules(report) {
  if (!report.rules) return null;
  const { attributes, classes } = report;
  const items = report.rules.map((rule) => {
    const conditions = rule.conditions.map((condition) => conditionText(condition, attributes, { exact: true }));
    const text = `${conditions.join(" and ") || "always"}: `;
    const told = ` (right in ${percent(rule.confidence)} of cases by estimate; ${amount(rule.covered)} training cases, ${amount(rule.wrong)} wrong)`;
    return make("li", {}, text, classMark(classes[rule.label], colourOf(rule.label)), told);
  });
  return card(
    "rules",
    "Rules",
    make("p", { class: "hint" }, "The first that holds decides, as c45gpu rules makes them of the tree."),
    make("ol", {}, ...items),
    make("p", {}, "else ", classMark(classes[report.default], colourOf(report.default))),
  );
}

function record(report) {
  const facts = { ...report.record, classes: report.classes.length, attributes: report.attributes.length };
  return card(
    "record",
    "Training record",
    table("What was trained on", ["fact", "value"], pairs(facts)),
    make(
      "details",
      {},
      make("summary", {}, "Options"),
      table("Options of the learner", ["option", "value"], pairs(report.options)),
    ),
    training(report),
    make("p", { class: "hint" }, `Report by c45gpu ${report.version}.`),
  );
}

function training(report) {
  if (!report.training) {
    const told =
      "Every engine grows the same tree, so a model keeps neither engine nor times; c45gpu train --record does.";
    return make("p", { class: "hint" }, told);
  }
  const { engine, threads, levels, seconds, packages, resumed, finished, system, python } = report.training;
  const facts = {
    engine: `${engine}, ${threads} ${threads === 1 ? "thread" : "threads"}`,
    levels: `${levels}${resumed ? ", since training went on from a checkpoint" : ""}`,
    "most memory": memory(report.training.peak_memory),
    "processor time": duration(report.training.processor_seconds),
    finished,
    "made with": `c45gpu ${report.training.c45gpu}, Python ${python} on ${system}`,
    packages: Object.entries(packages)
      .map((pair) => pair.join(" "))
      .join(", "),
  };
  const times = Object.entries(seconds).map(([stage, time]) => [
    stage,
    bar(seconds.all ? time / seconds.all : 0, duration(time)),
  ]);
  return make(
    "div",
    {},
    table("How it was trained", ["fact", "value"], pairs(facts)),
    table("What took how long", ["stage", "time"], times),
  );
}

function pairs(facts) {
  return Object.entries(facts).map(([name, value]) => [name, plain(value)]);
}

function duration(seconds) {
  return `${seconds.toPrecision(3)} s`;
}

function memory(bytes) {
  return bytes === null ? "not known" : `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;
}

function plain(value) {
  if (value === null) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
