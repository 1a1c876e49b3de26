"""Pictures of trees and of what they say; matplotlib draws them, and is loaded when the first is drawn."""

from __future__ import annotations

from c45gpu.plot.confusion import plot_confusion
from c45gpu.plot.dot import render, to_dot
from c45gpu.plot.gain import plot_gain_scan
from c45gpu.plot.importances import plot_importances
from c45gpu.plot.pruning import plot_pruning
from c45gpu.plot.saved import as_bytes
from c45gpu.plot.tree import plot_tree

__all__ = [
    "as_bytes",
    "plot_confusion",
    "plot_gain_scan",
    "plot_importances",
    "plot_pruning",
    "plot_tree",
    "render",
    "to_dot",
]
