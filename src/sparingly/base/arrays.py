"""The arrays that functions take and return: what a type alias says of them is what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Objects = NDArray[np.object_]
