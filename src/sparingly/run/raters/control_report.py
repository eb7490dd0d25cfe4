"""What raters did with control items: do they score a degraded output below the original?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.format import html_table
from sparingly.base.stats.signed_rank import signed_rank
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.rater_effects import Rated, rated
from sparingly.run.raters.controls import KINDS, controls_of

COLUMNS = ("rater", "kind", "n", "right", "tied", "wrong", "mean difference", "sign test", "Wilcoxon")


@dataclass(frozen=True)
class ControlScore:
    """One rater and one kind of control item.

    Attributes:
        rater: The rater.
        kind: The kind of control item.
        n: How many the rater judged together with their originals.
        right: Degraded outputs scored below the original; references scored above the mean output of the
            item; repeats scored as before.
        tied: Neither (repeats are never tied).
        wrong: The other way round.
        difference: The mean difference in the right direction; of repeats, the mean absolute change.
        sign_p: The exact one-sided sign test of the right direction, ties left out; NaN for repeats.
        wilcoxon_p: The one-sided signed-rank test of it; NaN for repeats.
    """

    rater: str
    kind: str
    n: int
    right: int
    tied: int
    wrong: int
    difference: float
    sign_p: float
    wilcoxon_p: float


@dataclass(frozen=True, repr=False)
class ControlReport:
    """Control items by rater and kind, and what could not be compared.

    Attributes:
        aspect: What was judged.
        scores: One row per rater and kind.
        unmatched: Ratings of control items whose rater did not judge the original.
    """

    aspect: str
    scores: tuple[ControlScore, ...]
    unmatched: int

    def __repr__(self) -> str:
        return f"ControlReport({self.aspect}: {len({one.rater for one in self.scores})} raters)"

    def _repr_html_(self) -> str:
        return html_table(COLUMNS, [tuple(asdict(one).values()) for one in self.scores], repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        rows = [plain(asdict(one)) for one in self.scores]
        return {"aspect": self.aspect, "scores": rows, "unmatched": self.unmatched}


def control_report(data: EvalSet, controls: EvalSet, aspect: str | None = None) -> ControlReport:
    """Compare what every rater gave to control items with what the same rater gave to the originals.

    A rater whose sign test on degraded outputs stays far from significance with ten or more of them does not
    read the outputs, or does not understand the task.

    Args:
        data: The evaluation set with its ratings.
        controls: The control items (``control_items``) with theirs.
        aspect: What was judged; the only one unless given.
    """
    held = rated(data, aspect)
    if held.aspect not in controls.ratings.aspects:
        raise MissingDataError(f'The control items have no ratings of "{held.aspect}".')
    gaps, unmatched = _gaps(held, rated(controls, held.aspect), controls, data)
    scores = [
        _score(rater, kind, np.array(gaps[rater, kind]))
        for rater in sorted({rater for rater, _ in gaps})
        for kind in KINDS
        if (rater, kind) in gaps
    ]
    return ControlReport(held.aspect, tuple(scores), unmatched)


def _gaps(
    held: Rated, judged: Rated, controls: EvalSet, data: EvalSet
) -> tuple[dict[tuple[str, str], list[float]], int]:
    """Return by rater and kind the differences in the right direction."""
    known = {control.item: control for control in controls_of(controls, data)}
    own: dict[tuple[str, str], dict[str, float]] = {}
    for item, model, rater, score in zip(held.item, held.model, held.rater, held.score, strict=True):
        own.setdefault((held.raters[rater], str(data.items[item])), {})[data.models[model]] = float(score)
    gaps: dict[tuple[str, str], list[float]] = {}
    unmatched = 0
    for item, rater, score in zip(judged.item, judged.rater, judged.score, strict=True):
        control, name = known[str(controls.items[item])], judged.raters[rater]
        before = own.get((name, control.original), {})
        if control.kind == "reference" and before:
            gap = float(score) - float(np.mean(list(before.values())))
        elif control.model in before:
            gap = before[control.model] - float(score)
        else:
            unmatched += 1
            continue
        gaps.setdefault((name, control.kind), []).append(gap)
    return gaps, unmatched


def _score(rater: str, kind: str, gaps: Floats) -> ControlScore:
    if kind == "repeat":
        same = int((gaps == 0).sum())
        change = float(np.abs(gaps).mean())
        nothing = float("nan")
        return ControlScore(rater, kind, len(gaps), same, 0, len(gaps) - same, change, nothing, nothing)
    right, wrong = int((gaps > 0).sum()), int((gaps < 0).sum())
    return ControlScore(
        rater=rater,
        kind=kind,
        n=len(gaps),
        right=right,
        tied=len(gaps) - right - wrong,
        wrong=wrong,
        difference=float(gaps.mean()),
        sign_p=sign_test(right, wrong),
        wilcoxon_p=float(signed_rank(gaps[:, None], "greater").p[0]),
    )


def sign_test(right: int, wrong: int) -> float:
    """Return the exact chance of at least so many right ones if each were a coin toss."""
    from scipy.stats import binom

    return float(binom.sf(right - 1, right + wrong, 0.5)) if right + wrong else 1.0
