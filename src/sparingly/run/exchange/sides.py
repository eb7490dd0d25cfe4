"""Which output stands where: drawn by the seed, so that no model is always on the left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base import rng


def shown_order(models: Sequence[str], seed: int, *place: object) -> tuple[str, ...]:
    """Return models in the order in which their outputs are shown: by a hash of seed, place and model.

    ``place`` is what is shown (item, rater …). The answer does not depend on the order of the models given.
    """
    names = sorted(models)
    where = "\x1f".join("" if part is None else str(part) for part in place)
    keys = rng.keys_of([f"{where}\x1e{name}" for name in names])
    return tuple(names[at] for at in np.argsort(rng.stream(keys, seed, "sides"), kind="stable"))
