"""Collects an evaluation set piece by piece as a file is read, and checks that the pieces fit."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import InputError
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.words import SCALE, ScoreWords, WordScore, rating_numbers
from sparingly.data.scale import Scale
from sparingly.data.tables import Preferences, Ratings, Repeats, epoch_order
from sparingly.data.values import as_id, as_mapping, as_number, as_scale, as_text, check_value, shown

# The items, models and values of a score.
_Numbers = tuple[list[int], list[int], list[float]]
_NONE: _Numbers = ([], [], [])
_Cells = Mapping[str, Any]
_PLAIN, _LARGE = {int, float}, 1e300
# Where as many sets of models and names occur, few items have each.
_MOST_ALIKE = 100


class IdCodes:
    """Ids in the order of their first mention; the number 1 and the text "1" may not both occur."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.codes: dict[str, int] = {}
        self._numeric: set[str] = set()

    def code(self, value: Any, field: str) -> int:
        """Return the code of an id, a new one when it is met for the first time."""
        is_text = isinstance(value, str)
        name = value if is_text and value in self.codes else as_id(value, field)
        if name not in self.codes:
            if not is_text:
                self._numeric.add(name)
            self.codes[name] = len(self.codes)
        elif (name in self._numeric) == is_text:
            raise InputError(
                f'the {self.kind} {name} is written as a number and as the text "{name}"',
                field=field,
                fix="Write ids in one way",
            )
        return self.codes[name]

    def of_texts(self, names: Iterable[str]) -> list[int] | None:
        """Return the codes of ids that were met before, written as text; None where one was not."""
        codes = [-1 if name in self._numeric else self.codes.get(name, -1) for name in names]
        return None if -1 in codes else codes

    def __len__(self) -> int:
        return len(self.codes)

    def names(self) -> list[str]:
        """Return the ids by code."""
        return list(self.codes)


@dataclass
class _AlikeScores:
    """Scores of items that have the same models and names, all of them numbers."""

    keys: list[tuple[str, str]]  # of the names, in their order
    models: list[int]
    values_of: Callable[[_Cells], Iterable[float]]  # by model, then by name
    items: list[int] = field(default_factory=list)
    numbers: array[float] = field(default_factory=lambda: array("d"))

    def add(self, item: int, cells: _Cells) -> bool:
        """Take the scores of an item unless some are missing, too many, or no plain numbers."""
        try:
            values = [*self.values_of(cells)]
            # A sum is below no limit where one of them is infinite or missing.
            is_plain = {*map(type, values)} <= _PLAIN and abs(sum(values)) < _LARGE
            if not is_plain or sum(map(len, cells.values())) != len(values):
                return False
            self.numbers.fromlist(values)
        except (KeyError, TypeError, OverflowError):
            return False
        self.items.append(item)
        return True

    def column(self, key: tuple[str, str], width: int) -> tuple[Ints, Floats]:
        """Return the scores of one name, and their places in a matrix with so many models."""
        shape = len(self.items), len(self.models), len(self.keys)
        numbers = np.frombuffer(self.numbers, np.float64).reshape(shape)[:, :, self.keys.index(key)]
        places = width * np.array(self.items, np.int64)[:, None] + np.array(self.models, np.int64)
        return places.ravel(), numbers.ravel()


