"""The ratings in a long table whose rows are judgements by raters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.data.io.objects import to_objects
from sparingly.data.io.table.groups import Codes, Grid, coded
from sparingly.data.io.table.numbers import from_words, numbers, parsed_texts
from sparingly.data.io.table.roles import Roles
from sparingly.data.io.table.source import Source
from sparingly.data.io.words import kind_of
from sparingly.data.tables import Ratings

if TYPE_CHECKING:
    import polars as pl


def rating_table(
    source: Source, roles: Roles, grid: Grid, extra: Mapping[str, pl.Series]
) -> tuple[Ratings, tuple[str, ...]]:
    """Return one rating for each row and column of scores, and the aspects whose scores were words.

    Two-valued words (pass and fail, yes and no …) are scores where a column has no numbers and at least half
    of its texts are such words; any other text becomes a comment. A row without a score and without a comment
    is no rating.
    """
    table = _Table(source, roles, grid, extra)
    ratings = table.ratings()
    return ratings, table.worded_aspects(ratings)


class _Table:
    def __init__(self, source: Source, roles: Roles, grid: Grid, extra: Mapping[str, pl.Series]) -> None:
        self.source, self.roles, self.grid, self.extra = source, roles, grid, extra
        self.count = len(grid.items.codes)
        self.worded: set[str] = set()

    def worded_aspects(self, ratings: Ratings) -> tuple[str, ...]:
        """Return the aspects whose column held words; a column of several aspects tells it of all of them."""
        score = self.roles.single.get("score")
        of_one = self.roles.single.get("aspect") is not None and len(self.roles.aspects) == 0
        if of_one and score in self.worded:
            return ratings.aspects
        named = {} if score is None else {score: score}
        named |= self.roles.aspects
        return tuple(name for name, column in named.items() if column in self.worded)

    def ratings(self) -> Ratings:
        scored = dict(self.roles.aspects)
        if (score := self.roles.single.get("score")) is not None:
            scored = {score: score, **scored}
        # A row's own comment goes with its first score, so that it is counted once.
        remarks = [self._comments(), *(np.full(self.count, None, object) for _ in range(len(scored) - 1))]
        judged = [self._scores(*pair) for pair in zip(scored.values(), remarks, strict=True)]
        kept = [np.flatnonzero(~np.isnan(score) | _there(comment)) for score, comment in judged]
        rows = np.concatenate(kept)
        comment = np.concatenate([texts[some] for (_, texts), some in zip(judged, kept, strict=True)])
        raters, rater = self._coded("rater")
        aspects, aspect = self._aspects(list(scored), kept)
        return Ratings(
            item=self.grid.items.codes[rows],
            model=self.grid.models.codes[rows],
            rater=rater[rows],
            aspect=aspect,
            score=np.concatenate([score[some] for (score, _), some in zip(judged, kept, strict=True)]),
            seconds=self._seconds()[rows],
            comment=comment if _there(comment).any() else None,
            raters=tuple(raters),
            aspects=tuple(aspects),
            extra={name: to_objects(series)[rows] for name, series in self.extra.items()},
        )

    def _scores(self, column: str, comments: Objects) -> tuple[Floats, Objects]:
        """Return the scores, and the comments with the texts that stand where a score was to be."""
        import polars as pl

        series = self.source.column(column)
        if series.dtype != pl.String:
            self.worded |= {column} if series.dtype == pl.Boolean else set()
            return numbers(series, self.source), comments
        parsed, is_text = parsed_texts(series)
        texts = series.filter(is_text)
        if not parsed.count() and 2 * sum(kind_of(text) is not None for text in texts) >= len(texts) > 0:
            words = from_words(series, self.source)
            self.worded.add(column)
            return numbers(series if words is None else words, self.source), comments
        for row in np.flatnonzero(is_text.to_numpy()).tolist():
            text = series[row]
            comments[row] = text if comments[row] is None else f"{text} | {comments[row]}"
        return numbers(parsed, self.source), comments

    def _comments(self) -> Objects:
        import polars as pl

        column = self.roles.single.get("comment")
        if column is None:
            return np.full(self.count, None, object)
        return np.array(to_objects(self.source.column(column).cast(pl.String)), object)

    def _seconds(self) -> Floats:
        column = self.roles.single.get("seconds")
        if column is None:
            return np.full(self.count, np.nan)
        return numbers(self.source.column(column), self.source)

    def _coded(self, part: str) -> tuple[list[str], Codes]:
        import polars as pl

        column = self.roles.single.get(part)
        if column is None:
            return [], np.full(self.count, -1, np.int32)
        series = self.source.column(column)
        if series.dtype.is_float():
            raise self.source.wrong(f"texts or whole numbers are wanted, not {series.dtype}", field=column)
        texts = series.cast(pl.String)
        return coded(texts.set(texts.str.strip_chars() == "", None))

    def _aspects(self, names: list[str], kept: list[NDArray[Any]]) -> tuple[list[str], Codes]:
        """Return the names of the aspects and the code of every rating's: of its row, or of its column."""
        if self.roles.single.get("aspect") is not None and len(names) == 1:
            told, codes = self._coded("aspect")
            return told, codes[kept[0]]
        columns = [np.full(len(rows), code, np.int32) for code, rows in enumerate(kept)]
        return names, np.concatenate(columns)


def _there(values: Objects) -> NDArray[np.bool_]:
    return np.fromiter((value is not None for value in values), bool, len(values))
