"""The memory plan: what it counts, and that work which does not fit is refused before it starts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from c45gpu.cli import main
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import MemoryPlanError
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.screen import ScreenedGrower
from c45gpu.induction.train import train
from c45gpu.kernels import cpu, cpu_finishing, cpu_plan
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.cpu_plan import GROWING, PRUNING, SORTING, MemoryPlan, plan, plan_screened, rows_that_fit
from c45gpu.kernels.cpu_plan import size as said
from c45gpu.kernels.cpu_prune_divided import HELD, HELD_AT_LEAST
from c45gpu.kernels.cpu_work import Work, work_of
from c45gpu.kernels.level import Frontier, Problem
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.seeded import TABLES, many_valued, mixed, table_of, three_codes, with_unknown, with_weights

N = 100_000


def work(columns: int = 10, number: str = "float32", n: int = N, threads: int = 2) -> Work:
    """Continuous columns with many values, and two classes."""
    schema = Schema(tuple(Attribute(f"a{a}", "continuous") for a in range(columns)), ("no", "yes"))
    return cpu_plan.work_of_schema(schema, [number] * columns, n, threads)


def named(memory: MemoryPlan) -> dict[str, int]:
    return {part.name: part.n_bytes for part in memory.parts}


def test_lists_and_values() -> None:
    parts = named(plan(work(10)))
    assert parts["lists"] == 11 * 4 * N + N
    assert parts["spare lists"] == 11 * 4 * N
    assert parts["distinct values"] == 10 * 4 * N
    assert parts["table of H"] == 8 * (N + 1)
    assert "values in order" not in parts  # the lists are as large
    assert named(plan(work(2)._replace(columns=10)))["values in order"] == 10 * 4 * N - 2 * 3 * 4 * N
    assert named(plan(work(10)._replace(whole=False)))["values in order"] == 10 * 4 * N
    assert named(plan(work(10, "float64")))["distinct values"] == 10 * 8 * N
    assert "codes" not in parts


def test_entries_of_64_bits_take_twice_as_much() -> None:
    assert named(plan(work(1)._replace(n_cases=1 << 30)))["lists"] == (1 << 30) * 9
    assert named(plan(work(1)._replace(n_cases=(1 << 30) + 1)))["lists"] == ((1 << 30) + 1) * 17


def test_stages_share_what_they_do_not_need_at_once() -> None:
    memory = plan(work())
    assert memory.total == max(memory.of_stage(stage) for stage in (SORTING, GROWING, PRUNING))
    assert memory.total < sum(part.n_bytes for part in memory.parts)
    pruning = {part.name for part in memory.parts if PRUNING in part.stages}
    assert pruning == {"lists", "spare lists", "tree", "cases at leaves"}


@pytest.mark.parametrize(
    "change", [{"n_cases": 20 * N}, {"threads": 8}, {"unknown": 0.1, "divided": True, "whole": False}]
)
def test_more_work_needs_more(change: dict[str, object]) -> None:
    assert plan(work(n=10 * N)._replace(**change)).total > plan(work(n=10 * N)).total


def test_16_bytes_an_entry_of_complete_float32_tables() -> None:
    """From ten columns on, the allowance for the tree left aside."""
    for n, columns, threads in ((1_000_000, 10, 2), (10_000_000, 28, 64), (1_000_000, 500, 64)):
        memory = plan(work(columns, n=n, threads=threads))
        assert (memory.of_stage(GROWING) - named(memory)["tree"]) / (n * columns) < 16


def with_a_tenth_unknown(columns: int = 28, n: int = 1_000_000, threads: int = 2) -> Work:
    return work(columns, n=n, threads=threads)._replace(unknown=0.1, divided=True, whole=False)


def test_16_bytes_an_entry_where_a_tenth_of_all_values_is_unknown() -> None:
    """While the tree grows, the allowance for it left aside."""
    for n, columns, threads in ((1_000_000, 28, 2), (10_000_000, 28, 2), (1_000_000, 500, 2)):
        memory = plan(with_a_tenth_unknown(columns, n, threads))
        assert (memory.of_stage(GROWING) - named(memory)["tree"]) / (n * columns) < 16


@pytest.mark.parametrize("branches", [2, 20, 60, 700])
def test_16_bytes_an_entry_when_a_tree_of_divided_cases_is_pruned(branches: int) -> None:
    """The allowance for the tree left aside."""
    for n, columns in ((1_000_000, 9), (10_000_000, 28), (1_000_000, 500)):
        memory = plan(with_a_tenth_unknown(columns, n)._replace(most_branches=branches))
        assert (memory.of_stage(PRUNING) - named(memory)["tree"]) / (n * columns) < 16


def test_lists_are_of_known_values() -> None:
    parts = named(plan(with_a_tenth_unknown(10, N)))
    assert parts["lists"] == 10 * 4 * N + N  # the rows are in one, too
    assert parts["distinct values"] == 9 * 4 * N
    assert "local numbers" not in parts
    assert "order of leaves" not in parts


def test_the_more_is_finished_the_fewer_instances_are_there_at_once() -> None:
    two, many, none = (
        cpu_plan.instances_at_level(x)
        for x in (
            with_a_tenth_unknown(),
            with_a_tenth_unknown(threads=16),
            with_a_tenth_unknown()._replace(finishes=False),
        )
    )
    assert 1 < two < many < none == cpu_plan.instances_of_case(0.1)
    assert cpu_plan.instances_at_level(with_a_tenth_unknown(n=8000)) == 1
    assert cpu_plan.instances_at_level(work()._replace(whole=False)) == 1


def test_nodes_that_many_workers_finish_take_more_than_moving_a_level() -> None:
    assert "nodes being finished" not in named(plan(with_a_tenth_unknown()))
    workers = named(plan(with_a_tenth_unknown(threads=200)))["nodes being finished"]
    assert workers > 50 * cpu_finishing.FINISH_CASES * 28 * 4


def test_branches_that_all_unknown_values_go_to() -> None:
    """They exist at once only where nodes must not be finished."""
    few, many = with_a_tenth_unknown(), with_a_tenth_unknown()._replace(most_branches=700, spread=70.9)
    assert cpu_plan.instances_at_level(many) == cpu_plan.instances_at_level(few)
    assert cpu_plan.instances_at_level(many._replace(finishes=False)) == 70.9
    assert cpu_plan._finishing(many) == 2 * cpu_plan._finishing(few)  # branches have a quarter of all cases at a time
    assert cpu_plan._finishing(many._replace(unknown=0.5)) > 4 * cpu_plan._finishing(few._replace(unknown=0.5))


def test_how_far_discrete_tests_spread_cases() -> None:
    table = three_codes(60, 20_000)
    columns = [*table.columns[:2], np.arange(20_000, dtype=np.int32) % 60, *table.columns[3:]]
    columns[1] = np.where(np.arange(20_000) % 3, columns[0], -1).astype(np.int32)
    found = work_of(pose(replace(table, columns=columns, _ranks={}), Options()), 1)
    assert found.spread == pytest.approx(1 + 59 * (1 - 0.7 * 2 / 3), abs=1)
    assert work_of(pose(mixed(0, 20_000), Options()), 1).spread == 1


def test_branches_take_more() -> None:
    few, some, many = (with_a_tenth_unknown()._replace(most_branches=b, finishes=False) for b in (2, 128, 129))
    assert named(plan(some))["cases under way"] > named(plan(few))["cases under way"]
    assert named(plan(many))["marks"] > 4 * named(plan(some))["marks"]


def test_instances_are_held_for_every_leaf_of_small_tables_only() -> None:
    held = [named(plan(with_a_tenth_unknown(10, n)))["instances held"] / (12 * n) for n in (10_000, 300_000, 10**7)]
    assert held == pytest.approx([1 + 3.4, HELD_AT_LEAST / 300_000, HELD])


def test_columns_that_are_not_read_in_place() -> None:
    table = with_unknown(mixed(0, 20_000), 0.1)
    assert work_of(pose(table, Options()), 1).copied == 0
    columns = [None if x is None else np.repeat(x, 2)[::2] for x in table.columns]
    apart = work_of(pose(replace(table, columns=columns, _ranks={}), Options()), 1)
    assert apart.copied == sum(4 if x is not None and x.dtype == np.int32 else apart.row_bytes for x in columns)
    assert named(plan(apart))["values in one piece"] == 20_000 * apart.copied


def test_columns_are_looked_at() -> None:
    chance = np.random.default_rng(0)
    table = mixed(0, 50_000)
    columns = [*table.columns]
    columns[1] = np.where(chance.random(50_000) < 0.99, 0, chance.random(50_000)).astype(np.float32)
    found = work_of(pose(replace(table, columns=columns, _ranks={}), Options()), 3)
    assert (found.n_cases, found.n_classes, found.threads, found.columns) == (50_000, 2, 3, 5)
    assert found.value_bytes == (4, 4)  # the second: rare values may be many
    assert (found.codes, found.n_codes, found.coded_lists) == (3, 255 + 3 + 12, 0)
    assert (found.whole, found.near, found.unknown) == (True, False, 0.0)


def test_kinds_of_cases_are_told_apart() -> None:
    many = work_of(pose(many_valued(1, 3000, 700), Options()), 1)
    assert (many.coded_lists, many.most_branches, many.row_bytes) == (1, 700, 8)
    weighted = work_of(pose(with_weights(mixed(0, 3000), [0.1, 2]), Options()), 1)
    assert (weighted.whole, weighted.divided, weighted.weighted) == (False, False, True)
    assert not work_of(pose(mixed(0, 3000), Options(compat="r8")), 1).whole
    unknown = work_of(pose(with_unknown(mixed(0, 20_000), 0.1), Options()), 1)
    assert unknown.unknown == pytest.approx(0.1, abs=0.01)
    assert (unknown.whole, unknown.divided, unknown.weighted, unknown.finishes) == (False, True, False, True)
    assert not work_of(pose(mixed(0, 3000), Options(binary_splits=True)), 1).finishes


def test_rows_that_fit_are_the_most() -> None:
    available = plan(work(n=77_777)).total
    rows = rows_that_fit(work(), available)
    assert rows >= 77_777
    assert plan(work(n=rows)).total <= available < plan(work(n=rows + 1)).total


def test_what_does_not_fit_is_refused_before_anything_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: 2_000_000)
    monkeypatch.setattr(cpu_plan, "LITTLE", 0)
    monkeypatch.delattr(cpu, "build_lists")
    with pytest.raises(MemoryPlanError) as refusal:
        train(TABLES["whole cases"](), engine=CpuEngine(2))
    needed = said(plan(work_of(pose(TABLES["whole cases"](), Options()), 2)).total)
    assert f"20000 cases with 5 attributes need {needed} beside the table, and 2 MB are free" in str(refusal.value)


def test_a_level_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test with many branches makes many instances of a case whose value is unknown, more than was planned."""
    chance = np.random.default_rng(5)
    codes = chance.integers(0, 60, 6000)
    classes, codes = (codes * 7 % 60) // 30, np.where(chance.random(6000) < 0.3, -1, codes)
    table = table_of([(codes, 60), chance.normal(size=6000)], classes, 2)
    monkeypatch.setattr(cpu_finishing, "FINISH_CASES", 100)
    monkeypatch.setattr(cpu_finishing, "LEVEL", 1000)
    free = iter([10**12, 1000])
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: next(free))
    monkeypatch.setattr(cpu_plan, "LITTLE", 0)
    with pytest.raises(MemoryPlanError, match=r"make 1\d{5} instances of cases at the next level, .* 1 kB are free"):
        train(table, engine=CpuEngine(2))
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: 10**12)
    assert len(train(table, engine=CpuEngine(2)).unpruned.branches(0)) == 60


