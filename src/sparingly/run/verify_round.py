"""Rounds re-derived from their signatures and the rounds before them."""

from __future__ import annotations

from collections.abc import Sequence

from sparingly.base.errors import SparinglyError
from sparingly.base.registry import spell_saved
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import digest_of_rounds, next_round
from sparingly.run.rounds.state import Finished
from sparingly.run.verification import Verification, version_notes
from sparingly.run.verify_selection import differences


def verify_round(selection: Selection, data: EvalSet, earlier: Sequence[Selection]) -> Verification:
    """Pick a round again from the rounds before it and the judgements that these asked for.

    The data must hold the judgements as they were then: a correction that came later is a difference. A
    campaign keeps all of them, and verifies its rounds by itself.
    """
    signature = selection.signature
    notes = version_notes("selection", signature.version)
    if len(earlier) != (signature.round or 1) - 1:
        said = f"This is round {signature.round}, which follows from the rounds before it"
        return Verification((f"{said}: {len(earlier)} were given.",), notes)
    if digest_of_rounds(earlier) != signature.earlier:
        return Verification(("The rounds before it are not those of the signature.",), notes)
    try:
        again = next_round(
            data,
            spell_saved(signature.method),
            signature.budget,
            aspect=signature.aspect,
            rounds=earlier,
            size=signature.n,
            seed=signature.seed,
        )
    except SparinglyError as error:
        return Verification((f"The strategy cannot be run on this data: {error}",), notes)
    if isinstance(again, Finished):
        return Verification((f"The strategy would have asked for nothing more: {again.reason}",), notes)
    return Verification(tuple(differences(selection, again, with_probabilities=True)), notes)
