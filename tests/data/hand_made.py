"""A small evaluation set with something in every place, for the tests of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings

NAN = np.nan
ITEMS, MODELS = ["c", "a", "b"], ["small", "Large (v2) + chat"]


def codes(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def full_set(**changed: Any) -> EvalSet:
    """Three items, two models, and something in every place; written in no order."""
    parts: dict[str, Any] = {
        "metrics": {"chrF": [[1.0, 2.0], [3.0, NAN], [5.0, 6.0]], "both": [[0.0] * 2] * 3},
        "aspects": {
            "fluency": [[1.0, 1.0], [2.0, NAN], [4.0, 5.0]],
            "adequacy": [[2.0, 1.0], [3.0, 3.0], [0.0, 1.0]],
            "both": [[1.0] * 2] * 3,
        },
        "sources": ["source c", "source a", None],
        "outputs": [["cs", "cl"], ["as", None], ["bs", ""]],
        "references": {"refB": ["bc", "ba", "bb"], "refA": ["ac", None, "ab"]},
        "reference_aspects": {"fluency": [[7.0, 8.0], [7.5, NAN], [9.0, 9.5]]},
        "columns": {
            "document": ["d1", "d2", "d1"],
            "domain": ["news", "news", None],
            "cost": [1.0, 2.0, None],
            "topic": ["x", "y", "z"],
        },
        "cells": {"seed": [[1, 2], [3, None], [5, 6]]},
        "ratings": Ratings(
            item=codes(0, 1, 2, 2),
            model=codes(0, 1, 2, 3),
            rater=codes(0, 1, 0, -1),
            aspect=codes(0, 0, 0, 0),
            score=np.array([1.0, 2.0, 3.0, 4.0]),
            seconds=np.array([10.0, NAN, 30.0, 40.0]),
            comment=np.array([None, "good", None, None], object),
            raters=("ann", "bob"),
            aspects=("style",),
            extra={"hit": np.array([1, 2, 3, 4], object)},
        ),
        "preferences": Preferences(
            item=codes(0, 2),
            first=codes(0, 1),
            second=codes(1, 0),
            value=np.array([1.0, 0.5]),
            rater=codes(-1, 0),
            aspect=codes(0, 0),
            seconds=np.array([NAN, 3.0]),
            raters=("ann",),
            aspects=("fluency",),
        ),
        "name": "hand-made",
    }
    return EvalSet.from_arrays(ITEMS, MODELS, **{**parts, **changed})


DATA = full_set()
