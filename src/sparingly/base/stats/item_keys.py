"""One random key per item: from its id, as given, or from its row number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UsageError
from sparingly.base.rng import Keys, keys_of

Ids = Sequence[str] | NDArray[np.object_] | NDArray[np.str_]


def item_keys(items: int, ids: Ids | None = None, keys: Keys | None = None) -> Keys:
    """Return the keys on which random signs and draws hang.

    With ids, the same item gets the same draws wherever it stands; without ids or keys the row number
    stands in for the id, and the draws depend on the order of the rows.
    """
    if ids is None:
        return np.arange(items, dtype=np.uint64) if keys is None else keys
    if keys is not None:
        raise UsageError("Give the ids of the items or their keys, not both.")
    if isinstance(ids, str) or len(ids) != items:
        raise UsageError(f"Give one id for each of the {items} items.")
    named = [str(name) for name in ids]
    if len(set(named)) < items:
        raise UsageError("Ids must differ from item to item.")
    return keys_of(named)
