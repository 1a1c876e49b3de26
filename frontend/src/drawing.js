// The tree as a drawing from left to right. D3 lays out the nodes that are open; of many, only those in view are drawn.

import { stratify, tree as treeLayout } from "d3-hierarchy";
import { select } from "d3-selection";
import { linkHorizontal } from "d3-shape";
import { zoom, zoomIdentity } from "d3-zoom";
import { colourOf } from "./colours.js";
import { CHANGED, GONE } from "./match.js";
import { drawnNodes } from "./opening.js";
import { amount, branchText, percent, testOf } from "./words.js";

const CARD = { width: 216, height: 52 };
const ROW = 62;
const COLUMN = 276;
const PAD = 10;
const ALL_DRAWN = 400; // nodes up to which nothing is left out
const MARGIN = 300; // pixels around the view that are drawn, too
const SCALES = [0.05, 3];
const LARGEST = 1.3; // and a small drawing is not blown up more than this
const READABLE = 0.55; // a drawing is not made smaller than this to fit the view at first
const FONTS = { branch: "12px system-ui, sans-serif", test: "600 13px system-ui, sans-serif" };

export class Drawing {
  /** `on` has the functions select(node), toggle(node) and key(event, node). */
  constructor(svg, on) {
    this.svg = select(svg);
    this.on = on;
    this.layer = this.svg.append("g");
    this.links = this.layer.append("g").attr("class", "links").attr("aria-hidden", "true");
    this.nodes = this.layer.append("g").attr("class", "nodes").attr("role", "presentation");
    this.zoom = zoom()
      .scaleExtent(SCALES)
      .on("zoom", ({ transform }) => {
        this.layer.attr("transform", transform);
        if (this.points?.length > ALL_DRAWN) this.#draw();
      });
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.measure = document.createElement("canvas").getContext("2d");
  }

  /** Show a state: {tree, attributes, classes, open, selected, shares, fates, matches}. */
  show(state) {
    this.state = state;
    const { tree, open } = state;
    const root = stratify()
      .id((node) => node)
      .parentId((node) => (node ? tree.parent[node] : null))(drawnNodes(tree, open));
    treeLayout()
      .nodeSize([ROW, COLUMN])
      .separation(() => 1)(root);
    this.points = root.descendants().map((point) => ({ node: point.data, x: point.y, y: point.x }));
    this.at = new Map(this.points.map((point) => [point.node, point]));
    this.#draw();
  }

  /** Put the whole drawing into view, or its beginning where it would be too small to read. */
  fit(least = READABLE) {
    const ys = this.points.map((point) => point.y);
    const top = ys.reduce((a, b) => Math.min(a, b)) - CARD.height;
    const bottom = ys.reduce((a, b) => Math.max(a, b)) + CARD.height;
    const right = this.points.reduce((most, point) => Math.max(most, point.x), 0) + CARD.width + 40;
    const { width, height } = this.#size();
    const scale = Math.min(LARGEST, Math.max(least, Math.min(width / (right + 20), height / (bottom - top))));
    const middle = scale * (bottom - top) <= height ? (top + bottom) / 2 : this.at.get(0).y;
    this.#go(zoomIdentity.translate(20 * scale, height / 2 - middle * scale).scale(scale));
  }

  zoomBy(factor) {
    this.svg.call(this.zoom.scaleBy, factor);
  }

  /** Bring a node into view, if it is not. */
  reveal(node) {
    const { x, y } = this.at.get(node);
    const { width, height } = this.#size();
    const { k, x: dx, y: dy } = this.svg.property("__zoom");
    const left = k * x + dx;
    const top = k * y + dy;
    const seen =
      left >= 0 && left + k * CARD.width <= width && top >= k * CARD.height && top <= height - k * CARD.height;
    if (!seen) this.svg.call(this.zoom.translateTo, x + CARD.width / 2, y);
  }

  focus(node) {
    this.nodes.select(`[data-node="${node}"]`).node()?.focus({ preventScroll: true });
  }

