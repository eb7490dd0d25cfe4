"""Collects an evaluation set piece by piece, as readers meet it, and checks that the pieces fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import InputError
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.words import SCALE, ScoreWords, WordScore, rating_numbers
from sparingly.data.scale import Scale
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import as_id, as_number, as_scale, as_text, check_value, shown

# --- Ids as a file mentions them, counted ---------------------------------------------------------


class IdCodes:
    """Ids in the order of their first mention; the number 1 and the text "1" may not both occur."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.codes: dict[str, int] = {}
        self._numeric: dict[str, bool] = {}

    def code(self, value: Any, field: str) -> int:
        """Return the code of an id, a new one when it is met for the first time."""
        name = value if type(value) is str and value in self.codes else as_id(value, field)
        numeric = not isinstance(value, str)
        if self._numeric.setdefault(name, numeric) != numeric:
            raise InputError(
                f'the {self.kind} {name} is written as a number and as the text "{name}"',
                field=field,
                fix="Write ids in one way",
            )
        return self.codes.setdefault(name, len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def names(self) -> list[str]:
        """Return the ids by code."""
        return list(self.codes)


# --- Judgements as readers meet them, row by row, and the tables made of them ---------------------


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

    def take(self, row: RatingRow, extra: Mapping[str, Any], prefix: str) -> None:
        """Take one rating with its further fields."""
        _take_extra(self._extra, len(self._rows), extra, prefix)
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

    def take(self, row: PreferenceRow, extra: Mapping[str, Any], prefix: str) -> None:
        """Take one preference with its further fields."""
        _take_extra(self._extra, len(self._rows), extra, prefix)
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


def _take_extra(columns: dict[str, dict[int, Any]], row: int, extra: Mapping[str, Any], prefix: str) -> None:
    for name, value in extra.items():
        check_value(value, f"{prefix}{name}")
        columns.setdefault(name, {})[row] = value


def _coded(names: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return codes into the sorted names; the empty name is -1, unknown."""
    distinct = tuple(sorted(set(names) - {""}))
    codes = {name: code for code, name in enumerate(distinct)} | {"": -1}
    return np.array([codes[name] for name in names], np.int32), distinct


def spread(values: Mapping[int, Any], count: int) -> Objects:
    """Return an array with the values at their places and None elsewhere."""
    array = np.full(count, None, object)
    for place, value in values.items():
        array[place] = value
    return array


class EvalSetBuilder:
    """Takes what a reader finds; ``build`` puts it together.

    Readers set ``line`` as they go, so that an error names the place; ``field`` arguments name the
    field as the user's file spells it.
    """

    def __init__(self, file: Path | str, name: str = "") -> None:
        self.file, self.name, self.line = file, name or str(file), 0
        self.items, self.models, self.references = IdCodes("item"), IdCodes("model"), IdCodes("reference")
        self.raters = IdCodes("rater")
        self.item_lines: list[int] = []
        self._numbers: dict[tuple[str, str], tuple[list[int], list[int], list[float]]] = {}
        self._texts: dict[str, dict[tuple[int, int], Any]] = {}
        self._sources: dict[int, str] = {}
        self._has_sources = False
        self._columns: dict[str, dict[int, Any]] = {}
        self._ratings, self._preferences = RatingRows(), PreferenceRows()
        self._words, self._scales = ScoreWords(), dict[str, Scale]()

    # --- ids -----------------------------------------------------------------------------------------

    def new_item(self, value: Any, field: str = "item") -> int:
        """Return the code of an item that must not have been met before."""
        count = len(self.items)
        code = self.items.code(value, field)
        if code < count:
            first = self.item_lines[code]
            raise InputError(
                f"the item {shown(value)} was there before (line {first})",
                field=field,
                fix="Give every item its own id",
            )
        self.item_lines.append(self.line)
        return code

    def item(self, value: Any, field: str = "item") -> int:
        """Return the code of an item, met before or not."""
        count = len(self.items)
        code = self.items.code(value, field)
        if code == count:
            self.item_lines.append(self.line)
        return code

    def model(self, value: Any, field: str = "model") -> int:
        """Return the code of a model, met before or not."""
        return self.models.code(value, field)

    # --- what items and cells hold ---------------------------------------------------------------------

    def metric(self, item: int, model: int, name: str, value: Any, field: str) -> None:
        """Take a metric's score of an output."""
        self._number("metric", name, item, model, value, field)

    def aspect(self, item: int, model: int, name: str, value: Any, field: str) -> None:
        """Take an aspect's score of an output."""
        self._number("aspect", name, item, model, value, field)

    def reference_aspect(self, item: int, reference: str, name: str, value: Any, field: str) -> None:
        """Take an aspect's score of a reference."""
        self._number("reference_aspect", name, item, self.references.code(reference, field), value, field)

    def source(self, item: int, text: str | None) -> None:
        """Take an item's source."""
        if text is not None:
            self._sources[item] = text

    def output(self, item: int, model: int, text: str | None, field: str = "outputs") -> None:
        """Take what a model wrote for an item; None means that it is not known."""
        if text is not None:
            self._text("outputs", item, model, text, field)

    def reference(self, item: int, name: str, text: str | None) -> None:
        """Take a reference's text of an item."""
        code = self.references.code(name, "references")
        if text is not None:
            self._text("references", item, code, text, "references")

    def column(self, item: int, name: str, value: Any) -> None:
        """Take the value of a column of the items."""
        if value is None:
            return
        _check_name("column", name, name)
        if name in fields.NUMBER_COLUMNS:
            value = as_number(value, name)
            if name in (fields.COST, fields.WEIGHT) and value < 0:
                raise InputError(f"{shown(value)} is below zero", field=name, fix="Write zero or more")
        check_value(value, name)
        self._columns.setdefault(name, {})[item] = value

    def cell(self, item: int, model: int, name: str, value: Any) -> None:
        """Take the value of a column of the cells."""
        if value is not None:
            _check_name("column", name, name)
            check_value(value, name)
            self._text(f"cell:{name}", item, model, value, name)

    def declare(self, kind: Literal["metric", "aspect"], name: Any, field: str) -> None:
        """Take note of a metric or aspect that may have no score at all."""
        _check_name(kind, name, field)
        self._numbers.setdefault((kind, name), ([], [], []))

    def declare_empty(self, name: str, field: str) -> None:
        """Take note of a column, a cell column, sources or outputs that are there without any value."""
        kind, _, column = name.partition(":")
        if kind == "column" and column:
            self._columns.setdefault(column, {})
        elif (kind == "cell" and column) or name == "outputs":
            self._texts.setdefault(name, {})
        elif name == "sources":
            self._has_sources = True
        else:
            raise InputError(f"{shown(name)} is no field that can be empty", field=field)

    def scale(self, name: str, ends: Any, field: str) -> None:
        """Take the lowest and the highest possible score of a metric or aspect, named by its field."""
        self._scales[name] = as_scale(ends, field)

    # --- judgements -----------------------------------------------------------------------------------

    def rating(
        self,
        item: int,
        *,
        model: Any = None,
        reference: str | None = None,
        rater: Any = None,
        aspect: str = "",
        score: Any = None,
        seconds: Any = None,
        comment: str | None = None,
        extra: Mapping[str, Any] | None = None,
        field: str = "",
    ) -> None:
        """Take one rating of a model's output (or of a reference).

        Scores that are two-valued words (pass and fail, true and false …) become 1 and 0 if the aspect has no
        other scores; any other text becomes a comment. ``field`` names the rating as the user's file does,
        such as ``ratings[0]``.
        """
        prefix = f"{field}." if field else ""
        comment = as_text(comment, f"{prefix}comment")
        aspect_name = as_text(aspect, f"{prefix}aspect") or ""
        if model is None and reference is None:
            raise InputError(
                "the rating names no model", field=field or None, fix='Add "model": "…" to the rating'
            )
        # References are counted from -1 downwards until the number of models is known.
        rated = (
            self.model(model, f"{prefix}model")
            if reference is None
            else -1 - self.references.code(reference, f"{prefix}reference")
        )
        row = (
            item,
            rated,
            self._rater(rater, f"{prefix}rater"),
            aspect_name,
            math.nan if isinstance(score, str | bool) else as_number(score, f"{prefix}score"),
            as_number(seconds, f"{prefix}seconds"),
            comment,
        )
        if isinstance(score, str | bool):
            self._ratings.take_word(score, aspect_name, self.line, f"{prefix}score")
        self._ratings.take(row, extra or {}, prefix)

    def preference(
        self,
        item: int,
        first: Any,
        second: Any,
        value: float,
        *,
        rater: Any = None,
        aspect: str = "",
        seconds: Any = None,
        extra: Mapping[str, Any] | None = None,
        field: str = "",
    ) -> None:
        """Take one preference: 1 the first is better, -1 the second, 0 a tie, between them a soft one.

        ``field`` names the preference as the user's file does, such as ``comparisons[0]``.
        """
        prefix = f"{field}." if field else ""
        if first is None or second is None:
            raise InputError("the preference does not name two models", field=field or None)
        codes = self.model(first, f"{prefix}model"), self.model(second, f"{prefix}model")
        if codes[0] == codes[1]:
            raise InputError(f"the model {shown(first)} is compared with itself", field=field or None)
        rater_id = self._rater(rater, f"{prefix}rater")
        aspect_name = as_text(aspect, f"{prefix}aspect") or ""
        time = as_number(seconds, f"{prefix}seconds")
        self._preferences.take((item, *codes, value, rater_id, aspect_name, time), extra or {}, prefix)

    def _rater(self, value: Any, field: str) -> str:
        """Return a rater's id as text, empty when the rater is unknown."""
        if value is None:
            return ""
        self.raters.code(value, field)
        return str(value)

    # --- putting it together ----------------------------------------------------------------------------

    def build(self) -> EvalSet:
        """Return the evaluation set."""
        if not len(self.items):
            raise InputError("there is no item in it", file=self.file)
        models, count = len(self.models), len(self.items)
        files.check_columns(self.file, len(self._columns))
        files.check_places(self.file, count, models, len(self._numbers) + len(self._texts))
        try:
            ratings = self._ratings.table(models)
        except InputError as error:
            raise error.at(file=self.file) from None
        return EvalSet.from_arrays(
            self.items.names(),
            self.models.names(),
            metrics=self._matrices("metric", models),
            aspects=self._matrices("aspect", models),
            reference_aspects=self._matrices("reference_aspect", len(self.references)),
            sources=spread(self._sources, count) if self._sources or self._has_sources else None,
            outputs=self._object_matrix("outputs", models) if "outputs" in self._texts else None,
            references={
                name: list(self._object_matrix("references", len(self.references))[:, code])
                for name, code in self.references.codes.items()
            },
            columns={name: list(spread(values, count)) for name, values in self._columns.items()},
            cells={
                name.removeprefix("cell:"): self._object_matrix(name, models)
                for name in self._texts
                if name.startswith("cell:")
            },
            ratings=ratings,
            preferences=self._preferences.table(),
            scales=self._known_scales(),
            name=self.name,
        )

    def _known_scales(self) -> dict[str, Scale]:
        """Return the scales that words or a header tell, by field."""
        worded = [f"{kind}:{name}" for kind, name in self._numbers if self._words.of_words((kind, name))]
        worded += [fields.aspect(name) for name in self._ratings.worded]
        return {**dict.fromkeys(worded, SCALE), **self._scales}

    def _number(self, kind: str, name: str, item: int, model: int, value: Any, field: str) -> None:
        columns = self._numbers.get((kind, name))
        number = self._words.number((kind, name), value, field, columns is not None and bool(columns[2]))
        if columns is None:
            _check_name(kind.replace("_", " "), name, field)
            columns = self._numbers[kind, name] = ([], [], [])
        if not math.isnan(number):
            items, models, values = columns
            items.append(item)
            models.append(model)
            values.append(number)

    def _text(self, kind: str, item: int, model: int, value: Any, field: str) -> None:
        cells = self._texts.setdefault(kind, {})
        if (item, model) in cells:
            names = self.references if kind == "references" else self.models
            raise InputError(
                f"the item {shown(self._item_name(item))} has two values"
                f" for the {names.kind} {shown(names.names()[model])}",
                field=field,
                fix="Keep one of them",
            )
        cells[item, model] = value

    def _item_name(self, code: int) -> str:
        return self.items.names()[code]

    def _matrices(self, kind: str, width: int) -> dict[str, Floats]:
        return {
            name: self._number_matrix(kind, name, *columns, width)
            for (kind_of_column, name), columns in self._numbers.items()
            if kind_of_column == kind
        }

    def _number_matrix(
        self, kind: str, name: str, items: list[int], models: list[int], values: list[float], width: int
    ) -> Floats:
        matrix = np.full(len(self.items) * width, np.nan)
        places = np.array(items, np.int64) * width + np.array(models, np.int64)
        unique, first, counts = np.unique(places, return_index=True, return_counts=True)
        if len(unique) < len(places):
            place = int(first[counts > 1][0])
            item, names = items[place], self.references if kind == "reference_aspect" else self.models
            raise InputError(
                f"the item {shown(self._item_name(item))} has two scores"
                f" for the {names.kind} {shown(names.names()[models[place]])}",
                file=self.file,
                line=self.item_lines[item] or None,
                field=name,
                fix="Keep one of them, or write them as ratings",
            )
        matrix[places] = values
        return matrix.reshape(len(self.items), width)

    def _object_matrix(self, kind: str, width: int) -> Objects:
        matrix = np.full((len(self.items), width), None, object)
        for place, value in self._texts.get(kind, {}).items():
            matrix[place] = value
        return matrix


def _check_name(kind: str, name: Any, field: str) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(f"{shown(name)} is no name of a {kind}", field=field or None, fix="Give it a name")
