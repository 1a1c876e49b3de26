// The report: reads the document in the page, and keeps what is shown in one state.

import { caseForm, showCase } from "./case.js";
import { colourOf } from "./colours.js";
import { classMark, make } from "./dom.js";
import { Drawing } from "./drawing.js";
import { counterparts, fates } from "./match.js";
import { openAlike, openLevels, openTo } from "./opening.js";
import { showNode } from "./panel.js";
import { find } from "./search.js";
import { summary } from "./summary.js";
import { ClassWeights, Tree } from "./tree.js";

const DRAWN_AT_FIRST = 60; // nodes: a screenful or two
const MOST_OPENED = 3000; // nodes that one press of "open all" draws
const MOST_FOLLOWED = 200; // nodes that following a case opens
const NAMES = { pruned: "pruned", unpruned: "as grown" };
const TREES = { pruned: "The pruned tree", unpruned: "The tree as grown" };

const byId = (id) => document.getElementById(id);
const report = JSON.parse(byId("model").textContent);
const trees = {};
const casesAt = {};
const state = { attributes: report.attributes, classes: report.classes, shares: null, fates: null, matches: new Set() };
let found = [];
let typed = null; // the case that is followed

function treeOf(name) {
  trees[name] ??= new Tree(report.trees[name]);
  return trees[name];
}

function casesOf(name) {
  const columns = report.cases?.at_nodes?.[name];
  if (columns) casesAt[name] ??= new ClassWeights(columns);
  return casesAt[name] ?? null;
}

const drawing = new Drawing(byId("drawing"), { select: (node) => choose(node), toggle, key: pressed });

function tell(text) {
  byId("status").textContent = text;
}

function redraw() {
  drawing.show(state);
}

/** Select a node, opening what is above it. */
function choose(node, focus = true) {
  openTo(state.tree, node, state.open);
  state.selected = node;
  redraw();
  drawing.reveal(node);
  if (focus) drawing.focus(node);
  showNode(byId("node"), report, state, choose);
}

function toggle(node) {
  if (state.open.has(node)) state.open.delete(node);
  else state.open.add(node);
  const hidden = !state.open.has(node) && state.selected > node && state.selected < state.tree.end[node];
  if (hidden) choose(node);
  else redraw();
}

/** The keys of a tree: right and left open, close and move between levels, up and down between what is drawn. */
function pressed(event, node) {
  const { tree, open } = state;
  const drawn = drawing.points.map((point) => point.node).sort((one, other) => one - other);
  const place = drawn.indexOf(node);
  const inner = !tree.isLeaf(node);
  const moves = {
    ArrowDown: () => choose(drawn[Math.min(place + 1, drawn.length - 1)]),
    ArrowUp: () => choose(drawn[Math.max(place - 1, 0)]),
    ArrowRight: () => inner && (open.has(node) ? choose(node + 1) : toggle(node)),
    ArrowLeft: () => (inner && open.has(node) ? toggle(node) : node && choose(tree.parent[node])),
    Home: () => choose(0),
    End: () => choose(drawn[drawn.length - 1]),
    Enter: () => choose(node),
    " ": () => inner && toggle(node),
  };
  if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moves[event.key]();
  drawing.focus(state.selected);
}

function showTree(name) {
  const tree = treeOf(name);
  const before = state.tree;
  const same = before && counterparts(before, tree);
  const other = report.trees.unpruned && name === "unpruned" ? treeOf("pruned") : null;
  state.open = same ? openAlike(state.open, same) : openLevels(tree, DRAWN_AT_FIRST);
  state.selected = same ? Math.max(same[state.selected], 0) : 0;
  Object.assign(state, { name, tree, casesAt: casesOf(name), fates: other && fates(tree, other) });
  byId("marks").hidden = !other;
  byId("summary").replaceChildren(...summary(report, name));
  search();
  if (typed) follow(typed);
  choose(state.selected, false);
  tell(`${TREES[name]} has ${tree.n} nodes.`);
}

function search() {
  const text = byId("search").value;
  found = find(state.tree, text, report.attributes, report.classes);
  state.matches = new Set(found);
  byId("found").textContent = text.trim() ? `${found.length} found` : "";
  redraw();
}

/** Go to the next match after the selected node, or before it. */
function step(forward) {
  if (!found.length) return;
  const ahead = forward
    ? found.find((node) => node > state.selected)
    : found.filter((node) => node < state.selected).pop();
  const node = ahead ?? (forward ? found[0] : found[found.length - 1]);
  choose(node, false);
  byId("found").textContent = `${found.indexOf(node) + 1} of ${found.length}`;
}

function follow(values) {
  typed = values;
  state.shares = showCase(byId("result"), report, state.tree, values, choose);
  const most = [...state.shares].sort((one, other) => other[1] - one[1]).slice(0, MOST_FOLLOWED);
  most.forEach(([node]) => openTo(state.tree, node, state.open));
  redraw();
  const leaves = most.filter(([node]) => state.tree.isLeaf(node));
  if (leaves.length) choose(leaves[0][0], false);
}

function clearCase() {
  typed = null;
  state.shares = null;
  byId("result").replaceChildren();
  redraw();
}

function openAll() {
  openLevels(state.tree, MOST_OPENED, 0, state.open);
  redraw();
  drawing.fit(0.05);
  tell(
    state.tree.n > MOST_OPENED
      ? `The upper levels are open; all ${state.tree.n} nodes would be too many to draw.`
      : "All nodes are open.",
  );
}

function closeAll() {
  state.open = new Set();
  choose(0, false);
  drawing.fit();
}

/** The attributes that any of the trees tests, in the order of the data. */
function tested() {
  const all = new Set(Object.values(report.trees).flatMap((columns) => columns.attribute));
  return [...all].filter((a) => a >= 0).sort((one, other) => one - other);
}

function treeChoice() {
  const names = report.trees.unpruned ? ["unpruned", "pruned"] : ["pruned"];
  const radios = names.map((name) =>
    make(
      "label",
      {},
      make("input", {
        type: "radio",
        name: "tree",
        value: name,
        checked: name === "pruned",
        change: () => showTree(name),
      }),
      `${NAMES[name]} (${report.trees[name].kind.length} nodes)`,
    ),
  );
  if (names.length === 1) radios.push(make("span", { class: "hint" }, "pruning changed nothing"));
  byId("trees").append(...radios);
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function listen() {
  const clicks = {
    "zoom-in": () => drawing.zoomBy(1.3),
    "zoom-out": () => drawing.zoomBy(1 / 1.3),
    fit: () => drawing.fit(0.05),
    "open-all": openAll,
    "close-all": closeAll,
    next: () => step(true),
    previous: () => step(false),
    theme: switchTheme,
  };
  for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", (event) => event.key === "Enter" && step(!event.shiftKey));
}

byId("legend").append(...report.classes.slice(0, 30).map((name, c) => make("li", {}, classMark(name, colourOf(c)))));
treeChoice();
listen();
caseForm(byId("case"), report, tested(), { follow, clear: clearCase });
showTree("pruned");
drawing.fit();
document.documentElement.dataset.ready = "true";
