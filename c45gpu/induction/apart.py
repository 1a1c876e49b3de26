"""Give an engine cases that are at several nodes already, so that it goes on below nodes that were opened before.

An engine loads a root. So the cases get one more discrete attribute, after all others, that tells at which node each of
them is, and the root is split by it. Nothing below is: all cases of a node have the same value::

    rows of the part     0 1 2 3 4 5       load: one node of six cases
    node of each row     0 0 1 1 1 2       split by it: the frontier, three nodes in their order
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from c45gpu.choose import Facts
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Frontier, Int64s, Problem, Splits
from c45gpu.measures import bound_of_zero

MOST_APART: Final = 200  # nodes at a time: the codes of so many fit a byte, and their histograms are small


def load_apart(engine: Engine, problem: Problem, node: Int64s, n_nodes: int) -> Frontier:
    """Have an engine load cases that are at several open nodes.

    Parameters
    ----------
    engine : Engine
    problem : Problem
        With the cases of all of these nodes, and no others.
    node : ndarray of int64, shape (n_cases,)
        Which of the nodes each case is at; each has some.
    n_nodes : int
        At most :data:`MOST_APART`.

    Returns
    -------
    Frontier
        Of these nodes, in order.
    """
    if n_nodes == 1:
        return engine.load(problem)
    told = _with_node(problem, node, n_nodes)
    frontier = engine.load(told)
    if not frontier.open[0]:  # so few cases that the engine has grown all by itself, from one root
        engine.load(replace(told, may_finish=False))
    where = np.array([len(problem.used)])
    return engine.split(Splits(np.zeros(1, np.int64), where, np.full(1, -1, np.int64))).frontier


def _with_node(problem: Problem, node: Int64s, n_nodes: int) -> Problem:
    """The problem with the node of each case as its last attribute."""
    table, settings, facts = problem.table, problem.settings, problem.facts
    told = Attribute("node", "discrete", tuple(map(str, range(n_nodes))))
    schema = Schema((*table.schema.attributes, told), table.schema.classes, table.schema.target)
    bound = bound_of_zero(settings.measure, settings.n_classes, n_nodes)
    return replace(
        problem,
        table=Table(schema, [*table.columns, node.astype(np.int32)], table.classes),
        facts=Facts(np.append(facts.zero_bound, bound), np.append(facts.averaged, True)),
    )
