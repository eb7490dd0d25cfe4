"""The report on raters: severity, agreement, predictability, control items and flags together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparingly.base.stats.krippendorff import Level
from sparingly.base.stats.moments import FEWEST
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.rater_effects import Severity, rated, severity
from sparingly.run.raters.agreement import RaterAgreement, rater_agreement
from sparingly.run.raters.control_report import ControlReport, control_report
from sparingly.run.raters.flags import TOO_FEW, RaterFlag, rater_flags
from sparingly.run.raters.predictability import Predictability, predictability


@dataclass(frozen=True, repr=False)
class RaterReport:
    """What is to be said of the raters of an aspect.

    Attributes:
        severity: How severe they are, and how much they vary.
        agreement: How well they agree.
        predictability: How well the others predict each one.
        controls: What they did with control items; None without any.
        flags: Who is far from the rest.
        notes: What to mind.
    """

    severity: Severity
    agreement: RaterAgreement
    predictability: Predictability
    controls: ControlReport | None
    flags: tuple[RaterFlag, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        flagged = len({flag.rater for flag in self.flags})
        raters = len(self.severity.raters)
        return f"RaterReport({self.severity.aspect}: {raters} raters, {flagged} flagged, {self.agreement!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "severity": self.severity.to_dict(),
            "agreement": self.agreement.to_dict(),
            "predictability": self.predictability.to_dict(),
            "controls": None if self.controls is None else self.controls.to_dict(),
            "flags": [flag.to_dict() for flag in self.flags],
            "notes": list(self.notes),
        }


def rater_report(
    data: EvalSet,
    aspect: str | None = None,
    *,
    level: Level = "interval",
    metric: str | None = None,
    controls: EvalSet | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> RaterReport:
    """Tell what can be told of the raters: severity, agreement, predictability, control items, flags.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; the only one unless given.
        level: What scores mean for agreement: ``nominal``, ``ordinal``, ``interval`` or ``ratio``.
        metric: The metric of the slopes by rater and model; none unless given.
        controls: Control items with their ratings, if there were any.
        alpha: The chance of flagging anybody wrongly.
        seed: The seed of the bootstrap.

    Examples:
        >>> import sparingly
        >>> report = sparingly.rater_report(sparingly.load_demo(), "overall")
        >>> len(report.severity.raters), len(report.flags)
        (5, 0)
    """
    held = rated(data, aspect)
    severe = severity(data, held.aspect)
    agreed = rater_agreement(data, held.aspect, level=level, controls=controls, seed=seed)
    predicted = predictability(data, held.aspect, metric=metric)
    checked = None if controls is None else control_report(data, controls, held.aspect)
    few = (TOO_FEW,) if len(held.raters) < FEWEST else ()
    notes = (*severe.notes, *agreed.notes, *few)
    return RaterReport(
        severity=severe,
        agreement=agreed,
        predictability=predicted,
        controls=checked,
        flags=rater_flags(data, held.aspect, severity=severe, controls=checked, alpha=alpha),
        notes=tuple(dict.fromkeys(notes)),
    )
