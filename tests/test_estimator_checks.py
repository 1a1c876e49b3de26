"""scikit-learn's own checks of an estimator; none is excused."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.utils.estimator_checks import parametrize_with_checks

from c45gpu import C45Classifier, C45Rules


@parametrize_with_checks([C45Classifier(), C45Rules()])
def test_scikit_learn_is_content(estimator: C45Classifier, check: Callable[[C45Classifier], None]) -> None:
    check(estimator)
