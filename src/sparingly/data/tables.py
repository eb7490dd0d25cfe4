"""Tables beside the cells, one row each: ratings, preferences between two outputs, and repeated outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.stats.pairs import preferred

Codes = NDArray[np.int32]


def _no_floats() -> Floats:
    return np.empty(0, np.float64)


def _no_codes() -> Codes:
    return np.empty(0, np.int32)


def _cell_means(item: Codes, model: Codes, scores: Floats, items: int, models: int) -> Floats:
    """Return the mean score of every cell, NaN where there is none."""
    rows = np.flatnonzero(~np.isnan(scores))
    cells = item[rows].astype(np.int64) * models + model[rows]
    # Added up from the lowest score on, so that the last bits do not depend on the order of the file.
    by_score = np.lexsort((scores[rows], cells))
    rows, cells = rows[by_score], cells[by_score]
    count = np.bincount(cells, minlength=items * models).astype(np.float64)
    total = np.bincount(cells, scores[rows], minlength=items * models)
    with np.errstate(invalid="ignore"):
        return (total / np.where(count > 0, count, np.nan)).reshape(items, models)


@dataclass(frozen=True, eq=False)
class JudgementTable:
    """What ratings and preferences share: one row a judgement, columns that cannot be written to.

    ``item`` is a position in the items of the evaluation set; ``rater`` and ``aspect`` point into ``raters``
    and ``aspects`` (-1 is unknown); ``extra`` holds further columns by name.
    """

    item: Codes = field(default_factory=_no_codes)
    rater: Codes = field(default_factory=_no_codes)
    aspect: Codes = field(default_factory=_no_codes)
    seconds: Floats = field(default_factory=_no_floats)
    raters: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    extra: Mapping[str, Objects] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in (*vars(self).values(), *self.extra.values()):
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        object.__setattr__(self, "extra", MappingProxyType(dict(self.extra)))

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Ints | Mask, **changed: Codes) -> Self:
        """Return some rows, with some columns replaced."""
        columns: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        extra = {name: value[rows] for name, value in self.extra.items()}
        return replace(self, **{**columns, **changed}, extra=extra)


@dataclass(frozen=True, eq=False)
class Ratings(JudgementTable):
    """Ratings, one row a judgement: who scored which output on which aspect, how, and in how many seconds.

    ``model`` is a position in the models of the evaluation set followed by its references. A row whose score
    is NaN and whose comment is set is a remark, not a judgement.
    """

    model: Codes = field(default_factory=_no_codes)
    score: Floats = field(default_factory=_no_floats)
    comment: Objects | None = None

    @property
    def comments(self) -> int:
        """The number of rows that carry a remark."""
        return 0 if self.comment is None else int(sum(text is not None for text in self.comment))

    def means(self, aspect: str, items: int, models: int) -> Floats:
        """Return the mean score of every cell for an aspect, NaN where nobody judged."""
        rows = np.flatnonzero(self.aspect == self.aspects.index(aspect))
        return _cell_means(self.item[rows], self.model[rows], self.score[rows], items, models)


@dataclass(frozen=True, eq=False)
class Preferences(JudgementTable):
    """Preferences, one row a comparison of two models' outputs for an item.

    ``first`` and ``second`` are positions in the models; ``value`` is 1 when the first is better, -1 when the
    second is, 0 for a tie, and between them for a soft preference.
    """

    first: Codes = field(default_factory=_no_codes)
    second: Codes = field(default_factory=_no_codes)
    value: Floats = field(default_factory=_no_floats)


@dataclass(frozen=True, eq=False)
class Repeats:
    """Outputs of models that answered an item more than once (epochs, runs, seeds), one row an output.

    ``item`` and ``model`` are positions in those of the evaluation set, ``epoch`` points into ``epochs``.
    ``scores`` holds numbers by field (``metric:accuracy``, ``aspect:quality``), NaN where missing. A cell of
    the evaluation set has the mean score over its epochs, which is what results describe, and the output
    of the first epoch, which is what raters see. A cell that was run once has no row.
    """

    item: Codes = field(default_factory=_no_codes)
    model: Codes = field(default_factory=_no_codes)
    epoch: Codes = field(default_factory=_no_codes)
    epochs: tuple[str, ...] = ()
    output: Objects | None = None
    scores: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in (*vars(self).values(), *self.scores.values()):
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        object.__setattr__(self, "scores", MappingProxyType(dict(self.scores)))

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Ints | Mask, **changed: Any) -> Repeats:
        """Return some rows, with some columns replaced."""
        columns: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        columns["scores"] = {name: values[rows] for name, values in self.scores.items()}
        return replace(self, **{**columns, **changed})

    def means(self, name: str, items: int, models: int) -> Floats:
        """Return the mean of a field's scores over the epochs of every cell, NaN where there is none."""
        return _cell_means(self.item, self.model, self.scores[name], items, models)

    def fill_outputs(self, texts: Objects) -> None:
        """Put the output of the first epoch that has one into every cell (items x models) that has none."""
        if self.output is not None:
            for row in np.lexsort((self.epoch, self.model, self.item)).tolist():
                if texts[self.item[row], self.model[row]] is None:
                    texts[self.item[row], self.model[row]] = self.output[row]


def epoch_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of epochs in their order: numbers by size, then texts."""
    return tuple(
        sorted(set(names), key=lambda name: (not name.isdecimal(), len(name) * name.isdecimal(), name))
    )


def derive_preferences(scores: Floats, aspect: str, tie: float = 0.0) -> Preferences:
    """Turn scores into preferences over every pair of models: the higher one wins.

    A pair is a tie when the two scores differ by at most ``tie`` (see ``base.stats.pairs``); a pair with a
    missing score gives no row (Ashury Tahan et al. 2024, section 5, derive their preferences from
    reference-based metrics so).
    """
    models = scores.shape[1]
    first, second = np.triu_indices(models, 1)
    gap = scores[:, first] - scores[:, second]
    item, pair = np.nonzero(~np.isnan(gap))
    count = len(item)
    return Preferences(
        item=item.astype(np.int32),
        first=first[pair].astype(np.int32),
        second=second[pair].astype(np.int32),
        value=preferred(gap[item, pair], tie),
        rater=np.full(count, -1, np.int32),
        aspect=np.zeros(count, np.int32),
        seconds=np.full(count, np.nan),
        aspects=(aspect,),
    )
