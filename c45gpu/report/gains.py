"""What other tests would have gained, at the nodes that most cases come to.

scan = {"average": 0.3,       the gain that a test must have to compete by its ratio, null where none is asked
        "attributes": [{"attribute": 3, "threshold": 206, "gain": 0.87, "split": 0.96, "ratio": 0.91,
                        "curve": {"thresholds": [172, ...], "gains": [0.01, ...]}}, ...]}    the best first

A discrete attribute has neither threshold nor curve; where the criterion has no split information, it and the ratio are
null. A curve is thinned out, but keeps its greatest gain.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.formulas import EPSILON
from c45gpu.induction.options import Options
from c45gpu.induction.scan import AtNode, Curve, Scan, Scanner
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree
from c45gpu.report.columns import numbers

MOST_NODES: Final = 150  # of a tree, so that a report of 5,000 nodes stays below 5 MB
MOST_ATTRIBUTES: Final = 5  # told of a node
MOST_CURVES: Final = 2  # drawn of a node
MOST_POINTS: Final = 60  # of a curve: what 300 pixels can show
MOST_VALUES: Final = 1 << 24  # looked at for a tree, which takes some seconds
VALUES_OF_A_SCAN: Final = 2048  # what an attribute costs at a node, however few cases are there
DIGITS: Final = 5  # significant ones of a gain

Float64s = npt.NDArray[np.float64]


def scans_of(model: Model, table: Table, trees: dict[str, Tree]) -> dict[str, dict[str, Any]]:
    """Scans of the nodes of each tree that most training cases came to, by tree and node.

    Parameters
    ----------
    model : Model
    table : Table
        Cases; those without a class are left out.
    trees : dict of str to Tree
    """
    known = {name: value for name, value in model.options.items() if name in Options.__dataclass_fields__}
    scanner = Scanner(table.take(table.classes >= 0), Options(**known))
    return {name: _of_tree(scanner, tree) for name, tree in trees.items()}


def _of_tree(scanner: Scanner, tree: Tree) -> dict[str, Any]:
    scans: dict[str, Any] = {}
    spent = 0
    heaviest = np.argsort(-tree.weight, kind="stable")[:MOST_NODES]
    for node, at_node in scanner.cases(tree, heaviest):
        spent += (len(at_node.case) + VALUES_OF_A_SCAN) * len(scanner.used)
        if spent > MOST_VALUES and scans:
            break
        scans[str(node)] = _told(scanner, at_node, scanner.scan(at_node))
    return scans


def _told(scanner: Scanner, at_node: AtNode, scan: Scan) -> dict[str, Any]:
    gains = np.where(np.isnan(scan.gain), -np.inf, scan.gain)
    best = [a for a in np.lexsort((-gains, -scan.worth)).tolist() if gains[a] > -EPSILON][:MOST_ATTRIBUTES]
    found, curves = [], 0
    for a in best:
        one: dict[str, Any] = {"attribute": scanner.used[a], **_figures(scan, a)}
        if not np.isnan(scan.threshold[a]):
            (one["threshold"],) = numbers(scan.threshold[a : a + 1])
            if curves < MOST_CURVES:
                one["curve"] = _curve(scanner.curve(at_node, scanner.used[a]))
                curves += 1
        found.append(one)
    return {"average": None if scan.average is None else _rounded(scan.average), "attributes": found}


def _figures(scan: Scan, a: int) -> dict[str, float | None]:
    gain, split = float(scan.gain[a]), float(scan.split[a])
    by_ratio = split > EPSILON  # not so where there is none
    return {
        "gain": _rounded(gain),
        "split": _rounded(split) if by_ratio else None,
        "ratio": _rounded(gain / split) if by_ratio else None,
    }


def _curve(curve: Curve) -> dict[str, Any]:
    n = len(curve.gains)
    kept = np.unique(np.append(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(np.int64), curve.gains.argmax()))
    return {
        "thresholds": numbers(curve.thresholds[kept]),
        "gains": [_rounded(gain) for gain in curve.gains[kept].tolist()],
    }


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
