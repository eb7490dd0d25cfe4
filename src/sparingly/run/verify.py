"""``verify``: re-derive a selection from its signature and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import SparinglyError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature, digest_ids


@dataclass(frozen=True)
class Verification:
    """What re-deriving a selection showed.

    Attributes:
        problems: What differs; empty when the selection is what its signature says.
        notes: What is worth knowing and no problem, such as another version of the package.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the selection is what its signature says."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {"ok": self.ok, "problems": list(self.problems), "notes": list(self.notes)}


def verify(selection: Selection, data: EvalSet) -> Verification:
    """Re-run the method of a selection on the data and compare the rows.

    Passing means that nobody has picked items by hand or shopped for a lucky seed after the signature was
    published: the rows follow from the data that the method read, the method, the budget and the seed.
    Another version of the package that gives the same answer passes with a note.
    """
    problems: list[str] = []
    notes = list(_version_note(selection.signature))
    pool, trouble = _pool(selection, data)
    if trouble:
        return Verification((trouble,), tuple(notes))
    if selection.signature.pool is not None and pool is not None:
        first = _rederive_pool(selection, data)
        problems += first.problems
        notes += first.notes
    problems += _never_problems(selection)
    try:
        again = _again(selection, data, pool)
    except SparinglyError as error:
        return Verification((*problems, f"The method cannot be run on this data: {error}"), tuple(notes))
    problems += _differences(selection, again)
    return Verification(tuple(problems), tuple(notes))


def _version_note(signature: Signature) -> list[str]:
    if signature.version == __version__:
        return []
    return [f"The selection was made by version {signature.version}; this is {__version__}."]


def _pool(selection: Selection, data: EvalSet) -> tuple[list[str] | None, str]:
    """Return the ids of the pool, or a sentence when they are not in the data."""
    if selection.pool is None:
        return None, ""
    here = set(data.items)
    lost = [name for name in selection.pool if name not in here]
    if lost:
        return None, f'{len(lost)} items of the pool are not in the data, "{lost[0]}" among them.'
    return list(selection.pool), ""


def _again(selection: Selection, data: EvalSet, pool: list[str] | None) -> Selection:
    signature = selection.signature
    view = data if pool is None else data.take(items=pool)
    return select(view, signature.method, signature.budget, seed=signature.seed, never=selection.never)


def _rederive_pool(selection: Selection, data: EvalSet) -> Verification:
    """Re-derive the first phase of a selection made in two, as far as its own pool is the whole set."""
    signature = selection.signature.pool
    if signature is None or signature.pool is not None or signature.never is not None:
        return Verification((), ("The selection's pool was itself chosen from a pool; verify that selection too.",))
    try:
        again = select(data, signature.method, signature.budget, seed=signature.seed)
    except SparinglyError as error:
        return Verification((), (f"The first phase cannot be re-derived from this data: {error}",))
    if again.signature.inputs != signature.inputs:
        return Verification((), ("The first phase read other data than this; verify its own selection.",))
    if set(again.items) != set(selection.pool if selection.pool is not None else ()):
        return Verification(("The pool is not what its signature gives.",))
    return Verification(())


def _never_problems(selection: Selection) -> list[str]:
    listed = digest_ids(selection.never) if selection.never else None
    return [] if listed == selection.signature.never else ["The never-select list is not the one of the signature."]


def _differences(selection: Selection, again: Selection) -> list[str]:
    """Compare the data that was read, the sizes and the rows."""
    old, new = selection.signature, again.signature
    if old.inputs != new.inputs:
        return [f"The data that the method reads is different: digest {new.inputs}, not {old.inputs}."]
    if old.labels != new.labels:
        return [f"The labels that the method uses are different: digest {new.labels}, not {old.labels}."]
    problems = []
    if len(selection) != old.n:
        problems.append(f"There are {len(selection)} rows, but the signature says {old.n}.")
    wrong = [name for name in selection.items if name not in set(again.items)]
    missing = [name for name in again.items if name not in set(selection.items)]
    if wrong:
        problems.append(f'{len(wrong)} items should not be there, "{wrong[0]}" among them.')
    if missing:
        problems.append(f'{len(missing)} items should be there and are not, "{missing[0]}" among them.')
    if not problems and list(selection.items) != list(again.items):
        problems.append("The items are the right ones, but in another order.")
    return problems or _probability_problems(selection, again)


def _probability_problems(selection: Selection, again: Selection) -> list[str]:
    if selection.signature.pool is not None:
        return []
    if (selection.probability is None) != (again.probability is None):
        return ["The inclusion probabilities are not those that the method gives."]
    if selection.probability is None or again.probability is None:
        return []
    same = np.allclose(selection.probability, again.probability, rtol=1e-12, atol=0)
    return [] if same else ["The inclusion probabilities are not those that the method gives."]