  #go(transform) {
    this.svg.call(this.zoom.transform, transform);
  }

  #size() {
    const { width, height } = this.svg.node().getBoundingClientRect();
    return { width: width || 800, height: height || 500 };
  }

  #inView() {
    if (this.points.length <= ALL_DRAWN) return this.points;
    const { k, x, y } = this.svg.property("__zoom");
    const { width, height } = this.#size();
    const [left, right] = [(-MARGIN - x) / k - COLUMN, (width + MARGIN - x) / k];
    const [top, bottom] = [(-MARGIN - y) / k, (height + MARGIN - y) / k];
    const { selected } = this.state;
    return this.points.filter(
      (p) => p.node === selected || (p.x >= left && p.x <= right && p.y >= top && p.y <= bottom),
    );
  }

  #draw() {
    const shown = this.#inView();
    const { tree } = this.state;
    const focused = this.nodes.node().contains(document.activeElement);
    this.#drawLinks(shown.filter((point) => point.node));
    this.nodes
      .selectAll("g.node")
      .data(shown, (point) => point.node)
      .join((enter) => this.#enter(enter))
      .order()
      .each((point, i, elements) => this.#update(select(elements[i]), point));
    this.svg.attr("data-drawn", shown.length).attr("data-nodes", tree.n);
    if (focused) this.focus(this.state.selected);
  }

  #drawLinks(points) {
    const { tree, shares, fates } = this.state;
    const path = linkHorizontal();
    const whole = tree.weight[0] || 1;
    this.links
      .selectAll("path")
      .data(points, (point) => point.node)
      .join("path")
      .attr("d", ({ node, x, y }) => {
        const from = this.at.get(tree.parent[node]);
        return path({ source: [from.x + CARD.width, from.y], target: [x, y] });
      })
      .attr(
        "stroke-width",
        ({ node }) => 1 + 7 * Math.sqrt(shares ? (shares.get(node) ?? 0) : tree.weight[node] / whole),
      )
      .classed("taken", ({ node }) => shares?.has(node) ?? false)
      .classed("gone", ({ node }) => fates?.[node] === GONE);
  }

  #enter(enter) {
    const node = enter.append("g").attr("class", "node").attr("role", "treeitem");
    node
      .append("rect")
      .attr("class", "card")
      .attr("y", -CARD.height / 2)
      .attr("rx", 6);
    node.select("rect").attr("width", CARD.width).attr("height", CARD.height);
    node.append("text").attr("class", "branch").attr("x", PAD).attr("y", -9);
    node
      .append("text")
      .attr("class", "weight")
      .attr("x", CARD.width - PAD)
      .attr("y", -9)
      .attr("text-anchor", "end");
    node
      .append("circle")
      .attr("class", "label")
      .attr("cx", PAD + 5)
      .attr("cy", 6)
      .attr("r", 5);
    node.append("text").attr("class", "test").attr("y", 11);
    node.append("g").attr("class", "parts").attr("transform", `translate(${PAD},17)`);
    node.append("title");
    const toggle = node
      .append("g")
      .attr("class", "toggle")
      .attr("aria-hidden", "true")
      .attr("transform", `translate(${CARD.width},0)`);
    toggle.append("circle").attr("r", 10);
    toggle.append("text").attr("text-anchor", "middle").attr("y", 5);
    toggle.on("click", (event, { node: number }) => {
      event.stopPropagation();
      this.on.toggle(number);
    });
    return node
      .on("click", (event, { node: number }) => this.on.select(number))
      .on("keydown", (event, { node: number }) => this.on.key(event, number));
  }

  #update(element, { node, x, y }) {
    const { tree, attributes, classes, open, selected, shares, fates, matches } = this.state;
    const leaf = tree.isLeaf(node);
    const colour = colourOf(tree.label[node]);
    const branch = node ? branchText(tree, node, attributes) : "all cases";
    const says = leaf ? classes[tree.label[node]] : `${testOf(tree, node, attributes)}?`;
    const share = shares?.get(node);
    const weight = share === undefined ? amount(tree.weight[node]) : percent(share);
    element
      .attr("transform", `translate(${x},${y})`)
      .attr("data-node", node)
      .attr("tabindex", node === selected ? 0 : -1)
      .classed("leaf", leaf)
      .classed("selected", node === selected)
      .classed("match", matches.has(node))
      .classed("taken", share !== undefined)
      .classed("passed-by", shares !== null && share === undefined)
      .classed("changed", fates?.[node] === CHANGED)
      .classed("gone", fates?.[node] === GONE)
      .attr("aria-level", tree.depth[node] + 1)
      .attr("aria-setsize", node ? tree.branches(tree.parent[node]).length : 1)
      .attr("aria-posinset", tree.place[node] + 1)
      .attr("aria-selected", node === selected)
      .attr("aria-expanded", leaf ? null : open.has(node))
      .attr(
        "aria-label",
        `${branch}: ${leaf ? `class ${says}` : `asks ${says}`} ${weight}${share === undefined ? " cases" : " of the case"}`,
      );
    element.select("title").text(`${branch}\n${says}`);
    const room = CARD.width - 2 * PAD;
    element.select(".weight").text(weight);
    element.select(".branch").text(this.#fitted(branch, room - this.#width(weight, FONTS.branch) - 8, FONTS.branch));
    element
      .select(".test")
      .attr("x", leaf ? PAD + 16 : PAD)
      .text(this.#fitted(says, room - (leaf ? 16 : 0) - 6, FONTS.test));
    element
      .select(".label")
      .attr("fill", colour)
      .style("display", leaf ? null : "none");
    element
      .select(".toggle")
      .style("display", leaf ? "none" : null)
      .select("text")
      .text(open.has(node) ? "−" : "+");
    this.#drawParts(element.select(".parts"), node, room);
  }

  #drawParts(group, node, room) {
    const { tree } = this.state;
    const whole = tree.weight[node] || 1;
    let before = 0;
    const parts = tree.classes.at(node).map(([c, weight]) => {
      const part = { c, x: (room * before) / whole, width: (room * weight) / whole };
      before += weight;
      return part;
    });
    group
      .selectAll("rect")
      .data(parts)
      .join("rect")
      .attr("height", 4)
      .attr("x", (part) => part.x)
      .attr("width", (part) => part.width)
      .attr("fill", (part) => colourOf(part.c));
  }

  #width(text, font) {
    this.measure.font = font;
    return this.measure.measureText(text).width;
  }

  /** As much of a text as there is room for. */
  #fitted(text, room, font) {
    if (this.#width(text, font) <= room) return text;
    let [fits, most] = [0, text.length];
    while (fits < most) {
      const middle = Math.ceil((fits + most) / 2);
      if (this.#width(`${text.slice(0, middle)}…`, font) <= room) fits = middle;
      else most = middle - 1;
    }
    return `${text.slice(0, fits)}…`;
  }
}
