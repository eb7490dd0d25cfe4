"""``diffuse_iterative``: compare two models on ever finer clusters until one of them leads clearly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.checks import check_names
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, file_stamp
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.result import Estimate
from sparingly.published.linkage import Linkage, linkage_of
from sparingly.run.rounds.strategy import Finished, State, Strategy, item_preferences
from sparingly.signals.embed.differences import stacked_differences
from sparingly.signals.embed.evalset import embed_outputs, embedding_fields


class Step(NamedTuple):
    """What a split changes: the point that leaves the vote, and those that take its place."""

    dropped: int | None
    new_points: tuple[int, ...]


class SplitTree:
    """The clusters of a linkage, from one to as many as there are points."""

    def __init__(self, linkage: Linkage, vectors: Floats, keys: rng.Keys, seed: int = 0) -> None:
        self.linkage, self.vectors, self.keys, self.seed = linkage, vectors, keys, seed
        points = len(linkage)
        sizes = np.ones(2 * points - 1, np.int64)
        for merge, (first, second) in enumerate(linkage.merges.tolist()):
            sizes[points + merge] = sizes[first] + sizes[second]
        start = np.zeros(2 * points - 1, np.int64)
        for merge in range(points - 2, -1, -1):
            first, second = linkage.merges[merge]
            start[first] = start[points + merge]
            start[second] = start[points + merge] + sizes[first]
        # The points so that those of every cluster stand together, and where each cluster stands.
        self._leaves = np.empty(points, np.int64)
        self._leaves[start[:points]] = np.arange(points)
        self._spans = np.stack([start, start + sizes], axis=1)
        ordered = vectors[self._leaves]
        self._sums = np.concatenate([np.zeros((1, ordered.shape[1])), np.cumsum(ordered, axis=0)])
        # The points by cluster as vectors of length 1; one of 0 is at right angles to every centre.
        norms = np.linalg.norm(ordered, axis=1)[:, None]
        has_direction = norms > 1e-12 * norms.max(initial=0.0)
        self._directions = np.divide(ordered, norms, out=np.zeros_like(ordered), where=has_direction)
        self._ties = rng.stream(keys, seed, "representatives")

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.linkage)

    def representative(self, node: int, free: NDArray[np.bool_]) -> int:
        """Return the point of a cluster that is nearest to its centre by cosine.

        Among the points that are ``free``; where none is, among all.
        """
        low, high = self._spans[node]
        members = self._leaves[low:high]
        centre = self._sums[high] - self._sums[low]
        length = max(float(np.linalg.norm(centre)), 1e-300)
        cosines = np.round(self._directions[low:high] @ centre / length, 9)
        is_free = free[members]
        if is_free.any():
            members, cosines = members[is_free], cosines[is_free]
        best = members[cosines >= cosines.max() - 1e-12]
        return int(best[np.argmin(self._ties[best])])

    def steps(self, first: int, limit_points: int | None = None) -> list[Step]:
        """Return the steps of iterative selection: ``first`` clusters at once, then one split after another.

        A split asks for two new points, one from each part, and takes the parent's out of the vote (Ashury
        Tahan et al. 2024, Algorithm 1). A part whose points were all asked before is represented by the
        nearest of them. With ``limit_points``, the step after which so many were asked for is the last.
        """
        points = len(self)
        first = min(first, points)
        limit = points if limit_points is None else limit_points
        nodes = {2 * points - 2}
        for merge in range(points - 2, points - 1 - first, -1):
            nodes.remove(points + merge)
            nodes |= set(self.linkage.merges[merge].tolist())
        free = np.ones(points, bool)
        standing = {node: self.representative(node, free) for node in sorted(nodes)}
        free[list(standing.values())] = False
        # Largest clusters first, as diffuse lists them; the order does not change the vote.
        sequence = [Step(None, tuple(standing.values()))]
        for merge in range(points - 1 - first, -1, -1):
            if points - int(free.sum()) >= limit:
                break
            dropped = standing.pop(points + merge)
            children = self.linkage.merges[merge].tolist()
            new_points = []
            for child in children:
                standing[child] = self.representative(child, free)
                if free[standing[child]]:
                    new_points.append(standing[child])
                free[standing[child]] = False
            # A part may be represented by the point that stood for the whole: then it stays in the vote.
            stays = dropped in (standing[child] for child in children)
            sequence.append(Step(None if stays else dropped, tuple(new_points)))
        return sequence


# --- diffuse_iterative ---


INCONCLUSIVE = "inconclusive"
# All pairs of 55 models; a pair's steps are a few hundred small numbers.
_STEPS = ResultCache[list[Step]](size=1500)
_HEURISTIC = "the stop is a heuristic: it treats the picks as a random sample with a single look."


class PairVerdict(NamedTuple):
    """Where the comparison of two models stands.

    The winner is None while it is open, ``inconclusive`` where the labels ran out. Ties count as judged,
    labels of clusters that were split do not.
    """

    pair: tuple[str, str]
    winner: str | None
    votes: tuple[int, int]
    judged: int
    chance: float  # how likely a lead like this is by chance (see ``chance_of_lead``)
    next_rows: tuple[int, ...]  # the items of the next step that asks for something; none beyond ``most``


@register("diffuse_iterative")
@dataclass(frozen=True, kw_only=True)
class DiffuseIterative(Strategy):
    """Compares models on representatives of clusters of their differences, splitting until one leads clearly.

    Ward clusters of the difference vectors; ``least`` of them at once, then one is split after the other: two
    new items are judged, and the parent's leaves the vote. It stops where k of n votes are as unlikely
    as ``p`` by chance, sf(k − 1; N, N/2, n) ≤ p, or answers *inconclusive* after ``most`` labels. With
    more than two models, every pair is compared by itself, all open pairs in the same round.

    Choose it to pick the better of two models with few preferences. The answer names a winner; its lead
    would be exaggerated. The stop is a heuristic: for error rates that hold, use a stop with
    ``valid=group_sequential`` or ``valid=anytime`` on a random sample.
    """

    reference: ClassVar[str] = "Ashury Tahan et al. 2024, Algorithm 1, appendix A.3"
    needs: ClassVar[tuple[str, ...]] = ("outputs", "preferences")

    p: float = parameter(0.2, "the risk: the largest probability of such a lead by chance")
    least: int = parameter(5, "how many labels there are at least", minimum=1)
    most: int = parameter(200, "how many labels a pair of models may take", minimum=1)
    models: tuple[str, ...] = parameter((), "the models to compare, two or more; default: all")
    tie: float = parameter(
        0.0, "where scores stand in for preferences: how far apart they are tied", minimum=0.0
    )
    embedding: str = parameter("tfidf", "as in diffuse")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.p < 1.0:
            raise UsageError(f"In diffuse_iterative, p is a risk between 0 and 1, not {self.p:g}.")
        if self.least > self.most:
            raise UsageError("In diffuse_iterative, least is at most as large as most.")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Resolve the models."""
        check_names("model", self.models, data.models)
        names = tuple(sorted(self.models or data.models))
        if len(names) < 2:
            raise DataError("diffuse_iterative compares models, and there are fewer than two.")
        return replace(self, models=names)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=True)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of models that are compared."""
        return list(combinations(self.models, 2))

    def next_round(self, state: State) -> Chosen | Finished:
        """Ask for the next comparisons of every pair that is open."""
        # Of models that left, no more is said.
        open_pairs = [pair for pair in self.pairs if state.withdrawn.isdisjoint(pair)]
        verdicts = [self._verdict(state, pair) for pair in open_pairs]
        budget = state.budget.count_of(len(state.data) * len(self.pairs), "comparisons")
        room = budget - sum(_count_labels(state, pair) for pair in self.pairs)
        rows: list[int] = []
        pairs: list[tuple[str, str]] = []
        for verdict in verdicts:
            if verdict.winner is not None:
                continue
            if len(rows) + len(verdict.next_rows) > room:
                break
            rows += verdict.next_rows
            pairs += [verdict.pair] * len(verdict.next_rows)
        if not rows:
            return _finished(verdicts)
        pair_column = np.empty(len(rows), object)
        pair_column[:] = pairs
        return Chosen(
            rows=np.array(rows, np.int64),
            pairs=pair_column,
            reason="represents a cluster of differences",
            notes=(_HEURISTIC,) if state.number == 1 else (),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Raise UsageError: votes on picked items show who wins, not how good a model is."""
        raise UsageError(
            "diffuse_iterative finds which model wins and gives no scores; use a design such as uniform."
        )

    def _verdict(self, state: State, pair: tuple[str, str]) -> PairVerdict:
        outcome = item_preferences(state, pair, self.tie)
        spent = _count_labels(state, pair)
        past_steps: list[Step] = []
        next_rows: tuple[int, ...] = ()
        labels = 0
        for step in self._steps(state, pair):
            if labels < spent:
                past_steps.append(step)
            labels += len(step.new_points)
            if labels > spent:
                next_rows = step.new_points if labels <= self.most else ()
                break
        current = standing_points(past_steps)
        votes = outcome[current] if len(current) else np.empty(0)
        if np.isnan(votes).any():
            raise DataError(
                f'{int(np.isnan(votes).sum())} comparisons of "{pair[0]}" and "{pair[1]}" are not judged '
                "yet: record the earlier rounds first."
            )
        wins = (int((votes > 0).sum()), int((votes < 0).sum()))
        lead = max(wins)
        chance = float(chance_of_lead(len(state.data), np.array(max(len(votes), 1)), np.array(lead)))
        winner = None
        if len(votes) >= self.least and wins[0] != wins[1] and chance <= self.p:
            winner = pair[0] if wins[0] > wins[1] else pair[1]
        elif spent and not next_rows:
            winner = INCONCLUSIVE
        return PairVerdict(pair, winner, wins, len(votes), chance if len(votes) else 1.0, next_rows)

    def _steps(self, state: State, pair: tuple[str, str]) -> Iterator[Step]:
        view = state.data.take(models=pair)
        key = (
            view.digest(self.reads(view)), pair, self.embedding, file_stamp(self.embedding),
            self.least, self.most, state.seed,
        )  # fmt: skip

        def steps() -> list[Step]:
            vectors, present = embed_outputs(view, self.embedding)
            rows = np.flatnonzero(present.all(axis=1))
            if not len(rows):
                raise DataError(f'"{pair[0]}" and "{pair[1]}" have no outputs for the same item.')
            points = stacked_differences(vectors[rows], present[rows])
            tree = SplitTree(linkage_of(points, view.keys[rows], "ward"), points, view.keys[rows], state.seed)
            return [
                Step(
                    None if step.dropped is None else int(rows[step.dropped]),
                    tuple(int(row) for row in rows[list(step.new_points)]),
                )
                for step in tree.steps(self.least, self.most)
            ]

        # Found again by what they were made from: a campaign reads its data anew for every round.
        yield from _STEPS.get((), key, steps)


