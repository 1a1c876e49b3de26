"""scikit-learn's own checks of an estimator; the list of excused ones only shrinks: an excuse not needed fails."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.utils.estimator_checks import parametrize_with_checks

from c45gpu import C45Classifier

EXCUSED = {
    "check_all_zero_sample_weights_error": "our message says 0, not zero",
}


@parametrize_with_checks([C45Classifier()], expected_failed_checks=lambda estimator: EXCUSED)
def test_scikit_learn_is_content(estimator: C45Classifier, check: Callable[[C45Classifier], None]) -> None:
    check(estimator)
