// What the best attributes would gain at a node, and the gain over all thresholds of those that are continuous.

import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { line } from "d3-shape";
import { make, table } from "./dom.js";
import { figure } from "./words.js";

const SIZE = { width: 340, height: 130, left: 46, right: 10, top: 8, bottom: 24 };

/** The section for a scan, as a list of elements; empty where there is none. */
export function scanView(report, scan, tree, node) {
  if (!scan) return [];
  const tested = tree.isLeaf(node) ? -1 : tree.attribute[node];
  const rows = scan.attributes.map((found) => [
    `${report.attributes[found.attribute].name}${found.cut === undefined ? "" : ` ≤ ${figure(Number(found.cut))}`}${found.attribute === tested ? " (tested here)" : ""}`,
    figure3(found.gain),
    figure3(found.split),
    figure3(found.ratio),
  ]);
  const average = scan.average === null ? "" : ` Only attributes with at least the average gain, ${figure3(scan.average)}, compete by ratio.`;
  return [
    make("h3", {}, "Gain scan"),
    make("p", { class: "hint" }, `What the best tests gain on the cases of ${report.cases.name}, thresholds having paid for the choice.${average}`),
    table("Best tests", ["test", "gain", "split info", "ratio"], rows),
    ...scan.attributes.filter((found) => found.curve).map((found) => chart(report, found, found.attribute === tested ? tree.threshold[node] : NaN)),
  ];
}

function figure3(number) {
  return number === null ? "" : String(Number(number.toPrecision(3)));
}

function chart(report, { attribute, curve, gain }, threshold) {
  const { name } = report.attributes[attribute];
  const points = curve.cuts.map((cut, i) => [Number(cut), curve.gains[i]]).filter(([cut]) => Number.isFinite(cut));
  const xs = points.map(([x]) => x);
  const x = scaleLinear([Math.min(...xs), Math.max(...xs)], [SIZE.left, SIZE.width - SIZE.right]);
  const y = scaleLinear([0, Math.max(...curve.gains, gain, 1e-9)], [SIZE.height - SIZE.bottom, SIZE.top]).nice();
  const figureElement = make("figure", {}, make("figcaption", {}, `Gain of ${name} over its thresholds, in bits for a case`));
  const svg = select(figureElement)
    .append("svg")
    .attr("class", "scan")
    .attr("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`)
    .attr("role", "img")
    .attr("aria-label", `Gain of ${name} over ${points.length} thresholds; the greatest is ${figure3(Math.max(...curve.gains))}`);
  svg.append("g").attr("transform", `translate(0,${SIZE.height - SIZE.bottom})`).call(axisBottom(x).ticks(5));
  svg.append("g").attr("transform", `translate(${SIZE.left},0)`).call(axisLeft(y).ticks(4));
  svg.append("path").attr("class", "curve").attr("d", line((p) => x(p[0]), (p) => y(p[1]))(points));
  svg.selectAll("circle").data(points).join("circle").attr("class", "cut").attr("cx", (p) => x(p[0])).attr("cy", (p) => y(p[1])).attr("r", 1.6);
  if (Number.isFinite(threshold)) {
    svg.append("line").attr("class", "threshold").attr("x1", x(threshold)).attr("x2", x(threshold)).attr("y1", SIZE.top).attr("y2", SIZE.height - SIZE.bottom);
  }
  return figureElement;
}
