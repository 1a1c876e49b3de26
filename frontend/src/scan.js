// What the best attributes would gain at a node, and the gain over all thresholds of those that are continuous.

import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { create } from "d3-selection";
import { line } from "d3-shape";
import { make, table } from "./dom.js";
import { figure } from "./words.js";

const LEAST_HEIGHT = 1e-9; // of the axis, where nothing gains
const SIZE = { width: 340, height: 130, left: 46, right: 10, top: 8, bottom: 24 };

/** The section for a scan, as a list of elements; empty where there is none. */
export function scanView(report, scan, tree, node) {
  if (!scan) return [];
  const tested = tree.isLeaf(node) ? -1 : tree.attribute[node];
  return [
    make("h3", {}, "Gain scan"),
    ...(scan.attributes.length
      ? told(report, scan, tested)
      : [make("p", { class: "hint" }, "No test gains anything here.")]),
    ...scan.attributes
      .filter((found) => found.curve)
      .map((found) => chart(report, found, found.attribute === tested ? tree.threshold[node] : NaN)),
  ];
}

function told(report, { attributes, average }, tested) {
  const byRatio = attributes.some((found) => found.ratio !== null);
  const rows = attributes.map((found) => [
    testText(report, found) + (found.attribute === tested ? " (tested here)" : ""),
    digits(found.gain),
    ...(byRatio ? [digits(found.split), digits(found.ratio)] : []),
  ]);
  const hint = `What the best tests gain, by ${report.cases.name}; a threshold has paid for the choice.`;
  const competing = average === null ? "" : ` Only tests that gain ${digits(average)}, the average, compete by ratio.`;
  const { group_values: groups, binary_splits: binary } = report.options;
  const lacking = groups || binary ? " Tests in which values share branches are not among them." : "";
  return [
    make("p", { class: "hint" }, hint + competing + lacking),
    table("Best tests", ["test", "gain", ...(byRatio ? ["split info", "ratio"] : [])], rows),
  ];
}

function testText(report, { attribute, threshold }) {
  const { name } = report.attributes[attribute];
  return threshold === undefined ? name : `${name} ≤ ${figure(Number(threshold))}`;
}

function digits(number) {
  return number === null ? "" : String(Number(number.toPrecision(3)));
}

function chart(report, { attribute, curve, gain }, threshold) {
  const { name } = report.attributes[attribute];
  const points = curve.thresholds
    .map((cut, i) => [Number(cut), curve.gains[i]])
    .filter(([cut]) => Number.isFinite(cut));
  const xs = points.map(([cut]) => cut);
  const most = Math.max(...curve.gains);
  const x = scaleLinear([Math.min(...xs), Math.max(...xs)], [SIZE.left, SIZE.width - SIZE.right]);
  const y = scaleLinear([0, Math.max(most, gain, LEAST_HEIGHT)], [SIZE.height - SIZE.bottom, SIZE.top]).nice();
  const caption = `Gain of ${name} over its thresholds, before they pay`;
  const svg = create("svg")
    .attr("class", "scan")
    .attr("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`)
    .attr("role", "img")
    .attr("aria-label", `${caption}: ${points.length} points, the greatest gain is ${digits(most)}`);
  svg
    .append("g")
    .attr("transform", `translate(0,${SIZE.height - SIZE.bottom})`)
    .call(axisBottom(x).ticks(5));
  svg.append("g").attr("transform", `translate(${SIZE.left},0)`).call(axisLeft(y).ticks(4));
  const curveLine = line(
    ([cut]) => x(cut),
    (point) => y(point[1]),
  );
  svg.append("path").attr("class", "curve").attr("d", curveLine(points));
  svg
    .selectAll("circle")
    .data(points)
    .join("circle")
    .attr("class", "cut")
    .attr("cx", ([cut]) => x(cut))
    .attr("cy", (point) => y(point[1]))
    .attr("r", 1.6);
  if (Number.isFinite(threshold)) {
    const rule = svg.append("line").attr("class", "threshold").attr("x1", x(threshold)).attr("x2", x(threshold));
    rule.attr("y1", SIZE.top).attr("y2", SIZE.height - SIZE.bottom);
  }
  return make("figure", {}, make("figcaption", {}, caption), svg.node());
}
