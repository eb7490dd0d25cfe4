"""Selections re-derived from their signatures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sparingly._version import __version__
from sparingly.base.errors import SparinglyError
from sparingly.base.format import counted
from sparingly.choose.distil.notes import is_of_judged
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_ids
from sparingly.run.verification import Verification, same_numbers, version_notes

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
        again = _again(selection, data, _as_pool(selection, first.selection))
    except SparinglyError as error:
        return Verification((f"The method cannot be run on this data: {error}",), notes)
    with_probabilities = selection.pool is None or first.selection is not None
    late = (note for note in again.notes if is_of_judged(note) and note not in selection.notes)
    return Verification(tuple(differences(selection, again, with_probabilities)), (*notes, *late))


def _pool_problems(selection: Selection, data: EvalSet) -> list[str]:
    """Compare the pool with what the signature says of it, and look for it in the data."""
    signature = selection.signature.pool
    if selection.pool is None:
        return [] if signature is None else ["The signature names a pool, but the selection lists none."]
    if signature is None:
        return ["The selection lists a pool, but its signature names none."]
    if len(selection.pool) != signature.n:
        return [f"The pool has {len(selection.pool)} items, but its signature says {signature.n}."]
    here = set(data.items)
    lost = [name for name in selection.pool if name not in here]
    if not lost:
        return []
    return [f'{counted(len(lost), "item")} of the pool not in the data, such as "{lost[0]}".']


def _never_problems(selection: Selection) -> list[str]:
    listed = digest_ids(selection.never) if selection.never else None
    same = listed == selection.signature.never
    return [] if same else ["The never-select list is not the one of the signature."]


def _judged_problems(selection: Selection) -> list[str]:
    listed = None if selection.judged is None else digest_ids(selection.judged)
    same = selection.signature.judged in (None, listed)
    return [] if same else ["The models to judge are not those of the signature."]


@dataclass(frozen=True)
class _FirstPhase:
    """The pool of a selection, re-derived where that can be done, and what there is to say of it."""

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
        again = select(
            data, signature.method, signature.budget, seed=signature.seed, crowd=crowd, judge="all"
        )
    except SparinglyError as error:
        return _FirstPhase(notes=(f"The first phase cannot be re-derived from this data: {error}",))
    if (again.signature.inputs, again.signature.labels) != (signature.inputs, signature.labels):
        return _FirstPhase(notes=("The first phase read other data than this: verify its own selection.",))
    if set(again.items) != set(selection.pool):
        return _FirstPhase(problems=("The pool is not what its signature gives.",))
    return _FirstPhase(again, notes=version_notes("selection", signature.version))


def _as_pool(selection: Selection, first: Selection | None) -> Selection | None:
    """Return the pool as it was handed over: with the signature that it had then, in any version."""
    if selection.pool is None or selection.signature.pool is None:
        return None
    if first is None:
        return Selection(items=selection.pool.copy(), signature=selection.signature.pool)
    return replace(first, signature=selection.signature.pool)


def _again(selection: Selection, data: EvalSet, pool: Selection | None) -> Selection:
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


def differences(selection: Selection, again: Selection, with_probabilities: bool) -> list[str]:
    """Compare the data that was read, the sizes and the rows."""
    old, new = selection.signature, again.signature
    if old.inputs != new.inputs:
        return [f"The data that the method reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The labels that the method uses are different: digest {new.labels}, not {old.labels}."]
    problems = [*_size_problems(selection, again), *_item_problems(selection, again)]
    if problems:
        return problems
    columns = [
        ("utilities", selection.utility, again.utility),
        ("costs", selection.cost, again.cost),
        ("cluster weights", selection.cluster_weight, again.cluster_weight),
    ]
    if with_probabilities:
        columns.append(("inclusion probabilities", selection.probability, again.probability))
        if _tells_phases(selection):
            columns.append(("probabilities of the pool", selection.pool_probability, again.pool_probability))
    wrong = [name for name, given, right in columns if not same_numbers(given, right)]
    wrong += [name for name, given, right in _texts(selection, again) if given != right]
    return [f"The {name} are not those that the method gives." for name in wrong]


def _tells_phases(selection: Selection) -> bool:
    """Whether a selection has to say the probabilities of its pool; older versions did not."""
    return selection.pool_probability is not None or selection.signature.version == __version__


def _texts(selection: Selection, again: Selection) -> Iterator[tuple[str, object, object]]:
    """Yield what is told in words: what to judge always, why only where the version is the same."""
    for name, words in _COLUMNS_OF_WORDS.items():
        yield words, _listed(getattr(selection, name)), _listed(getattr(again, name))
    if selection.signature.version == again.signature.version:
        yield "reasons", [row.reason for row in selection], [row.reason for row in again]
        # Sources are chosen before the models are known, and what is to be minded of these comes later.
        said, right = ([note for note in one.notes if not is_of_judged(note)] for one in (selection, again))
        yield "notes", said, right
        yield "units of cost", selection.cost_unit, again.cost_unit


def _listed(column: Any) -> list[Any] | None:
    return None if column is None else list(column)


def _size_problems(selection: Selection, again: Selection) -> list[str]:
    old, problems = selection.signature, []
    if len(selection) != old.n:
        problems.append(f"There are {len(selection)} rows, but the signature says {old.n}.")
    if again.signature.of != old.of:
        problems.append(f"The items were {again.signature.of}, but the signature says {old.of}.")
    return problems


def _item_problems(selection: Selection, again: Selection) -> list[str]:
    problems = []
    given, right = set(selection.items), set(again.items)
    wrong = [name for name in selection.items if name not in right]
    missing = [name for name in again.items if name not in given]
    if wrong:
        problems.append(f'{counted(len(wrong), "item")} should not be there, such as "{wrong[0]}".')
    if missing:
        problems.append(f'{counted(len(missing), "item")} missing, such as "{missing[0]}".')
    if not problems and list(selection.items) != list(again.items):
        problems.append("The items are the right ones, but in another order.")
    return problems
