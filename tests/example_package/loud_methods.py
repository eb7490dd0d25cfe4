"""What another package can add: a utility, an estimator, a file format and an annotation tool."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Format, Head
from sparingly.infer.estimate.estimators import Estimator
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, difference_form
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, ToolOptions


# --8<-- utility
@register("loudness")
@dataclass(frozen=True)
class Loudness(MetricUtility):
    """Prefers items on which some model has a high score.

    u_i = max_j m_ij^power
    """

    reference: ClassVar[str] = "Nobody 2026, eq. 1"
    power: float = parameter(1.0, "how much high scores stand out", minimum=0.0)

    def values(self, data: EvalSet) -> Floats:
        return np.asarray(np.fmax.reduce(self.scores(data), axis=1) ** self.power)


# --8<-- estimator
@register("loud_mean")
@dataclass(frozen=True)
class LoudMean(Estimator):
    """The mean of the judged items.

    μ̂_j = n⁻¹ Σ_S y_ij
    """

    reference: ClassVar[str] = "Nobody 2026, eq. 2"

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        return difference_form(sample)


# --8<-- format
@register("loud_json")
class LoudJson(Format):
    """Scores by item and model: {"LOUD": {"item": {"model": 1.5}}}."""

    summary: ClassVar[str] = "JSON with loudness"

    def recognises(self, head: Head) -> bool:
        return head.start.startswith(b'{"LOUD"')

    def read(self, path: Path, options: Any) -> EvalSet:
        rows = json.loads(path.read_text(encoding="utf-8"))["LOUD"]
        models = sorted({model for scores in rows.values() for model in scores})
        scores = np.array([[row.get(model, np.nan) for model in models] for row in rows.values()])
        return EvalSet.from_arrays(list(rows), models, metrics={"loudness": scores})


# --8<-- annotation tool
@register("megaphone")
class Megaphone(AnnotationTool):
    """A file with a question a line, to be read out."""

    summary: ClassVar[str] = "questions to be read out"
    reads: ClassVar[bool] = False

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        path = folder / "questions.txt"
        path.write_text("".join(f"{question.source}\n" for question in tasks), encoding="utf-8")
        return [path]


# --8<--
