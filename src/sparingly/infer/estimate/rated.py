"""The ratings of one aspect, one row per item, model and rater."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError
from sparingly.data.evalset import EvalSet, the_only


@dataclass(frozen=True, eq=False)
class Rated:
    """Who gave which score to which output; a rater's repeats of an output are one row, their mean.

    Rows stand in the order of items, models and raters.

    Attributes:
        aspect: What was judged.
        item: A position in the items of the set.
        model: A position in its models; ratings of references are left out.
        rater: A position in ``raters``.
        score: The mean of what the rater gave.
        count: How often the rater judged the output.
        raters: The raters who judged something, in the order of their names.
        of_unknown: Ratings whose rater is not known, left out.
    """

    aspect: str
    item: Ints
    model: Ints
    rater: Ints
    score: Floats
    count: Floats
    raters: tuple[str, ...]
    of_unknown: int

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def cell(self) -> Ints:
        """The output of every row, as one code without gaps."""
        width = int(self.model.max(initial=0)) + 1
        return np.asarray(np.unique(self.item * width + self.model, return_inverse=True)[1], np.int64)

    @cached_property
    def per_cell(self) -> Ints:
        """How many raters judged the output of every row."""
        return np.bincount(self.cell)[self.cell].astype(np.int64)

    @cached_property
    def judgements(self) -> Ints:
        """The number of outputs that every rater judged."""
        return np.bincount(self.rater, minlength=len(self.raters)).astype(np.int64)

    def table(self) -> tuple[Floats, Ints]:
        """Return outputs × raters, NaN where a rater did not judge one, and the item of every output."""
        cells = int(self.cell.max(initial=-1)) + 1
        values = np.full((cells, len(self.raters)), np.nan)
        values[self.cell, self.rater] = self.score
        item = np.zeros(cells, np.int64)
        item[self.cell] = self.item
        return values, item


def rated(data: EvalSet, aspect: str | None = None) -> Rated:
    """Return the ratings of an aspect; the only aspect that was rated unless one is named."""
    table = data.ratings
    if not len(table):
        raise MissingDataError("The evaluation set has no ratings that say who gave them.")
    name = the_only("rated aspect", aspect, table.aspects, "Name one: aspect=….")
    wanted = (table.aspect == table.aspects.index(name)) & (table.model < len(data.models))
    wanted &= ~np.isnan(table.score)
    known = np.flatnonzero(wanted & (table.rater >= 0))
    if not len(known):
        raise MissingDataError(f'No rating of "{name}" says who gave it, so raters cannot be told apart.')
    names = np.array(table.raters, object)[table.rater[known]]
    raters = tuple(sorted(set(names.tolist())))
    place = {rater: code for code, rater in enumerate(raters)}
    rater = np.fromiter((place[one] for one in names), np.int64, len(names))
    keys = (table.item[known].astype(np.int64) * len(data.models) + table.model[known]) * len(raters) + rater
    # Added up from the lowest score on, so that the last bits do not depend on the order of the file.
    order = np.lexsort((table.score[known], keys))
    distinct, rows, count = np.unique(keys[order], return_inverse=True, return_counts=True)
    total = np.bincount(rows, table.score[known][order])
    cells, own = np.divmod(distinct, len(raters))
    item, model = np.divmod(cells, len(data.models))
    return Rated(
        aspect=name,
        item=item,
        model=model,
        rater=own,
        score=total / count,
        count=count.astype(np.float64),
        raters=raters,
        of_unknown=int(wanted.sum()) - len(known),
    )