def test_little_work_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: 1)
    cpu_plan.require(pose(mixed(0, 300), Options()), 2)
    with pytest.raises(MemoryPlanError, match="need"):
        cpu_plan.require(pose(mixed(0, 300), Options()), 2000)


def test_a_system_that_does_not_tell_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: None)
    cpu_plan.require(pose(mixed(0, 300), Options()), 2000)


@pytest.mark.parametrize(("n_bytes", "text"), [(0, "0 kB"), (12_340, "12.3 kB"), (5e6, "5 MB"), (10.25e9, "10.2 GB")])
def test_sizes_are_readable(n_bytes: float, text: str) -> None:
    assert said(int(n_bytes)) == text


# ---------------------------------------------------------------- c45gpu train --dry-run
@pytest.fixture
def csv(tmp_path: Path) -> str:
    table, path = mixed(0, 2000), tmp_path / "cases.csv"
    rows = zip(*(column.tolist() for column in table.columns), table.classes.tolist(), strict=True)
    lines = [f"{a},{b},{c},x{d},x{e},k{y}" for a, b, c, d, e, y in rows]
    path.write_text("\n".join(["a,b,c,d,e,y", *lines]))
    return str(path)


def test_dry_run_prints_the_plan_and_trains_nothing(
    csv: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(cpu, "build_lists")
    assert main(["train", csv, "--target", "y", "--engine", "cpu", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("engine cpu, ")
    assert lines[1].split() == ["sorting", "growing", "pruning"]
    assert any(line.startswith("spare lists ") and line.split()[2] == "-" for line in lines)
    assert lines[-1].startswith("at most ")


def test_dry_run_as_json(csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", csv, "--target", "y", "--engine", "cpu", "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "cpu"
    growing = sum(part["n_bytes"] for part in document["parts"] if "growing" in part["stages"])
    assert document["total"] == growing


def test_dry_run_with_the_engine_of_small_tables(csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", csv, "--target", "y", "--dry-run"]) == 0
    assert capsys.readouterr().out == "engine reference: its memory is not planned\n"


class Noting(ReferenceEngine):
    """Notes what it is given."""

    def __init__(self) -> None:
        self.loaded: list[Problem] = []
        self.held: list[Problem] = []

    def load(self, problem: Problem) -> Frontier:
        self.loaded.append(problem)
        return super().load(problem)

    def hold(self, problem: Problem) -> None:
        self.held.append(problem)
        super().hold(problem)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unknown", [0.0, 0.1])
@pytest.mark.parametrize("weights", [[1], [1, 2]])
def test_what_a_screened_tree_is_grown_and_pruned_with_is_planned(
    seed: int, unknown: float, weights: list[float]
) -> None:
    table = with_weights(with_unknown(mixed(seed, 600, 3, np.float64 if seed % 2 else np.float32), unknown), weights)
    table = table if len(weights) > 1 else replace(table, weights=None)
    options = Options(screen=2, min_cases=1)
    problem, engine = pose(table, options), Noting()
    grower = ScreenedGrower(engine, problem, options, sample=20)
    for _ in grower:
        pass
    assert len(engine.loaded) > 3
    planned = plan_screened(work_of(problem, 2), 2, 20)
    for part in engine.loaded:
        taken = plan(work_of(part, 2))
        n_bytes = sum(x.nbytes for x in (*part.table.columns, part.table.classes) if x is not None)
        for stage in (SORTING, GROWING):
            assert taken.of_stage(stage) + n_bytes <= planned.of_stage(stage)
    tested = np.unique(grower.tree.attribute)[1:]
    (whole,) = engine.held
    assert whole.used == tuple(tested.tolist())
    assert plan(work_of(whole, 2)._replace(whole=False)).of_stage(PRUNING) <= planned.of_stage(PRUNING)


def test_a_screened_tree_needs_less_than_all_attributes() -> None:
    whole, screened = plan(work(500, n=10 * N)), plan_screened(work(500, n=10 * N), 20, 1000)
    assert screened.of_stage(GROWING) < whole.of_stage(GROWING) / 10
    assert named(screened)["values in order"] == 500 * 4 * 10 * N
    assert screened.total < whole.total / 2
    every = plan_screened(work(500, n=10 * N), 500, 1000)
    assert every.of_stage(GROWING) == whole.of_stage(GROWING) + named(every)["values of a node"]


def test_dry_run_of_a_screened_tree(
    csv: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused only where the attributes that a node may test do not fit."""
    arguments = ["train", csv, "--target", "y", "--engine", "cpu", "--dry-run", "--screen", "1"]
    assert main([*arguments[:-2], "--json"]) == 0
    needed = json.loads(capsys.readouterr().out)["total"]
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: needed - 1)
    assert main(arguments) == 0
    assert "a node may test 1 of 5 attributes" in capsys.readouterr().out
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: 1000)
    assert main(arguments) == 1
    assert "error: 2000 cases with 1 attributes need" in capsys.readouterr().err


def test_dry_run_of_what_does_not_fit(
    csv: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_plan, "available_bytes", lambda: 1_000_000)
    monkeypatch.setattr(cpu_plan, "LITTLE", 0)
    assert main(["train", csv, "--target", "y", "--engine", "cpu", "--dry-run"]) == 1
    assert "error: 2000 cases with 5 attributes need" in capsys.readouterr().err


def test_dry_run_of_an_engine_that_is_not_there(csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", csv, "--target", "y", "--engine", "steam", "--dry-run"]) == 2
    assert "there is no engine 'steam'" in capsys.readouterr().err
