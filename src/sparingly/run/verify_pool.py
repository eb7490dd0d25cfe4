"""Selections from pools re-derived from their signatures."""

from __future__ import annotations

from typing import Any

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.base.text import Bare, Items, Quoted, Value, parse_call
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.select import ANCHOR, METHOD, select_pool
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_ids
from sparingly.run.verification import Verification, version_notes
from sparingly.run.verify_selection import differences

_NUMBERS = {
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
        again = _again(selection, pool)
    except SparinglyError as error:
        return Verification((f"The selection cannot be drawn from this pool: {error}",), notes)
    problems = differences(selection, again, with_probabilities=True)
    if not problems and again.signature.method != selection.signature.method:
        problems = [f"The parameters are others: {again.signature.method}."]
    return Verification(tuple(problems), notes)


def _again(selection: Selection, pool: ScoredPool) -> Selection:
    signature = selection.signature
    call = parse_call(signature.method)
    if call.name != METHOD:
        raise UsageError(f"{signature.method} is not drawn from a pool: verify it with its evaluation set.")
    if (digest_ids(selection.never) if selection.never else None) != signature.never:
        raise UsageError("the never-select list is not the one of the signature.")
    given = {name: _plain(name, value) for name, value in call.values}
    for name in _OF_THE_POOL if given.get("embedding") else _OF_THE_POOL[:-1]:
        if given.pop(name, None) != getattr(pool, name):
            raise UsageError(f"the pool was scored with {name}={getattr(pool, name)}, the selection was not.")
    for name in ("clusters", "embedding"):
        if given.get(name) is None:
            given.pop(name, None)
    given["anchors"] = [row.item for row in selection if row.reason == ANCHOR]
    budget = None if isinstance(given.get("quota"), dict) else signature.budget
    return select_pool(pool, budget, seed=signature.seed, never=selection.never, **given).selection


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
    return _NUMBERS[name](value.text) if name in _NUMBERS else value.text
