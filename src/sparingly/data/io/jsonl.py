"""Our own JSON Lines: a header line, then one line an item, in the words of the package.

``{"format": "sparingly/evalset", "version": 1, "models": […], "metrics": […], "aspects": […],
"scales": {"aspect:NAME": [lowest, highest]}, "empty": ["column:NAME", …]}``, then
``{"item": "a", "source": "…", "document": "d1", "position": 0, "domain": "news", "cost": 34.2, "weight": 1,
"references": {"ref": "…"}, "outputs": {model: text}, "metrics": {model: {metric: number}},
"aspects": {model: {aspect: number}}, "reference_aspects": {reference: {aspect: number}},
"ratings": [{"model", "rater", "aspect", "score", "seconds", "comment"}],
"preferences": [{"first", "second", "value", "rater", "aspect", "seconds"}],
"repeats": [{"model", "epoch", "output", "metrics": {metric: number}, "aspects": {aspect: number}}],
"cells": {name: {model: value}}, "columns": {name: value}}``.
Scores may be two-valued words (pass and fail, true and false …): they are read as 1 and 0.
Every key but ``item`` may be left out; any other key becomes a column (``columns`` holds those whose name
is a key of the format). The header may be left out too. Where ``repeats`` has several outputs of a model, its
scores are the means over them, and its output is the first, unless the item says them itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options, empty_fields, located
from sparingly.data.tables import JudgementTable
from sparingly.data.values import as_list, as_mapping, as_number, as_text, check_version, shown
from sparingly.data.values import plain as plain

FORMAT, VERSION = "sparingly/evalset", 1
_KEYS = ("item", "source", "references", "outputs", "metrics", "aspects", "reference_aspects", "cells")
_RESERVED = (*_KEYS, "ratings", "preferences", "repeats", "columns")
_OURS = {"metrics", "aspects", "ratings", "preferences", "repeats", "document", "reference_aspects"}
_FOREIGN = {"scores", "human", "tgt", "doc", "doc_id"}
RATING = ("model", "reference", "rater", "aspect", "score", "seconds", "comment")
PREFERENCE = ("first", "second", "value", "rater", "aspect", "seconds")


@register("jsonl")
class JsonLines(Format):
    """The package's own JSON Lines."""

    summary: ClassVar[str] = "our own JSON Lines, one line an item"
    extensions: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset(
        {
            "metric:*",
            "aspect:*",
            "column:*",
            "cell:*",
            "sources",
            "outputs",
            "references",
            "reference_aspects",
        }
        | {"ratings", "preferences", "repeats", "scales", "empty"}
    )

    def recognises(self, head: Head) -> bool:
        """Look for the header, or for an item in the package's own words."""
        record = head.first_object
        if record is None:
            return False
        if record.get("format") == FORMAT:
            return True
        keys = set(record)
        return (
            "item" in keys
            and not isinstance(record["item"], dict)
            and not keys & _FOREIGN
            and bool(keys & (_OURS | {"outputs", "source"}))
        )

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the file line by line."""
        builder = EvalSetBuilder(path)

        def take(line: int, record: dict[str, Any]) -> None:
            builder.line = line
            if "format" in record and "item" not in record:
                _take_header(builder, record)
            else:
                _take_item(builder, record)

        located(files.json_lines(path), path, take)
        return builder.build()

    def write(self, data: EvalSet, path: Path) -> None:
        """Write the set in the order of the file that it came from."""
        files.write_atomically(path, lambda file: file.writelines(map(_line, records(data))))


def _line(record: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        item = shown(record.get("item"))
        raise DataError(f"The item {item} holds something that JSON cannot ({error}).") from None
    # Half a surrogate pair is no UTF-8; its escape is JSON and stands for the same letter.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _take_header(builder: EvalSetBuilder, record: dict[str, Any]) -> None:
    check_version(record, FORMAT, VERSION)
    for model in as_list(record.get("models"), "models"):
        builder.model(model, "models")
    for metric in as_list(record.get("metrics"), "metrics"):
        builder.declare("metric", metric, "metrics")
    for aspect in as_list(record.get("aspects"), "aspects"):
        builder.declare("aspect", aspect, "aspects")
    for name in as_list(record.get("empty"), "empty"):
        builder.declare_empty(as_text(name, "empty") or "", "empty")
    for name, ends in as_mapping(record.get("scales"), "scales").items():
        builder.scale(name, ends, f"scales.{name}")


def new_item(builder: EvalSetBuilder, record: dict[str, Any]) -> int:
    """Take the id, the source and the outputs of an item, and return its code."""
    if "item" not in record:
        raise InputError("the item has no id", field="item", fix='Add "item": "…" to the line')
    item = builder.new_item(record["item"])
    builder.source(item, as_text(record.get("source"), "source"))
    for model, text in as_mapping(record.get("outputs"), "outputs").items():
        builder.output(item, builder.model(model, "outputs"), as_text(text, f"outputs.{model}"))
    return item


def _take_item(builder: EvalSetBuilder, record: dict[str, Any]) -> None:
    item = new_item(builder, record)
    for name, text in as_mapping(record.get("references"), "references").items():
        builder.reference(item, name, as_text(text, f"references.{name}"))
    take_scores(builder, item, record.get("metrics"), "metrics")
    take_scores(builder, item, record.get("aspects"), "aspects")
    _take_reference_aspects(builder, item, record)
    _take_ratings(builder, item, record)
    _take_preferences(builder, item, record)
    for place, repeat in enumerate(as_list(record.get("repeats"), "repeats")):
        field = f"repeats[{place}]"
        values = as_mapping(repeat, field)
        scores = {
            f"{kind}:{name}": value
            for kind in ("metric", "aspect")
            for name, value in as_mapping(values.get(f"{kind}s"), f"{field}.{kind}s").items()
        }
        model = builder.model(values.get("model"), f"{field}.model")
        output = as_text(values.get("output"), f"{field}.output")
        builder.repeat(item, model, values.get("epoch"), output, scores, f"{field}.epoch")
    _take_columns(builder, item, record)


def _take_reference_aspects(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for reference, scores in as_mapping(record.get("reference_aspects"), "reference_aspects").items():
        for aspect, score in as_mapping(scores, f"reference_aspects.{reference}").items():
            field = f"reference_aspects.{reference}.{aspect}"
            builder.reference_aspect(item, reference, aspect, score, field)


def _take_columns(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for name, values in as_mapping(record.get("cells"), "cells").items():
        for model, value in as_mapping(values, f"cells.{name}").items():
            builder.cell(item, builder.model(model, f"cells.{name}"), name, value)
    for name, value in as_mapping(record.get("columns"), "columns").items():
        builder.column(item, name, value)
    for name, value in record.items():
        if name not in _RESERVED:
            builder.column(item, name, value)


def take_scores(builder: EvalSetBuilder, item: int, scores: Any, field: str) -> None:
    """Take ``{model: {name: number}}`` as metrics or aspects."""
    kind = "metric" if field in ("metrics", "scores") else "aspect"
    builder.scores(item, scores, field, lambda name: kind)


def _take_ratings(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for place, rating in enumerate(as_list(record.get("ratings"), "ratings")):
        field = f"ratings[{place}]"
        values = as_mapping(rating, field)
        if values.get("model") is not None and values.get("reference") is not None:
            raise InputError("the rating names a model and a reference", field=field, fix="Keep one of them")
        builder.rating(
            item,
            **{name: values[name] for name in RATING if values.get(name) is not None},
            extra={name: value for name, value in values.items() if name not in RATING},
            field=field,
        )


def _take_preferences(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for place, preference in enumerate(as_list(record.get("preferences"), "preferences")):
        field = f"preferences[{place}]"
        values = as_mapping(preference, field)
        for name in ("first", "second", "value"):
            if values.get(name) is None:
                raise InputError(
                    f'the preference has no "{name}"', field=field, fix=f'Add "{name}" to the preference'
                )
        value = as_number(values["value"], f"{field}.value")
        if not abs(value) <= 1:
            raise InputError(
                f"{shown(values['value'])} is not between -1 and 1",
                field=f"{field}.value",
                fix="Write 1 where the first is better, -1 where the second is, 0 for a tie",
            )
        builder.preference(
            item,
            values["first"],
            values["second"],
            value,
            **{name: values[name] for name in ("rater", "aspect", "seconds") if values.get(name) is not None},
            extra={name: content for name, content in values.items() if name not in PREFERENCE},
            field=field,
        )


# --- writing --------------------------------------------------------------------------------------


def records(data: EvalSet) -> Iterator[dict[str, Any]]:
    """Yield the header and one record per item."""
    names: dict[str, Any] = {"models": data.models, "metrics": data.metrics, "aspects": data.aspects}
    # The header names metrics and aspects in any case.
    names["empty"] = [name for name in empty_fields(data) if not name.startswith(("metric:", "aspect:"))]
    scales = {name: list(ends) for name, ends in data.scales.items()}
    yield {
        "format": FORMAT,
        "version": VERSION,
        **{key: list(values) for key, values in names.items() if values},
        **({"scales": scales} if scales else {}),
    }
    has_references, texts = "references" in data.fields, data.reference_texts
    if texts is None:
        texts = np.full((len(data), len(data.references)), None, object)
    tables: dict[str, JudgementTable] = {"ratings": data.ratings, "preferences": data.preferences}
    judged = {name: {**part, **tables[name].extra} for name, part in judgement_columns(data).items()}
    places_of = {name: _by_item(table.item, len(data)) for name, table in tables.items()}
    repeats = _by_item(data.repeats.item, len(data))
    for row in data.file_order:
        columns = {name: plain(values[row]) for name, values in data.columns.items()}
        parts = {
            "references": dict(zip(data.references, texts[row], strict=True)) if has_references else {},
            "outputs": texts_of(data, row),
            "metrics": scores_of(data.models, data.metrics, row),
            "aspects": scores_of(data.models, data.aspects, row),
            "reference_aspects": scores_of(data.references, data.reference_aspects, row),
            "cells": {name: _cells(data.models, values[row]) for name, values in data.cells.items()},
            "columns": {name: value for name, value in columns.items() if name in _RESERVED},
            **{
                name: [
                    _without_missing({key: plain(values[place]) for key, values in columns_of.items()})
                    for place in places_of[name][row]
                ]
                for name, columns_of in judged.items()
            },
            "repeats": [_repeat(data, place) for place in repeats[row]],
        }
        source = None if data.sources is None else data.sources[row]
        yield {
            "item": data.items[row],
            **({} if source is None else {"source": source}),
            **{name: value for name, value in columns.items() if value is not None and name not in _RESERVED},
            **{name: value for name, value in parts.items() if value},
        }


def _cells(models: tuple[str, ...], values: Any) -> dict[str, Any]:
    pairs = zip(models, map(plain, values), strict=True)
    return {model: value for model, value in pairs if value is not None}


def texts_of(data: EvalSet, row: int) -> dict[str, str]:
    """Return the outputs of one item by model, those that are there."""
    if data.outputs is None:
        return {}
    return {
        model: text for model, text in zip(data.models, data.outputs[row], strict=True) if text is not None
    }


def scores_of(names: tuple[str, ...], matrices: Any, row: int) -> dict[str, dict[str, float]]:
    """Return ``{model: {name: number}}`` of one item, missing ones left out."""
    by_model: dict[str, dict[str, float]] = {}
    for name, matrix in matrices.items():
        values: Floats = matrix[row]
        for model, value in zip(names, values.tolist(), strict=True):
            if value == value:
                by_model.setdefault(model, {})[name] = value
    return by_model


def _by_item(items: Any, count: int) -> list[list[int]]:
    places: list[list[int]] = [[] for _ in range(count)]
    for place, item in enumerate(items.tolist()):
        places[item].append(place)
    return places


def judgement_columns(data: EvalSet) -> dict[str, dict[str, NDArray[Any]]]:
    """Return the columns of ratings and preferences under their keys in our files, with names for codes."""
    ratings, preferences, models = data.ratings, data.preferences, len(data.models)
    first, second = names_at(data.models, preferences.first), names_at(data.models, preferences.second)
    return {
        "ratings": {
            "model": names_at([*data.models, *[None] * len(data.references)], ratings.model),
            "reference": names_at([*[None] * models, *data.references], ratings.model),
            **_said_by(ratings, {"score": ratings.score}),
            **({} if ratings.comment is None else {"comment": ratings.comment}),
        },
        "preferences": {
            "first": first,
            "second": second,
            "value": preferences.value,
            **_said_by(preferences),
        },
    }


def _said_by(table: JudgementTable, scores: Mapping[str, Floats] | None = None) -> dict[str, NDArray[Any]]:
    names = {"rater": names_at(table.raters, table.rater), "aspect": names_at(table.aspects, table.aspect)}
    return {**names, **(scores or {}), "seconds": table.seconds}


def names_at(names: Iterable[str | None], codes: NDArray[np.int32]) -> Objects:
    """Return the names that codes stand for, None for -1."""
    return np.array([*names, None], object)[codes]


def _repeat(data: EvalSet, place: int) -> dict[str, Any]:
    table = data.repeats
    scores: dict[str, dict[str, float]] = {"metrics": {}, "aspects": {}}
    for field, values in table.scores.items():
        kind, _, name = field.partition(":")
        if not np.isnan(values[place]):
            scores[f"{kind}s"][name] = float(values[place])
    return _without_missing(
        {
            "model": data.models[table.model[place]],
            "epoch": table.epochs[table.epoch[place]],
            "output": None if table.output is None else table.output[place],
            **{kind: values or None for kind, values in scores.items()},
        }
    )


def _without_missing(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
