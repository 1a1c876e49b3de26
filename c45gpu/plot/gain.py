"""The picture that explains C4.5: how much every threshold of an attribute would gain, and what the choice costs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c45gpu.data.schema import Schema
from c45gpu.errors import OptionError
from c45gpu.induction.gain_scan import NONE, GainScan, gain_scan
from c45gpu.plot.colours import CUT, FAINT, INK, class_colours
from c45gpu.plot.labels import model_in, short, training_cases
from c45gpu.plot.measure import new_panels

_GAIN: Final = "#0072B2"
_RATIO: Final = "#5b3a8c"
_UNITS: Final = {"gini": "gain (Gini impurity)", "chi2": "gain (chi-square)"}


def plot_gain_scan(
    model: Any,
    X: Any,
    y: Any = None,
    attribute: str | int = 0,
    node: int = 0,
    axes: Any = None,
    *,
    weights: Any = None,
    unpruned: bool = False,
) -> Any:
    """Draw the gain of every threshold of an attribute among the training cases at a node.

    Above are the cases by class; in the middle the gain in bits, with what a threshold has to pay for having been
    chosen among others; below the gain ratio, which is made of what is left. Thresholds so close to an end that they
    are not tried are on a grey ground.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        What was trained on the cases.
    X : Table, data frame or array_like
        The training cases.
    y : array_like, optional
        Their classes; a table has them.
    attribute : str or int
        A continuous attribute, its name or number.
    node : int
        The number of a node in preorder; the root is 0.
    axes : sequence of three matplotlib.axes.Axes, optional
        Where to draw; new ones if absent.
    weights : array_like, optional
        Of the cases.
    unpruned : bool
        The node is one of the tree as grown, not of the pruned one.

    Returns
    -------
    tuple of three matplotlib.axes.Axes
        Of the cases, the gain and the gain ratio.

    Raises
    ------
    DataError
        When the cases do not fit the model, or have no classes.
    MissingPackageError
        When matplotlib is not installed.
    OptionError
        When there is no such attribute or node, or the attribute has no thresholds there.
    """
    kept = model_in(model)
    number = _number(kept.schema, attribute)
    scan = gain_scan(kept, training_cases(kept, X, y, weights), number, node, unpruned=unpruned)
    name = short(kept.schema.attributes[number].name)
    if not len(scan.thresholds):
        raise OptionError(f"{name!r} has no two known values at node {node}: give another attribute or node")
    if axes is None:
        axes = new_panels(7.2, 6.0, nrows=3, sharex=True, height_ratios=(1.1, 2, 2))
    _cases(axes[0], scan, kept.schema)
    _gain(axes[1], scan, _UNITS.get(kept.options.get("criterion", ""), "gain (bits)"))
    _ratio(axes[2], scan)
    axes[2].set_xlabel(name, parse_math=False)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    _tell(axes, scan)
    return tuple(axes)


def _number(schema: Schema, attribute: str | int) -> int:
    if not isinstance(attribute, str):
        if not 0 <= attribute < len(schema.attributes):
            raise OptionError(f"attribute={attribute} will not do: there are {len(schema.attributes)}, from 0 on")
        return int(attribute)
    names = [a.name for a in schema.attributes]
    if attribute not in names:
        raise OptionError(f"there is no attribute {attribute!r}: give one of {', '.join(names[:20])}")
    return names.index(attribute)


def _cases(ax: Any, scan: GainScan, schema: Schema) -> None:
    """A row of ticks for each class that is there."""
    present = np.unique(scan.classes).tolist()
    colours = class_colours(schema.n_classes)
    rows = [scan.values[scan.classes == c] for c in present]
    ax.eventplot(rows, lineoffsets=range(len(rows)), linelengths=0.75, colors=[colours[c] for c in present], alpha=0.6)
    ax.set_yticks(range(len(rows)), [short(schema.classes[c]) for c in present], parse_math=False)
    ax.invert_yaxis()
    ax.set_ylabel("cases")


def _gain(ax: Any, scan: GainScan, unit: str) -> None:
    _ground(ax, scan)
    ax.plot(scan.thresholds, scan.gain, color=_GAIN, marker=".", markersize=4, linewidth=1.2)
    if scan.cost > 0:
        ax.axhline(scan.cost, color=CUT, linestyle="--", linewidth=1)
        words = f"cost of the choice: log2({int(scan.tried.sum())} thresholds) / cases = {scan.cost:.3f} bits"
        how = {"transform": ax.transAxes, "ha": "right", "va": "top", "color": CUT, "fontsize": "small", "zorder": 4}
        ax.text(0.995, 0.99, words, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5}, **how)
    ax.set_ylim(0, 1.25 * max(float(scan.gain.max()), scan.cost, 1e-9))
    ax.set_ylabel(unit)


def _ratio(ax: Any, scan: GainScan) -> None:
    _ground(ax, scan)
    ax.plot(scan.thresholds, scan.ratio, color=_RATIO, marker=".", markersize=4, linewidth=1.2)
    highest = np.nanmax(scan.ratio) if not np.isnan(scan.ratio).all() else 1.0
    ax.set_ylim(0, 1.15 * max(float(highest), 1e-9))
    ax.set_ylabel("gain ratio")


def _ground(ax: Any, scan: GainScan) -> None:
    """Grey where thresholds are not tried."""
    low, high = float(scan.values[0]), float(scan.values[-1])
    tried = scan.thresholds[scan.tried]
    if not len(tried):
        ax.axvspan(low, high, color="#eeeeee", zorder=0)
        return
    after = scan.thresholds[np.searchsorted(scan.thresholds, tried[-1], side="right") :]
    for begin, end in ((low, tried[0]), (after[0] if len(after) else high, high)):
        if end > begin:
            ax.axvspan(begin, end, color="#eeeeee", zorder=0)
            how = {"transform": ax.get_xaxis_transform(), "ha": "center", "color": FAINT, "fontsize": "small"}
            ax.text((begin + end) / 2, 0.45, "not tried", rotation=90, va="center", **how)


def _tell(axes: Any, scan: GainScan) -> None:
    """Mark the cut that was chosen, or the one that the attribute would have been tested at."""
    cut = scan.chosen if scan.chosen != NONE else scan.best
    if cut == NONE:
        axes[0].set_title("no threshold can be taken here", loc="left", fontsize="medium")
        return
    words = "chosen" if scan.chosen != NONE else "best, not chosen"
    threshold = float(scan.thresholds[cut])
    left = f" - cost {scan.cost:.3f} = {scan.gain[cut] - scan.cost:.3f} bits" if scan.cost > 0 else ""
    title = f"{words}: ≤ {threshold:g}, gain {scan.gain[cut]:.3f}{left}"
    if not np.isnan(scan.ratio[cut]):
        title += f", gain ratio {scan.ratio[cut]:.3f}"
    axes[0].set_title(title, loc="left", fontsize="medium")
    for ax, values in ((axes[0], None), (axes[1], scan.gain), (axes[2], scan.ratio)):
        ax.axvline(threshold, color=INK if scan.chosen != NONE else FAINT, linewidth=1.1, linestyle=":")
        if values is not None and not np.isnan(values[cut]):
            ax.plot([threshold], [values[cut]], "o", color=CUT, zorder=3)
