"""A distilled model at work: the utility ``distilled``, columns or metrics for a set, and what to warn of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.registry import Method, methods_inside, parameter, register
from sparingly.choose.distil.model import DistilledModel, ModelCard, ScoredTexts, family_of, load_distilled
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet


@register("distilled")
@dataclass(frozen=True)
class Distilled(Utility):
    """Prefers sources on which a utility, learned from past evaluations, is expected to be high.

    u_i = Û(x_i) ≈ U(x_i, M), where Û was learned from the sources and utilities of other sets.

    Choose it when there are no outputs yet. The file's card (``sparingly distil info``) says how well the
    utility was predicted for held-out texts, and which models are at a disadvantage if they are judged now.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 10"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    model: str = parameter(help="the file of the model, made by sparingly distil train")
    utility: str | None = parameter(None, "which of its utilities; default: the only one there is")
    embedding: str | None = parameter(
        None, "vectors of these sources, where the model learned from vectors that were given"
    )
    digest: str | None = parameter(None, "the digest of the model; filled in when something is chosen")

    def resolve(self, data: EvalSet) -> Self:
        """Fill in the utility and the digest of the model."""
        model = self.load_model()
        model.score(data.at([]), self.embedding)
        return replace(self, utility=model.card.names[model.place_of(self.utility)], digest=model.digest)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources, and the column with their vectors if there is one."""
        model = self.load_model()
        if model.fit.dimensions is None:
            return frozenset({"sources"})
        from sparingly.signals.embed import embedding_fields

        return frozenset({"sources"}) | embedding_fields(self.embedding or model.card.features, outputs=False)

    def values(self, data: EvalSet) -> Floats:
        """Return the predicted utility of every source."""
        return self.load_model().predict(data, self.utility, self.embedding)

    def load_model(self) -> DistilledModel:
        """Return the model; raise DataError if its digest is not that of the signature."""
        model = load_distilled(self.model)
        if self.digest is not None and self.digest != model.digest:
            raise DataError(
                f"The model {self.model} has the digest {model.digest}, not {self.digest}: it "
                "was trained again, or is another one."
            )
        return model


_PAPER = "(Zouhar et al. 2025, section 5.3)"
_SAME_MODELS = "the distilled utility was learned on models that are judged now: "
_SAME_FAMILIES = "by their names, these models are of families that the distilled utility was learned on: "


def distilled_notes(data: EvalSet, method: Method, judged: Iterable[str]) -> tuple[str, ...]:
    """Return warnings about every distilled utility in a method."""
    notes: list[str] = []
    models = list(judged)
    for part in methods_inside(method):
        if isinstance(part, Distilled):
            model = part.load_model()
            name = model.card.names[model.place_of(part.utility)]
            notes += _all_notes(model.card, models, model.score(data, part.embedding).unlike, (name,))
    return tuple(dict.fromkeys(notes))


def _all_notes(
    card: ModelCard, judged: Sequence[str], unlike: Sequence[tuple[str, ...]], names: Sequence[str]
) -> tuple[str, ...]:
    return (*both_sides_notes(card, judged), *unlike_notes(card, unlike), *weak_notes(card, names))


def both_sides_notes(card: ModelCard, judged: Sequence[str]) -> tuple[str, ...]:
    """Warn where a model that is judged, or one of its family, is among those that were learned from."""
    trained = set(card.models)
    trained_models = [name for name in judged if name in trained]
    # A stated family does not imply the family by name: both count.
    families = {family.lower() for family in card.families.values()}
    families |= {family for name in card.models if (family := family_of(name))}
    relatives = [name for name in judged if name not in trained and family_of(name) in families]
    notes = []
    if trained_models:
        notes.append(
            f"{_SAME_MODELS}{listing(trained_models)}; each may be at a disadvantage, because items are "
            f"preferred that were telling or hard for it {_PAPER}."
        )
    if relatives:
        notes.append(f"{_SAME_FAMILIES}{listing(relatives)}; each may be at a disadvantage {_PAPER}.")
    return tuple(notes)


def learned_from_notes(card: ModelCard) -> tuple[str, ...]:
    """Name the models of the training data, when it is not known yet which will be judged."""
    if not card.models:
        return ()
    return (
        f"the utility was learned on {listing(card.models)}: if one of them is judged on what is chosen, it "
        f"may be at a disadvantage {_PAPER}.",
    )


def is_of_judged(note: str) -> bool:
    """Whether a note depends on which models are judged, which may be known only after sources are chosen."""
    return note.startswith((_SAME_MODELS, _SAME_FAMILIES))


def unlike_notes(card: ModelCard, unlike: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Warn where many texts are unlike those that were learned from, and say in what."""
    count = sum(map(bool, unlike))
    if count <= card.thresholds.flagged_share * len(unlike):
        return ()
    why = {name: sum(name in reasons for reasons in unlike) for reasons in unlike for name in reasons}
    parts = ", ".join(f"{name} ({why[name]})" for name in sorted(why, key=lambda name: (-why[name], name)))
    return (f"{count} of {len(unlike)} sources are unlike those that were learned from, by {parts}.",)


def weak_notes(card: ModelCard, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Warn about utilities that are predicted poorly for held-out texts."""
    threshold = card.thresholds.correlation
    return tuple(
        f"{utility.name} is predicted poorly for held-out texts (rank correlation "
        f"{utility.hold_out.spearman:.2f}): it may choose no better than random."
        for utility in card.utilities
        if utility.hold_out.spearman < threshold and (names is None or utility.name in names)
    )


LabelKind = Literal["column", "metric"]
SUFFIX, UNLIKE = "_src", "unlike"


class AppliedModel(NamedTuple):
    """An evaluation set with the predicted utilities of its sources, and warnings."""

    data: EvalSet  # with a column (or metric) ``NAME_src`` for every utility, and the column ``unlike``
    names: tuple[str, ...]
    scored: ScoredTexts
    notes: tuple[str, ...]


def apply_distilled(
    model: DistilledModel,
    data: EvalSet,
    utilities: Sequence[str] | None = None,
    kind: LabelKind = "column",
    embedding: str | None = None,
) -> AppliedModel:
    """Add predicted utilities to a set: as columns, or as metrics with the same score for all models.

    Items can be chosen by a metric with ``uncertainty:metric=NAME_src``; a column can stratify or order a
    draw. The column ``unlike`` says how a source differs from the training texts.
    """
    names = tuple(utilities or model.card.names)
    places = [model.place_of(name) for name in names]
    if kind == "metric" and not data.models:
        raise UsageError("The set has no models, and a metric has a score for each: add columns instead.")
    all_scores = model.score(data, embedding)
    scored = ScoredTexts(all_scores.values[:, places], all_scores.unlike)
    for place, name in enumerate(names):
        column = scored.values[:, place]
        if kind == "metric":
            data = data.with_metric(f"{name}{SUFFIX}", np.repeat(column[:, None], len(data.models), axis=1))
        else:
            data = data.with_column(f"{name}{SUFFIX}", column)
    notes = _all_notes(model.card, data.models, scored.unlike, names)
    flags = [", ".join(why) if why else None for why in scored.unlike]
    return AppliedModel(data.with_column(UNLIKE, flags), names, scored, notes)
