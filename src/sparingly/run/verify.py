"""``verify``: re-derive a selection, an estimate or a ranking from its signature and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import spell_saved
from sparingly.base.text import Bare, Items, Quoted, Value, parse_call
from sparingly.choose.distil.apply import is_of_judged
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.select import ANCHOR, METHOD, select_pool
from sparingly.choose.select import select
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import FORMAT as SELECTION
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_ids
from sparingly.data.values import as_mapping, shown
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.estimate import IGNORED, estimate
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.rater_effects import with_rater_errors
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate, EstimateSignature, estimate_from
from sparingly.infer.estimate.result import FORMAT as ESTIMATE
from sparingly.infer.rank.decisions import Question
from sparingly.infer.rank.rank import GroupsBy, Test, rank
from sparingly.infer.rank.ranking import FORMAT as RANKING
from sparingly.infer.rank.ranking import Ranking, RankingSignature, ranking_from
from sparingly.run.rounds.next_round import digest_of_rounds, next_round
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import Verification, same_numbers, version_notes

__all__ = ["Result", "Verification", "load_result", "verify", "verify_pool"]

# Selections.


# What signatures of draws from a pool of sources begin with.
_POOL = "pool:"
_FROM_POOL = "The first phase was drawn from a pool of sources: sparingly pool verify re-derives it."
_COLUMNS_OF_WORDS = {
    "models": "models",
    "pairs": "pairs",
    "context": "context",
    "stratum": "strata",
    "unit": "units",
}


def verify_selection(selection: Selection, data: EvalSet) -> Verification:
    """Re-run the method of a selection on the data and compare the rows.

    Passing means that nobody has picked items by hand or shopped for a lucky seed after the signature was
    published: the rows follow from the data that the method read, the method, the budget and the seed.
    Another version of the package that gives the same answer passes with a note.
    """
    notes = version_notes("selection", selection.signature.version)
    problems = [*_pool_problems(selection, data), *_never_problems(selection), *_judged_problems(selection)]
    if problems:
        return Verification(tuple(problems), notes)
    first = _first_phase(selection, data)
    notes = tuple(dict.fromkeys((*notes, *first.notes)))
    if first.problems:
        return Verification(first.problems, notes)
    try:
        rederived = _select_again(selection, data, _as_pool(selection, first.selection))
    except SparinglyError as error:
        return Verification((f"The method cannot be run on this data: {error}",), notes)
    with_probabilities = selection.pool is None or first.selection is not None
    late = (note for note in rederived.notes if is_of_judged(note) and note not in selection.notes)
    return Verification(tuple(differences(selection, rederived, with_probabilities)), (*notes, *late))


def _pool_problems(selection: Selection, data: EvalSet) -> list[str]:
    """Compare the pool with what the signature says of it, and look for it in the data."""
    signature = selection.signature.pool
    if selection.pool is None:
        return [] if signature is None else ["The signature names a pool, but the selection lists none."]
    if signature is None:
        return ["The selection lists a pool, but its signature names none."]
    if len(selection.pool) != signature.n:
        return [f"The pool has {len(selection.pool)} items, but its signature says {signature.n}."]
    known_items = set(data.items)
    missing = [name for name in selection.pool if name not in known_items]
    if not missing:
        return []
    return [f'{counted(len(missing), "item")} of the pool not in the data, such as "{missing[0]}".']


def _never_problems(selection: Selection) -> list[str]:
    listed = digest_ids(selection.never) if selection.never else None
    is_same = listed == selection.signature.never
    return [] if is_same else ["The never-select list is not the one of the signature."]


def _judged_problems(selection: Selection) -> list[str]:
    listed = None if selection.judged is None else digest_ids(selection.judged)
    is_same = selection.signature.judged in (None, listed)
    return [] if is_same else ["The models to judge are not those of the signature."]


@dataclass(frozen=True)
class _FirstPhase:
    """The pool of a selection, derived again where possible, with problems and notes."""

    selection: Selection | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _first_phase(selection: Selection, data: EvalSet) -> _FirstPhase:
    """Re-derive the first phase of a selection made in two, as far as this data allows."""
    signature = selection.signature.pool
    if signature is None or selection.pool is None:
        return _FirstPhase()
    if signature.method.startswith(_POOL):
        return _FirstPhase(notes=(_FROM_POOL,))
    if signature.pool is not None or signature.never is not None:
        return _FirstPhase(notes=("The pool's own pool or never-select list is not here: verify it too.",))
    try:
        # Who is judged plays no part in what is chosen, and of a pool only its signature is here.
        crowd = signature.crowd or None
        rederived = select(
            data, signature.method, signature.budget, seed=signature.seed, crowd=crowd, judge="all"
        )
    except SparinglyError as error:
        return _FirstPhase(notes=(f"The first phase cannot be re-derived from this data: {error}",))
    if (rederived.signature.inputs, rederived.signature.labels) != (signature.inputs, signature.labels):
        return _FirstPhase(notes=("The first phase read other data than this: verify its own selection.",))
    if set(rederived.items) != set(selection.pool):
        return _FirstPhase(problems=("The pool is not what its signature gives.",))
    return _FirstPhase(rederived, notes=version_notes("selection", signature.version))


def _as_pool(selection: Selection, first: Selection | None) -> Selection | None:
    """Return the pool as it was handed over: with the signature that it had then, in any version."""
    if selection.pool is None or selection.signature.pool is None:
        return None
    if first is None:
        return Selection(items=selection.pool.copy(), signature=selection.signature.pool)
    return replace(first, signature=selection.signature.pool)


def _select_again(selection: Selection, data: EvalSet, pool: Selection | None) -> Selection:
    signature = selection.signature
    # Named: models that have arrived since are not judged on these items, and that is no difference.
    judge = "all" if signature.judged is None else selection.judged or "all"
    return select(
        data,
        signature.method,
        signature.budget,
        seed=signature.seed,
        pool=pool,
        never=selection.never,
        crowd=signature.crowd or None,
        judge=judge,
    )


def differences(selection: Selection, rederived: Selection, with_probabilities: bool) -> list[str]:
    """Compare the data that was read, the sizes and the rows."""
    old, new = selection.signature, rederived.signature
    if old.inputs != new.inputs:
        return [f"The data that the method reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The labels that the method uses are different: digest {new.labels}, not {old.labels}."]
    problems = [*_size_problems(selection, rederived), *_item_problems(selection, rederived)]
    if problems:
        return problems
    columns = [
        ("utilities", selection.utility, rederived.utility),
        ("costs", selection.cost, rederived.cost),
        ("cluster weights", selection.cluster_weight, rederived.cluster_weight),
    ]
    if with_probabilities:
        columns.append(("inclusion probabilities", selection.probability, rederived.probability))
        if _tells_phases(selection):
            columns.append(
                ("probabilities of the pool", selection.pool_probability, rederived.pool_probability)
            )
    differing = [name for name, stated, right in columns if not same_numbers(stated, right)]
    differing += [name for name, stated, right in _texts(selection, rederived) if stated != right]
    return [f"The {name} are not those that the method gives." for name in differing]


def _tells_phases(selection: Selection) -> bool:
    """Whether a selection has to say the probabilities of its pool; older versions did not."""
    return selection.pool_probability is not None or selection.signature.version == __version__


def _texts(selection: Selection, rederived: Selection) -> Iterator[tuple[str, object, object]]:
    """Yield the columns of text; reasons and notes only where the version is the same."""
    for name, words in _COLUMNS_OF_WORDS.items():
        yield words, _as_list(getattr(selection, name)), _as_list(getattr(rederived, name))
    if selection.signature.version == rederived.signature.version:
        yield "reasons", [row.reason for row in selection], [row.reason for row in rederived]
        # Sources are chosen before the models are known, and what is to be minded of these comes later.
        notes, right_notes = (
            [note for note in result.notes if not is_of_judged(note)] for result in (selection, rederived)
        )
        yield "notes", notes, right_notes
        yield "units of cost", selection.cost_unit, rederived.cost_unit


def _as_list(column: Any) -> list[Any] | None:
    return None if column is None else list(column)


def _size_problems(selection: Selection, rederived: Selection) -> list[str]:
    old, problems = selection.signature, []
    if len(selection) != old.n:
        problems.append(f"There are {len(selection)} rows, but the signature says {old.n}.")
    if rederived.signature.of != old.of:
        problems.append(f"The items were {rederived.signature.of}, but the signature says {old.of}.")
    return problems


def _item_problems(selection: Selection, rederived: Selection) -> list[str]:
    problems = []
    stated, right = set(selection.items), set(rederived.items)
    extra = [name for name in selection.items if name not in right]
    missing = [name for name in rederived.items if name not in stated]
    if extra:
        problems.append(f'{counted(len(extra), "item")} should not be there, such as "{extra[0]}".')
    if missing:
        problems.append(f'{counted(len(missing), "item")} missing, such as "{missing[0]}".')
    if not problems and list(selection.items) != list(rederived.items):
        problems.append("The items are the right ones, but in another order.")
    return problems


# Selections from pools.


_POOL_NUMBERS = {
    "tau": float,
    "bands": int,
    "clusters": int,
    "shortest": float,
    "longest": float,
    "overlap": float,
    "near": float,
    "cosine": float,
}
# The embedding comes last: it matters only where it has a part in the selection.
_OF_THE_POOL = ("by", "against", "embedding")


def verify_pool(selection: Selection, pool: ScoredPool) -> Verification:
    """Draw again from a scored pool what the signature of a selection says, and compare the rows.

    The pool may have been scored anew, in other files or parts, as long as sources and scores are the same.
    """
    notes = (*version_notes("selection", selection.signature.version), *pool.checksum_notes)
    try:
        rederived = _select_pool_again(selection, pool)
    except SparinglyError as error:
        return Verification((f"The selection cannot be drawn from this pool: {error}",), notes)
    problems = differences(selection, rederived, with_probabilities=True)
    if not problems and rederived.signature.method != selection.signature.method:
        problems = [f"The parameters are others: {rederived.signature.method}."]
    return Verification(tuple(problems), notes)


def _select_pool_again(selection: Selection, pool: ScoredPool) -> Selection:
    signature = selection.signature
    call = parse_call(signature.method)
    if call.name != METHOD:
        raise UsageError(f"{signature.method} is not drawn from a pool: verify it with its evaluation set.")
    if (digest_ids(selection.never) if selection.never else None) != signature.never:
        raise UsageError("the never-select list is not the one of the signature.")
    parameters = {name: _plain(name, value) for name, value in call.values}
    for name in _OF_THE_POOL if parameters.get("embedding") else _OF_THE_POOL[:-1]:
        if parameters.pop(name, None) != getattr(pool, name):
            raise UsageError(f"the pool was scored with {name}={getattr(pool, name)}, the selection was not.")
    for name in ("clusters", "embedding"):
        if parameters.get(name) is None:
            parameters.pop(name, None)
    parameters["anchors"] = [row.item for row in selection if row.reason == ANCHOR]
    budget = None if isinstance(parameters.get("quota"), dict) else signature.budget
    return select_pool(pool, budget, seed=signature.seed, never=selection.never, **parameters).selection


def _plain(name: str, value: Value) -> Any:
    """Return a parameter of the signature as ``select_pool`` takes it."""
    if isinstance(value, Items) and name == "languages":
        return [part.text for part in value.values]
    if isinstance(value, Items):
        pairs = (part.text.rpartition("=") for part in value.values)
        return {key: int(count) for key, _, count in pairs}
    if value == Bare("none") or not isinstance(value, Bare | Quoted):
        return None
    if name in ("duplicates", "familiar"):
        return value.text == "true"
    return _POOL_NUMBERS[name](value.text) if name in _POOL_NUMBERS else value.text


# Rounds.


def verify_round(selection: Selection, data: EvalSet, earlier: Sequence[Selection]) -> Verification:
    """Pick a round again from the rounds before it and the judgements that these asked for.

    The data must hold the judgements as they were then: a correction that came later is a difference. A
    campaign keeps all of them, and verifies its rounds by itself.
    """
    signature = selection.signature
    notes = version_notes("selection", signature.version)
    if len(earlier) != (signature.round or 1) - 1:
        reason = f"This is round {signature.round}, which follows from the rounds before it"
        return Verification((f"{reason}: {len(earlier)} were given.",), notes)
    if digest_of_rounds(earlier) != signature.earlier:
        return Verification(("The rounds before it are not those of the signature.",), notes)
    attempts = []
    for size in _round_sizes(selection, data):
        attempt = _verify_round_of(size, selection, data, earlier)
        if not attempt:
            return Verification((), notes)
        attempts.append(attempt)
    return Verification(min(attempts, key=len), notes)


def _verify_round_of(
    size: int | None, selection: Selection, data: EvalSet, earlier: Sequence[Selection]
) -> tuple[str, ...]:
    """Return how a round differs from the one that is picked again with a given size."""
    signature = selection.signature
    try:
        rederived = next_round(
            data,
            spell_saved(signature.method),
            signature.budget,
            aspect=signature.aspect,
            rounds=earlier,
            size=size,
            seed=signature.seed,
        )
    except SparinglyError as error:
        return (f"The strategy cannot be run on this data: {error}",)
    if isinstance(rederived, Finished):
        return (f"The strategy would have asked for nothing more: {rederived.reason}",)
    return tuple(differences(selection, rederived, with_probabilities=True))


def _round_sizes(selection: Selection, data: EvalSet) -> list[int | None]:
    """Return the sizes that a round may have been asked for with; its signature has the number of its rows.

    Where all models are judged on every item, that is the size. Where each row has models of its own, the
    size counts items of all models (or of all that go on), and the strategy fills it as far as whole items
    allow. None is the strategy's own size.
    """
    count = selection.signature.n
    if selection.models is None or not count:
        return [count, None]
    widths = [len(data.models) if names is None else len(names) for names in selection.models]
    smallest_sizes = [-(-sum(widths) // width) for width in (len(data.models), max(widths))]
    return list(dict.fromkeys([None, *(size + more for size in smallest_sizes for more in range(3)), count]))


# Estimates and rankings.


Kind = Literal["estimate", "ranking"]
# A name, the value of the result, and the value that was derived again.
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


def verify_estimate(result: Estimate, data: EvalSet) -> Verification:
    """Estimate again, by the signature, from the selection that the estimate names, and compare."""
    signature = result.signature
    if signature is None:
        raise UsageError("An estimate from plain arrays has no signature, so it cannot be re-derived.")
    return _verify_scores(
        "estimate", result, signature, data, lambda: _estimate_again(result, signature, data)
    )


def verify_ranking(result: Ranking, data: EvalSet) -> Verification:
    """Rank again, by the signature, from the selection that the ranking names, and compare."""
    signature = result.signature
    if signature is None:
        raise UsageError("A ranking of plain arrays has no signature, so it cannot be re-derived.")
    if signature.groups_by not in get_args(GroupsBy):
        return Verification((_EARLIER,), version_notes("ranking", signature.version))
    return _verify_scores(
        "ranking", result, signature.scores, data, lambda: _rank_again(result, signature, data)
    )


def _verify_scores(
    kind: Kind,
    result: Estimate | Ranking,
    signature: EstimateSignature,
    data: EvalSet,
    derive: Callable[[], Estimate | Ranking],
) -> Verification:
    """Verify the selection first: scores of a selection that was shopped for are no better than it."""
    notes = version_notes(kind, signature.version)
    if result.selection is None and signature.selection is not None:
        return Verification((f"The {kind} does not hold the selection that its signature names.",), notes)
    if result.selection is not None:
        first = verify_selection(result.selection, data)
        notes = tuple(dict.fromkeys((*notes, *first.notes)))
        if not first.ok:
            return Verification(tuple(f"Its selection: {problem}" for problem in first.problems), notes)
    try:
        right = derive()
    except SparinglyError as error:
        return Verification((f"The {kind} cannot be made from this data: {error}",), notes)
    problems = _signed_problems(kind, _score_signature(result), _score_signature(right))
    if problems:
        return Verification(tuple(problems), notes)
    differing = list(dict.fromkeys(_differing_parts(result, right)))
    if differing and signature.version != __version__ and all(_is_by_version(name) for name in differing):
        difference = (
            f"Made by {signature.version}; {__version__} computes intervals and p-values otherwise. "
            "Scores and standard errors agree."
        )
        other_notes = (note for note in notes if note not in version_notes(kind, signature.version))
        return Verification((), (difference, *other_notes), partial=True)
    return Verification(
        tuple(f"The {name} of the {kind} do not follow from its signature." for name in differing), notes
    )


def _estimate_again(result: Estimate, signature: EstimateSignature, data: EvalSet) -> Estimate:
    rederived = estimate(
        data.without_scales(),
        result.selection,
        signature.aspect,
        estimator=signature.estimator,
        target=_requested_target(signature),
        level=signature.level,
        interval=cast("Interval", signature.interval),
        scale=signature.scale,
        by=signature.by,
        seed=signature.seed,
    )
    return rederived if signature.raters is None else with_rater_errors(rederived, data)


def _rank_again(result: Ranking, signature: RankingSignature, data: EvalSet) -> Ranking:
    ranking = rank(
        data.without_scales(),
        result.selection,
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
        return ranking
    return ranking.with_claim(cast("Question", claim.question), claim.model, claim.against, claim.margin)


def _ranking_target(signature: RankingSignature) -> Target | None:
    """Return the target of a ranking; None where scores and decisions have their own."""
    if signature.decisions != signature.scores.target:
        return None
    return _requested_target(signature.scores)


def _requested_target(signature: EstimateSignature) -> Target:
    """Return the target of the request; scores of chosen items do not depend on it."""
    return cast("Target", "set" if signature.target == CHOSEN_ITEMS else signature.target)


def _signed_problems(kind: Kind, old: EstimateSignature, new: EstimateSignature) -> list[str]:
    """Compare the data that was read, then what the signature says."""
    if old.inputs != new.inputs:
        return [f"The data that the {kind} reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The judgements that the {kind} uses are different: digest {new.labels}, not {old.labels}."]
    if old.raters != new.raters:
        return [f"The ratings, or who gave them, are different: digest {new.raters}, not {old.raters}."]
    names = [part.name for part in fields(old) if part.name != "version"]
    return [
        f"The signature says {name} {getattr(old, name)}, but it is {getattr(new, name)}."
        for name in names
        if getattr(old, name) != getattr(new, name)
    ]


def _differing_parts(result: Estimate | Ranking, right: Estimate | Ranking) -> Iterator[str]:
    """Yield the names of the parts that differ."""
    if isinstance(result, Estimate) and isinstance(right, Estimate):
        parts = [*_estimate_parts(result, right)]
    else:
        parts = [*_ranking_parts(cast("Ranking", result), cast("Ranking", right))]
    if _score_signature(result).version == _score_signature(right).version:
        parts.append(("notes", _comparable_notes(result.notes), _comparable_notes(right.notes)))
    yield from (name for name, value, expected in parts if not _is_same(value, expected))


def _is_by_version(name: str) -> bool:
    """Say whether versions may differ in it; the numbers of a group are those of the whole set."""
    return name.partition(" in the group ")[0] in _BY_VERSION


def _score_signature(result: Estimate | Ranking) -> EstimateSignature:
    signature = result.signature
    return cast(
        "EstimateSignature", signature.scores if isinstance(signature, RankingSignature) else signature
    )


def _estimate_parts(result: Estimate, right: Estimate, scope: str = "") -> Iterator[Part]:
    yield f"models{scope}", result.models, right.models
    for name in (*_FACTS, "level", "freedom"):
        yield f"{_plural(name)}{scope}", getattr(result, name), getattr(right, name)
    for name, words in _NUMBERS.items():
        yield f"{words}{scope}", getattr(result, name), getattr(right, name)
    yield f"kinds of intervals{scope}", result.intervals, right.intervals
    yield f"counts of intervals{scope}", result.outcome, right.outcome
    yield "groups", sorted(result.groups), sorted(right.groups)
    for name in sorted(set(result.groups) & set(right.groups)):
        yield from _estimate_parts(result.groups[name], right.groups[name], f' in the group "{name}"')


def _ranking_parts(result: Ranking, right: Ranking) -> Iterator[Part]:
    yield "models", [row.model for row in result.models], [row.model for row in right.models]
    for name in (*_FACTS, "scores_of", "test", "groups_by", "alpha", "freedom", "certain"):
        yield _plural(name), getattr(result, name), getattr(right, name)
    for name, words in _OF_MODELS.items():
        yield words, *(_column([getattr(row, name) for row in ranking.models]) for ranking in (result, right))
    for name, words in _OF_PAIRS.items():
        # A file of before they had this meaning says nothing of what judging everything would show.
        if name != _OF_FULL_SET or getattr(result, name) is not None:
            yield words, getattr(result, name), getattr(right, name)
    yield "claims", result.claim is None, right.claim is None
    if result.claim is not None and right.claim is not None:
        for name in _OF_CLAIM:
            words = "p-values of claims" if name == "p_value" else "claims"
            yield words, getattr(result.claim, name), getattr(right.claim, name)


def _plural(name: str) -> str:
    return {"n": "numbers of judged items", "size": "numbers of items", "freedom": "degrees of freedom"}.get(
        name, f"values of {name}"
    )


def _comparable_notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes without those on ignored options, which no signature has."""
    return tuple(note for note in notes if not note.startswith(IGNORED))


