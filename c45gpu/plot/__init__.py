"""Pictures of trees and of what they say; matplotlib draws them, and is loaded when the first is drawn."""

from __future__ import annotations

from c45gpu.plot.pruning import plot_pruning
from c45gpu.plot.tree import plot_tree

__all__ = ["plot_pruning", "plot_tree"]
