"""Whether raters have become more severe: earlier outputs that are judged again, beside what was said."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.format import counted
from sparingly.data.values import plain
from sparingly.infer.estimate.intervals import student
from sparingly.run.campaign.history import anchors_at
from sparingly.run.campaign.reader import CampaignReader

# From fewer outputs no error is learned.
FEWEST = 10
LEVEL = 0.95


@dataclass(frozen=True)
class RaterDrift:
    """How outputs that were judged again compare with what was said of them before."""

    data: str
    aspect: str
    outputs: int  # how many were judged again
    difference: float  # the mean difference, later less earlier; negative where raters are more severe now
    low: float | None = None  # the low end of its 95 % interval; None below 10 outputs
    high: float | None = None  # the high end

    @property
    def has_drifted(self) -> bool:
        """Whether the interval leaves out 0: then new models' scores are not on the earlier models' scale."""
        return self.low is not None and self.high is not None and not self.low <= 0.0 <= self.high

    @property
    def sentence(self) -> str:
        """Say whether raters have changed."""
        shift = f"{counted(self.outputs, 'output')} judged again scored {self.difference:+.3g} against before"
        if self.low is None or self.high is None:
            return f"Too few to say whether raters have changed: {shift}; {FEWEST} are needed."
        ends = f"[{self.low:+.3g}, {self.high:+.3g}]"
        if not self.has_drifted:
            return f"No sign that raters have changed: {shift} {ends}."
        change = "more severe" if self.difference < 0 else "more lenient"
        return f"Raters have become {change} on {self.aspect}: {shift} {ends}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**plain(asdict(self)), "has_drifted": self.has_drifted, "sentence": self.sentence}


def rater_drift(
    campaign: CampaignReader, data: str | None = None, *, at: int | None = None
) -> list[RaterDrift]:
    """Compare, on every aspect, outputs that rounds of new models asked for again with what was said before.

    d̄ ± t·s/√n over the outputs, each the mean over raters of their last scores, later less earlier. They were
    drawn by chance, so this estimates the change in severity on the outputs judged so far. If raters have
    changed, talk to them, and do not compare new models with earlier ones on these labels alone.
    """
    seq = campaign.last_seq() if at is None else at
    name, ratings = campaign.settings.data_named(data), campaign.ratings(at=seq)
    with campaign.database.reading() as connection:
        anchor_rounds = {
            (cell.item, cell.model): cell.round for cell in anchors_at(connection, campaign.name, name, seq)
        }
    # The last score of every rater, before and after an output was asked for again.
    scores: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in ratings:
        cell = (row["item"], row["model"])
        if row["data"] == name and cell in anchor_rounds and not row["withdrawn"]:
            key = (row["aspect"], *cell, row["round"] == anchor_rounds[cell])
            scores.setdefault(key, {})[row["rater"]] = row["score"]
    drifts = []
    for aspect in campaign.settings.aspects:
        pairs = [
            (scores[aspect, *cell, False], scores[aspect, *cell, True])
            for cell in sorted(anchor_rounds)
            if (aspect, *cell, True) in scores and (aspect, *cell, False) in scores
        ]
        if not pairs:
            continue
        differences = np.array([np.mean([*new.values()]) - np.mean([*old.values()]) for old, new in pairs])
        count, mean = len(pairs), float(differences.mean())
        half = None
        if count >= FEWEST:
            half = student(LEVEL, count - 1.0) * float(differences.std(ddof=1)) / float(np.sqrt(count))
        ends = (None, None) if half is None else (mean - half, mean + half)
        drifts.append(RaterDrift(name, aspect, count, mean, *ends))
    return drifts
