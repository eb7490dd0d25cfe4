"""Local pivotal draws: meetings between nearest neighbours, which spread the sample over a space."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.choose.design.draw.chances import settled, step, undecided
from sparingly.choose.design.draw.pivotal import draw_pivotal

_JITTER = 1e-6
_NEIGHBOURS = 8
_UNKNOWN = 0.2


def draw_local_pivotal(
    chances: Floats, points: Floats, generator: np.random.Generator, costs: Floats | None = None
) -> Mask:
    """Take units by meetings of mutual nearest neighbours, so that two near units are seldom both taken.

    The meetings are those of the pivotal method (Grafström, Lundström and Schelin 2012, the first of their
    two methods). Two units that are each other's nearest stay so until they meet, whatever the others do:
    all such pairs meet at once, and the outcome has the distribution of meetings one by one. With ``costs``,
    three near units meet in a way that keeps both the sum of their probabilities and their expected cost
    (Grafström and Tillé 2013), so that the cost of what is taken differs from its expectation by no more
    than two costs differ. ``points`` are units × dimensions; units at one place meet at random.
    """
    values = settled(chances)
    scale = np.abs(points).max(initial=0.0) or 1.0
    places = points / scale + generator.uniform(-_JITTER, _JITTER, points.shape)
    meeting = 2 if costs is None else 3
    near = _Neighbours(places, meeting - 1)
    active = undecided(values)
    while len(active) >= meeting:
        groups = _meeting(active, near, costs is not None, generator)
        directions = _pairwise(len(groups)) if costs is None else _at_equal_cost(costs[groups])
        step(values, groups, directions, generator.random(len(groups)))
        near.alive[groups] = (values[groups] > 0.0) & (values[groups] < 1.0)
        active = active[near.alive[active]]
    taken = np.asarray(values == 1.0)
    order = None if costs is None else np.argsort(-costs[active], kind="stable")
    taken[active] = draw_pivotal(values[active], generator, order)
    return taken


class _Neighbours:
    """The nearest undecided neighbours of units, looked up anew only when a unit's list is used up."""

    def __init__(self, places: Floats, wanted: int) -> None:
        self.places, self.wanted = places, wanted
        self.alive = np.ones(len(places), bool)
        self.lists = np.full((len(places), _NEIGHBOURS), -1)

    def of(self, active: Ints) -> Ints:
        """Return the nearest undecided units of every active one, or −1 where they are not known."""
        found, known = self._first_alive(active)
        if (~known).sum() > _UNKNOWN * len(active):
            self.look_up(active, active[~known])
            found, known = self._first_alive(active)
        return np.where(known[:, None], found, -1)

    def _first_alive(self, active: Ints) -> tuple[Ints, Mask]:
        lists = self.lists[active]
        alive = (lists >= 0) & self.alive[lists]
        first = np.argsort(~alive, axis=1, kind="stable")[:, : self.wanted]
        return np.take_along_axis(lists, first, axis=1), np.asarray(alive.sum(axis=1) >= self.wanted)

    def look_up(self, active: Ints, units: Ints) -> None:
        """Find the nearest active neighbours of some units."""
        from scipy.spatial import KDTree

        most = min(_NEIGHBOURS + 1, len(active))
        found = active[KDTree(self.places[active]).query(self.places[units], k=most)[1]]
        # A unit's nearest is itself; where it is not, jitter was lost in rounding, and the farthest goes.
        own = found == units[:, None]
        own[~own.any(axis=1), -1] = True
        self.lists[units] = -1
        self.lists[units, : most - 1] = found[~own].reshape(len(units), most - 1)


def _meeting(active: Ints, near: _Neighbours, by_three: bool, generator: np.random.Generator) -> Ints:
    """Return who meets next: pairs of mutual nearest neighbours, or threes, none of them in two meetings."""
    found = near.of(active)
    groups = _apart(active, found, generator) if by_three else _mutual(active, found)
    if not len(groups):
        near.look_up(active, active)
        found = near.of(active)
        groups = groups if by_three else _mutual(active, found)
    # Ties that outlive the jitter can leave no pair that is mutual: then any near ones meet.
    return groups if len(groups) else _apart(active, found, generator)


def _mutual(active: Ints, found: Ints) -> Ints:
    """Return the pairs of units that are each other's nearest."""
    nearest = found[:, 0]
    back = np.full(int(active.max()) + 1, -1)
    back[active] = nearest
    pairs = (nearest > active) & (back[nearest] == active)
    return np.column_stack([active[pairs], nearest[pairs]])


def _apart(active: Ints, found: Ints, generator: np.random.Generator) -> Ints:
    """Return groups of a unit and its nearest that share no unit, picked at random."""
    groups = np.column_stack([active, found])
    groups = groups[(found >= 0).all(axis=1)]
    rank = generator.permutation(len(groups))
    first = np.full(int(active.max()) + 1, len(groups))
    for column in groups.T:
        np.minimum.at(first, column, rank)
    return np.asarray(groups[(first[groups] == rank[:, None]).all(axis=1)])


def _pairwise(count: int) -> Floats:
    return np.tile([1.0, -1.0], (count, 1))


def _at_equal_cost(costs: Floats) -> Floats:
    """Return the direction in which three probabilities can move while their sum and their cost stay."""
    first, second, third = costs.T
    directions = np.column_stack([second - third, third - first, first - second])
    largest = np.abs(directions).max(axis=1)
    equal = largest <= 1e-12 * np.abs(costs).max(axis=1)
    directions[equal] = (1.0, -1.0, 0.0)
    return np.asarray(directions / np.where(equal, 1.0, largest)[:, None])
