"""``best_settled``: stop when one model is shown to be the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.registry import register
from sparingly.run.rounds.stop.base import Progress, Stopped
from sparingly.run.rounds.stop.testing import TestingStop


@register("best_settled")
@dataclass(frozen=True, kw_only=True)
class BestSettled(TestingStop):
    """Stops when every model but one is out of reach of another.

    A model k is out of reach when some μ̂_j − μ̂_k > c·se_jk, with c so that P(a given best model is ever left
    out) ≤ α/2 over all looks (α/(M − 1) two-sided for each comparison of M models). So P(a model is named the
    best while another is better or just as good) ≤ α; with two models this is the two-sided test.

    Use it to pick a model. It needs far less than telling all pairs apart.
    """

    reference: ClassVar[str] = "Hsu 1996, chapter 4; Lan and DeMets 1983; Waudby-Smith et al. 2024"

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when one model is left."""
        found = self.settled(progress, "best")
        if found is None or int(found.candidates.sum()) != 1:
            return None
        best = progress.state.data.models[int(np.argmax(found.candidates))]
        return Stopped(f"{best} is the best model, with an error rate of {self.alpha:g}.", best)
