"""Past evaluations whose utilities hang on their sources in a way that is known."""

from __future__ import annotations

import numpy as np

from sparingly.base.rng import keys_of, uniforms
from sparingly.data.evalset import EvalSet

HARD = ("Zermatt", "1789", "quixotic")
EASY = ("the", "cat", "sat", "here", "and", "there", "again", "today", "old", "red")


def source(place: int) -> tuple[str, int]:
    """Return a sentence, and how many hard words it has."""
    draws = uniforms(keys_of([f"{place}-{word}" for word in range(12)]), 7)
    hard = int(draws[0] * 4)
    words = [HARD[int(draw * 3)] for draw in draws[1 : 1 + hard]]
    words += [EASY[int(draw * 10)] for draw in draws[4:]]
    return f"We saw {' '.join(words)} {place}.", hard


def made_past(
    start: int = 0, items: int = 80, *, models: tuple[str, ...] = ("Alpha-7B", "Beta"), reverse: bool = False
) -> EvalSet:
    """Return a set in which a model's score is lower by one for every hard word, the more for the second."""
    places = list(range(start, start + items))[:: -1 if reverse else 1]
    pairs = [source(place) for place in places]
    hard = np.array([count for _, count in pairs], np.float64)
    order = list(models)[:: -1 if reverse else 1]
    scores = np.stack([-hard * (1.0 + models.index(name)) for name in order], axis=1)
    return EvalSet.from_arrays(
        [f"item-{place}" for place in places],
        order,
        metrics={"score": scores},
        aspects={"overall": scores * 10.0},
        sources=[text for text, _ in pairs],
    )
