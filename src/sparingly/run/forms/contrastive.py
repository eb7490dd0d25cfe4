"""All outputs of an item side by side, scored, and put in order."""

from __future__ import annotations

from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.run.forms.form import Place
from sparingly.run.forms.score import ScoreForm


@register("contrastive")
class ContrastiveForm(ScoreForm):
    """A score of each output; long texts scroll together, and one key sorts the best first."""

    summary: ClassVar[str] = "scores of all outputs side by side, sorted the best first"
    places: ClassVar[tuple[Place, ...]] = ("pages",)
    title: ClassVar[str] = "Compare the outputs, and score each"
