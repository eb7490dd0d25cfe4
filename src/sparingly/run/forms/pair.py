"""Pairs: which of two outputs is better."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Field, Form, FormKind

# The score of every side: the left is better, neither is, the right is.
SIDES = MappingProxyType({"left": 1.0, "tie": 0.0, "right": -1.0})
_WORDS = {**SIDES, "a": 1.0, "equal": 0.0, "b": -1.0}


@register("pair")
class PairForm(Form):
    """The first is better (1), the second is (-1), or there is no difference (0)."""

    summary: ClassVar[str] = "which of two outputs is better"
    answers: ClassVar[FormKind] = "pair"
    title: ClassVar[str] = "Which output is better?"
    advances: ClassVar[bool] = True
    template: ClassVar[str] = "rater/forms/pair.html"

    def field(self, scale: Scale) -> Field:
        """Return the three answers."""
        return Field(-1.0, 1.0, 1.0, ((1.0, "The first"), (0.0, "No difference"), (-1.0, "The second")))

    def check_value(self, value: float, scale: Scale) -> None:
        """Raise UsageError unless the value is 1, 0 or -1."""
        if value not in (-1.0, 0.0, 1.0):
            raise UsageError("Of two outputs the first is better (1), the second (-1), or neither (0).")

    def from_text(self, text: str) -> Any:
        """Read left, right, tie, a or b; None where nothing is said."""
        word = text.strip().lower()
        return _WORDS.get(word, word) if word else None
