"""Pivotal draws: units meet one after the other, and in each meeting one of the two is decided."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.choose.design.draw.chances import last_one, settled

_BLOCK = 2**18


def draw_pivotal(chances: Floats, generator: np.random.Generator, order: Ints | None = None) -> Mask:
    """Take units by meetings in sequence: the undecided one of a meeting goes on to the next.

    Two units with a and b: if a + b < 1, one is left and the other goes on with a + b (the second with
    probability b/(a + b)); else one is taken and the other goes on with a + b − 1 (the first is taken with
    probability (1 − b)/(2 − a − b)) (Deville and Tillé 1998). The list stands in the given order, or in a
    random one. Of the first k units of the list as many are taken as their probabilities add up to, up to
    one: so a list sorted by cost keeps the cost near its expectation.
    """
    values = settled(chances)
    sequence = generator.permutation(len(values)) if order is None else order
    draws = generator.random(len(values) + 1)
    taken = np.zeros(len(values), bool)
    holder, mass = -1, 0.0
    # Plain numbers are quickest, and a block of them at a time keeps the memory small.
    for start in range(0, len(values), _BLOCK):
        block = sequence[start : start + _BLOCK]
        some = values[block].tolist(), draws[start : start + len(block)].tolist()
        winners, holder, mass = _meetings(*some, start, holder, mass)
        taken[sequence[winners]] = True
    if holder >= 0 and last_one(mass, float(draws[-1])):
        taken[sequence[holder]] = True
    return taken


def _meetings(
    chances: list[float], draws: list[float], first: int, holder: int, mass: float
) -> tuple[list[int], int, float]:
    """Return who was taken, and who is undecided at the end and with what; the first has the place given."""
    winners: list[int] = []
    for place, (chance, draw) in enumerate(zip(chances, draws, strict=True), first):
        total = mass + chance
        if total < 1.0:
            if draw * total < chance:
                holder = place
            mass = total
        elif draw * (2.0 - total) < 1.0 - chance:
            winners.append(holder)
            holder, mass = place, total - 1.0
        else:
            winners.append(place)
            mass = total - 1.0
    return winners, holder, mass
