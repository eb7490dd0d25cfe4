"""Draws on plain arrays: units taken with given inclusion probabilities, as many as these add up to."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.base.lazy import spatial
from sparingly.base.progress import report_progress

# A draw moves probabilities by steps whose expectation is zero until every one is 0 or 1. So each unit is
# taken with the probability it began with, whichever steps were made.

_ROUNDING = 1e-12
# What the sum of a million probabilities may be off by.
_SUM_TOLERANCE = 1e-6


def snap_probabilities(chances: Floats) -> Floats:
    """Return a copy of probabilities, with those that are 0 or 1 up to rounding set to it."""
    values = np.array(chances, np.float64)
    if values.ndim != 1:
        raise UsageError(f"There is one inclusion probability per unit; these have the shape {values.shape}.")
    if not ((values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)).all():
        raise UsageError("Inclusion probabilities lie between 0 and 1.")
    return snap(values)


def snap(values: Floats) -> Floats:
    """Return values with what is 0 or 1 up to rounding set to it."""
    values = np.where(values < _ROUNDING, 0.0, values)
    return np.where(values > 1.0 - _ROUNDING, 1.0, values)


def undecided(values: Floats) -> Ints:
    """Return the units that are neither taken nor left."""
    return np.flatnonzero((values > 0.0) & (values < 1.0))


def is_whole(total: float) -> bool:
    """Whether probabilities add up to a whole number, up to rounding."""
    return abs(total - round(total)) < _SUM_TOLERANCE


def decide_last(mass: float, draw: float) -> bool:
    """Return whether the last unit is taken: with what is left, 0 or 1 when the probabilities add up."""
    return mass > 0.5 if is_whole(mass) else draw < mass


def step(values: Floats, groups: Ints, directions: Floats, draws: Floats) -> None:
    """Move groups of units along directions, up or down, until one unit of each group is decided.

    With λ₁ and λ₂ the longest steps up and down, up is taken with probability λ₂/(λ₁ + λ₂): the expected step
    is 0. Groups (one per row) share no unit; a direction of 0 for a unit leaves it as it is.
    """
    current, is_up, is_down = values[groups], directions > 0, directions < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.select([is_up, is_down], [(1.0 - current) / directions, -current / directions], np.inf)
        fall = np.select([is_up, is_down], [current / directions, (current - 1.0) / directions], np.inf)
    up, down = rise.min(axis=1), fall.min(axis=1)
    rises = draws * (up + down) < down
    length = np.where(rises, up, -down)
    moved = snap(current + length[:, None] * directions)
    # The unit that ended the step is decided, whatever rounding says.
    ends = np.where(rises, rise.argmin(axis=1), fall.argmin(axis=1))
    rows = np.arange(len(groups))
    moved[rows, ends] = np.where(length * directions[rows, ends] > 0, 1.0, 0.0)
    values[groups] = moved


# --- pivotal draws ---

_BLOCK = 2**18


def draw_pivotal(chances: Floats, generator: np.random.Generator, order: Ints | None = None) -> Mask:
    """Take units by meetings in sequence: the undecided one of a meeting goes on to the next.

    Two units with a and b: if a + b < 1, one is left and the other goes on with a + b (the second with
    probability b/(a + b)); else one is taken and the other goes on with a + b − 1 (the first is taken with
    probability (1 − b)/(2 − a − b)) (Deville and Tillé 1998). The list stands in the given order, or in a
    random one. Of the first k units of the list as many are taken as their probabilities add up to, up to
    one: so a list sorted by cost keeps the cost near its expectation.
    """
    values = snap_probabilities(chances)
    sequence = generator.permutation(len(values)) if order is None else order
    draws = generator.random(len(values) + 1)
    chosen = np.zeros(len(values), bool)
    holder, mass = -1, 0.0
    # Plain numbers are quickest, and a block of them at a time keeps the memory small.
    for start in range(0, len(values), _BLOCK):
        block = sequence[start : start + _BLOCK]
        meetings = zip(values[block].tolist(), draws[start : start + len(block)].tolist(), strict=True)
        winners: list[int] = []
        for place, (chance, draw) in enumerate(meetings, start):
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
        chosen[sequence[winners]] = True
    if holder >= 0 and decide_last(mass, float(draws[-1])):
        chosen[sequence[holder]] = True
    return chosen


def draw_systematic(chances: Floats, generator: np.random.Generator, order: Ints | None = None) -> Mask:
    """Take the units in whose interval a point of a random grid falls.

    Unit k of the list owns the interval (V_{k−1}, V_k] with V the running sum of the probabilities; the grid
    is u, u + 1, u + 2 … with one uniform u (Madow 1949). The list stands in the given order, or in a
    random one. Along a sorted list every stretch gets its share, up to one unit; a list with a period of
    its own can mislead.
    """
    values = snap_probabilities(chances)
    sequence = generator.permutation(len(values)) if order is None else order
    sequence = sequence[(values[sequence] > 0.0) & (values[sequence] < 1.0)]
    total = values[sequence].sum()
    # Rounding in the running sum must not move the end of the list over or under the last point.
    end = np.round(total) if is_whole(total) else total
    cumulative = np.minimum(np.cumsum(values[sequence]), end)
    cumulative[-1:] = end
    chosen = np.asarray(values == 1.0)
    chosen[sequence] = np.diff(np.floor(cumulative + generator.random()), prepend=0.0) > 0
    return chosen


# --- local pivotal draws ---

_JITTER = 1e-6
_NEIGHBOURS = 8
_FEW_POINTS = 400
# In five and six dimensions searches take a third less than with leaves of 10.
_LEAF = 20
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
    values = snap_probabilities(chances)
    scale = np.abs(points).max(initial=0.0) or 1.0
    places = points / scale + generator.uniform(-_JITTER, _JITTER, points.shape)
    meeting = 2 if costs is None else 3
    near = _Neighbours(places, meeting - 1)
    active = undecided(values)
    while len(active) >= meeting:
        report_progress(len(values) - len(active), len(values))
        groups = _next_meetings(active, near, costs is not None, generator)
        pairwise = np.tile([1.0, -1.0], (len(groups), 1))
        directions = pairwise if costs is None else _at_equal_cost(costs[groups])
        step(values, groups, directions, generator.random(len(groups)))
        near.alive[groups] = (values[groups] > 0.0) & (values[groups] < 1.0)
        active = active[near.alive[active]]
    chosen = np.asarray(values == 1.0)
    order = None if costs is None else np.argsort(-costs[active], kind="stable")
    chosen[active] = draw_pivotal(values[active], generator, order)
    return chosen


class _Neighbours:
    """The nearest undecided neighbours of units, looked up anew only when a unit's list is used up."""

    def __init__(self, places: Floats, count: int) -> None:
        self.places, self.count = places, count
        self.alive = np.ones(len(places), bool)
        self.lists = np.full((len(places), _NEIGHBOURS), -1)

    def nearest(self, active: Ints) -> Ints:
        """Return the nearest undecided units of every active one, or −1 where they are not known."""
        nearest, is_known = self._first_alive(active)
        if (~is_known).sum() > _UNKNOWN * len(active):
            self.look_up(active, active[~is_known])
            nearest, is_known = self._first_alive(active)
        return np.where(is_known[:, None], nearest, -1)

    def _first_alive(self, active: Ints) -> tuple[Ints, Mask]:
        lists = self.lists[active]
        alive = (lists >= 0) & self.alive[lists]
        first = np.argsort(~alive, axis=1, kind="stable")[:, : self.count]
        return np.take_along_axis(lists, first, axis=1), np.asarray(alive.sum(axis=1) >= self.count)

    def look_up(self, active: Ints, units: Ints) -> None:
        """Find the nearest active neighbours of some units."""
        count = min(_NEIGHBOURS + 1, len(active))
        points, queries = self.places[active], self.places[units]
        if len(points) <= _FEW_POINTS:
            # Loading the tree takes longer than all distances between a few hundred points.
            squares = np.zeros((len(queries), len(points)))
            for column in range(points.shape[1]):
                squares += (queries[:, column, None] - points[:, column]) ** 2
            nearest = np.argsort(squares, axis=1, kind="stable")[:, :count]
        else:
            tree = spatial.KDTree(points, leafsize=_LEAF)
            nearest = np.asarray(tree.query(queries, k=count)[1]).reshape(len(queries), count)
        neighbours = active[nearest]
        # A unit's nearest is itself; where it is not, jitter was lost in rounding, and the farthest goes.
        is_self = neighbours == units[:, None]
        is_self[~is_self.any(axis=1), -1] = True
        self.lists[units] = -1
        self.lists[units, : count - 1] = neighbours[~is_self].reshape(len(units), count - 1)


