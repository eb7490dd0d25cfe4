"""What there is to compare models by: people's votes, a judge's votes, outputs with the same text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.data.texts import same_text

# The column of preferences that says which of the two was shown first (on the left): 1, −1; None if unknown.
SHOWN_FIRST = "shown_first"
# Learned from fewer comparisons, a judge's weight costs more than it gains.
FEWEST_FOR_JUDGE = 30


@dataclass(frozen=True, eq=False)
class VoteTable:
    """Votes between two models, one a row: 1 for the first, −1 for the second, 0 for a tie, or between them.

    ``item``, ``first`` and ``second`` are positions in the items and models of the evaluation set, with
    ``first`` before ``second``. ``shown`` is 1 where the first of them was shown first (on the left), −1
    where the second was, and 0 where that is not known.
    """

    item: Ints
    first: Ints
    second: Ints
    value: Floats
    shown: Floats

    def __len__(self) -> int:
        return len(self.value)

    def at(self, rows: Ints | Mask) -> VoteTable:
        """Return some rows."""
        return VoteTable(**{name: column[rows] for name, column in vars(self).items()})

    def of_pair(self, first: int, second: int) -> VoteTable:
        """Return the votes between two models, turned so that 1 speaks for the one named first."""
        low, high = min(first, second), max(first, second)
        votes, sign = self.at((self.first == low) & (self.second == high)), 1.0 if first < second else -1.0
        return replace(votes, value=sign * votes.value, shown=sign * votes.shown)

    @property
    def is_soft(self) -> bool:
        """Whether some votes lie between a win, a tie and a loss."""
        return not bool(np.isin(self.value, (-1.0, 0.0, 1.0)).all())


def vote_table(table: Preferences, rows: Ints | Mask) -> VoteTable:
    """Return some preferences as votes; those without a value, or of a model with itself, are left out."""
    part = table.take(np.flatnonzero(rows) if np.asarray(rows).dtype == bool else rows)
    part = part.take(np.flatnonzero(~np.isnan(part.value) & (part.first != part.second)))
    sign = np.where(part.first < part.second, 1.0, -1.0)
    first = np.minimum(part.first, part.second).astype(np.int64)
    second = np.maximum(part.first, part.second).astype(np.int64)
    order = _shown_first(part, first, second) * sign
    return VoteTable(part.item.astype(np.int64), first, second, sign * part.value + 0.0, order)


def _shown_first(part: Preferences, first: Ints, second: Ints) -> Floats:
    """Return 1 where the first of a row was shown first, −1 where the second was, 0 where nobody knows.

    A column says so; else files name the output on the left first. A pair that is always named in the same
    order tells nothing of the place.
    """
    if SHOWN_FIRST in part.extra:
        return np.array([0.0 if side is None else float(side) for side in part.extra[SHOWN_FIRST]])
    if not len(part):
        return np.zeros(0)
    code = np.unique(np.stack([first, second]), axis=1, return_inverse=True)[1].ravel()
    forward = np.bincount(code, part.first < part.second) / np.bincount(code)
    return np.where((forward > 0.0) & (forward < 1.0), 1.0, 0.0)[code]


# --- people's votes ---


def people_votes(data: EvalSet, aspect: str | None, judge: str | None) -> VoteTable:
    """Return the votes of people: those of an aspect, or all, without those of the judge."""
    table = data.preferences
    rows = np.ones(len(table), bool)
    if aspect is not None and table.aspects:
        if aspect not in table.aspects:
            raise UnknownNameError("aspect with preferences", aspect, table.aspects)
        rows &= np.asarray(table.aspect == table.aspects.index(aspect))
    if judge is not None and judge in table.raters:
        rows &= np.asarray(table.rater != table.raters.index(judge))
    votes = vote_table(table, rows)
    if not len(votes):
        raise MissingDataError(
            "No comparisons yet. Collect some with sparingly serve DATA --ask pairs, or name what was "
            "judged: --aspect …."
        )
    return votes


@dataclass(frozen=True, eq=False)
class VoteFrame:
    """Which outputs can be compared: items × models, equal codes for outputs of an item with the same text.

    ``text`` is −1 where there is no output; None where texts are not known. ``same_are_asked`` says whether
    people were asked about outputs with the same text; where they were not, these are ties without asking.
    """

    items: int
    text: Ints | None
    same_are_asked: bool = True

    def same(self, first: int) -> Mask:
        """Return items × models: the outputs with the same text as that of a model, which nobody compares."""
        if self.text is None:
            return np.zeros((self.items, 1), bool)
        return np.asarray((self.text == self.text[:, [first]]) & (self.text >= 0))

    def drawn_from(self, first: int, models: int) -> Mask:
        """Return items × models: what comparisons with a model are drawn from."""
        if self.text is None:
            return np.ones((self.items, models), bool)
        present = (self.text >= 0) & (self.text[:, [first]] >= 0)
        return present if self.same_are_asked else present & ~self.same(first)

    def counts(self, first: int, second: int) -> tuple[int, int]:
        """Return on how many items two models can be compared, and on how many nobody has to be asked."""
        if self.text is None:
            return self.items, 0
        left, right = self.text[:, first], self.text[:, second]
        paired = (left >= 0) & (right >= 0)
        return int(paired.sum()), 0 if self.same_are_asked else int((paired & (left == right)).sum())


def frame_of(data: EvalSet, votes: VoteTable) -> VoteFrame:
    """Return which outputs can be compared; where a vote is on two with the same text, people are asked."""
    if data.outputs is None:
        return VoteFrame(len(data), None)
    text = text_codes(data.outputs)
    left, right = text[votes.item, votes.first], text[votes.item, votes.second]
    return VoteFrame(len(data), text, bool(((left == right) & (left >= 0)).any()))


def text_codes(outputs: Objects) -> Ints:
    """Return a code for the text of every output, −1 where there is none; the same text has the same code."""
    code: dict[str, int] = {}
    texts = map(same_text, outputs.ravel().tolist())
    flat = (-1 if text is None else code.setdefault(text, len(code)) for text in texts)
    return np.fromiter(flat, np.int64, outputs.size).reshape(outputs.shape)


# --- a judge's votes on everything ---


# A judge need not be good: only how its votes on the items differ from their mean is used. Items are drawn
# alike within a pair of models, so that a vote less the mean over all items of the pair has mean 0 and may be
# added with any weight: a control variate (Chaganty, Mussmann and Liang 2018).


@dataclass(frozen=True, eq=False)
class CellVotes:
    """A judge that scores every output: its vote between two is the difference of their scores."""

    names: tuple[str, ...]  # the metrics that it is made of
    frame: VoteFrame  # what comparisons are drawn from
    cells: Floats  # its scores, items × models
    parameters: int = 0  # how many numbers were fitted to people's votes

    @property
    def models(self) -> int:
        """The number of models."""
        return int(self.cells.shape[1])

    @property
    def voted_items(self) -> int:
        """The number of items that it votes on."""
        return len(self.cells)

    def control(self, votes: VoteTable) -> Floats:
        """Return the judge's vote of every row less its mean over all items of the pair."""
        gap = self.cells[votes.item, votes.first] - self.cells[votes.item, votes.second]
        return np.asarray(gap - self._means[0][votes.first, votes.second])

    def spread(self, weight: Floats) -> Floats:
        """Return what every item adds to the mean votes: items × models, Σ_k W_jk·(f_ijk − f̄_jk)/N_jk.

        ``weight`` is models × models, symmetric: how much the comparisons of every pair count.
        """
        means, counts = self._means
        share, total = weight / np.maximum(counts, 1.0), np.zeros(self.cells.shape)
        for model in np.flatnonzero(weight.any(axis=1)).tolist():
            part = self.frame.drawn_from(model, self.models) * share[model]
            peers = ((self.cells + means[model]) * part).sum(axis=1)
            total[:, model] = self.cells[:, model] * part.sum(axis=1) - peers
        return total

    @cached_property
    def _means(self) -> tuple[Floats, Floats]:
        """The mean vote of every pair over the items that it is drawn from, and how many these are."""
        means, counts = np.zeros((self.models, self.models)), np.zeros((self.models, self.models))
        for model in range(self.models):
            in_frame = self.frame.drawn_from(model, self.models).astype(np.float64)
            counts[model] = in_frame.sum(axis=0)
            total = self.cells[:, model] @ in_frame - (self.cells * in_frame).sum(axis=0)
            means[model] = total / np.maximum(counts[model], 1.0)
        return means, counts


