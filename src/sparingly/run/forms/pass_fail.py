"""Pass or fail: two large buttons for an output."""

from __future__ import annotations

from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Field, Form, Place


@register("pass_fail")
class PassFailForm(Form):
    """Pass is the highest score of the scale, fail the lowest."""

    summary: ClassVar[str] = "pass or fail for each output"
    places: ClassVar[tuple[Place, ...]] = ("pages",)
    title: ClassVar[str] = "Does each output pass?"
    advances: ClassVar[bool] = True

    def field(self, scale: Scale) -> Field:
        """Return the two answers."""
        return Field(scale.low, scale.high, 1.0, ((scale.high, "Pass"), (scale.low, "Fail")))
