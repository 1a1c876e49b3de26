"""C4.5 as a scikit-learn estimator; here, and only here, a case is a sample and an attribute a feature."""

from __future__ import annotations

from dataclasses import fields, replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight

from c45gpu.data.table import Table
from c45gpu.data.values import Unseen
from c45gpu.errors import DataError
from c45gpu.fitted import FittedTree
from c45gpu.induction.options import Criterion, CutPoints, Features, Options, Pruning
from c45gpu.induction.path import PruningPath, pruning_path
from c45gpu.induction.train import train
from c45gpu.model.store import Model
from c45gpu.samples import FromSamples, as_counts, labels_of_samples, plain

FromDtype = Literal["from_dtype"]
ClassWeight = dict[Any, float] | Literal["balanced"] | None


class C45Classifier(FittedTree, FromSamples, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A C4.5 decision tree.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain", "gini", "chi2"}
        What the chosen test maximises: the gain ratio, the gain, the decrease of Gini impurity, or the chi-square
        statistic.
    min_cases : int
        At least two branches of a test must have this weight.
    confidence : float
        The confidence of error-based pruning, above 0 and at most 1. Smaller prunes more.
    prune : bool or {"ebp", "pep", "interval", "rep", "none"}
        How to prune: "ebp" is C4.5's error-based pruning, and so is True; "pep" is pessimistic error pruning;
        "interval" judges by the score interval of the error rate, "rep" by held-out samples; False is "none".
    categorical_features : "from_dtype", sequence of int or str, mask of bool, or None
        The features to be taken as discrete. "from_dtype" takes those that hold texts, categories or truth values;
        whatever is named otherwise is discrete in addition to them.
    compat : "r8" or None
        Read values, place cuts and take -999 for unknown as release 8 of the original does.
    n_trials, initial_window, window_increment : int or None
        Windowing: trees are grown on some of the samples and on those that they get wrong, in so many trials, and the
        best one is kept. Any of the three asks for it, then the default is 10 trials; a trial starts with so many
        samples (a fifth of all, or twice their square root where that is more), and adds so many at a time (a fifth of
        those), or half of those that are wrong where that is more.
    random_state : int, RandomState or None
        The seed of whatever is left to chance. None is 0: a fit repeats, as the original's runs do.
    min_gain_ratio : float
        Where growing stops, as do the next six: no test has a lower gain ratio. See :class:`c45gpu.Options`.
    min_samples_split, min_samples_leaf : int
        The weight of a node that may be tested, and of every branch that holds samples, at least.
    max_depth, max_leaf_nodes : int or None
        Edges on the longest path, and leaves that hold samples, at most.
    max_features : int, float, "sqrt", "log2" or None
        How many features are looked at in a node, drawn at random.
    significance : float or None
        The level at which every test is significant by the chi-square test.
    cut_points : {"all", "class_boundaries"}
        Which thresholds are tried: all, or those between samples of different classes.
    threshold_cost : bool
        A threshold pays for the choice it had. False is J48's -J.
    standard_errors : float
        By how many of them a leaf may be worse than a subtree with prune="pep".
    subtree_raising : bool
        A branch may be put in the place of its parent.
    held_out : float
        The share of the samples that prune="rep" prunes with.
    soft_thresholds : bool
        A sample near a threshold takes both branches, in parts; see :mod:`c45gpu.induction.soften`.
    class_weight : dict, "balanced" or None
        Weights of the classes by label, which the samples' weights are multiplied with, so they count in the gain ratio
        and in pruning. "balanced" gives every class the same weight in all.
    group_values, binary_splits : bool
        A test of a discrete feature of more than two values has a branch for each group of values, or one for a value
        and one for all others; at most one of the two.
    costs : array_like, dict or None
        What it costs to take a sample of a class for one of another: a matrix with a row for each true and a column
        for each predicted label, in their order, or {(true, predicted): cost}, where what is not listed costs 1. The
        label of least expected cost is predicted; see :mod:`c45gpu.induction.costs` for what it does to the tree.
    laplace : bool
        Take (n_c + 1) / (n + C) for the probability of a class at a leaf with n samples, n_c of that class, C classes.
    screen : int, float, "sqrt", "log2" or None
        For very wide tables: score only so many features exactly in a node, the best on a sample of its samples.
    unseen : {"unknown", "error"}
        What a value of a discrete feature is that did not occur in training.
    engine : str
        What grows the tree, "auto" or the name of an engine. The tree does not depend on it.
    checkpoint : str, os.PathLike or None
        A file that `fit` keeps the growing tree in, and goes on from if it is there; it is deleted in the end.
    checkpoint_every : str or float
        How often, at most: seconds, or a text such as "30s", "5min" or "1h".

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Where the features of `X` have names.
    model_ : Model
        Both trees with their schema, for :func:`c45gpu.save`.
    tree_ : Tree
        The pruned tree.
    unpruned_tree_ : Tree
        The tree as grown.
    """

    def __init__(
        self,
        criterion: Criterion = "gain_ratio",
        *,
        min_cases: int = 2,
        confidence: float = 0.25,
        prune: bool | Pruning = True,
        categorical_features: FromDtype | npt.ArrayLike | None = "from_dtype",
        compat: Literal["r8"] | None = None,
        n_trials: int | None = None,
        initial_window: int | None = None,
        window_increment: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        min_gain_ratio: float = 0.0,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        max_features: Features = None,
        significance: float | None = None,
        cut_points: CutPoints = "all",
        threshold_cost: bool = True,
        standard_errors: float = 1.0,
        subtree_raising: bool = True,
        held_out: float = 1 / 3,
        soft_thresholds: bool = False,
        class_weight: ClassWeight = None,
        group_values: bool = False,
        binary_splits: bool = False,
        costs: npt.ArrayLike | dict[tuple[Any, Any], float] | None = None,
        laplace: bool = False,
        screen: Features = None,
        unseen: Unseen = "unknown",
        engine: str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: str | float = "5min",
    ) -> None:
        self.criterion = criterion
        self.min_cases = min_cases
        self.confidence = confidence
        self.prune = prune
        self.categorical_features = categorical_features
        self.compat = compat
        self.n_trials = n_trials
        self.initial_window = initial_window
        self.window_increment = window_increment
        self.random_state = random_state
        self.min_gain_ratio = min_gain_ratio
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.significance = significance
        self.cut_points = cut_points
        self.threshold_cost = threshold_cost
        self.standard_errors = standard_errors
        self.subtree_raising = subtree_raising
        self.held_out = held_out
        self.soft_thresholds = soft_thresholds
        self.class_weight = class_weight
        self.group_values = group_values
        self.binary_splits = binary_splits
        self.costs = costs
        self.laplace = laplace
        self.screen = screen
        self.unseen = unseen
        self.engine = engine
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            NaN and None are unknown. Numbers on a GPU (CuPy, DLPack, ``__cuda_array_interface__``, columns of cuDF)
            stay there for the CUDA engine, and for prediction; so do `y` and its codes.
        y : array_like, shape (n_samples,)
            Labels: numbers, texts or truth values.
        sample_weight : array_like, shape (n_samples,), optional
            Finite and not negative; a sample of weight 2 counts as two, one of weight 0 as absent. Weights that sum to
            1 are parts of all samples that have any, and are multiplied by their number.

        Returns
        -------
        C45Classifier
            Itself.

        Raises
        ------
        DataError
            When the samples cannot be used as they are; it is a ValueError.
        OptionError
            When a parameter is out of range; it is a ValueError.
        """
        self._learn(X, y, sample_weight)
        return self

    def pruning_path(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None, *, tolerance: float = 1e-3
    ) -> PruningPath:
        """The confidences at which the pruned tree changes, by the parameters of this classifier; it stays as it is.

        Parameters
        ----------
        X, y, sample_weight : array_like
            As in :meth:`fit`.
        tolerance : float
            How exact the confidences are; see :func:`c45gpu.induction.path.pruning_path`.

        Returns
        -------
        PruningPath
            `confidences`, `sizes`, `leaves` and `digests` of the trees, by rising confidence.
        """
        other = clone(self)
        table = other._training_table(X, y, sample_weight)
        return pruning_path(table, self._options(), self.engine, tolerance)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _learn(self, X: Any, y: Any, weights: npt.ArrayLike | None) -> Table:
        """Set the model; returns what it was trained on."""
        options = self._options()
        table = self._training_table(X, y, weights)
        self.model_: Model = train(
            table,
            options,
            self.engine,
            costs=self._cost_matrix(),
            checkpoint=self.checkpoint,
            every=self.checkpoint_every,
        )
        return table

    def _options(self) -> Options:
        by_truth: dict[bool, Pruning] = {True: "ebp", False: "none"}
        prune = by_truth[self.prune] if isinstance(self.prune, bool) else self.prune
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(np.iinfo(np.int32).max)
        given = {f.name: plain(getattr(self, f.name)) for f in fields(Options)}
        return Options(**given | {"prune": prune, "random_state": 0 if seed is None else plain(seed)})

    def _training_table(self, X: Any, y: Any, weights: npt.ArrayLike | None) -> Table:
        categorical = self.categorical_features
        chosen = None if isinstance(categorical, str) and categorical == "from_dtype" else categorical
        table = self._table(X, reset=True, categorical=chosen, weights=as_counts(weights))
        labels, self.classes_, classes, there = labels_of_samples(y)
        if len(classes) != table.n_cases:
            raise DataError(f"y has {len(classes)} labels for {table.n_cases} samples: give one for each")
        schema = replace(table.schema, classes=tuple(str(label) for label in self.classes_))
        whole = table.weights
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, labels)
            whole = of_classes if whole is None else whole * of_classes
        both = None if there is None else (classes, there)
        return replace(table, schema=schema, classes=classes, weights=whole, classes_on_device=both)

    def _cost_matrix(self) -> npt.ArrayLike | None:
        from c45gpu.data.costsfile import costs_of_pairs

        return costs_of_pairs(self.costs, self.classes_.tolist()) if isinstance(self.costs, dict) else self.costs
