"""A layout of collections of fully judged sets: one JSON object a line, ``scores`` and ``human``.

``{"item", "source", "reference", "references": […], "doc", "position", "domain", "outputs": {model: text},
"scores": {model: {metric: number}}, "human": {model: {aspect: number}},
"ratings": [{"model", "rater", "aspect", "score", "time"}], "human_reference": {aspect: number} or
{reference: number}, "comparisons": [{"left", "right", "winner", "rater"}],
"comments": [{"model", "rater", "comment"}]}``; any other field becomes a column.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, listing
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options, located
from sparingly.data.io.jsonl import new_item, take_scores
from sparingly.data.values import as_list, as_mapping, as_text, shown

REFERENCE = "reference"
_WINNERS = {"left": 1.0, "right": -1.0, "tie": 0.0}
# Keys of a rating and of a comment, and what they are called here.
_RATING = {"model": "model", "rater": "rater", "aspect": "aspect", "score": "score", "time": "seconds"}
_COMMENT = {"model": "model", "rater": "rater", "comment": "comment"}
_COMPARISON = ("left", "right", "winner", "rater", "time")
_OWN_KEYS = {
    *("item", "source", "reference", "references", "outputs", "scores", "human", "ratings"),
    *("human_reference", "comparisons", "comments", "doc"),
}


@register("collection")
class Collection(Format):
    """JSON Lines with ``scores`` for metrics and ``human`` for what people said."""

    summary: ClassVar[str] = "JSON Lines of judged collections: item, outputs, scores, human, ratings"

    def recognises(self, head: Head) -> bool:
        """Look for an item with its scores by model and what people said."""
        record = head.first_object
        if record is None or "item" not in record or isinstance(record["item"], dict):
            return False
        return isinstance(record.get("scores", record.get("human")), dict)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the file line by line."""
        builder = EvalSetBuilder(path)

        def take(line: int, record: dict[str, Any]) -> None:
            builder.line = line
            _take_item(builder, record)

        located(files.json_lines(path), path, take)
        return builder.build()


def _take_item(builder: EvalSetBuilder, record: dict[str, Any]) -> None:
    item = new_item(builder, record)
    first = as_text(record.get("reference"), "reference")
    texts = [as_text(text, "references") for text in as_list(record.get("references"), "references")]
    if first is not None and first not in texts[:1]:
        texts.insert(0, first)
    for place, text in enumerate(texts):
        builder.reference(item, REFERENCE if place == 0 else f"{REFERENCE}_{place + 1}", text)
    take_scores(builder, item, record.get("scores"), "scores")
    take_scores(builder, item, record.get("human"), "human")
    _take_reference_scores(builder, item, record)
    _take_ratings(builder, item, record)
    _take_comparisons(builder, item, record)
    builder.column(item, "document", record.get("doc"))
    for name, value in record.items():
        if name not in _OWN_KEYS:
            builder.column(item, name, value)


def _take_reference_scores(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    scored = as_mapping(record.get("human"), "human")
    aspects = {name for model, scores in scored.items() for name in as_mapping(scores, f"human.{model}")}
    for name, value in as_mapping(record.get("human_reference"), "human_reference").items():
        field = f"human_reference.{name}"
        if name in aspects:
            builder.reference_aspect(item, REFERENCE, name, value, field)
        elif len(aspects) == 1:
            # Several references, each with its score of the only aspect.
            builder.reference_aspect(item, name, next(iter(aspects)), value, field)
        else:
            raise InputError(
                f"{shown(name)} is no aspect of the item",
                field=field,
                fix=f"Write one of {listing(sorted(aspects))}" if aspects else None,
            )


def _take_ratings(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for key, own_keys in (("ratings", _RATING), ("comments", _COMMENT)):
        for place, rating in enumerate(as_list(record.get(key), key)):
            values = as_mapping(rating, f"{key}[{place}]")
            builder.rating(
                item,
                **{own_keys[name]: value for name, value in values.items() if name in own_keys},
                extra={name: value for name, value in values.items() if name not in own_keys},
                field=f"{key}[{place}]",
            )


def _take_comparisons(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    for place, comparison in enumerate(as_list(record.get("comparisons"), "comparisons")):
        field = f"comparisons[{place}]"
        values = as_mapping(comparison, field)
        winner = values.get("winner")
        if not isinstance(winner, str) or winner not in _WINNERS:
            raise InputError(
                f"{shown(winner)} is not a winner",
                field=f"{field}.winner",
                fix=f"Write one of {', '.join(_WINNERS)}",
            )
        builder.preference(
            item,
            values.get("left"),
            values.get("right"),
            _WINNERS[winner],
            rater=values.get("rater"),
            seconds=values.get("time"),
            extra={name: value for name, value in values.items() if name not in _COMPARISON},
            field=field,
        )
