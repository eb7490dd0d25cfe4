"""A rubric: yes or no for each criterion, which are the aspects; weights are in how they are combined."""

from __future__ import annotations

from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Field
from sparingly.run.forms.pass_fail import PassFailForm


@register("rubric")
class RubricForm(PassFailForm):
    """Yes is the highest score of the scale, no the lowest; each aspect is a criterion."""

    summary: ClassVar[str] = "yes or no for each criterion"
    title: ClassVar[str] = "What holds of each output?"

    def field(self, scale: Scale) -> Field:
        """Return the two answers."""
        return Field(scale.low, scale.high, 1.0, ((scale.high, "Yes"), (scale.low, "No")))
