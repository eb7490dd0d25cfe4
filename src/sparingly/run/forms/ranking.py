"""Rankings: the outputs of an item from the best to the worst."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Form, FormKind


@register("ranking")
class RankingForm(Form):
    """In files a rank for each output, 1 the best; on pages raters press the outputs, the best first."""

    summary: ClassVar[str] = "an order of all outputs of an item, without scores"
    answers: ClassVar[FormKind] = "ranking"
    title: ClassVar[str] = "Put the outputs in order, the best first"
    advances: ClassVar[bool] = True
    template: ClassVar[str] = "rater/forms/ranking.html"

    def check(self, aspects: Collection[str]) -> None:
        """Raise UsageError where there are several orders to give."""
        if len(aspects) > 1:
            raise UsageError(f"The form ranking asks for one order, and there are {len(aspects)} aspects.")

    def scores(self, order: Sequence[float], models: Sequence[int], scale: Scale) -> list[float]:
        """Return a score of each output from numbers of which only the order counts, the highest best.

        A score is the share of the other models that an output beats, from the lowest to the highest score;
        ties count half. ``models`` says how many models wrote each output.
        """
        others = sum(models) - 1
        shares = [
            sum(count * ((one > other) + (one >= other)) for other, count in zip(order, models, strict=True))
            for one in order
        ]
        # Each output ties with itself, which is no comparison.
        width = scale.high - scale.low
        return [scale.low + width * ((share - 1) / (2 * others) if others else 0.5) for share in shares]