def _next_meetings(active: Ints, near: _Neighbours, by_three: bool, generator: np.random.Generator) -> Ints:
    """Return who meets next: pairs of mutual nearest neighbours, or threes, none of them in two meetings."""
    neighbours = near.nearest(active)
    groups = (
        _disjoint_groups(active, neighbours, generator) if by_three else _mutual_pairs(active, neighbours)
    )
    if not len(groups):
        near.look_up(active, active)
        neighbours = near.nearest(active)
        groups = groups if by_three else _mutual_pairs(active, neighbours)
    # Ties that outlive the jitter can leave no pair that is mutual: then any near ones meet.
    return groups if len(groups) else _disjoint_groups(active, neighbours, generator)


def _mutual_pairs(active: Ints, neighbours: Ints) -> Ints:
    """Return the pairs of units that are each other's nearest."""
    nearest = neighbours[:, 0]
    back = np.full(int(active.max()) + 1, -1)
    back[active] = nearest
    pairs = (nearest > active) & (back[nearest] == active)
    return np.column_stack([active[pairs], nearest[pairs]])


def _disjoint_groups(active: Ints, neighbours: Ints, generator: np.random.Generator) -> Ints:
    """Return groups of a unit and its nearest that share no unit, picked at random."""
    groups = np.column_stack([active, neighbours])
    groups = groups[(neighbours >= 0).all(axis=1)]
    rank = generator.permutation(len(groups))
    first = np.full(int(active.max()) + 1, len(groups))
    for column in groups.T:
        np.minimum.at(first, column, rank)
    return np.asarray(groups[(first[groups] == rank[:, None]).all(axis=1)])


