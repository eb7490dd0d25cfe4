"""The scores of inspect_ai's samples as numbers: letters, truth values, texts and objects of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.data.io.objects import to_series
from sparingly.data.io.table.numbers import holds_numbers, parsed_texts
from sparingly.data.io.table.source import Source
from sparingly.data.values import shown

if TYPE_CHECKING:
    import polars as pl

SAMPLES = ("epoch", "input", "target")
PREFIX = "score_"
# What inspect_ai counts the letters and words as: correct, partly, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# Columns beside a score: what the scorer said, and the summaries of a whole log.
_BESIDE = ("answer", "explanation", "metadata", "accuracy", "mean", "std", "stderr", "var")
_HEADLINE = "score_headline_"


def are_samples(names: Iterable[str]) -> bool:
    """Say whether columns are those of samples: id, epoch, input and target, and a log or a score."""
    held = set(names)
    from_a_log = "eval_id" in held or any(name.startswith(PREFIX) for name in held)
    return held >= set(SAMPLES) and bool(held & {"id", "sample_id"}) and from_a_log


def score_columns(names: list[str]) -> list[str]:
    """Return the columns that hold a score of the sample, not a remark beside it or a summary of the log."""
    scores = [name for name in names if name.startswith(PREFIX) and not name.startswith(_HEADLINE)]
    return [
        name
        for name in scores
        if not any(name.removesuffix(f"_{end}") in scores for end in _BESIDE if name.endswith(f"_{end}"))
    ]


def numbers_of(column: str, series: pl.Series, source: Source) -> dict[str, pl.Series]:
    """Return the scores by name, none of them when the column holds texts that are no scores.

    A scorer that gives an object (``{"clarity": 4, "style": 2}``) yields one for each key:
    ``scorer.clarity``, ``scorer.style``.
    """
    import polars as pl

    name = column.removeprefix(PREFIX)
    if series.dtype != pl.String:
        return {name: series.cast(pl.Float64).alias(name)} if holds_numbers(series) else {}
    if not series.drop_nulls().str.starts_with("{").any():
        graded = _graded(series, source)
        return {} if graded is None else {name: graded.alias(name)}
    scores: dict[str, pl.Series] = {}
    for key, values in _by_key(series).items():
        part = values.alias(column)
        graded = _graded(part, source) if part.dtype == pl.String else part.cast(pl.Float64, strict=False)
        if graded is not None:
            scores[f"{name}.{key}"] = graded.alias(f"{name}.{key}")
    return scores


def _graded(series: pl.Series, source: Source) -> pl.Series | None:
    import polars as pl

    parsed, wrong = parsed_texts(series)
    stripped = series.str.strip_chars()
    letters = stripped.replace_strict(_LETTERS, default=None, return_dtype=pl.Float64)
    words = stripped.str.to_lowercase().replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    # "N" is a letter here, not a word for missing.
    grades = letters.fill_null(words).fill_null(parsed)
    wrong = wrong & grades.is_null()
    if wrong.sum() >= grades.count():
        return None
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise source.wrong(
            f"{shown(series[row])} is no score",
            row=row,
            field=series.name,
            fix="Write a number, C, P, I or N there, or name the scores to take with metrics=",
        )
    return grades


def _by_key(series: pl.Series) -> dict[str, pl.Series]:
    decoded = [_object(text) for text in series.to_list()]
    keys = dict.fromkeys(key for values in decoded for key in values)
    return {
        key: to_series(key, np.fromiter((values.get(key) for values in decoded), object, len(decoded)))[0]
        for key in keys
    }


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
