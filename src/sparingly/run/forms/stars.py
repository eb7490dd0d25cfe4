"""Stars: a few steps of a scale to choose from."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparingly.base.catalogue import register
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Field, Form, Place

_EVEN_STARS, _STAR_LIMIT = 5, 10


@register("stars")
class StarsForm(Form):
    """One star for each whole number of a short scale, else five in even steps."""

    summary: ClassVar[str] = "stars for each output"
    places: ClassVar[tuple[Place, ...]] = ("pages",)
    advances: ClassVar[bool] = True
    template: ClassVar[str] = "rater/forms/stars.html"

    def field(self, scale: Scale) -> Field:
        """Return the scores that stars stand for."""
        low, high = scale
        is_short = low == int(low) and high == int(high) and 1 <= high - low < _STAR_LIMIT
        scores = np.linspace(low, high, int(high - low) + 1 if is_short else _EVEN_STARS)
        choices = tuple((float(score), str(count)) for count, score in enumerate(scores, 1))
        return Field(low, high, 1.0, choices)

    def check_value(self, value: float, scale: Scale) -> None:
        """Take any number: programs may send one between two stars."""