def _at_equal_cost(costs: Floats) -> Floats:
    """Return the direction in which three probabilities can move while their sum and their cost stay."""
    first, second, third = costs.T
    directions = np.column_stack([second - third, third - first, first - second])
    largest = np.abs(directions).max(axis=1)
    equal = largest <= 1e-12 * np.abs(costs).max(axis=1)
    directions[equal] = (1.0, -1.0, 0.0)
    return np.asarray(directions / np.where(equal, 1.0, largest)[:, None])


# --- the cube method ---

_BLOCK_CELLS = 1 << 20
_RIDGE = 1e-11
_NO_DIRECTION = 1e-5
_DEPENDENT = 1e-8


def draw_cube(
    chances: Floats, variables: Floats, generator: np.random.Generator, costs: Floats | None = None
) -> Mask:
    """Take units such that Σ_S x_i/π_i = Σ_all x_i for every variable, as nearly as whole units allow.

    *Flight*: probabilities walk at random in the null space of A = (x_i/π_i), p + 1 units at a time, until
    no more than p are undecided (Deville and Tillé 2004; p + 1 at a time as Chauvet and Tillé 2006).
    *Landing*: variables are given up one by one, the last first, and the rest is decided by meetings.
    The number of units is always matched; with ``costs`` so is the cost, up to the difference of two costs.
    ``variables`` are units × variables, those that matter most first.
    """
    values = snap_probabilities(chances)
    active = generator.permutation(undecided(values))
    if len(active):
        inside = values[active]
        rows = _conditions(inside, variables[active], None if costs is None else costs[active])
        pool = _flight(inside, rows, np.arange(len(active)), generator)
        # The landing: fewer and fewer conditions, the number and the cost of units to the end.
        for count in range(rows.shape[1], min(1 if costs is None else 2, rows.shape[1]) - 1, -1):
            while len(pool) > 1:
                directions, share = null_directions(rows[None, pool, :count], generator)
                if share[0] < _NO_DIRECTION:
                    break
                step(inside, pool[None], directions, generator.random(1))
                pool = pool[(inside[pool] > 0.0) & (inside[pool] < 1.0)]
        order = None if costs is None else np.argsort(-costs[active[pool]], kind="stable")
        is_taken = inside == 1.0
        is_taken[pool] = draw_pivotal(inside[pool], generator, order)
        values[active] = is_taken
    return np.asarray(values == 1.0)


