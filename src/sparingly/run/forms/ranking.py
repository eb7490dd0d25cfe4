"""Rankings: the outputs of an item from the best to the worst."""

from __future__ import annotations

from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.run.forms.form import Form, FormKind, Place


@register("ranking")
class RankingForm(Form):
    """A rank for each output, 1 the best; equal ranks are ties."""

    summary: ClassVar[str] = "an order of all outputs of an item"
    answers: ClassVar[FormKind] = "ranking"
    places: ClassVar[tuple[Place, ...]] = ("files",)
