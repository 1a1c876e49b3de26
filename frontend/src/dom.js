// Elements with their content. Every text becomes a text node, so nothing that a model says is taken for HTML.

/** An element: `make("p", { class: "hint" }, "text", otherElement)`. Properties that are functions listen. */
export function make(tag, properties = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((part) => part !== null && part !== undefined));
  return element;
}

/** A table with a heading for each column; the first cell of a row is the row's heading. */
export function table(caption, headings, rows, properties = {}) {
  const cell = (content, i) => (i === 0 ? make("th", { scope: "row" }, content) : make("td", {}, content));
  return make(
    "table",
    properties,
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...headings.map((heading) => make("th", { scope: "col" }, heading)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
  );
}

/** A bar for a part between 0 and 1, beside its text. */
export function bar(part, text, colour) {
  const fill = make("span", { class: "fill" });
  fill.style.width = `${100 * part}%`;
  if (colour) fill.style.background = colour;
  return make(
    "span",
    { class: "bar" },
    make("span", { class: "track", "aria-hidden": "true" }, fill),
    make("span", {}, text),
  );
}

/** A class with its colour. */
export function classMark(name, colour) {
  const dot = make("span", { class: "dot", "aria-hidden": "true" });
  dot.style.background = colour;
  return make("span", { class: "class" }, dot, name);
}