def _conditions(chances: Floats, variables: Floats, costs: Floats | None) -> Floats:
    """Return x_i/π_i, units × conditions: the number, the cost, the variables; dependent ones left out."""
    parts = [np.ones((len(chances), 1))]
    parts += [] if costs is None else [costs[:, None]]
    rows = np.column_stack([*parts, variables / chances[:, None]])
    size = np.sqrt((rows**2).mean(axis=0))
    rows = np.asarray(rows[:, size > 0] / size[size > 0])
    if len(rows) <= rows.shape[1]:
        return rows
    pivots = np.abs(np.diag(np.linalg.qr(rows, mode="r"))) / np.sqrt(len(rows))
    return np.ascontiguousarray(rows[:, pivots > _DEPENDENT])


def _flight(values: Floats, rows: Floats, pool: Ints, generator: np.random.Generator) -> Ints:
    """Walk in groups of p + 1 units until p are left, and return these."""
    group = rows.shape[1] + 1
    block = max(1, _BLOCK_CELLS // group**2)
    while len(pool) >= group:
        groups = pool[: len(pool) // group * group].reshape(-1, group)
        for start in range(0, len(groups), block):
            batch = groups[start : start + block]
            directions = null_directions(rows[batch], generator)[0]
            step(values, batch, directions, generator.random(len(batch)))
        pool = pool[(values[pool] > 0.0) & (values[pool] < 1.0)]
    return pool


def null_directions(rows: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return for every group a random direction in which no condition changes, of length 1.

    ``rows`` are groups × units × conditions. A normal vector is projected onto the null space,
    u = g − A(AᵀA)⁺Aᵀg, and once more for its last digits. The projection does not depend on the choice of
    a basis, so it is the same on every machine. Its length as a share of g's is returned too: next to 0
    where the null space is empty.
    """
    normals = generator.normal(size=rows.shape[:2])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    gram = rows.swapaxes(1, 2) @ rows
    conditions = gram.shape[1]
    # A ridge far below what is told apart makes dependent conditions harmless.
    ridge = _RIDGE * np.trace(gram, axis1=1, axis2=2) / conditions + np.finfo(np.float64).tiny
    gram[:, np.arange(conditions), np.arange(conditions)] += ridge[:, None]
    once = _projected(normals, rows, gram)
    share = np.linalg.norm(once, axis=1)
    twice = _projected(once / np.maximum(share, np.finfo(np.float64).tiny)[:, None], rows, gram)
    return twice, share


def _projected(vectors: Floats, rows: Floats, gram: Floats) -> Floats:
    along = rows.swapaxes(1, 2) @ vectors[:, :, None]
    return np.asarray(vectors - (rows @ np.linalg.solve(gram, along))[:, :, 0])
