"""How well raters agree: with each other, pair by pair, and with themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.format import html_table
from sparingly.base.stats.correlation import kendall_b, pearson, spearman
from sparingly.base.stats.krippendorff import Alpha, Level, alpha_interval, krippendorff_alpha
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores
from sparingly.run.raters.controls import controls_of

FEWEST_COMMON = 3
NO_COMMON = "no output was judged by two raters, so agreement between raters cannot be told."


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the outputs that both judged; correlations are NaN with fewer than three of them.

    Attributes:
        first: One rater.
        second: The other.
        n: The outputs that both judged.
        pearson: Pearson's correlation of their scores.
        spearman: Spearman's.
        kendall: Kendall's τ-b.
        exact: The share of outputs to which both gave the same.
        difference: How much higher the first scored, on average.
    """

    first: str
    second: str
    n: int
    pearson: float
    spearman: float
    kendall: float
    exact: float
    difference: float


@dataclass(frozen=True)
class OwnAgreement:
    """A rater with himself or herself: α over the outputs judged twice, and the mean absolute change."""

    rater: str
    n: int
    alpha: float
    change: float


@dataclass(frozen=True, repr=False)
class RaterAgreement:
    """Agreement of raters on an aspect.

    Attributes:
        aspect: What was judged.
        level: The level of measurement of its scores.
        alpha: Krippendorff's α between raters, with a 95 % interval (a bootstrap over items).
        pairs: Every two raters who judged an output in common.
        own: Every rater who judged an output twice.
        notes: What to mind.
    """

    aspect: str
    level: Level
    alpha: Alpha
    pairs: tuple[PairAgreement, ...]
    own: tuple[OwnAgreement, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        found = self.alpha
        return (
            f"RaterAgreement({self.aspect}: α {found.alpha:.3f} [{found.low:.3f}, {found.high:.3f}], "
            f"{self.level}, {found.units} outputs)"
        )

    def _repr_html_(self) -> str:
        columns = ("first", "second", "n", "Pearson", "Spearman", "Kendall", "exact", "difference")
        return html_table(columns, [tuple(asdict(pair).values()) for pair in self.pairs], repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "aspect": self.aspect,
            "level": self.level,
            "alpha": plain(self.alpha._asdict()),
            "pairs": [plain(asdict(pair)) for pair in self.pairs],
            "own": [plain(asdict(one)) for one in self.own],
            "notes": list(self.notes),
        }


def rater_agreement(
    data: EvalSet,
    aspect: str | None = None,
    *,
    level: Level = "interval",
    controls: EvalSet | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> RaterAgreement:
    """Tell how well raters agree on the outputs that several of them judged.

    Krippendorff's α between raters takes any number of raters and of missing judgements; a rater's repeats
    count as their mean (of names, only where they are the same). Low agreement with high agreement of raters
    with themselves asks for clearer instructions; low agreement with themselves asks for an easier task.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; the only one unless given.
        level: What scores mean: ``nominal`` (names), ``ordinal`` (an order), ``interval`` or ``ratio``.
        controls: Control items with ratings: their repeats count for agreement with oneself.
        draws: How often the bootstrap draws items.
        seed: The seed of the bootstrap.

    Examples:
        >>> import sparingly
        >>> found = rater_agreement(sparingly.load_demo(), "overall")
        >>> found.alpha.units, len(found.pairs)
        (475, 10)
    """
    held = rater_scores(data, aspect)
    values, item = held.table()
    if level == "nominal":
        values = _decided(data, held, values)
    random = rng.generator(seed, "rater agreement", held.aspect)
    alpha = alpha_interval(values, level, random=random, groups=item, draws=draws)
    return RaterAgreement(
        aspect=held.aspect,
        level=level,
        alpha=alpha,
        pairs=_pairs(held, values),
        own=_own(data, held, controls, level),
        notes=() if alpha.units else (NO_COMMON,),
    )


def _decided(data: EvalSet, held: RaterScores, values: Floats) -> Floats:
    """Return names without those of raters who gave two to the same output: names have no mean."""
    torn = {key for key, scores in _repeats(data, held.aspect).items() if len(set(scores)) > 1}
    rows = [
        row
        for row in np.flatnonzero(held.count > 1)
        if (held.raters[held.rater[row]], str(data.items[held.item[row]]), data.models[held.model[row]])
        in torn
    ]
    left = values.copy()
    left[held.cell[rows], held.rater[rows]] = np.nan
    return left


def _pairs(held: RaterScores, values: Floats) -> tuple[PairAgreement, ...]:
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    there = (~np.isnan(several)).astype(np.int64)
    common = there.T @ there
    return tuple(
        _pair(held.raters[one], held.raters[other], several[:, one], several[:, other])
        for one, other in zip(*np.nonzero(np.triu(common, 1)), strict=True)
    )


def _pair(first: str, second: str, one: Floats, other: Floats) -> PairAgreement:
    both = ~np.isnan(one) & ~np.isnan(other)
    x, y = one[both], other[both]
    enough = len(x) >= FEWEST_COMMON
    found = (pearson(x, y), spearman(x, y), kendall_b(x, y)) if enough else (float("nan"),) * 3
    return PairAgreement(first, second, len(x), *found, float((x == y).mean()), float((x - y).mean()))


def _own(
    data: EvalSet, held: RaterScores, controls: EvalSet | None, level: Level
) -> tuple[OwnAgreement, ...]:
    """Return the agreement of every rater with what he or she gave to the same output another time."""
    again = _repeats(data, held.aspect)
    if controls is not None and held.aspect in controls.ratings.aspects:
        _add_controls(again, data, held, controls)
    found = []
    for rater in sorted({rater for rater, *_ in again}):
        rows = [scores for (own, *_), scores in sorted(again.items()) if own == rater and len(scores) > 1]
        if rows:
            found.append(_of_rater(rater, rows, level))
    return tuple(found)


def _of_rater(rater: str, rows: list[list[float]], level: Level) -> OwnAgreement:
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, scores in enumerate(rows):
        table[place, : len(scores)] = sorted(scores)
    change = float(np.mean([max(scores) - min(scores) for scores in rows]))
    return OwnAgreement(rater, len(rows), krippendorff_alpha(table, level), change)


def _repeats(data: EvalSet, aspect: str) -> dict[tuple[str, str, str], list[float]]:
    """Return, by rater, item and model, the scores of outputs that one rater judged twice or more."""
    table = data.ratings
    wanted = (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.score)
    rows = np.flatnonzero(wanted & (table.model < len(data.models)))
    keys = np.stack([table.rater[rows], table.item[rows], table.model[rows]], axis=1)
    _, place, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows[count[place.ravel()] > 1]:
        item, model = str(data.items[table.item[row]]), data.models[table.model[row]]
        key = (table.raters[table.rater[row]], item, model)
        found.setdefault(key, []).append(float(table.score[row]))
    return found


def _add_controls(
    again: dict[tuple[str, str, str], list[float]], data: EvalSet, held: RaterScores, controls: EvalSet
) -> None:
    """Add control items of the kind ``repeat`` to the judgements of their originals."""
    judged = rater_scores(controls, held.aspect)
    known = {control.item: control for control in controls_of(controls, data)}
    first = {
        (held.raters[rater], str(data.items[item]), data.models[model]): float(score)
        for item, model, rater, score in zip(held.item, held.model, held.rater, held.score, strict=True)
    }
    for item, rater, score in zip(judged.item, judged.rater, judged.score, strict=True):
        control = known[str(controls.items[item])]
        key = (judged.raters[rater], control.original, control.model)
        if control.kind == "repeat" and key in first:
            again.setdefault(key, [first[key]]).append(float(score))
