"""The invented set: made by the generator, always the same, judged in full; for tests and reference pages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic.generate import make_evalset

NAME = "invented"
MODELS = (
    "Alder 70B",
    "Alder 7B",
    "Birch",
    "Cedar-MT",
    "Elm + rerank (beam = 4)",
    "Hazel-instruct",
    "Juniper",
    "Rowan",
)
RATERS = ("Ada", "Bo", "Chidi", "Dana", "Emre")
METRICS = {"learned": 0.6, "judge": 0.45, "surface": 0.3, "noisy": 0.1}
# Of the first 24 seeds, one whose gains over random selection are near those of all of them on average.
SEED = 18


@cache
def load_invented() -> EvalSet:
    """Make the invented set: 240 items, eight models, four metrics, five raters, texts.

    Examples:
        >>> load_invented().shape
        (240, 8)
    """
    data = make_evalset(
        items=240,
        models=MODELS,
        seed=SEED,
        documents=36,
        metrics=METRICS,
        raters=RATERS,
        raters_per_cell=1.25,
        missing={"judge": 0.02},
    )
    return EvalSet(replace(data.store, name=NAME))
