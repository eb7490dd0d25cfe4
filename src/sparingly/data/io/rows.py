"""Judgements as readers meet them, row by row, and the tables made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Objects
from sparingly.data.io.words import WordScore, rating_numbers
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import check_value

RatingRow = tuple[int, int, str, str, float, float, str | None]
PreferenceRow = tuple[int, int, int, float, str, str, float]


class RatingRows:
    """Rows of ratings: item, what is rated (references count from -1 downwards), rater, aspect and so on.

    After ``table``, ``worded`` are the aspects whose scores were words.
    """

    def __init__(self) -> None:
        self._rows: list[RatingRow] = []
        self._words: list[WordScore] = []
        self.worded: set[str] = set()
        self._extra: dict[str, dict[int, Any]] = {}

    def take(self, row: RatingRow, extra: Mapping[str, Any], within: str) -> None:
        """Take one rating with its further fields."""
        _take_extra(self._extra, len(self._rows), extra, within)
        self._rows.append(row)

    def take_word(self, score: str | bool, aspect: str, line: int, field: str) -> None:
        """Take the next rating's score, a word or a text; which of the two is decided when all are read."""
        self._words.append(WordScore(len(self._rows), aspect, score, line, field))

    def _read_words(self) -> None:
        """Put in the numbers that words stand for; other texts become comments."""
        with_numbers = {row[3] for row in self._rows if row[4] == row[4]}
        numbers, self.worded = rating_numbers(self._words, with_numbers)
        for word in self._words:
            *start, score, seconds, comment = self._rows[word.row]
            if word.row in numbers:
                score = numbers[word.row]
            else:
                comment = str(word.score) if comment is None else f"{word.score} | {comment}"
            self._rows[word.row] = (*start, score, seconds, comment)  # type: ignore[assignment]
        self._words = []

    def table(self, models: int) -> Ratings:
        """Return the table, in which references come after the models."""
        if not self._rows:
            return Ratings()
        self._read_words()
        item, rated, rater, aspect, score, seconds, comment = zip(*self._rows, strict=True)
        rater_codes, raters = _coded(rater)
        aspect_codes, aspects = _coded(aspect)
        codes = [code if code >= 0 else models - 1 - code for code in rated]
        return Ratings(
            item=np.array(item, np.int32),
            model=np.array(codes, np.int32),
            rater=rater_codes,
            aspect=aspect_codes,
            score=np.array(score, np.float64),
            seconds=np.array(seconds, np.float64),
            comment=np.array(comment, object) if any(text is not None for text in comment) else None,
            raters=raters,
            aspects=aspects,
            extra={name: spread(values, len(item)) for name, values in self._extra.items()},
        )


class PreferenceRows:
    """Rows of preferences: item, the two models, value, rater, aspect, seconds."""

    def __init__(self) -> None:
        self._rows: list[PreferenceRow] = []
        self._extra: dict[str, dict[int, Any]] = {}

    def take(self, row: PreferenceRow, extra: Mapping[str, Any], within: str) -> None:
        """Take one preference with its further fields."""
        _take_extra(self._extra, len(self._rows), extra, within)
        self._rows.append(row)

    def table(self) -> Preferences:
        """Return the table."""
        if not self._rows:
            return Preferences()
        item, first, second, value, rater, aspect, seconds = zip(*self._rows, strict=True)
        rater_codes, raters = _coded(rater)
        aspect_codes, aspects = _coded(aspect)
        return Preferences(
            item=np.array(item, np.int32),
            first=np.array(first, np.int32),
            second=np.array(second, np.int32),
            value=np.array(value, np.float64),
            rater=rater_codes,
            aspect=aspect_codes,
            seconds=np.array(seconds, np.float64),
            raters=raters,
            aspects=aspects,
            extra={name: spread(values, len(item)) for name, values in self._extra.items()},
        )


def _take_extra(columns: dict[str, dict[int, Any]], row: int, extra: Mapping[str, Any], within: str) -> None:
    for name, value in extra.items():
        check_value(value, f"{within}{name}")
        columns.setdefault(name, {})[row] = value


def _coded(names: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return codes into the sorted names; the empty name is -1, unknown."""
    known = tuple(sorted(set(names) - {""}))
    codes = {name: code for code, name in enumerate(known)} | {"": -1}
    return np.array([codes[name] for name in names], np.int32), known


def spread(values: Mapping[int, Any], count: int) -> Objects:
    """Return an array with the values at their places and None elsewhere."""
    array = np.full(count, None, object)
    for place, value in values.items():
        array[place] = value
    return array
