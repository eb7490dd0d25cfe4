"""A model's numbers put into an evaluation set, for every method that takes a column or a metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.registry import Method, methods_inside, parameter, register
from sparingly.choose.distil.card import Card, family_of
from sparingly.choose.distil.model import DistilledModel, Scored
from sparingly.choose.distil.storage import load_distilled
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet

# --- ``distilled``: a utility that was learned from past evaluations, for sources alone


@register("distilled")
@dataclass(frozen=True)
class Distilled(Utility):
    """Prefers sources on which a utility, learned from past evaluations, is expected to be high.

    u_i = Û(x_i) ≈ U(x_i, M), where Û was learned from the sources and utilities of other sets.

    Choose it when there are no outputs yet. The file's card (``sparingly distil info``) says how well the
    utility was told for held-out texts, and which models are at a disadvantage if they are judged now.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 10"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    model: str = parameter(help="the file of the model, made by sparingly distil train")
    utility: str | None = parameter(None, "which of its utilities; the only one there is unless given")
    embedding: str | None = parameter(
        None, "vectors of these sources, where the model learned from vectors that were given"
    )
    digest: str | None = parameter(None, "the digest of the model; filled in when something is chosen")

    def resolve(self, data: EvalSet) -> Self:
        """Settle which utility and which model is meant."""
        known = self.loaded()
        known.score(data.at([]), self.embedding)
        return replace(self, utility=known.card.names[known.place_of(self.utility)], digest=known.digest)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources, and the column with their vectors if there is one."""
        known = self.loaded()
        if not known.is_embedded:
            return frozenset({"sources"})
        from sparingly.signals.embed import embedding_fields

        return frozenset({"sources"}) | embedding_fields(self.embedding or known.card.features, outputs=False)

    def values(self, data: EvalSet) -> Floats:
        """Return what the model expects of every source."""
        return self.loaded().predict(data, self.utility, self.embedding)

    def loaded(self) -> DistilledModel:
        """Return the model; one that is not the model of the signature is an error."""
        known = load_distilled(self.model)
        if self.digest is not None and self.digest != known.digest:
            raise DataError(
                f"The model {self.model} has the digest {known.digest}, and {self.digest} is asked for: it "
                "was trained again, or is another one."
            )
        return known


# --- What to mind when a learned utility is used: who is judged, which texts are unlike, how well it tells


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


# --- A model's numbers put into an evaluation set, for every method that takes a column or a metric


Kind = Literal["column", "metric"]
SUFFIX, UNLIKE = "_src", "unlike"


class Applied(NamedTuple):
    """An evaluation set with what a model says of its sources.

    Attributes:
        data: The set with a column (or metric) ``NAME_src`` for every utility, and the column ``unlike``.
        names: The utilities.
        scored: Values of these utilities, and which texts are unlike the training texts.
        notes: What to mind.
    """

    data: EvalSet
    names: tuple[str, ...]
    scored: Scored
    notes: tuple[str, ...]


def apply_distilled(
    model: DistilledModel,
    data: EvalSet,
    utilities: Sequence[str] | None = None,
    kind: Kind = "column",
    embedding: str | None = None,
) -> Applied:
    """Add the utilities that a model tells to a set: as columns, or as metrics, the same for all models.

    Items can be chosen by a metric with ``uncertainty:metric=NAME_src``; a column can stratify or order a
    draw. The column ``unlike`` says in what a source is unlike the training texts.
    """
    names = tuple(utilities or model.card.names)
    places = [model.place_of(name) for name in names]
    if kind == "metric" and not data.models:
        raise UsageError("The set has no models, and a metric has a score for each: add columns instead.")
    found = model.score(data, embedding)
    scored = Scored(found.values[:, places], found.unlike)
    for place, name in enumerate(names):
        column = scored.values[:, place]
        if kind == "metric":
            data = data.with_metric(f"{name}{SUFFIX}", np.repeat(column[:, None], len(data.models), axis=1))
        else:
            data = data.with_column(f"{name}{SUFFIX}", column)
    notes = (
        *both_sides_notes(model.card, data.models),
        *unlike_notes(model.card, scored.unlike),
        *weak_notes(model.card, names),
    )
    flags = [", ".join(why) if why else None for why in scored.unlike]
    return Applied(data.with_column(UNLIKE, flags), names, scored, notes)