def _column(values: list[Any]) -> Any:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _is_same(result: Any, right: Any) -> bool:
    if isinstance(result, np.ndarray) or isinstance(right, np.ndarray):
        return same_numbers(result, right)
    if isinstance(result, float) and isinstance(right, float):
        # Infinite and missing numbers are equal to themselves.
        return same_numbers(np.array([result]), np.array([right]))
    return bool(result == right)


# Any result.


Result = Selection | Estimate | Ranking
_READERS: dict[str, Callable[[dict[str, object]], Result]] = {
    SELECTION: Selection.from_dict,
    ESTIMATE: estimate_from,
    RANKING: ranking_from,
}


def verify(result: Result, data: EvalSet, *, earlier: Sequence[Selection] = ()) -> Verification:
    """Derive a result again from its signature and the data, and compare.

    Passing means that nobody has picked items by hand or shopped for a lucky seed after the signature was
    published: the rows follow from the data that the method read, the method, the budget and the seed. Scores
    and rankings follow from the judgements, the selection behind them (which is verified first) and the
    parameters of the signature, to 1e-9. Another version of the package that gives the same answer passes
    with a note.

    Args:
        result: A selection, an estimate or a ranking.
        data: The evaluation set; for scores with the judgements that they were made from.
        earlier: For a round of several, the rounds before it.
    """
    if isinstance(result, Estimate):
        return verify_estimate(result, data)
    if isinstance(result, Ranking):
        return verify_ranking(result, data)
    if result.signature.round is not None:
        return verify_round(result, data, earlier)
    return verify_selection(result, data)


def load_result(path: str | Path) -> Result:
    """Read a selection, an estimate or a ranking from its file."""
    path = Path(path)
    try:
        values = as_mapping(files.read_json(path), "file")
        format = values.get("format")
        if not isinstance(format, str) or format not in _READERS:
            raise InputError(
                f"this is a {shown(format)} file, none of {', '.join(_READERS)}",
                field="format",
                fix="Give the file that select, estimate or rank wrote with --out",
            )
        return _READERS[format](values)
    except InputError as error:
        raise error.at(file=path) from None
