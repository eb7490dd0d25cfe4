"""A distilled model for the contract suite: trained here, at the same place in every process."""

from __future__ import annotations

from functools import cache
from json import dumps
from pathlib import Path

import numpy as np

from sparingly.choose.distil.train import distil
from sparingly.data.evalset import EvalSet

FILE = Path(__file__).resolve().parents[2] / ".pytest_cache" / "distilled.skops"


@cache
def distilled_text() -> str:
    """Return the utility as text; its file is written whole, so processes do not disturb each other."""
    past = EvalSet.from_arrays(
        [f"past {place}" for place in range(24)],
        ["old", "older"],
        metrics={"score": np.outer(np.arange(24) % 12, [1.0, 0.5])},
        sources=[f"source {'word ' * (place % 12)}{'so' * (place // 12)}" for place in range(24)],
    )
    FILE.parent.mkdir(exist_ok=True)
    distil(past, "metric_avg", folds=2).save(FILE)
    return f"distilled:model={dumps(str(FILE), ensure_ascii=False)}"
