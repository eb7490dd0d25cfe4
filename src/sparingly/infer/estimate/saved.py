"""Estimates read back from their files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.selection import Selection
from sparingly.data.values import (
    as_id,
    as_list,
    as_mapping,
    as_matrix,
    as_number,
    as_text,
    as_whole,
    check_version,
    shown,
)
from sparingly.infer.estimate.guard import Outcome
from sparingly.infer.estimate.result import CHOSEN, FORMAT, VERSION, Estimate
from sparingly.infer.estimate.signature import EstimateSignature, said

TARGETS = ("set", "population", CHOSEN)
_KNOWN = frozenset(
    (
        "format",
        "version",
        "signature",
        "selection",
        "aspect",
        "estimator",
        "target",
        "level",
        "n",
        "size",
        "is_rate",
        "freedom",
        "models",
        "covariance",
        "outcome",
        "notes",
        "groups",
    )
)


def load_estimate(path: Path) -> Estimate:
    """Read an estimate from its file."""
    try:
        return estimate_from(as_mapping(files.read_json(path), "estimate"))
    except InputError as error:
        raise error.at(file=path) from None


def estimate_from(values: Mapping[str, Any]) -> Estimate:
    """Make an estimate from the values of its file."""
    check_version(dict(values), FORMAT, VERSION)
    signature = values.get("signature")
    return replace(
        _part(values, ""),
        signature=None
        if signature is None
        else EstimateSignature.from_dict(as_mapping(signature, "signature")),
        selection=selection_of(values),
        unknown={name: value for name, value in values.items() if name not in _KNOWN},
    )


def selection_of(values: Mapping[str, Any]) -> Selection | None:
    """Return the selection that a file of scores holds."""
    held = values.get("selection")
    if held is None:
        return None
    try:
        return Selection.from_dict(as_mapping(held, "selection"))
    except InputError as error:
        where = "selection" if error.field is None else f"selection.{error.field}"
        raise InputError(error.problem, field=where, fix=error.fix) from None


def target_of(values: Mapping[str, Any], field: str = "target") -> str:
    """Return what a file's scores speak about."""
    target = said(values, "target", field)
    if target not in TARGETS:
        raise InputError(f"{shown(target)} is none of {', '.join(TARGETS)}", field=field)
    return target


def freedom_of(values: Mapping[str, Any], field: str = "freedom") -> float:
    """Return degrees of freedom; none said are infinitely many."""
    return math.inf if values.get("freedom") is None else as_number(values["freedom"], field)


def notes_of(values: Mapping[str, Any], field: str = "notes") -> tuple[str, ...]:
    """Return the notes of a file."""
    return tuple(as_text(note, field) or "" for note in as_list(values.get("notes"), field))


def is_rate_of(values: Mapping[str, Any], field: str = "is_rate") -> bool:
    """Return whether scores are rates; files of earlier versions do not say it."""
    told = values.get("is_rate", False)
    if isinstance(told, bool):
        return told
    raise InputError(f"{shown(told)} is neither true nor false", field=field)


def _part(values: Mapping[str, Any], at: str) -> Estimate:
    """Return the estimate of the whole set, or of a part of it, where ``at`` says which."""
    given = as_list(values.get("models"), f"{at}models")
    rows = [as_mapping(row, f"{at}models[{place}]") for place, row in enumerate(given)]
    models = tuple(as_id(row.get("model"), f"{at}models[{place}].model") for place, row in enumerate(rows))
    if not models or len(set(models)) < len(models):
        raise InputError("every model is named once", field=f"{at}models")
    groups = as_mapping(values.get("groups"), f"{at}groups")
    return Estimate(
        models=models,
        scores=_column(rows, "score", at),
        standard_errors=_column(rows, "standard_error", at),
        low=_column(rows, "low", at),
        high=_column(rows, "high", at),
        intervals=tuple(said(row, "interval", f"{at}models[].interval") for row in rows),
        covariance=as_matrix(values.get("covariance"), f"{at}covariance", len(models)),
        freedom=freedom_of(values, f"{at}freedom"),
        target=target_of(values, f"{at}target"),
        level=as_number(values.get("level"), f"{at}level"),
        aspect=said(values, "aspect", f"{at}aspect"),
        estimator=said(values, "estimator", f"{at}estimator"),
        n=as_whole(values.get("n"), f"{at}n"),
        size=as_whole(values.get("size"), f"{at}size"),
        outcome=_outcome(as_mapping(values.get("outcome"), f"{at}outcome"), f"{at}outcome"),
        is_rate=is_rate_of(values, f"{at}is_rate"),
        notes=notes_of(values, f"{at}notes"),
        groups={
            name: _part(as_mapping(group, f"{at}groups.{name}"), f"{at}groups.{name}.")
            for name, group in groups.items()
        },
    )


def _column(rows: list[dict[str, Any]], name: str, at: str) -> Floats:
    numbers = [as_number(row.get(name), f"{at}models[{place}].{name}") for place, row in enumerate(rows)]
    return np.array(numbers, np.float64)


def _outcome(values: Mapping[str, Any], field: str) -> Outcome:
    return Outcome(
        # Files of earlier versions know of no bounds.
        **{
            part.name: as_whole(
                values.get(part.name, 0 if part.name == "bounds" else None), f"{field}.{part.name}"
            )
            for part in fields(Outcome)
        }
    )
