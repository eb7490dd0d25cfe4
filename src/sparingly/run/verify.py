"""``verify``: re-derive a selection, an estimate or a ranking from its signature and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.base.format import counted
from sparingly.base.text import Bare, Items, Quoted, Value, parse_call
from sparingly.choose.distil.model import is_of_judged
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
from sparingly.infer.estimate.bank import WITH_BANK
from sparingly.infer.estimate.estimate import IGNORED, estimate
from sparingly.infer.estimate.rater_effects import with_rater_errors
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate, EstimateSignature
from sparingly.infer.estimate.result import FORMAT as ESTIMATE
from sparingly.infer.rank.decisions import ClaimKind, GroupsBy
from sparingly.infer.rank.rank import rank
from sparingly.infer.rank.ranking import FORMAT as RANKING
from sparingly.infer.rank.ranking import Ranking, RankingSignature
from sparingly.run.rounds.next_round import digest_of_rounds, next_round
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import Verification, earlier_rule, same_numbers, version_notes

__all__ = ["Verification", "VerifiedResult", "load_result", "verify", "verify_pool"]

# --- Selections ---

# What signatures of draws from a pool of sources begin with.
_POOL = "pool:"
_FROM_POOL = "The first phase was drawn from a pool of sources: sparingly pool verify re-derives it."
_COLUMNS_OF_NUMBERS = {
    "utility": "utilities",
    "cost": "costs",
    "cluster_weight": "cluster weights",
    "probability": "inclusion probabilities",
    "pool_probability": "probabilities of the pool",
}
_COLUMNS_OF_WORDS = {
    "models": "models",
    "pairs": "pairs",
    "context": "context",
    "stratum": "strata",
    "unit": "units",
}


def verify_selection(selection: Selection, data: EvalSet) -> Verification:
    """Re-run the method of a selection on the data and compare the rows."""
    signature = selection.signature
    notes = version_notes("selection", signature.version)
    problems = _pool_problems(selection, data)
    if (digest_ids(selection.never) if selection.never else None) != signature.never:
        problems.append("The never-select list is not the one of the signature.")
    if signature.judged not in (None, None if selection.judged is None else digest_ids(selection.judged)):
        problems.append("The models to judge are not those of the signature.")
    if problems:
        return Verification(tuple(problems), notes)
    first, problems, first_notes = _first_phase(selection, data)
    notes = tuple(dict.fromkeys((*notes, *first_notes)))
    if problems:
        return Verification(tuple(problems), notes)
    # The pool as it was handed over: with the signature that it had then, in any version.
    pool = first
    if signature.pool is not None and first is not None:
        pool = replace(first, signature=signature.pool)
    elif signature.pool is not None and selection.pool is not None:
        pool = Selection(items=selection.pool.copy(), signature=signature.pool)
    try:
        rederived = select(
            data,
            signature.method,
            signature.budget,
            seed=signature.seed,
            pool=pool,
            never=selection.never,
            crowd=signature.crowd or None,
            # Named: models that have arrived since are not judged on these items, and that is no difference.
            judge="all" if signature.judged is None else selection.judged or "all",
        )
    except SparinglyError as error:
        return Verification((f"The method cannot be run on this data: {error}",), notes)
    with_probabilities = selection.pool is None or first is not None
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


def _first_phase(selection: Selection, data: EvalSet) -> tuple[Selection | None, list[str], tuple[str, ...]]:
    """Re-derive the first phase of a selection made in two, if possible, with problems and notes."""
    signature = selection.signature.pool
    if signature is None or selection.pool is None:
        return None, [], ()
    if signature.method.startswith(_POOL):
        return None, [], (_FROM_POOL,)
    if signature.pool is not None or signature.never is not None:
        return None, [], ("The pool's own pool or never-select list is not here: verify it too.",)
    try:
        # Who is judged plays no part in what is chosen, and of a pool only its signature is here.
        crowd = signature.crowd or None
        rederived = select(
            data, signature.method, signature.budget, seed=signature.seed, crowd=crowd, judge="all"
        )
    except SparinglyError as error:
        return None, [], (f"The first phase cannot be re-derived from this data: {error}",)
    if (rederived.signature.inputs, rederived.signature.labels) != (signature.inputs, signature.labels):
        return None, [], ("The first phase read other data than this: verify its own selection.",)
    if set(rederived.items) != set(selection.pool):
        return None, ["The pool is not what its signature gives."], ()
    return rederived, [], version_notes("selection", signature.version)


def differences(selection: Selection, rederived: Selection, with_probabilities: bool) -> list[str]:
    """Compare the data that was read, the sizes and the rows."""
    old, new = selection.signature, rederived.signature
    if old.inputs != new.inputs:
        return [f"The data that the method reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The labels that the method uses are different: digest {new.labels}, not {old.labels}."]
    if problems := _row_problems(selection, rederived):
        return problems
    numbers = dict(_COLUMNS_OF_NUMBERS)
    if not with_probabilities:
        del numbers["probability"]
    # Older versions did not say the probabilities of the pool.
    if not with_probabilities or (selection.pool_probability is None and old.version != __version__):
        del numbers["pool_probability"]

    def pair(name: str) -> tuple[Any, Any]:
        return getattr(selection, name), getattr(rederived, name)

    differing = [words for name, words in numbers.items() if not same_numbers(*pair(name))]
    for name, words in _COLUMNS_OF_WORDS.items():
        stated, right = (column if column is None else list(column) for column in pair(name))
        differing += [words] if stated != right else []
    if old.version == new.version:
        if [row.reason for row in selection] != [row.reason for row in rederived]:
            differing.append("reasons")
        # Sources are chosen before the models are known, and what is to be minded of these comes later.
        notes, right_notes = (
            [note for note in result.notes if not is_of_judged(note)] for result in (selection, rederived)
        )
        if notes != right_notes:
            differing.append("notes")
        if selection.cost_unit != rederived.cost_unit:
            differing.append("units of cost")
    return [f"The {name} are not those that the method gives." for name in differing]


def _row_problems(selection: Selection, rederived: Selection) -> list[str]:
    """Compare the sizes and the items."""
    old, problems = selection.signature, []
    if len(selection) != old.n:
        problems.append(f"There are {len(selection)} rows, but the signature says {old.n}.")
    if rederived.signature.of != old.of:
        problems.append(f"The items were {rederived.signature.of}, but the signature says {old.of}.")
    stated, right = set(selection.items), set(rederived.items)
    extra = [name for name in selection.items if name not in right]
    missing = [name for name in rederived.items if name not in stated]
    if extra:
        problems.append(f'{counted(len(extra), "item")} should not be there, such as "{extra[0]}".')
    if missing:
        problems.append(f'{counted(len(missing), "item")} missing, such as "{missing[0]}".')
    if not extra and not missing and list(selection.items) != list(rederived.items):
        problems.append("The items are the right ones, but in another order.")
    return problems


# --- Selections from pools ---

_POOL_NUMBERS: dict[str, type[float]] = {
    **dict.fromkeys(("tau", "shortest", "longest", "overlap", "near", "cosine"), float),
    **dict.fromkeys(("bands", "clusters"), int),
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


# --- Rounds ---


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
    if unknown := earlier_rule(f"Round {signature.round}", signature.method):
        return Verification(unknown, notes)
    attempts: list[list[str]] = []
    for size in _round_sizes(selection, data):
        try:
            rederived = next_round(
                data,
                signature.method,
                signature.budget,
                aspect=signature.aspect,
                rounds=earlier,
                size=size,
                seed=signature.seed,
            )
        except SparinglyError as error:
            problems = [f"The strategy cannot be run on this data: {error}"]
        else:
            if isinstance(rederived, Finished):
                problems = [f"The strategy would have drawn nothing more: {rederived.reason}"]
            else:
                problems = differences(selection, rederived, with_probabilities=True)
        if not problems:
            return Verification((), notes)
        attempts.append(problems)
    fewest = min(attempts, key=len)
    return Verification(tuple(fewest), notes)


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


# --- Estimates and rankings ---

# What a version may make otherwise than another from the same scores and standard errors.
_BY_VERSION = {
    "low": "low ends of the intervals",
    "high": "high ends of the intervals",
    "intervals": "kinds of intervals",
    "outcome": "counts of intervals",
    "freedom": "degrees of freedom",
    "chance_of_best": "probabilities of being the best",
    "rank": "ranks",
    "best_rank": "best possible ranks",
    "worst_rank": "worst possible ranks",
    "group": "groups of models",
    "p_values": "p-values",
    "corrected": "corrected p-values",
    "would_be_significant": "probabilities that judging everything shows it",
    "p_value": "p-values of claims",
}
# What parts are called; the others are values of their name.
_WORDS = {
    "models": "models",
    "n": "numbers of judged items",
    "size": "numbers of items",
    "score": "scores",
    "scores": "scores",
    "standard_error": "standard errors",
    "standard_errors": "standard errors",
    "standardised": "standardised scores",
    "covariance": "covariances",
    **_BY_VERSION,
}
_FACTS = ("aspect", "estimator", "target", "n", "size")
_OF_ESTIMATE = (
    "models", *_FACTS, "level", "freedom", "scores", "standard_errors", "low", "high", "covariance",
    "intervals", "outcome",
)  # fmt: skip
_OF_RANKING = (*_FACTS, "scores_of", "test", "groups_by", "alpha", "freedom", "certain")
_OF_MODELS = (
    "score", "standard_error", "low", "high", "standardised", "chance_of_best", "rank", "best_rank",
    "worst_rank", "group",
)  # fmt: skip
_OF_PAIRS = ("p_values", "corrected", "would_be_significant", "covariance")
_OF_CLAIM = ("question", "model", "against", "margin", "difference", "error", "alpha")
_EARLIER = (
    "The ranking was made by rank sets, a rule of an earlier version that separated too often: rank again."
)


def _verify_scores(result: Estimate | Ranking, data: EvalSet) -> Verification:
    """Estimate or rank again, by the signature, from the selection that the result names, and compare.

    The selection is verified first: scores of a selection that was shopped for are no better than it.
    """
    kind, noun = (
        ("estimate", "An estimate from") if isinstance(result, Estimate) else ("ranking", "A ranking of")
    )
    if result.signature is None:
        raise UsageError(f"{noun} plain arrays has no signature, so it cannot be re-derived.")
    if isinstance(result.signature, RankingSignature) and result.signature.groups_by not in get_args(
        GroupsBy
    ):
        return Verification((_EARLIER,), version_notes(kind, result.signature.version))
    signature = _score_signature(result)
    notes = version_notes(kind, signature.version)
    if result.selection is None and signature.selection is not None:
        return Verification((f"The {kind} does not hold the selection that its signature names.",), notes)
    if result.selection is not None:
        first = verify_selection(result.selection, data)
        notes = tuple(dict.fromkeys((*notes, *first.notes)))
        if not first.ok:
            return Verification(tuple(f"Its selection: {problem}" for problem in first.problems), notes)
    try:
        right = _derive_again(result, data)
    except SparinglyError as error:
        return Verification((f"The {kind} cannot be made from this data: {error}",), notes)
    if problems := _signature_problems(kind, signature, _score_signature(right)):
        return Verification(tuple(problems), notes)
    differing = list(dict.fromkeys(_differing_parts(result, right)))
    # The numbers of a group are those of the whole set.
    by_version = all(name.partition(" in the group ")[0] in _BY_VERSION.values() for name in differing)
    if differing and signature.version != __version__ and by_version:
        difference = (
            f"Made by {signature.version}; {__version__} computes intervals and p-values otherwise. "
            "Scores and standard errors agree."
        )
        other_notes = (note for note in notes if note not in version_notes(kind, signature.version))
        return Verification((), (difference, *other_notes), partial=True)
    return Verification(
        tuple(f"The {name} of the {kind} do not follow from its signature." for name in differing), notes
    )


def _derive_again(result: Estimate | Ranking, data: EvalSet) -> Estimate | Ranking:
    signature = _score_signature(result)
    if signature.estimator.endswith(WITH_BANK):
        raise UsageError(
            "new models had draws of their own, which only the campaign knows. Check that: sparingly verify "
            "CAMPAIGN."
        )
    # Scores of chosen items do not depend on the target.
    target = cast("Target", "set" if signature.target == CHOSEN_ITEMS else signature.target)
    subject = (data.without_scales(), result.selection, signature.aspect)
    how: dict[str, Any] = {name: getattr(signature, name) for name in ("estimator", "scale", "seed")}
    if isinstance(result, Estimate):
        how |= {name: getattr(signature, name) for name in ("level", "interval", "by")}
        rederived = estimate(*subject, target=target, **how)
        return rederived if signature.raters is None else with_rater_errors(rederived, data)
    rules = cast("RankingSignature", result.signature)
    how |= {name: getattr(rules, name) for name in ("test", "groups_by", "alpha")}
    # Without one, scores and decisions have their own.
    ranking = rank(*subject, target=target if rules.decisions == signature.target else None, **how)
    claim = rules.claim
    if claim is None:
        return ranking
    return ranking.with_claim(cast("ClaimKind", claim.question), claim.model, claim.against, claim.margin)


def _signature_problems(kind: str, old: EstimateSignature, new: EstimateSignature) -> list[str]:
    """Compare the data that was read, then what the signature says."""
    digests = {
        "inputs": f"The data that the {kind} reads is",
        "labels": f"The judgements that the {kind} uses are",
        "raters": "The ratings, or who gave them, are",
    }
    differing = [part.name for part in fields(old) if getattr(old, part.name) != getattr(new, part.name)]
    for name, words in digests.items():
        if name in differing:
            return [f"{words} different: digest {getattr(new, name)}, not {getattr(old, name)}."]
    return [
        f"The signature says {name} {getattr(old, name)}, but it is {getattr(new, name)}."
        for name in differing
        if name != "version"
    ]


def _differing_parts(result: Estimate | Ranking, right: Estimate | Ranking) -> Iterator[str]:
    """Yield the names of the parts that differ."""
    stated, expected = _compared_parts(result), _compared_parts(right)
    if _score_signature(result).version == _score_signature(right).version:
        # No signature has ignored options.
        for scores, parts in ((result, stated), (right, expected)):
            parts["notes"] = [note for note in scores.notes if not note.startswith(IGNORED)]
    if isinstance(result, Ranking) and result.would_be_significant is None:
        # A file of before they had this meaning says nothing of what judging everything would show.
        del expected[_WORDS["would_be_significant"]]
    yield from (name for name in expected if name in stated and not _is_same(stated[name], expected[name]))


def _score_signature(result: Estimate | Ranking) -> EstimateSignature:
    signature = result.signature
    return cast(
        "EstimateSignature", signature.scores if isinstance(signature, RankingSignature) else signature
    )


def _compared_parts(result: Estimate | Ranking, scope: str = "") -> dict[str, Any]:
    """Return what is compared, by what it is called."""

    def named(part: Any, names: Sequence[str]) -> dict[str, Any]:
        return {f"{_WORDS.get(name, f'values of {name}')}{scope}": getattr(part, name) for name in names}

    if isinstance(result, Estimate):
        parts = {**named(result, _OF_ESTIMATE), f"groups{scope}": sorted(result.groups)}
        for name, group in result.groups.items():
            parts |= _compared_parts(group, f' in the group "{name}"')
        return parts
    by_model = [named(row, _OF_MODELS).values() for row in result.models]
    columns = zip(*by_model, strict=True)
    numbers = (np.array(column, np.float64) for column in columns)
    parts = {**named(result, (*_OF_RANKING, *_OF_PAIRS)), "models": [row.model for row in result.models]}
    parts |= dict(zip(named(result.models[0], _OF_MODELS), numbers, strict=True)) | {"claims": None}
    if result.claim is not None:
        parts |= {"claims": list(named(result.claim, _OF_CLAIM).values()), **named(result.claim, ["p_value"])}
    return parts


def _is_same(result: Any, right: Any) -> bool:
    if isinstance(result, np.ndarray) or isinstance(right, np.ndarray):
        return same_numbers(result, right)
    if isinstance(result, list) and isinstance(right, list):
        return len(result) == len(right) and all(map(_is_same, result, right))
    if isinstance(result, float) and isinstance(right, float):
        # Infinite and missing numbers are equal to themselves.
        return same_numbers(np.array([result]), np.array([right]))
    return bool(result == right)


# --- Any result ---

VerifiedResult = Selection | Estimate | Ranking
_READERS: dict[str, Callable[[dict[str, object]], VerifiedResult]] = {
    SELECTION: Selection.from_dict,
    ESTIMATE: Estimate.from_dict,
    RANKING: Ranking.from_dict,
}


def verify(result: VerifiedResult, data: EvalSet, *, earlier: Sequence[Selection] = ()) -> Verification:
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
    if isinstance(result, Estimate | Ranking):
        return _verify_scores(result, data)
    if result.signature.round is not None:
        return verify_round(result, data, earlier)
    return verify_selection(result, data)


def load_result(path: str | Path) -> VerifiedResult:
    """Read a selection, an estimate or a ranking from its file."""
    path = Path(path)
    try:
        values = as_mapping(files.read_json(path), "file")
        format = values.get("format")
        if not isinstance(format, str) or format not in _READERS:
            raise InputError(
                f"this is a {shown(format)} file, none of {', '.join(_READERS)}",
                field="format",
                fix="Give the file of a selection, an estimate or a ranking",
            )
        return _READERS[format](values)
    except InputError as error:
        raise error.at(file=path) from None
