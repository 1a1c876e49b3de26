"""Trees and their evaluation in the layout of the original program, line for line.

    outlook = overcast: Play (4.0)            at each node leaves come first, then subtrees
    outlook = sunny:
    |   humidity <= 75 : Play (2.0)           label (weight of the training cases)
    |   humidity > 75 : Don't Play (3.0/1.0)  label (weight/errors), where there are errors

    humidity <= 75 [70,80] : Play (2.0)       with soft thresholds, where the bounds differ

A subtree whose lines would not fit the page is printed further down: ``a3 = toyota:[S1]``, then ``Subtree [S1]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.evaluate import Evaluation
from c45gpu.model.possible import without_impossible_values
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

PAGE_WIDTH: Final = 80
INDENT: Final = "|   "
MOST_CLASSES_IN_CONFUSION: Final = 21  # their letters run from a to u

Part = Literal["attribute", "value", "class", "left out"]
Mark = Callable[[Part, str, int], str]

_ROOM_AFTER_VALUE: Final = 11  # columns that stay free behind a value in a list of values
_WIDTH_OF_NUMBER: Final = 4  # what a threshold is counted as, whatever its digits
_WIDTH_OF_TEST: Final = 5  # blanks, comparison and colon
_WIDTH_OF_WEIGHT: Final = 6  # blanks, brackets and digits behind a label


def plain(part: Part, text: str, number: int) -> str:
    """The text as it is."""
    return text


def tree_text(
    tree: Tree,
    schema: Schema,
    *,
    max_depth: int | None = None,
    soft: SoftThresholds | None = None,
    mark: Mark = plain,
) -> str:
    """One tree in the original's layout.

    Parameters
    ----------
    tree : Tree
    schema : Schema
    max_depth : int, optional
        Nodes at this depth (the root's is 0) are printed like leaves, with `` ...`` where something is left out. None
        prints the whole tree.
    soft : SoftThresholds, optional
        Bounds to be printed behind thresholds.
    mark : callable
        What to print for a part of a line, such as the text in a colour: is given which part it is, the text, and the
        number of the attribute or class that it is of. Lines are laid out as if it were the text.

    Returns
    -------
    str
        Lines, each with its newline. Weights and errors have one decimal, thresholds six digits.
    """
    printer = _Printer(tree, schema, max_depth, soft, mark)
    return "".join(line + "\n" for line in printer.lines())


def trees_text(
    unpruned: Tree,
    pruned: Tree,
    schema: Schema,
    *,
    max_depth: int | None = None,
    soft: SoftThresholds | None = None,
    mark: Mark = plain,
) -> str:
    """Both trees under the original's headings; the pruned one only where it is another, or has soft thresholds.

    Parameters
    ----------
    unpruned, pruned : Tree
    schema : Schema
    max_depth, mark
        See :func:`tree_text`.
    soft : SoftThresholds, optional
        Of the pruned tree.

    Returns
    -------
    str
    """
    text = _titled("Decision Tree", unpruned, schema, max_depth, None, mark)
    # Whatever pruning does, it takes nodes away; branches of impossible values do not count.
    if pruned.n_nodes != without_impossible_values(unpruned).n_nodes or soft is not None:
        text += "\n" + _titled("Simplified Decision Tree", pruned, schema, max_depth, soft, mark)
    return text


def evaluation_text(
    before: Evaluation, after: Evaluation, schema: Schema, *, data: str = "training data", confusion: bool = False
) -> str:
    """The original's evaluation table, and below it what a case costs, where mistakes have costs.

    Parameters
    ----------
    before, after : Evaluation
        Of the tree as grown and of the pruned tree.
    schema : Schema
    data : str
        What the cases are called in the heading.
    confusion : bool
        Whether the confusion matrix of the pruned tree follows; it never does above 21 classes.

    Returns
    -------
    str
    """
    row = f"{_size_and_errors(before)}   {_size_and_errors(after)}    ({after.estimate:4.1f}%)   <<"
    text = (
        f"Evaluation on {data} ({before.n_cases} items):\n\n"
        "\t Before Pruning           After Pruning\n"
        "\t----------------   ---------------------------\n"
        "\tSize      Errors   Size      Errors   Estimate\n\n"
        f"\t{row}\n\n"
    )
    if before.cost is not None and after.cost is not None:
        text += f"\tMean cost of a case: {before.cost:.4g} before pruning, {after.cost:.4g} after\n\n"
    if confusion and schema.n_classes <= MOST_CLASSES_IN_CONFUSION:
        text += confusion_text(after.confusion, schema)
    return text


def confusion_text(confusion: npt.NDArray[np.float64], schema: Schema) -> str:
    """The original's confusion matrix, true classes in rows; it has letters for 21 classes, not for more.

    Parameters
    ----------
    confusion : ndarray of float64, shape (C, C)
    schema : Schema

    Returns
    -------
    str
    """
    letters = [chr(ord("a") + c) for c in range(schema.n_classes)]
    lines = [
        "\t" + "".join(f"  ({letter})" for letter in letters) + "\t<-classified as",
        "\t" + " ----" * len(letters),
    ]
    for letter, name, weights in zip(letters, schema.classes, confusion.tolist(), strict=True):
        cells = "".join(f" {amount(weight) if weight else '':>4}" for weight in weights)
        lines.append(f"\t{cells}\t({letter}): class {name}")
    return "\n" + "\n".join(lines) + "\n\n\n"


def amount(weight: float) -> str:
    """A weight; whole ones look like counts."""
    return str(int(weight)) if weight.is_integer() else f"{weight:.1f}"


def _titled(
    title: str, tree: Tree, schema: Schema, max_depth: int | None, soft: SoftThresholds | None, mark: Mark
) -> str:
    without_tests = tree.n_nodes == 1 or max_depth == 0
    gap = "" if without_tests else "\n"  # the line of a lone label follows its heading at once
    return f"{title}:\n{gap}{tree_text(tree, schema, max_depth=max_depth, soft=soft, mark=mark)}\n"


def _size_and_errors(evaluation: Evaluation) -> str:
    return f"{evaluation.size:4d}  {amount(evaluation.errors):>3}({evaluation.error_percent:4.1f}%)"


class _Printer:
    """Prints one tree; an own stack stands for the recursion, so depth does not matter."""

    def __init__(
        self, tree: Tree, schema: Schema, max_depth: int | None, soft: SoftThresholds | None, mark: Mark
    ) -> None:
        self.tree, self.schema, self.soft, self.mark = tree, schema, soft, mark
        self.max_depth = tree.n_nodes if max_depth is None else max_depth
        self.is_leaf = (tree.kind == LEAF).tolist()
        self.tops = [(0, 0)]  # nodes that begin a page's subtree, with their depth in the tree

    def lines(self) -> list[str]:
        """All lines: those of the tree, then those of each subtree that broke off, which may break further."""
        lines: list[str] = []
        for number, (top, depth) in enumerate(self.tops):  # grows meanwhile
            if number:
                lines += ["", "", f"Subtree [S{number}]", ""]
            self._print(top, depth, lines)
        return lines

    def _print(self, top: int, top_depth: int, lines: list[str]) -> None:
        pending = [(top, 0, "")]
        while pending:
            node, indent, start = pending.pop()
            depth = top_depth + indent
            if self.is_leaf[node]:
                lines.append(f"{start} {self._leaf(node)}")
            elif depth >= self.max_depth:
                lines.append(f"{start} {self._leaf(node)} {self.mark('left out', '...', 0)}")
            elif indent and indent * len(INDENT) + self._longest_line(node) > PAGE_WIDTH:
                lines.append(f"{start}[S{len(self.tops)}]")
                self.tops.append((node, depth))
            else:
                lines += [start] if start else []
                pending += reversed(self._branches(node, indent))

    def _branches(self, node: int, indent: int) -> list[tuple[int, int, str]]:
        branches = self.tree.branches(node).tolist()
        tests = self._tests(node, INDENT * indent)
        lines = [(child, indent + 1, test) for child, test in zip(branches, tests, strict=True) if test]
        return sorted(lines, key=lambda line: not self.is_leaf[line[0]])

    def _leaf(self, node: int) -> str:
        errors, label = float(self.tree.errors[node]), int(self.tree.label[node])
        wrong = f"/{errors:.1f}" if errors > 0 else ""
        return f"{self.mark('class', self.schema.classes[label], label)} ({self.tree.weight[node]:.1f}{wrong})"

    def _tests(self, node: int, indent: str) -> list[str]:
        """How the line of each branch begins; empty for a group without values, which has no line."""
        number = int(self.tree.attribute[node])
        attribute = self.schema.attributes[number]
        if self.tree.kind[node] == THRESHOLD:
            name = self.mark("attribute", attribute.name, number)
            threshold = self.mark("value", f"{self.tree.threshold[node]:g}{self._bounds(node)}", number)
            return [f"{indent}{name} {sign} {threshold} :" for sign in ("<=", ">")]
        return [self._values_test(number, values, indent) for values in self._values(node, attribute)]

    def _values_test(self, number: int, values: list[str], indent: str) -> str:
        attribute = self.schema.attributes[number].name
        marked = self.mark("attribute", attribute, number)
        if not values:
            return ""
        if len(values) == 1:
            return f"{indent}{marked} = {self.mark('value', values[0], number)}:"
        rows: list[list[str]] = [[]]
        margin = width = len(attribute) + len(" in {")
        for value in values:
            if rows[-1] and width + len(value) + _ROOM_AFTER_VALUE > PAGE_WIDTH:
                rows.append([])
                width = margin
            rows[-1].append(self.mark("value", value, number))
            width += len(value) + 1
        return f"{indent}{marked} in {{" + f",\n{indent}{' ' * margin}".join(map(",".join, rows)) + "}:"

    def _bounds(self, node: int) -> str:
        if self.soft is None or self.soft.lower[node] == self.soft.upper[node]:
            return ""
        return f" [{self.soft.lower[node]:g},{self.soft.upper[node]:g}]"

    def _values(self, node: int, attribute: Attribute) -> list[list[str]]:
        """The values of each branch, in their order."""
        value_map, branches = self.tree.value_map(node), np.arange(len(self.tree.branches(node)))
        return [[attribute.values[code] for code in np.flatnonzero(value_map == b)] for b in branches]

    def _longest_line(self, node: int) -> int:
        """Columns that the lines of a node's branches take, as the original counts them: one value for a group."""
        attribute = self.schema.attributes[self.tree.attribute[node]]
        branches = self.tree.branches(node).tolist()
        if self.tree.kind[node] == THRESHOLD:
            widths = [_WIDTH_OF_NUMBER] * len(branches)
        else:
            widths = [len(values[0]) if values else 0 for values in self._values(node, attribute)]
        ends = [self._width_of_label(child) for child in branches]
        return len(attribute.name) + _WIDTH_OF_TEST + max(map(sum, zip(widths, ends, strict=True)))

    def _width_of_label(self, node: int) -> int:
        return len(self.schema.classes[self.tree.label[node]]) + _WIDTH_OF_WEIGHT if self.is_leaf[node] else 0