@dataclass(frozen=True, eq=False)
class RaterVotes:
    """A judge that was asked as raters are: its votes are among the preferences, perhaps not on all items."""

    names: tuple[str, ...]
    table: VoteTable
    items: int
    models: int
    parameters: int = 0

    @cached_property
    def voted_items(self) -> int:
        """The number of items that it votes on."""
        return len(np.unique(self.table.item))

    def control(self, votes: VoteTable) -> Floats:
        """Return the judge's vote of every row less its mean over the items of the pair; 0 without one."""
        keys, values = self._centred
        wanted = self._key(votes)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, values[place], 0.0)

    def spread(self, weight: Floats) -> Floats:
        """Return what every item adds to the mean votes, as in ``CellVotes``."""
        keys, values = self._centred
        pair = keys % self.models**2
        first, second, item = pair // self.models, pair % self.models, keys // self.models**2
        part = weight[first, second] * values / np.bincount(pair, minlength=self.models**2)[pair]
        total = np.zeros((self.items, self.models))
        np.add.at(total, (item, first), part)
        np.add.at(total, (item, second), -part)
        return total

    def _key(self, votes: VoteTable) -> Ints:
        return np.asarray((votes.item * self.models + votes.first) * self.models + votes.second)

    @cached_property
    def _centred(self) -> tuple[Ints, Floats]:
        """The cells with a vote (item, first, second as one number), and the vote less the pair's mean."""
        keys, place = np.unique(self._key(self.table), return_inverse=True)
        value = np.bincount(place, self.table.value, len(keys)) / np.bincount(place, minlength=len(keys))
        pair = np.unique(keys % self.models**2, return_inverse=True)[1]
        return keys, value - (np.bincount(pair, value) / np.bincount(pair))[pair]


