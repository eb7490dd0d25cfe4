"""Collects an evaluation set piece by piece, as readers meet it, and checks that the pieces fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.data.build import build
from sparingly.data.evalset import EvalSet, Floats, Objects
from sparingly.data.io.values import as_id, as_number, shown
from sparingly.data.tables import Preferences, Ratings


class Names:
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


class EvalSetBuilder:
    """Takes what a reader finds; ``build`` puts it together.

    Readers set ``line`` as they go, so that an error names the place; ``field`` arguments name the
    field as the user's file spells it.
    """

    def __init__(self, file: Path | str, name: str = "") -> None:
        self.file, self.name, self.line = file, name or str(file), 0
        self.items, self.models, self.references = Names("item"), Names("model"), Names("reference")
        self.item_lines: list[int] = []
        self._numbers: dict[tuple[str, str], tuple[list[int], list[int], list[float]]] = {}
        self._texts: dict[str, dict[tuple[int, int], Any]] = {}
        self._sources: dict[int, str] = {}
        self._columns: dict[str, dict[int, Any]] = {}
        self._ratings: list[tuple[int, int, str, str, float, float, str | None]] = []
        self._rating_extra: dict[str, dict[int, Any]] = {}
        self._preferences: list[tuple[int, int, int, float, str, str, float]] = []
        self._preference_extra: dict[str, dict[int, Any]] = {}

    # --- ids -----------------------------------------------------------------------------------------

    def new_item(self, value: Any, field: str = "item") -> int:
        """Return the code of an item that must not have been met before."""
        before = len(self.items)
        code = self.items.code(value, field)
        if code < before:
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
        before = len(self.items)
        code = self.items.code(value, field)
        if code == before:
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
        if value is not None:
            self._columns.setdefault(name, {})[item] = value

    def cell(self, item: int, model: int, name: str, value: Any) -> None:
        """Take the value of a column of the cells."""
        if value is not None:
            self._text(f"cell:{name}", item, model, value, name)

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
    ) -> None:
        """Take one rating of a model's output (or of a reference); a score that is text becomes a comment."""
        if isinstance(score, str):
            comment = score if comment is None else f"{score} | {comment}"
            score = None
        row = len(self._ratings)
        # References are counted from -1 downwards until the number of models is known.
        rated = self.model(model) if reference is None else -1 - self.references.code(reference, "ratings")
        self._ratings.append(
            (
                item,
                rated,
                "" if rater is None else as_id(rater, "rater"),
                aspect,
                as_number(score, "score"),
                as_number(seconds, "seconds"),
                comment,
            )
        )
        for name, value in (extra or {}).items():
            self._rating_extra.setdefault(name, {})[row] = value

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
    ) -> None:
        """Take one preference: 1 the first is better, -1 the second, 0 a tie, between them a soft one."""
        codes = self.model(first), self.model(second)
        if codes[0] == codes[1]:
            raise InputError(f"the model {shown(first)} is compared with itself")
        row = len(self._preferences)
        who = "" if rater is None else as_id(rater, "rater")
        self._preferences.append((item, *codes, value, who, aspect, as_number(seconds, "seconds")))
        for name, extra_value in (extra or {}).items():
            self._preference_extra.setdefault(name, {})[row] = extra_value

    # --- putting it together ----------------------------------------------------------------------------

    def build(self) -> EvalSet:
        """Return the evaluation set."""
        if not len(self.items):
            raise InputError("there is no item in it", file=self.file)
        models, count = len(self.models), len(self.items)
        return build(
            self.items.names(),
            self.models.names(),
            metrics=self._matrices("metric", models),
            aspects=self._matrices("aspect", models),
            reference_aspects=self._matrices("reference_aspect", len(self.references)),
            sources=_spread(self._sources, count) if self._sources else None,
            outputs=self._matrix("outputs", models) if "outputs" in self._texts else None,
            references={
                name: list(self._matrix("references", len(self.references))[:, code])
                for name, code in self.references.codes.items()
            },
            columns={name: list(_spread(values, count)) for name, values in self._columns.items()},
            cells={
                name.removeprefix("cell:"): self._matrix(name, models)
                for name in self._texts
                if name.startswith("cell:")
            },
            ratings=self._rating_table(),
            preferences=self._preference_table(),
            name=self.name,
        )

    def _number(self, kind: str, name: str, item: int, model: int, value: Any, field: str) -> None:
        number = as_number(value, field)
        items, models, values = self._numbers.setdefault((kind, name), ([], [], []))
        if not math.isnan(number):
            items.append(item)
            models.append(model)
            values.append(number)

    def _text(self, kind: str, item: int, model: int, value: Any, field: str) -> None:
        cells = self._texts.setdefault(kind, {})
        if (item, model) in cells:
            raise InputError(f"the item {shown(self._item_name(item))} has two of them", field=field)
        cells[item, model] = value

    def _item_name(self, code: int) -> str:
        return self.items.names()[code]

    def _matrices(self, kind: str, width: int) -> dict[str, Floats]:
        return {
            name: self._filled(name, *columns, width)
            for (which, name), columns in self._numbers.items()
            if which == kind
        }

    def _filled(
        self, name: str, items: list[int], models: list[int], values: list[float], width: int
    ) -> Floats:
        matrix = np.full(len(self.items) * width, np.nan)
        places = np.array(items, np.int64) * width + np.array(models, np.int64)
        unique, first, counts = np.unique(places, return_index=True, return_counts=True)
        if len(unique) < len(places):
            item = items[int(first[counts > 1][0])]
            raise InputError(
                f"the item {shown(self._item_name(item))} has two scores of one model",
                file=self.file,
                line=self.item_lines[item] or None,
                field=name,
                fix="Keep one of them, or write them as ratings",
            )
        matrix[places] = values
        return matrix.reshape(len(self.items), width)

    def _matrix(self, kind: str, width: int) -> Objects:
        matrix = np.full((len(self.items), width), None, object)
        for place, value in self._texts.get(kind, {}).items():
            matrix[place] = value
        return matrix

    def _rating_table(self) -> Ratings:
        if not self._ratings:
            return Ratings()
        item, rated, rater, aspect, score, seconds, comment = zip(*self._ratings, strict=True)
        rater_codes, raters = _coded(rater)
        aspect_codes, aspects = _coded(aspect)
        codes = [code if code >= 0 else len(self.models) - 1 - code for code in rated]
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
            extra={name: _spread(values, len(item)) for name, values in self._rating_extra.items()},
        )

    def _preference_table(self) -> Preferences:
        if not self._preferences:
            return Preferences()
        item, first, second, value, rater, aspect, seconds = zip(*self._preferences, strict=True)
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
            extra={name: _spread(values, len(item)) for name, values in self._preference_extra.items()},
        )


def _coded(names: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return codes into the sorted names; the empty name is -1, unknown."""
    known = tuple(sorted(set(names) - {""}))
    codes = {name: code for code, name in enumerate(known)} | {"": -1}
    return np.array([codes[name] for name in names], np.int32), known


def _spread(values: Mapping[int, Any], count: int) -> Objects:
    """Return an array with the values at their places and None elsewhere."""
    array = np.full(count, None, object)
    for place, value in values.items():
        array[place] = value
    return array
