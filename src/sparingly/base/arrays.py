"""The arrays that functions take and return: what a type alias says of them is what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Objects = NDArray[np.object_]


def ratio(above: ArrayLike, below: ArrayLike, otherwise: float = 0.0) -> Floats:
    """Return ``above / below``, and another number where ``below`` is not above 0."""
    top, bottom = np.broadcast_arrays(above, below)
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, otherwise), where=bottom > 0))
