"""A set for tests of probability designs: documents of different sizes, costs, weights, texts."""

from __future__ import annotations

from functools import cache

import numpy as np

from sparingly.data.evalset import EvalSet

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15)
COUNT = sum(SIZES)
WORDS = ("apple", "bread", "cloud", "dream", "eagle", "flame", "grape", "house")


@cache
def made() -> EvalSet:
    drawn = np.random.default_rng(2)
    metric = drawn.gamma(1.0, size=(COUNT, 3))
    gappy = drawn.normal(size=(COUNT, 3))
    gappy[5], gappy[9, 1] = np.nan, np.nan
    texts = [[" ".join(drawn.choice(WORDS, 6)) for _ in range(3)] for _ in range(COUNT)]
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(COUNT)],
        ["x", "y", "z"],
        metrics={"m": metric, "gappy": gappy},
        sources=[" ".join(drawn.choice(WORDS, 1 + place % 6)) for place in range(COUNT)],
        outputs=np.array(texts, object),
        columns={
            "document": [f"d{number}" for number, size in enumerate(SIZES) for _ in range(size)],
            "position": [place for size in SIZES for place in range(size)],
            "domain": ["news", "social", "speech"] * (COUNT // 3),
            "cost": np.ceil(drawn.gamma(2.0, size=COUNT) * 3).tolist(),
            "weight": (1.0 + np.arange(COUNT) % 3).tolist(),
            "mixed": [None if place == 4 else float(place % 5) for place in range(COUNT)],
            "word": [None if place == 7 else WORDS[place % 4] for place in range(COUNT)],
        },
    )
