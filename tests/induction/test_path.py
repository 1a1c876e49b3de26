"""The confidences at which a pruned tree changes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from c45gpu import C45Classifier
from c45gpu.errors import OptionError
from c45gpu.induction.options import Options
from c45gpu.induction.path import pruning_path, shape_digest
from c45gpu.induction.train import train
from tests.strategies import Sample, sample

TOLERANCE = 1 / 64


def noisy(n_cases: int = 400) -> Sample:
    chance = np.random.default_rng(2)
    x, y = chance.random((2, n_cases)).round(2)
    classes = ((x > 0.5) ^ (y > 0.3) ^ (chance.random(n_cases) < 0.2)).astype(int)
    columns = [("continuous", 0, values.tolist()) for values in (x, y)]
    return sample(columns, 2, classes.tolist(), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("raising", [True, False])
def test_between_two_confidences_the_tree_is_the_lower_ones(raising: bool) -> None:
    table, options = noisy().table, Options(subtree_raising=raising)
    path = pruning_path(table, options, tolerance=TOLERANCE)
    assert len(path.confidences) == 3
    assert path.confidences[0] == TOLERANCE
    assert (np.diff(path.confidences) > 0).all()
    assert all(a != b for a, b in zip(path.digests, path.digests[1:], strict=False))
    for confidence, size, leaves, digest in zip(*path, strict=True):
        tree = train(table, options.with_changes(confidence=confidence)).pruned
        assert (tree.n_nodes, tree.n_leaves, shape_digest(tree)) == (size, leaves, digest)
    for confidence, digest in zip(path.confidences[1:], path.digests, strict=False):
        below = train(table, options.with_changes(confidence=confidence - TOLERANCE)).pruned
        assert shape_digest(below) == digest


def test_engines_have_one_path() -> None:
    table = noisy().table
    paths = [pruning_path(table, engine=engine, tolerance=TOLERANCE) for engine in ("reference", "cpu")]
    assert paths[0].digests == paths[1].digests
    assert paths[0].confidences.tolist() == paths[1].confidences.tolist()


def test_a_finer_tolerance_finds_the_same_changes_and_places_them_better() -> None:
    table = noisy().table
    coarse, fine = (pruning_path(table, tolerance=t) for t in (TOLERANCE, TOLERANCE / 16))
    assert set(coarse.digests) <= set(fine.digests)


def test_one_class_has_a_path_of_one_tree() -> None:
    path = pruning_path(sample([("continuous", 0, [1.0, 2.0])], 2, [0, 0], None).table)
    assert (path.confidences.tolist(), path.sizes.tolist(), path.leaves.tolist()) == ([1e-3], [1], [1])


@pytest.mark.parametrize(
    ("options", "tolerance", "words"),
    [
        ({"prune": "pep"}, 0.1, "prune='pep' exclude each other"),
        ({"n_trials": 2}, 0.1, "windowing exclude each other"),
        ({}, 0.0, "tolerance=0.0 will not do"),
    ],
)
def test_what_has_no_path_is_refused(options: dict[str, object], tolerance: float, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        pruning_path(noisy().table, Options(**options), tolerance=tolerance)  # type: ignore[arg-type]


def test_a_classifier_has_a_path_and_stays_as_it_is() -> None:
    X, y = load_iris(return_X_y=True)
    classifier = C45Classifier(min_cases=1)
    path = classifier.pruning_path(X[:, :2], y, tolerance=TOLERANCE)
    assert not hasattr(classifier, "n_features_in_")
    for confidence, size in zip(path.confidences.tolist(), path.sizes, strict=True):
        assert C45Classifier(min_cases=1, confidence=confidence).fit(X[:, :2], y).tree_.n_nodes == size
