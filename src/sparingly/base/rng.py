"""Randomness that depends on a seed and on ids, never on the order of a file or on the machine.

Every id has a 64-bit *key*. A draw for an item is a hash of (seed, key, purpose), so an item gets the
same draw wherever it stands in the file and whatever other items are there. The mixing function is
SplitMix64 (Steele, Lea and Flood, 2014), vectorised over items; the ids are folded in eight bytes at a
time, little-endian on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 65_536
_HALF, _LOWER = np.uint64(32), np.uint64(2**32 - 1)
_STEPS = 1e9


def scramble(values: Keys) -> Keys:
    """Mix 64-bit integers so that near inputs give unrelated outputs (the finaliser of SplitMix64)."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def keys_of(ids: Sequence[str]) -> Keys:
    """Return the 64-bit key of every id; equal ids have equal keys on every machine."""
    blocks = [_keys_of_block(ids[start : start + _BLOCK]) for start in range(0, len(ids), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.empty(0, np.uint64)


def _keys_of_block(ids: Sequence[str]) -> Keys:
    text = "".join(ids)
    encoded = ids if text.isascii() else [name.encode("utf-8", "surrogatepass") for name in ids]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    all_bytes = text.encode() if text.isascii() else b"".join(cast("list[bytes]", encoded))
    letters = np.frombuffer(all_bytes, np.uint8)
    starts = np.cumsum(lengths) - lengths
    keys = scramble(lengths.astype(np.uint64) + _GOLDEN)
    # Ids of different lengths are folded in separate groups, so that one long id costs no memory.
    words = (lengths + 7) // 8
    for count in np.flatnonzero(np.bincount(words)[1:]) + 1:
        rows = np.flatnonzero(words == count)
        places = np.arange(8 * count)
        inside = places < lengths[rows, None]
        padded = np.where(inside, letters[np.where(inside, starts[rows, None] + places, 0)], np.uint8(0))
        folded = keys[rows]
        for word in np.ascontiguousarray(padded).view("<u8").T:
            folded = scramble(folded ^ word.astype(np.uint64)) + _GOLDEN
        keys[rows] = folded
    return keys


def stream(keys: Keys, seed: int, purpose: str = "") -> Keys:
    """Return one hash of (seed, key, purpose) per key: independent streams for independent purposes."""
    salt = keys_of([f"{seed}\x1f{purpose}"])[0]
    return scramble(scramble(keys + salt) ^ salt)


def uniforms(keys: Keys, seed: int, purpose: str = "") -> Floats:
    """Return a draw in [0, 1) per key."""
    return (stream(keys, seed, purpose) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def words(keys: Keys, seed: int, count: int, purpose: str = "") -> Keys:
    """Return ``count`` independent 64-bit words per key, as an array of shape (keys, count)."""
    start = stream(keys, seed, purpose)[:, None]
    steps = (np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)[None, :]
    return scramble(start + steps)


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator of a computation, seeded by its seed and its purpose."""
    salt = keys_of(["\x1f".join(purpose)])[0]
    return np.random.Generator(np.random.PCG64([seed & (2**64 - 1), int(salt)]))


def order(values: Floats, keys: Keys | Callable[[NDArray[np.int64]], Keys], seed: int) -> NDArray[np.int64]:
    """Order positions by value, highest first; a hash of (seed, key) breaks ties.

    Values are first rounded to 1e-9 of their range, so that the last bits of a sum, which differ between
    machines, cannot change the order. NaN comes last. Keys may be given as a function of positions,
    which is called for the tied ones only.
    """
    # A code below 2³² for every value: the higher the value the lower the code, NaN last.
    steps = round_to_range(values)
    finite = steps[np.isfinite(steps)]
    if finite.size and finite.max() > finite.min():
        codes = np.clip(_STEPS - steps, -1.0, _STEPS + 1.0) + 1.0
    else:
        codes = np.where(np.isposinf(values), 0.0, np.where(np.isneginf(values), 2.0, 1.0))
    descending = np.where(np.isnan(values), _STEPS + 3.0, codes).astype(np.uint64)
    # Sorting whole numbers that carry their position is several times as fast as sorting positions.
    packed = (descending << _HALF) | np.arange(len(values), dtype=np.uint64)
    packed.sort()
    order, sorted_codes = (packed & _LOWER).astype(np.int64), packed >> _HALF
    # Only positions that share their value need the hash.
    equal = sorted_codes[1:] == sorted_codes[:-1]
    tied = np.flatnonzero(np.r_[equal, False] | np.r_[False, equal])
    if len(tied):
        positions = order[tied]
        tied_keys = keys(positions) if callable(keys) else keys[positions]
        order[tied] = positions[np.lexsort((stream(tied_keys, seed, "ties"), sorted_codes[tied]))]
    return order


def round_to_range(values: Floats, relative: float = 1e-9) -> Floats:
    """Round values to a small share of their range (a constant array is returned as it is)."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return values
    step = float(finite.max() - finite.min()) * relative
    if step == 0.0:
        # All values are the same, or as near as numbers can be.
        return values
    return np.asarray(np.round((values - finite.min()) / step))


def seed_list(seed: int, count: int, *purpose: str) -> list[int]:
    """Return ``count`` seeds that follow from one seed."""
    return [int(value) for value in generator(seed, "seeds", *purpose).integers(0, 2**31 - 1, count)]
