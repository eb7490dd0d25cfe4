"""Estimates and rankings re-derived from their signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, Literal, cast, get_args

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import SparinglyError, UsageError
from sparingly.data.combine import without_scales
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.estimate import IGNORED, estimate
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.rater_effects import with_rater_errors
from sparingly.infer.estimate.result import CHOSEN, Estimate, EstimateSignature
from sparingly.infer.rank.margin_tests import Question
from sparingly.infer.rank.rank import GroupsBy, Test, rank
from sparingly.infer.rank.ranking import Ranking
from sparingly.infer.rank.signature import RankingSignature
from sparingly.run.verification import Verification, same_numbers, version_notes
from sparingly.run.verify_selection import verify_selection

What = Literal["estimate", "ranking"]
# Name, what was given, what is right.
Part = tuple[str, Any, Any]
_NUMBERS = {
    "scores": "scores",
    "standard_errors": "standard errors",
    "low": "low ends of the intervals",
    "high": "high ends of the intervals",
    "covariance": "covariances",
}
_FACTS = ("aspect", "estimator", "target", "n", "size")
_EARLIER = (
    "The ranking was made by rank sets, a rule of an earlier version that separated too often: rank again."
)
_OF_MODELS = {
    "score": "scores",
    "standard_error": "standard errors",
    "low": "low ends of the intervals",
    "high": "high ends of the intervals",
    "standardised": "standardised scores",
    "chance_of_best": "chances to be the best",
    "rank": "ranks",
    "best_rank": "best possible ranks",
    "worst_rank": "worst possible ranks",
    "group": "groups of models",
}
_OF_FULL_SET = "would_be_significant"
_OF_PAIRS = {
    "p_values": "p-values",
    "corrected": "corrected p-values",
    _OF_FULL_SET: "chances that judging everything shows it",
    "covariance": "covariances",
}
# What a version may make otherwise than another from the same scores and standard errors.
_BY_VERSION = (
    "low ends of the intervals",
    "high ends of the intervals",
    "kinds of intervals",
    "counts of intervals",
    "degrees of freedom",
    "chances to be the best",
    "ranks",
    "best possible ranks",
    "worst possible ranks",
    "groups of models",
    "p-values",
    "corrected p-values",
    "chances that judging everything shows it",
    "p-values of claims",
)
_OF_CLAIM = ("question", "model", "against", "margin", "difference", "error", "p_value", "alpha")


def verify_estimate(given: Estimate, data: EvalSet) -> Verification:
    """Estimate again, by the signature, from the selection that the estimate names, and compare."""
    signature = given.signature
    if signature is None:
        raise UsageError("An estimate from plain arrays has no signature, so it cannot be re-derived.")
    return _verified("estimate", given, signature, data, lambda: _estimate_again(given, signature, data))


def verify_ranking(given: Ranking, data: EvalSet) -> Verification:
    """Rank again, by the signature, from the selection that the ranking names, and compare."""
    signature = given.signature
    if signature is None:
        raise UsageError("A ranking of plain arrays has no signature, so it cannot be re-derived.")
    if signature.groups_by not in get_args(GroupsBy):
        return Verification((_EARLIER,), version_notes("ranking", signature.version))
    return _verified("ranking", given, signature.scores, data, lambda: _rank_again(given, signature, data))


def _verified(
    what: What,
    given: Estimate | Ranking,
    signature: EstimateSignature,
    data: EvalSet,
    again: Callable[[], Estimate | Ranking],
) -> Verification:
    """Verify the selection first: scores of a selection that was shopped for are no better than it."""
    notes = version_notes(what, signature.version)
    if given.selection is None and signature.selection is not None:
        return Verification((f"The {what} does not hold the selection that its signature names.",), notes)
    if given.selection is not None:
        first = verify_selection(given.selection, data)
        notes = tuple(dict.fromkeys((*notes, *first.notes)))
        if not first.ok:
            return Verification(tuple(f"Its selection: {problem}" for problem in first.problems), notes)
    try:
        right = again()
    except SparinglyError as error:
        return Verification((f"The {what} cannot be made from this data: {error}",), notes)
    problems = _signed_problems(what, _of_scores(given), _of_scores(right))
    if problems:
        return Verification(tuple(problems), notes)
    wrong = list(dict.fromkeys(_differing(given, right)))
    if wrong and signature.version != __version__ and all(_is_by_version(name) for name in wrong):
        said = (
            f"Made by {signature.version}; {__version__} computes intervals and p-values otherwise. "
            "Scores and standard errors agree."
        )
        others = (note for note in notes if note not in version_notes(what, signature.version))
        return Verification((), (said, *others), partial=True)
    return Verification(
        tuple(f"The {name} of the {what} do not follow from its signature." for name in wrong), notes
    )


def _estimate_again(given: Estimate, signature: EstimateSignature, data: EvalSet) -> Estimate:
    again = estimate(
        without_scales(data),
        given.selection,
        signature.aspect,
        estimator=signature.estimator,
        target=_asked_target(signature),
        level=signature.level,
        interval=cast("Interval", signature.interval),
        scale=signature.scale,
        by=signature.by,
        seed=signature.seed,
    )
    return again if signature.raters is None else with_rater_errors(again, data)


def _rank_again(given: Ranking, signature: RankingSignature, data: EvalSet) -> Ranking:
    made = rank(
        without_scales(data),
        given.selection,
        signature.scores.aspect,
        estimator=signature.scores.estimator,
        target=_ranking_target(signature),
        test=cast("Test", signature.test),
        groups_by=cast("GroupsBy", signature.groups_by),
        alpha=signature.alpha,
        scale=signature.scores.scale,
        seed=signature.scores.seed,
    )
    claim = signature.claim
    if claim is None:
        return made
    return made.with_claim(cast("Question", claim.question), claim.model, claim.against, claim.margin)


def _ranking_target(signature: RankingSignature) -> Target | None:
    """Return the target that a ranking was asked for; None where scores and decisions have their own."""
    if signature.decisions != signature.scores.target:
        return None
    return _asked_target(signature.scores)


def _asked_target(signature: EstimateSignature) -> Target:
    """Return the target that was asked for; scores of chosen items do not hang on it."""
    return cast("Target", "set" if signature.target == CHOSEN else signature.target)


def _signed_problems(what: What, old: EstimateSignature, new: EstimateSignature) -> list[str]:
    """Compare the data that was read, then what the signature says."""
    if old.inputs != new.inputs:
        return [f"The data that the {what} reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The judgements that the {what} uses are different: digest {new.labels}, not {old.labels}."]
    if old.raters != new.raters:
        return [f"The ratings, or who gave them, are different: digest {new.raters}, not {old.raters}."]
    names = [part.name for part in fields(old) if part.name != "version"]
    return [
        f"The signature says {name} {getattr(old, name)}, but it is {getattr(new, name)}."
        for name in names
        if getattr(old, name) != getattr(new, name)
    ]


def _differing(given: Estimate | Ranking, right: Estimate | Ranking) -> Iterator[str]:
    """Compare every number; yield what those that differ are called."""
    if isinstance(given, Estimate) and isinstance(right, Estimate):
        parts = [*_estimate_parts(given, right)]
    else:
        parts = [*_ranking_parts(cast("Ranking", given), cast("Ranking", right))]
    if _of_scores(given).version == _of_scores(right).version:
        parts.append(("notes", _said(given.notes), _said(right.notes)))
    yield from (name for name, held, wanted in parts if not _same(held, wanted))


def _is_by_version(name: str) -> bool:
    """Say whether versions may differ in it; the numbers of a group are those of the whole set."""
    return name.partition(" in the group ")[0] in _BY_VERSION


def _of_scores(given: Estimate | Ranking) -> EstimateSignature:
    signature = given.signature
    return cast(
        "EstimateSignature", signature.scores if isinstance(signature, RankingSignature) else signature
    )


def _estimate_parts(given: Estimate, right: Estimate, where: str = "") -> Iterator[Part]:
    yield f"models{where}", given.models, right.models
    for name in (*_FACTS, "level", "freedom"):
        yield f"{_plural(name)}{where}", getattr(given, name), getattr(right, name)
    for name, words in _NUMBERS.items():
        yield f"{words}{where}", getattr(given, name), getattr(right, name)
    yield f"kinds of intervals{where}", given.intervals, right.intervals
    yield f"counts of intervals{where}", given.outcome, right.outcome
    yield "groups", sorted(given.groups), sorted(right.groups)
    for name in sorted(set(given.groups) & set(right.groups)):
        yield from _estimate_parts(given.groups[name], right.groups[name], f' in the group "{name}"')


def _ranking_parts(given: Ranking, right: Ranking) -> Iterator[Part]:
    yield "models", [one.model for one in given.models], [one.model for one in right.models]
    for name in (*_FACTS, "scores_of", "test", "groups_by", "alpha", "freedom", "certain"):
        yield _plural(name), getattr(given, name), getattr(right, name)
    for name, words in _OF_MODELS.items():
        yield words, *(_column([getattr(one, name) for one in held.models]) for held in (given, right))
    for name, words in _OF_PAIRS.items():
        # A file of before they had this meaning says nothing of what judging everything would show.
        if name != _OF_FULL_SET or getattr(given, name) is not None:
            yield words, getattr(given, name), getattr(right, name)
    yield "claims", given.claim is None, right.claim is None
    if given.claim is not None and right.claim is not None:
        for name in _OF_CLAIM:
            words = "p-values of claims" if name == "p_value" else "claims"
            yield words, getattr(given.claim, name), getattr(right.claim, name)


def _plural(name: str) -> str:
    return {"n": "numbers of judged items", "size": "numbers of items", "freedom": "degrees of freedom"}.get(
        name, f"values of {name}"
    )


def _said(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes but for those on what was asked for in vain, which no signature keeps."""
    return tuple(note for note in notes if not note.startswith(IGNORED))


def _column(values: list[Any]) -> Any:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _same(given: Any, right: Any) -> bool:
    if isinstance(given, np.ndarray) or isinstance(right, np.ndarray):
        return same_numbers(given, right)
    if isinstance(given, float) and isinstance(right, float):
        # Infinite and missing numbers are equal to themselves.
        return same_numbers(np.array([given]), np.array([right]))
    return bool(given == right)
