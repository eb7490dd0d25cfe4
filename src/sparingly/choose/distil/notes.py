"""What to mind when a learned utility is used: who is judged, which texts are unlike, how well it tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparingly.base.errors import listing
from sparingly.base.registry import Method, methods_inside
from sparingly.choose.distil.card import Card
from sparingly.choose.distil.distilled import Distilled
from sparingly.choose.distil.families import family_of
from sparingly.data.evalset import EvalSet

_PAPER = "(Zouhar et al. 2025, section 5.3)"
_SAME = "the distilled utility was learned on models that are judged now: "
_KIN = "by their names, these models are of families that the distilled utility was learned on: "


def distilled_notes(data: EvalSet, method: Method, judged: Iterable[str]) -> tuple[str, ...]:
    """Return what to mind about every distilled utility in a method."""
    found: list[str] = []
    models = list(judged)
    for part in methods_inside(method):
        if isinstance(part, Distilled):
            known = part.loaded()
            name = known.card.names[known.place_of(part.utility)]
            unlike = known.score(data, part.embedding).unlike
            found += [
                *both_sides_notes(known.card, models),
                *unlike_notes(known.card, unlike),
                *weak_notes(known.card, (name,)),
            ]
    return tuple(dict.fromkeys(found))


def both_sides_notes(card: Card, judged: Sequence[str]) -> tuple[str, ...]:
    """Warn where a model that is judged, or one of its family, is among those that were learned from."""
    trained = set(card.models)
    same = [name for name in judged if name in trained]
    # A family that somebody said does not tell its models' names: these count as well.
    families = {family.lower() for family in card.families.values()}
    families |= {family for name in card.models if (family := family_of(name))}
    kin = [name for name in judged if name not in trained and family_of(name) in families]
    notes = []
    if same:
        notes.append(
            f"{_SAME}{listing(same)}; each may be at a disadvantage, because items are preferred that were "
            f"telling or hard for it {_PAPER}."
        )
    if kin:
        notes.append(f"{_KIN}{listing(kin)}; each may be at a disadvantage {_PAPER}.")
    return tuple(notes)


def learned_from_notes(card: Card) -> tuple[str, ...]:
    """Name the models that were learned from, where it is not known yet who will be judged."""
    if not card.models:
        return ()
    return (
        f"the utility was learned on {listing(card.models)}: if one of them is judged on what is chosen, it "
        f"may be at a disadvantage {_PAPER}.",
    )


def is_of_judged(note: str) -> bool:
    """Whether a note hangs on who is judged, which may be known only after sources are chosen."""
    return note.startswith((_SAME, _KIN))


def unlike_notes(card: Card, unlike: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Warn where many texts are unlike those that were learned from, and say in what."""
    count = sum(map(bool, unlike))
    if count <= card.thresholds.flagged_share * len(unlike):
        return ()
    why = {name: sum(name in one for one in unlike) for one in unlike for name in one}
    parts = ", ".join(f"{name} ({why[name]})" for name in sorted(why, key=lambda name: (-why[name], name)))
    return (f"{count} of {len(unlike)} sources are unlike those that were learned from, by {parts}.",)


def weak_notes(card: Card, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Warn where a utility was hardly told for held-out texts."""
    least = card.thresholds.correlation
    return tuple(
        f"{one.name} was hardly told for held-out texts (rank correlation {one.hold_out.spearman:.2f}): it "
        "may choose no better than chance."
        for one in card.utilities
        if one.hold_out.spearman < least and (names is None or one.name in names)
    )
