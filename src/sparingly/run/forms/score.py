"""A score: a number on a scale, by a slider or typed."""

from __future__ import annotations

from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.run.forms.form import Form


@register("score")
class ScoreForm(Form):
    """A number on the scale of each aspect."""

    summary: ClassVar[str] = "a number on a scale for each output"
    template: ClassVar[str] = "rater/forms/score.html"
