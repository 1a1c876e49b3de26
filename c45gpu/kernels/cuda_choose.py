"""Choose the tests of nodes on the device, so that marking the cases need not wait for the host.

The judgement is :func:`c45gpu.choose.choose`; a thread asks it about a node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.choose import NO_TEST, Facts, Settings, choose
from c45gpu.kernels.cuda_score import Found


class Chosen(NamedTuple):
    """The tests of nodes."""

    attribute: Any  # int64[nodes]: NO_TEST where none is worth it
    cut: Any  # int64[nodes]: as in level.Candidates
    branches: Any  # int64[nodes]: of the test, 0 where there is none


def choose_tests(
    weight: Any, found: Found, facts: Facts, settings: Settings, n_branches: Any, net: Any, chosen: Chosen
) -> None:
    """Choose; a thread for each node. `n_branches` is by attribute, `net` room for a number for each candidate."""
    node = int64(cuda.grid(1))
    if node >= weight.shape[0]:
        return
    begin, end = node * n_branches.shape[0], (node + 1) * n_branches.shape[0]
    candidates = (found.gain[begin:end], found.split[begin:end], found.tries[begin:end], found.possible[begin:end])
    a = int64(choose(weight[node], candidates, facts, settings, net[begin:end]))
    chosen.attribute[node] = a
    chosen.cut[node] = -1 if a == NO_TEST else found.cut[begin + a]
    chosen.branches[node] = 0 if a == NO_TEST else n_branches[a]