@dataclass
class _JudgementRows:
    """Judgements as readers meet them: one tuple each, and further fields by name and row."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    extra: dict[str, dict[int, Any]] = field(default_factory=dict)

    def take(self, row: tuple[Any, ...], extra: Mapping[str, Any], prefix: str) -> None:
        """Take one judgement with its further fields."""
        for name, value in extra.items():
            check_value(value, f"{prefix}{name}")
            self.extra.setdefault(name, {})[len(self.rows)] = value
        self.rows.append(row)

    def columns(self, **kinds: type[Any] | None) -> dict[str, Any]:
        """Return the rows as columns of a table by name: of numbers, or (None) of codes into sorted names."""
        columns: dict[str, Any] = {
            "extra": {name: spread(values, len(self.rows)) for name, values in self.extra.items()}
        }
        for (name, kind), values in zip(kinds.items(), zip(*self.rows, strict=True), strict=True):
            if kind is None:
                distinct = tuple(sorted(set(values) - {""}))
                codes = {"": -1, **{text: code for code, text in enumerate(distinct)}}
                columns[f"{name}s"] = distinct
                columns[name] = np.array([codes[text] for text in values], np.int32)
            else:
                columns[name] = np.array(values, kind)
        return columns


class _RatingRows(_JudgementRows):
    """Rows of item, model (references count from -1 downwards), rater, aspect, score, seconds, comment.

    After ``table``, ``worded`` are the aspects whose scores were words.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: list[WordScore] = []
        self.worded: set[str] = set()

    def table(self, models: int) -> Ratings:
        """Return the table, in which references come after the models."""
        if not self.rows:
            return Ratings()
        # Put in the numbers that words stand for; other texts become comments.
        with_numbers = {row[3] for row in self.rows if row[4] == row[4]}
        numbers, self.worded = rating_numbers(self.words, with_numbers)
        for word in self.words:
            *start, score, seconds, comment = self.rows[word.row]
            if word.row in numbers:
                score = numbers[word.row]
            else:
                comment = str(word.score) if comment is None else f"{word.score} | {comment}"
            self.rows[word.row] = (*start, score, seconds, comment)
        self.words = []
        columns = self.columns(
            item=np.int32, model=np.int32, rater=None, aspect=None, score=float, seconds=float, comment=object
        )
        codes = columns["model"]
        columns["model"] = np.where(codes >= 0, codes, models - 1 - codes).astype(np.int32)
        if all(text is None for text in columns["comment"]):
            del columns["comment"]
        return Ratings(**columns)


class _PreferenceRows(_JudgementRows):
    """Rows of item, the two models, value, rater, aspect and seconds."""

    def table(self) -> Preferences:
        """Return the table."""
        if not self.rows:
            return Preferences()
        kinds = {"item": np.int32, "first": np.int32, "second": np.int32, "value": float}
        return Preferences(**self.columns(**kinds, rater=None, aspect=None, seconds=float))


def spread(values: Mapping[int, Any], count: int) -> Objects:
    """Return an array with the values at their places and None elsewhere."""
    array = np.full(count, None, object)
    for place, value in values.items():
        array[place] = value
    return array


