"""A form in one file, as CONTRIBUTING.md describes it: pass or fail."""

from __future__ import annotations

from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Field, Form


@register("verdict")
class VerdictForm(Form):
    """Pass (the highest score) or fail (the lowest)."""

    summary: ClassVar[str] = "pass or fail for each output"

    def field(self, scale: Scale) -> Field:
        """Return the two answers that a page shows."""
        return Field(scale.low, scale.high, 1.0, ((scale.high, "Pass"), (scale.low, "Fail")))

    def from_text(self, text: str) -> Any:
        """Read a cell of a table: a tick or a cross, else a number or one of the usual words."""
        word = text.strip()
        return {"✓": "pass", "✗": "fail"}.get(word, word)
