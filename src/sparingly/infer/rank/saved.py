"""Rankings read back from their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from sparingly.base.errors import InputError
from sparingly.data import files
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
from sparingly.infer.estimate.result import freedom_of, is_rate_of, notes_of, said, selection_of, target_of
from sparingly.infer.rank.margin_tests import MarginTest, Question
from sparingly.infer.rank.ranking import FORMAT, VERSION, RankedModel, Ranking
from sparingly.infer.rank.signature import RankingSignature

_KNOWN = frozenset(
    (
        "format",
        "version",
        "signature",
        "selection",
        "aspect",
        "target",
        "scores_of",
        "estimator",
        "n",
        "size",
        "is_rate",
        "test",
        "groups_by",
        "alpha",
        "certain",
        "freedom",
        "models",
        "groups",
        "p_values",
        "corrected",
        "would_be_significant",
        "covariance",
        "notes",
        "claim",
    )
)


def load_ranking(path: Path) -> Ranking:
    """Read a ranking from its file."""
    try:
        return ranking_from(as_mapping(files.read_json(path), "ranking"))
    except InputError as error:
        raise error.at(file=path) from None


def ranking_from(values: Mapping[str, Any]) -> Ranking:
    """Make a ranking from the values of its file."""
    check_version(dict(values), FORMAT, VERSION)
    models = tuple(_model(row, f"models[{place}]") for place, row in enumerate(_listed(values)))
    signature, claim, shows = values.get("signature"), values.get("claim"), values.get("would_be_significant")
    held: dict[str, Any] = {name: _count(values.get(name), name) for name in ("n", "size")}
    held |= {name: said(values, name, name) for name in ("test", "groups_by", "aspect", "estimator")}
    made = Ranking(
        models=models,
        p_values=as_matrix(values.get("p_values"), "p_values", len(models)),
        corrected=as_matrix(values.get("corrected"), "corrected", len(models)),
        covariance=as_matrix(values.get("covariance"), "covariance", len(models)),
        freedom=freedom_of(values),
        would_be_significant=None if shows is None else as_matrix(shows, "would_be_significant", len(models)),
        **held,
        alpha=as_number(values.get("alpha"), "alpha"),
        target=target_of(values),
        # Before, scores and decisions spoke of the same.
        scores_of=target_of({**values, "target": values.get("scores_of", values.get("target"))}),
        is_rate=is_rate_of(values),
        notes=notes_of(values),
        certain=_yes(values.get("certain"), "certain"),
        signature=None
        if signature is None
        else RankingSignature.from_dict(as_mapping(signature, "signature")),
        claim=None if claim is None else _claim(as_mapping(claim, "claim")),
        selection=selection_of(values),
        unknown={name: value for name, value in values.items() if name not in _KNOWN},
    )
    if [list(group) for group in made.groups] != values.get("groups"):
        raise InputError("the groups are not those of the models", field="groups")
    return made


def _listed(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = [as_mapping(row, "models") for row in as_list(values.get("models"), "models")]
    names = [as_id(row.get("model"), "models[].model") for row in rows]
    if not names or len(set(names)) < len(names):
        raise InputError("every model is named once", field="models")
    return rows


def _model(row: Mapping[str, Any], field: str) -> RankedModel:
    numbers, ranks = (
        ("score", "standard_error", "standardised", "chance_of_best", "low", "high"),
        ("best_rank", "worst_rank"),
    )
    held: dict[str, Any] = {name: _number(row.get(name), f"{field}.{name}") for name in numbers}
    held |= {name: as_whole(row.get(name), f"{field}.{name}") for name in ("rank", *ranks)}
    return RankedModel(
        model=as_id(row.get("model"), f"{field}.model"),
        **held,
        group=_count(row.get("group"), f"{field}.group"),
        interval=as_text(row.get("interval"), f"{field}.interval") or "",
    )


def _claim(values: Mapping[str, Any]) -> MarginTest:
    question = said(values, "question", "claim.question")
    if question not in get_args(Question):
        raise InputError(
            f"{shown(question)} is none of {', '.join(get_args(Question))}", field="claim.question"
        )
    numbers = ("margin", "difference", "error", "p_value", "alpha")
    made = MarginTest(
        question=question,  # type: ignore[arg-type]
        model=said(values, "model", "claim.model"),
        against=said(values, "against", "claim.against"),
        **{name: as_number(values.get(name), f"claim.{name}") for name in numbers},
    )
    if values.get("shown") is not made.shown:
        raise InputError("the answer does not follow from the p-value", field="claim.shown")
    return made


def _number(value: Any, field: str) -> float | None:
    number = as_number(value, field)
    return None if np.isnan(number) else number


def _count(value: Any, field: str) -> int | None:
    return None if value is None else as_whole(value, field)


def _yes(value: Any, field: str) -> bool:
    if isinstance(value, bool):
        return value
    raise InputError(f"{shown(value)} is neither true nor false", field=field)