JudgeVotes = CellVotes | RaterVotes


def judge_votes(data: EvalSet, votes: VoteTable, frame: VoteFrame, judge: str | None) -> JudgeVotes | None:
    """Return a judge's votes: of the rater or metric that is named, or of all metrics; None without any.

    Several metrics are put together by least squares on people's votes, without a constant, so that turning
    all comparisons round turns the judge's, too.
    """
    raters, metrics = data.preferences.raters, tuple(data.metrics)
    if judge is not None and judge in raters:
        table = data.preferences
        of_judge = vote_table(table, np.asarray(table.rater == raters.index(judge)))
        return RaterVotes((judge,), of_judge, len(data), len(data.models)) if len(of_judge) else None
    if judge is not None and judge not in metrics:
        raise UnknownNameError("judge", judge, (*metrics, *raters))
    names: Sequence[str] = metrics if judge is None else (judge,)
    scores = [(name, standard_cells(data.metrics[name])) for name in names]
    usable = [(name, cells) for name, cells in scores if cells.any()]
    if not usable or len(np.unique(votes.item)) < FEWEST_FOR_JUDGE:
        return None
    cells = np.stack([cells for _, cells in usable])
    if len(usable) == 1:
        cell, fits = cells[0], 0
    else:
        gaps = cells[:, votes.item, votes.first] - cells[:, votes.item, votes.second]
        ridge = 0.01 * len(votes) * np.eye(len(usable))
        slopes, fits = np.linalg.solve(gaps @ gaps.T + ridge, gaps @ votes.value), len(usable)
        cell = np.einsum("k,kij->ij", slopes, cells)
    return CellVotes(tuple(name for name, _ in usable), frame, cell, fits)


def standard_cells(scores: Floats) -> Floats:
    """Return scores less their mean in standard deviations; a missing one is that of its model."""
    present = ~np.isnan(scores)
    if not present.any():
        return np.zeros_like(scores)
    counts = present.sum(axis=0)
    means = np.where(present, scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
    complete = np.where(present, scores, np.where(counts > 0, means, means[counts > 0].mean()))
    spread = float(complete.std())
    return np.asarray((complete - complete.mean()) / spread) if spread > 1e-12 else np.zeros_like(scores)