class EvalSetBuilder:
    """Takes the pieces that a reader meets; ``build`` puts them together.

    Readers set ``line`` as they go, so that an error names the place; ``field`` arguments name the
    field as the user's file spells it.
    """

    def __init__(self, file: Path | str, name: str = "") -> None:
        self.file, self.name, self.line = file, name or str(file), 0
        self.items, self.models, self.references = IdCodes("item"), IdCodes("model"), IdCodes("reference")
        self.raters = IdCodes("rater")
        self.item_lines: list[int] = []
        self._numbers: dict[tuple[str, str], _Numbers] = {}
        self._alike: dict[tuple[Any, ...], _AlikeScores] = {}
        self._texts: dict[str, dict[tuple[int, int], Any]] = {}
        self._sources: dict[int, str] = {}
        self._has_sources = False
        self._columns: dict[str, dict[int, Any]] = {}
        self._ratings, self._preferences = _RatingRows(), _PreferenceRows()
        self._repeats: dict[tuple[int, int, str], tuple[str | None, dict[str, float]]] = {}
        self._repeated_fields: set[str] = set()
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

    def scores(self, item: int, given: Any, field: str, kind_of: Callable[[str], str]) -> None:
        """Take an item's scores by model and name, each a ``metric`` or an ``aspect``."""
        cells = as_mapping(given, field)
        if cells and self._plain_scores(item, cells, kind_of):
            return
        for model, values in cells.items():
            code = self.model(model, field)
            for name, value in as_mapping(values, f"{field}.{model}").items():
                self._number(kind_of(name), name, item, code, value, f"{field}.{model}.{name}")

    def _plain_scores(self, item: int, cells: _Cells, kind_of: Callable[[str], str]) -> bool:
        """Take the scores at once where all are numbers, of models and names that were met before."""
        first = next(iter(cells.values()))
        if not isinstance(first, dict) or not first:
            return False
        keys = [(kind_of(name), name) for name in first]
        alike = self._alike.get((*keys, *cells))
        if alike is None:
            codes = self.models.of_texts(cells)
            known = all(self._numbers.get(key, _NONE)[2] and not self._words.of_words(key) for key in keys)
            if codes is None or not known or len(self._alike) == _MOST_ALIKE:
                return False
            of_cell = itemgetter(*first)

            def values_of(cells: _Cells) -> Iterable[float]:
                parts = map(of_cell, cells.values())
                return parts if len(keys) == 1 else chain.from_iterable(parts)

            alike = self._alike[(*keys, *cells)] = _AlikeScores(keys, codes, values_of)
        return alike.add(item, cells)

    @property
    def score_names(self) -> set[str]:
        """The names of all scores so far."""
        return {name for _, name in self._numbers}

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

    def repeat(
        self,
        item: int,
        model: int,
        epoch: Any,
        output: str | None = None,
        scores: Mapping[str, Any] | None = None,
        field: str = "epoch",
    ) -> None:
        """Take one of possibly several outputs of a model for an item, with its scores by field.

        A cell gets the mean score and the first output of its epochs; one that has a single epoch keeps no
        more than that.
        """
        name = as_id(epoch, field)
        if (item, model, name) in self._repeats:
            raise InputError(
                f"the item {shown(self._item_name(item))} and the model {shown(self.models.names()[model])}"
                f" have the epoch {name} twice",
                field=field,
                fix="Keep one of them, or give it another epoch",
            )
        numbers = {}
        for score, value in (scores or {}).items():
            kind, _, plain = score.partition(":")
            _check_name(kind, plain, field)
            numbers[score] = self._words.number((kind, plain), value, plain, score in self._repeated_fields)
            if not math.isnan(numbers[score]):
                self._repeated_fields.add(score)
        self._repeats[item, model, name] = (output, numbers)

    def declare(self, kind: Literal["metric", "aspect"], name: Any, field: str) -> None:
        """Take the name of a metric or aspect that may have no score."""
        _check_name(kind, name, field)
        self._numbers.setdefault((kind, name), ([], [], []))

    def declare_empty(self, name: str, field: str) -> None:
        """Take the name of a column, cell column, sources or outputs without any value."""
        kind, _, column = name.partition(":")
        if kind == "column" and column:
            self._columns.setdefault(column, {})
        elif (kind == "cell" and column) or name == "outputs":
            self._texts.setdefault(name, {})
        elif name == "sources":
            self._has_sources = True
        else:
            raise InputError(f"{shown(name)} is not a field that can be empty", field=field)

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
            word = WordScore(len(self._ratings.rows), aspect_name, score, self.line, f"{prefix}score")
            self._ratings.words.append(word)
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
        # Scores in words have a scale; a header may say others.
        scored = {f"{kind}:{name}" for kind, name in self._numbers} | self._repeated_fields
        worded = [name for name in sorted(scored) if self._words.of_words(tuple(name.split(":", 1)))]
        worded += [fields.aspect(name) for name in self._ratings.worded]
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
            repeats=self._repeat_table(),
            scales={**dict.fromkeys(worded, SCALE), **self._scales},
            name=self.name,
        )

    def _repeat_table(self) -> Repeats:
        if not self._repeats:
            return Repeats()
        item, model, epoch = zip(*self._repeats, strict=True)
        output, scores = zip(*self._repeats.values(), strict=True)
        epochs = epoch_order(epoch)
        names = dict.fromkeys(name for numbers in scores for name in numbers)
        return Repeats(
            item=np.array(item, np.int32),
            model=np.array(model, np.int32),
            epoch=np.array([epochs.index(name) for name in epoch], np.int32),
            epochs=epochs,
            output=np.fromiter(output, object, len(output)) if set(output) != {None} else None,
            scores={name: np.array([numbers.get(name, np.nan) for numbers in scores]) for name in names},
        )

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
        key, single = (kind, name), width * np.array(items, np.int64) + np.array(models, np.int64)
        columns = [(single, np.array(values, np.float64))]
        columns += [alike.column(key, width) for alike in self._alike.values() if key in alike.keys]
        places, numbers = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        counts = np.bincount(places, minlength=1)
        if counts.max() > 1:
            item, model = divmod(int(np.argmax(counts > 1)), width)
            names = self.references if kind == "reference_aspect" else self.models
            raise InputError(
                f"the item {shown(self._item_name(item))} has two scores"
                f" for the {names.kind} {shown(names.names()[model])}",
                file=self.file,
                line=self.item_lines[item] or None,
                field=name,
                fix="Keep one of them, or write them as ratings",
            )
        matrix[places] = numbers
        return matrix.reshape(len(self.items), width)

    def _object_matrix(self, kind: str, width: int) -> Objects:
        matrix = np.full((len(self.items), width), None, object)
        for place, value in self._texts.get(kind, {}).items():
            matrix[place] = value
        return matrix


def _check_name(kind: str, name: Any, field: str) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(
            f"{shown(name)} is not a name of a {kind}", field=field or None, fix="Give it a name"
        )
