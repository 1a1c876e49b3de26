"""The cases of small nodes, kept until these are grown; for engines that do not keep their lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c45gpu.kernels.descend import divide
from c45gpu.kernels.level import Bools, Children, Instances, Int32s, Int64s
from c45gpu.model.tree import ranges


def taken_apart(instances: Instances, branch: Int32s, children: Children, small: Bools) -> Instances:
    """The instances of small children, in the order of these."""
    numbers = np.flatnonzero(small)
    k = len(instances.start) - 1
    concerned = np.unique(children.split[numbers])
    here = ranges(instances.start[concerned], instances.start[concerned + 1])
    split = np.repeat(concerned, np.diff(instances.start)[concerned])
    branch, case, units = branch[here], instances.case[here], instances.units[here]
    n_branches = int(max(branch.max(initial=0), children.branch.max(initial=0))) + 1
    place = np.full(k * n_branches, -1)
    place[children.split[numbers] * n_branches + children.branch[numbers]] = np.arange(len(numbers))
    if (branch < 0).any():
        slot, instance, units, _ = divide(np.arange(k + 1) * n_branches, split, branch, units)
        case = case[instance]
    else:
        slot = split * n_branches + branch
    which = place[slot]
    kept = np.flatnonzero(which >= 0)
    kept = kept[np.argsort(which[kept], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(which[kept], minlength=len(numbers)))])
    return Instances(case[kept], units[kept], start)


def together(steps: Sequence[Instances], small: Int64s) -> Instances:
    """The instances of some small nodes, which have numbers through all steps."""
    n_nodes = [len(some.start) - 1 for some in steps]
    step = np.repeat(np.arange(len(n_nodes)), n_nodes)[small]
    position = small - (np.cumsum(n_nodes) - n_nodes)[step]
    found = [
        (steps[s], slice(*steps[s].start[p : p + 2])) for s, p in zip(step.tolist(), position.tolist(), strict=True)
    ]
    case = np.concatenate([some.case[here] for some, here in found])
    units = np.concatenate([some.units[here] for some, here in found])
    return Instances(case, units, np.cumsum([0, *(here.stop - here.start for _, here in found)]))
