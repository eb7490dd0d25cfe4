"""What a campaign has found so far: the ranking, the raters' agreement, and who is far from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import SparinglyError
from sparingly.base.stats.krippendorff import alpha_interval
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.run.campaign.overview import last_entry
from sparingly.run.campaign.standings import Standings, standings
from sparingly.run.raters.agreement import NO_COMMON, PairAgreement, rater_agreement
from sparingly.run.raters.report import RaterFlag, rater_flags

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign


@dataclass(frozen=True)
class AspectAgreement:
    """How well the raters of an aspect agree.

    Attributes:
        data: The data set.
        aspect: What was judged.
        alpha: Krippendorff's α; None where no two raters judged the same.
        low: The low end of its 95 % interval.
        high: The high end.
        common: How many outputs (or comparisons) two raters or more have judged.
        pairs: Every two raters who have judged something in common; empty for comparisons.
        flags: Raters who are far from the rest.
        notes: What to mind.
        compares: Whether outputs were compared.
    """

    data: str
    aspect: str
    alpha: float | None
    low: float | None
    high: float | None
    common: int
    pairs: tuple[PairAgreement, ...] = ()
    flags: tuple[RaterFlag, ...] = ()
    notes: tuple[str, ...] = ()
    compares: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **vars(self),
            "pairs": [plain(vars(one)) for one in self.pairs],
            "flags": [one.to_dict() for one in self.flags],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Findings:
    """What a campaign has found at a number of its journal: rankings and agreement by data set."""

    seq: int
    standings: tuple[Standings, ...]
    agreement: tuple[AspectAgreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "seq": self.seq,
            "standings": [one.to_dict() for one in self.standings],
            "agreement": [one.to_dict() for one in self.agreement],
        }


def findings(campaign: Campaign, at: int | None = None) -> Findings:
    """Estimate, rank and compare raters from what is judged so far; a matter of seconds on large campaigns.

    Low agreement asks for clearer instructions before the next round; a wide set of ranks asks for it.
    """
    seq = last_entry(campaign) if at is None else at
    sets = list(campaign.settings.budgets)
    return Findings(
        seq,
        tuple(standings(campaign, name, at=seq) for name in sets),
        tuple(one for name in sets for one in agreements(campaign, name, at=seq)),
    )


def agreements(campaign: Campaign, data: str, *, at: int | None = None) -> tuple[AspectAgreement, ...]:
    """Return the raters' agreement on every aspect that people are asked for."""
    held = campaign.data(data, at=at)
    of = _compared if len(held.preferences) else _scored
    return tuple(of(data, held, aspect, campaign.settings.seed) for aspect in campaign.settings.aspects)


def _scored(data: str, held: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    try:
        found = rater_agreement(held, aspect, seed=seed)
    except SparinglyError as error:
        return AspectAgreement(data, aspect, None, None, None, 0, notes=(str(error),))
    alpha = found.alpha
    flags: tuple[RaterFlag, ...] = ()
    notes = list(found.notes)
    try:
        flags = rater_flags(held, aspect)
    except SparinglyError as error:
        notes.append(str(error))
    numbers = (plain(alpha.alpha), plain(alpha.low), plain(alpha.high))
    return AspectAgreement(data, aspect, *numbers, alpha.units, found.pairs, flags, tuple(notes))


def _compared(data: str, held: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    """Return Krippendorff's α of preferences, taken as names: one, the other, or a tie."""
    table = held.preferences
    rows = np.flatnonzero(
        (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.value)
    )
    keys = np.stack([table.item[rows], table.first[rows], table.second[rows]], axis=1)
    cells, place = np.unique(keys, axis=0, return_inverse=True)
    values = np.full((len(cells), len(table.raters)), np.nan)
    values[place.ravel(), table.rater[rows]] = np.sign(table.value[rows])
    random = rng.generator(seed, "rater agreement", aspect)
    found = alpha_interval(values, "nominal", random=random, groups=cells[:, 0].astype(np.int64))
    numbers = (plain(found.alpha), plain(found.low), plain(found.high))
    notes = () if found.units else (NO_COMMON,)
    return AspectAgreement(data, aspect, *numbers, found.units, notes=notes, compares=True)
