"""Score the open nodes of a level: which kernels, in which order, on how many blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.kernels.cuda_codes import Codes, Instances, count_codes, score_codes
from c45gpu.kernels.cuda_counts import Weights, scan_cells
from c45gpu.kernels.cuda_device import Device, Work, work_for
from c45gpu.kernels.cuda_level import Level, Training, lists_of
from c45gpu.kernels.cuda_score import (
    Asked,
    Bests,
    Found,
    Lists,
    Scoring,
    best_of_segments,
    count_tiles,
    count_tiles_of_many,
    score_tiles,
    score_tiles_of_many,
)
from c45gpu.kernels.cuda_siblings import Families, Kept, Price, families, take_off
from c45gpu.kernels.cuda_sort import Chunk
from c45gpu.kernels.level import Candidates, Int64s


class Scorer:
    """Scores some open nodes of a level.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    kept : Kept, optional
        Histograms of the level before.

    Attributes
    ----------
    to_keep : Kept or None
        Histograms of this level, once all of its nodes were scored together.
    """

    def __init__(self, device: Device, training: Training, level: Level, kept: Kept | None = None) -> None:
        self._device, self._training, self._level, self._kept = device, training, level, kept
        self.to_keep: Kept | None = None
        self._n_used = len(training.columns.list_of)

    def run(self, first: int, stop: int) -> Candidates:
        """The candidates of the nodes first..stop-1: one transfer."""
        m, (_, found) = stop - first, self.found(first, stop)
        answers = self._device.down(found)[:, : m * self._n_used].reshape(5, m, self._n_used)
        gain, split, tries, possible, cut = answers
        return Candidates(gain, split, tries, possible != 0, cut)

    def found(self, first: int, stop: int) -> tuple[Any, Any]:
        """On the device the weights of the nodes first..stop-1, and the fields of :class:`.cuda_score.Found`."""
        found = self._device.xp.zeros((5, max(1, (stop - first) * self._n_used)), np.int64)
        weight = self._device.up(self._level.weight[first:stop])
        self._score_lists(first, stop, weight, Found(*found))
        self._score_codes(first, stop, weight, Found(*found))
        return weight, found

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Class weights by value of a discrete attribute: one transfer."""
        device, codes, n_classes = self._device, self._training.columns.codes, self._training.settings.n_classes
        column, n_values = int(self._training.columns.code_of[attribute]), int(self._training.n_branches[attribute])
        alone = codes._replace(codes=codes.codes[column : column + 1], first=device.up(np.array([0, n_values])))
        histogram = device.xp.zeros((stop - first) * n_values * n_classes, np.int64)
        self._count_codes(first, self._level.stop[first:stop], alone, device.up(np.arange(2)), histogram)
        return device.down(histogram).reshape(stop - first, n_values, n_classes)

    def _count_codes(self, first: int, stops: Int64s, codes: Codes, packs: Any, histogram: Any) -> None:
        """Count nodes from `first` on, up to an instance of each."""
        device, training, level = self._device, self._training, self._level
        work = work_for(device, level.start[first : first + len(stops)], stops, 4 * device.sizes.tile)
        instances, cells = Instances(level.cases, training.classes), device.sizes.shared_cells
        weights = training.weights(level)
        counting = (instances, codes, packs, weights, work.tiles, training.settings.n_classes, cells, histogram)
        device.launch(count_codes, work.n_tiles * (len(packs) - 1), *counting, shared_cells=cells)

    def _score_lists(self, first: int, stop: int, weight: Any, found: Found) -> None:
        device, training, level = self._device, self._training, self._level
        weights = training.weights(level)
        for chunk in [part for whole in level.chunks for part in whole.parts(device.sizes.lists_at_a_time)]:
            rows = (slice(chunk.first, chunk.stop), slice(first, stop))
            start, end = level.list_start[rows].ravel(), level.list_stop[rows].ravel()
            work = work_for(device, start, end, device.sizes.tile)
            number = np.repeat(np.arange(chunk.first, chunk.stop), stop - first)
            node = np.tile(np.arange(stop - first), chunk.stop - chunk.first)
            packed = device.up(np.stack([node, training.listed[number], training.columns.near_of[number]]))
            known = self._known(chunk, level.list_tile[rows].ravel(), work)
            scoring, bests = self._walk(lists_of(device, training, level, chunk, packed[2]), weights, work, known)
            asked = Asked(packed[0], packed[1], self._n_used, weight)
            device.launch(best_of_segments, len(start), bests, weights, work.tiles, scoring, asked, found)

    def _known(self, chunk: Chunk, first: Int64s, work: Work) -> Any:
        """Class weights of the tiles, as they were added up when the lists were moved; None if they were not."""
        if chunk.counts is None:
            return None
        device, n_classes = self._device, self._training.settings.n_classes
        source = device.up(first)[work.tiles.segment] + device.xp.arange(work.n_tiles)
        source -= work.tiles.first[work.tiles.segment]
        return chunk.counts.reshape(n_classes, -1)[:, source].ravel()

    def _counted(self, lists: Lists, weights: Weights, work: Work) -> Any:
        """The same, counted."""
        device, n_classes = self._device, self._training.settings.n_classes
        counts = device.xp.zeros(n_classes * work.n_tiles, np.int64)
        if n_classes <= device.sizes.few:
            counting = (lists, weights, work.tiles, n_classes, counts)
            cells = scan_cells(n_classes, device.sizes.threads)
            device.launch(count_tiles, work.n_tiles, *counting, shared_cells=cells)
        else:
            device.launch(count_tiles_of_many, work.n_tiles, lists, weights, work.tiles, counts)
        return counts

    def _walk(self, lists: Lists, weights: Weights, work: Work, known: Any) -> tuple[Scoring, Bests]:
        """Sum up class weights over the tiles before each, and find the best cut of each."""
        device, settings = self._device, self._training.settings
        counts = self._counted(lists, weights, work) if known is None else known
        before = device.before(counts)
        scoring = Scoring(before, self._totals(before, work), settings)
        bests = Bests(*(device.xp.empty(work.n_tiles, np.int64) for _ in Bests._fields))
        if settings.n_classes <= device.sizes.few:
            of_entry = 1 if self._training.counted else 2
            cells = scan_cells(settings.n_classes, device.sizes.threads) + of_entry * device.sizes.tile
            device.launch(score_tiles, work.n_tiles, lists, weights, work.tiles, scoring, bests, shared_cells=cells)
        else:
            device.over(score_tiles_of_many, work.n_tiles, lists, weights, work.tiles, counts, scoring, bests)
        return scoring, bests

    def _totals(self, before: Any, work: Work) -> Any:
        """Class weights of each segment, class by class."""
        xp = self._device.xp
        at = xp.arange(self._training.settings.n_classes)[:, None] * work.n_tiles + work.tiles.first[None, :]
        bounds = before[at]
        return (bounds[:, 1:] - bounds[:, :-1]).ravel()

    def _score_codes(self, first: int, stop: int, weight: Any, found: Found) -> None:
        """As many nodes at a time as there is memory for their histograms."""
        n_columns, n_cells = self._training.n_code_columns, self._training.n_codes * self._training.settings.n_classes
        if not n_columns:
            return
        batch = max(1, self._device.sizes.histogram_bytes // max(1, 2 * 8 * n_cells))  # the other half is for Kept
        for begin in range(first, stop, batch):
            end = min(stop, begin + batch)
            here = slice((begin - first) * self._n_used, (end - first) * self._n_used)
            part = Found(*(x[here] for x in found))
            self._score_histograms(begin, end, weight[begin - first : end - first], part, n_cells)

    def _score_histograms(self, first: int, stop: int, weight: Any, found: Found, n_cells: int) -> None:
        device, training, level = self._device, self._training, self._level
        histogram = device.xp.zeros((stop - first) * n_cells + 1, np.int64)
        weights, codes, settings = training.weights(level), training.columns.codes, training.settings
        n_columns, stops, price = training.n_code_columns, level.stop[first:stop].copy(), self._price(n_cells)
        rest = self._families(first, stop, price)
        if rest is not None:
            stops[rest.node] = level.start[first:stop][rest.node]  # nothing to count
        self._count_codes(first, stops, codes, training.packs, histogram)
        if rest is not None and self._kept is not None:
            on_device = Families(*device.up(np.stack(rest)))
            taking = (codes.first, codes.continuous, on_device, self._kept.histogram, settings.n_classes, histogram)
            device.launch(take_off, len(rest.node) * n_columns, *taking)
        scoring = (codes, weights, settings, weight, self._n_used, histogram, found)
        device.launch(score_codes, (stop - first) * n_columns, *scoring)
        if (first, stop) == (0, len(level.start)):
            self.to_keep = self._keep(histogram, price)

    def _price(self, n_cells: int) -> Price:
        training = self._training
        of_pack = 4 + 2 + 8 * (not training.counted)
        codes = training.n_code_columns * training.columns.codes.codes.dtype.itemsize
        return Price(codes + (len(training.packs) - 1) * of_pack, n_cells)

    def _families(self, first: int, stop: int, price: Price) -> Families | None:
        level = self._level
        if self._kept is None:
            return None
        count = (level.stop - level.start)[first:stop]
        return families(level.parent[first:stop], level.siblings[first:stop], count, self._kept, price)

    def _keep(self, histogram: Any, price: Price) -> Kept | None:
        """The histograms of the largest nodes, as many as there is memory for."""
        count = self._level.stop - self._level.start
        most = self._device.sizes.histogram_bytes // max(1, 2 * 8 * price.n_cells)
        nodes = np.flatnonzero(price.worth_keeping(count))
        nodes = np.sort(nodes[np.argsort(-count[nodes], kind="stable")][:most])
        if not len(nodes):
            return None
        row_of = np.full(len(count), -1, np.int64)
        row_of[nodes] = np.arange(len(nodes))
        rows = histogram[:-1].reshape(len(count), price.n_cells)
        return Kept(row_of, rows[self._device.up(nodes)].ravel())


def ranks_of_cuts(cut: Int64s) -> tuple[Int64s, Int64s]:
    """The codes on both sides of cuts of columns of codes."""
    return cut & 0xFFFFFFFF, cut >> 32