def standing_points(steps: list[Step]) -> Ints:
    """Return the points that count after some steps."""
    standing: dict[int, None] = {}
    for step in steps:
        if step.dropped is not None:
            standing.pop(step.dropped, None)
        standing |= dict.fromkeys(step.new_points)
    return np.array(list(standing), np.int64)


def _count_labels(state: State, pair: tuple[str, str]) -> int:
    """Return how many comparisons of a pair the rounds so far asked for."""
    return sum(
        compared == pair
        for selection in state.rounds
        if selection.pairs is not None
        for compared in selection.pairs
    )


def _finished(verdicts: list[PairVerdict]) -> Finished:
    if not verdicts:
        return Finished("the models to compare were withdrawn.", INCONCLUSIVE)
    if len(verdicts) == 1:
        verdict = verdicts[0]
        reason = (
            f"{verdict.votes[0]} to {verdict.votes[1]} of {verdict.judged} labels; by chance such a lead "
            f"has probability {verdict.chance:.2g}."
        )
        return Finished(reason, verdict.winner or INCONCLUSIVE)
    decided = [
        f"{verdict.winner} beats {verdict.pair[1] if verdict.winner == verdict.pair[0] else verdict.pair[0]}"
        for verdict in verdicts
        if verdict.winner not in (None, INCONCLUSIVE)
    ]
    open_pairs = len(verdicts) - len(decided)
    return Finished(
        f"{len(decided)} of {len(verdicts)} pairs have a winner, {open_pairs} are inconclusive.",
        "; ".join(decided) or INCONCLUSIVE,
    )
