"""``allocate``: not every model on every item: effort goes to the models that are still undecided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.base.levels import check_alpha
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.run.rounds.stop.base import after_rounds, look_from, pair_question
from sparingly.run.rounds.stop.rules import chance_to_settle, information_at_end
from sparingly.run.rounds.stop.sequential import (
    Look,
    SettledPairs,
    Spending,
    StopQuestion,
    Valid,
    no_settled_pairs,
    settle_pairs,
)
from sparingly.run.rounds.strategy import Finished, State, asked_cells
from sparingly.run.rounds.wave_estimate import Wave, estimate_waves, results_after_each, wave_result
from sparingly.run.rounds.waves import (
    AUTO,
    CONDITIONAL,
    DrawsInWaves,
    ExpectedSizes,
    draw_wave,
    waves_of,
)

# --- how many items every model gets, by what is still undecided ---

AllocationRule = Literal["elimination", "rank_weighted", "movable"]


def going_on(pairs: SettledPairs, judged: Mask, question: StopQuestion) -> Mask:
    """Return the models that are still judged: those that may be the best, or have an open pair.

    A model that was left out stays out: ``judged`` are those of the last round.
    """
    undecided = pairs.candidates if question == "best" else pairs.open.any(axis=1)
    return np.asarray(undecided & judged)


def rank_weights(look: Look, question: StopQuestion) -> Floats:
    """Return 1/rank for every model.

    Ranks are those of the scores for the best model; to rank all, those of how near the nearest other model
    lies, in standard errors.
    """
    if question == "best":
        order = np.argsort(-look.scores, kind="stable")
    else:
        errors = pair_errors(look.covariance)
        apart = np.abs(look.scores[:, None] - look.scores)
        z = np.divide(apart, errors, out=np.full_like(apart, np.inf), where=errors > 0)
        np.fill_diagonal(z, np.inf)
        order = np.argsort(z.min(axis=1), kind="stable")
    weights = np.empty(len(order))
    weights[order] = 1.0 / np.arange(1, len(order) + 1)
    return weights


def movable_weights(look: Look, deviations: Floats, size: int, question: StopQuestion) -> Floats:
    """Return how far the p-values that judging everything would give can still move, the largest as 1.

    z_full = d̂·√N/s_d is known up to δ = se·√N/s_d (se over this very set, as the look is), so p = Φ(−z_full)
    can still move by Φ(z_full + δ) − Φ(z_full − δ). To rank all, a model counts by the sum over its pairs;
    for the best model, by its pair with the leader, and the leader by the largest of them. ``deviations``
    (models × models) are the s_d over the items, ``size`` is N.
    """
    from scipy.special import ndtr

    scale = np.divide(np.sqrt(size), deviations, out=np.zeros_like(deviations), where=deviations > 0)
    z = (look.scores[:, None] - look.scores) * scale
    room = pair_errors(look.covariance) * scale
    moves = ndtr(z + room) - ndtr(z - room)
    np.fill_diagonal(moves, 0.0)
    if question == "all":
        weights = moves.sum(axis=1)
    else:
        leader = int(np.argmax(look.scores))
        weights = moves[leader].copy()
        weights[leader] = weights.max()
    largest = float(weights.max())
    return np.asarray(weights / largest) if largest > 0 else np.ones(len(weights))


def pair_deviations(labels: Floats) -> Floats:
    """Return the standard deviation of every pair's differences over the items on which both were judged."""
    models = labels.shape[1]
    deviations = np.zeros((models, models))
    for first in range(models):
        differences = labels[:, [first]] - labels
        judged = ~np.isnan(differences)
        count = judged.sum(axis=0)
        mean = np.where(judged, differences, 0.0).sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(judged, differences - mean, 0.0) ** 2).sum(axis=0)
        deviations[first] = np.sqrt(squares / np.maximum(count - 1, 1))
    return deviations


def counts_of(weights: Floats, cells: int, open_items: Floats, floor: float) -> Floats:
    """Return how many items every model is judged on, by its weight, so that ``cells`` are asked for.

    The largest weight counts as 1 and none less than ``floor``; no model gets more than its open items, and
    what it cannot take goes to the others.
    """
    share = np.maximum(weights / max(float(weights.max()), 1e-300), floor)
    low, high = 0.0, float(cells) / float(share.min()) + 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.minimum(share * middle, open_items).sum() <= cells else (low, middle)
    return np.floor(np.minimum(share * low, open_items) + 1e-9)


# --- the strategy ---

BIASED_BY_LABELS = (
    "how often a model was judged followed its own labels: scores may be biased by up to a third of a "
    "standard error; rule=elimination with folds has none of it."
)
# A wave of fewer items for a model tells nothing of its error.
FEWEST = 2


@register("allocate")
@dataclass(frozen=True, kw_only=True)
class Allocate(DrawsInWaves):
    """A uniform pilot of all models, then waves in which only undecided models are judged.

    ``elimination``: a model j is judged while it is in reach of the best (no k with μ̂_k − μ̂_j > c·se_jk) or,
    to rank all, has a pair that is not settled; c holds for all looks and comparisons at once. For a
    population, a pair that is not likely to be settled by the rest of the budget does not count. Models that
    go on are judged on the same items, whose chances are learned as in ``waves`` where there are metrics.
    Items are dealt into ``folds``, and the labels of the other folds decide which models are judged on a
    fold's items: so no score is biased because its model was left out.
    ``rank_weighted``: every model is judged on a share of the items, share = 1/rank of the first one's.
    ``movable``: by how far the p-values that judging everything would give can still move. Every cell keeps
    its chance, and scores come from each model's own waves, as in ``waves``, with joint covariances.

    Use it when many models are compared and few are close: labels go where they can still change the answer.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Even-Dar, Mannor and Mansour 2006; Maurer and Bretz 2013; Dunnett 1955"
    gives_scores: ClassVar[bool] = True

    rule: AllocationRule = parameter("elimination", "how effort is allocated")  # noqa: RUF009 - a field
    goal: Literal["best", "all"] = parameter("all", "what is to be found: the best model, or all ranks")
    waves: int = parameter(8, "the number of waves, the pilot included", minimum=2)
    pilot: float = parameter(0.25, "the share of the budget in which all models are judged first")
    regressor: str | None = parameter(
        AUTO, "what learns: ridge, boosting, knn …; none; auto takes what there is"
    )
    tau: float | None = parameter(
        None, "how much probabilities depend on size; found from the labels unless given"
    )
    draw: Literal["pivotal", "local_pivotal"] = parameter("pivotal", "how items are drawn")
    folds: int = parameter(
        4, "by elimination: how many folds items are dealt into; the labels of the others decide", minimum=1
    )
    floor: float = parameter(0.1, "by weights: the least share of the items for any model")
    alpha: float = parameter(0.05, "the error rate at which models are left out")
    valid: Valid = parameter("group_sequential", "how repeated looks are accounted for")  # noqa: RUF009
    spending: Spending = parameter("even", "of group_sequential: evenly, or most at the end")  # noqa: RUF009
    target: Literal["population", "set"] = parameter("population", "what the answer is about")
    chance: float = parameter(
        0.1,
        "for a population: the smallest probability of being decided by the rest of the budget that is "
        "worth judging",
    )

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Choose the regressor; raise UsageError for parameters that do not fit."""
        resolved = super().resolve(data, aspect, budget)
        if not 0.0 < self.floor <= 1.0:
            raise UsageError(f"The floor is a share above 0, such as 0.1, not {self.floor:g}.")
        check_alpha(self.alpha)
        if not 0.0 <= self.chance < 1.0:
            raise UsageError(f"chance is a probability between 0 and 1, such as 0.1, not {self.chance:g}.")
        return resolved

    def next_round(self, state: State) -> Chosen | Finished:
        """Judge the models that are still undecided on further items."""
        if not state.rounds:
            size = self.pilot_size(state) if state.size is None else state.size
            count = min(size, state.left // len(state.data.models))
            if count < 1:
                return Finished("the budget is spent.")
            chances = np.full(len(state.data), count / len(state.data))
            rows = np.flatnonzero(draw_wave(self.draw, state, np.arange(len(state.data)), chances))
            reason = "drawn uniformly for the pilot of all models"
            return Chosen(rows=rows, probability=chances[rows], reason=reason)
        history = self.history(state)
        looks = self.looks(state, history)
        pairs = self._settled_pairs(looks, state)
        if self.rule == "elimination":
            fold = self._fold(state)
            going = np.stack(
                [self._going(state, history, fold, number) for number in range(int(fold.max()) + 1)]
            )
            if (going.sum(axis=1) < 2).all():
                return _finish(state, pairs, self.goal)
            return self._same_items(state, history, fold, going)
        if (self.goal == "best" and pairs.candidates.sum() == 1) or not pairs.open.any():
            return _finish(state, pairs, self.goal)
        return self._own_items(state, history, looks[-1])

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set, every model from its own waves."""
        history, reads = self.history(state), self.reads(state.data)
        result = estimate_waves(state, history, self, reads, self._fold(state), **options)
        without_folds = self.rule != "elimination" or self.folds == 1
        depends_on_labels = without_folds and bool(np.ptp(state.asked.sum(axis=0)) > 0)
        return replace(result, notes=(*result.notes, BIASED_BY_LABELS)) if depends_on_labels else result

    def history(self, state: State) -> list[Wave]:
        """Return the waves so far, each with predictions from the earlier ones."""
        return waves_of(state, self.regressor, with_items=self.rule != "elimination")

    def looks(self, state: State, history: list[Wave]) -> list[Look]:
        """Return the look after every round."""
        looks = []
        for count, (combined, _, errors, _) in enumerate(results_after_each(state, history, self.target), 1):
            state_then = after_rounds(state, count)
            if not np.isnan(state_then.labels).all():
                looks.append(
                    look_from(combined.scores, errors.covariance, errors.freedom, self.target, state_then)
                )
        return looks

    def _fold(self, state: State) -> Ints:
        """Return the fold of every item, drawn at random; 0 for all where no model is left out by labels."""
        folds = min(self.folds, len(state.rounds[0])) if self.rule == "elimination" and state.rounds else 1
        # The pilot is dealt out first, so that every fold has its share of it.
        first = asked_cells(state.data, state.rounds[:1]).any(axis=1)
        order = np.lexsort((rng.uniforms(state.data.keys, state.seed, "fold"), ~first))
        fold = np.empty(len(order), np.int64)
        fold[order] = np.arange(len(order)) % folds
        return fold

    def _going(self, state: State, history: list[Wave], fold: Ints, number: int) -> Mask:
        """Return the models that are still judged in a fold, by the labels of the others."""
        visible = state
        if fold.any():
            labels = np.where((fold == number)[:, None], np.nan, state.labels)
            visible = replace(state, data=state.data.with_aspect(state.aspect, labels))
        looks = self.looks(visible, history)
        pairs = self._settled_pairs(looks, visible)
        last_cells = asked_cells(state.data, state.rounds[-1:])[fold == number]
        going = going_on(pairs, last_cells.any(axis=0), self.goal)
        if self.chance <= 0.0 or self.target == "set" or not looks or not looks[-1].tells:
            return going
        # Those with an open pair that the rest of the budget is likely enough to settle.
        open_pairs = pairs.open
        if self.goal == "best":
            open_pairs = open_pairs & pairs.candidates[:, None] & pairs.candidates
        chances = chance_to_settle(
            looks,
            pairs,
            open_pairs,
            information_at_end(visible, self.target),
            self.alpha,
            self.valid,
            pair_deviations(visible.labels) / np.sqrt(len(state.data)),
            spending=self.spending,
        )
        worth = np.asarray(going & (open_pairs & (chances >= self.chance)).any(axis=1))
        # Where nothing is likely to be settled any more, nothing is gained by leaving some out.
        return worth if worth.sum() > 1 else going

    def _settled_pairs(self, looks: list[Look], state: State) -> SettledPairs:
        if not looks:
            return no_settled_pairs(len(state.data.models), self.alpha)
        return settle_pairs(looks, self.alpha, self.valid, question=pair_question(self.goal, self.target))

    def _cells(self, state: State, going: int) -> int:
        """Return how many outputs the next wave may ask for."""
        if state.size is not None:
            return min(state.size * going, state.left)
        return -(-state.left // max(self.waves - len(state.rounds), 1))

    def _same_items(self, state: State, history: list[Wave], fold: Ints, going: Mask) -> Chosen | Finished:
        """Draw items of every fold on which all models that go on there (folds × models) are judged."""
        open_rows, continuing = np.asarray(~state.asked.any(axis=1)), np.asarray(going.any(axis=0))
        counts = going.sum(axis=1)
        active = [
            number for number in range(len(going)) if counts[number] > 1 and open_rows[fold == number].any()
        ]
        sizes = ExpectedSizes(np.ones(len(state.data)), 0.0)
        if active and not self.in_pilot(state):
            sizes = self.sizes(state, history, continuing, "ranking")
        cells = self._cells(state, int(counts.max()))
        rows, chance, row_models = list[Ints](), list[Floats](), list[tuple[str, ...]]()
        # What a fold cannot use goes to the next one; another fold comes first in every round.
        for turn in range(len(active)):
            number = active[(turn + state.number) % len(active)]
            inside = np.flatnonzero(open_rows & (fold == number))
            count = min(-(-cells // (len(active) - turn)) // int(counts[number]), len(inside))
            if count < 1:
                continue
            chances = sizes.chances(inside, count)
            drawn_rows = draw_wave(self.draw, state, inside, chances, number if len(going) > 1 else None)
            rows.append(inside[drawn_rows])
            chance.append(chances[drawn_rows])
            row_models += [tuple(compress(state.data.models, going[number]))] * int(drawn_rows.sum())
            cells -= count * int(counts[number])
        all_rows = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        if len(all_rows) < min(FEWEST, max(int(open_rows.sum()), 1)):
            return Finished(
                "the budget is spent." if open_rows.any() else "every item was judged or assigned."
            )
        order = np.argsort(all_rows, kind="stable")
        models = np.empty(len(all_rows), object)
        models[:] = row_models
        return Chosen(
            rows=all_rows[order],
            probability=np.concatenate(chance)[order],
            models=None if going.all() else models[order],
            reason=f"drawn for {int(continuing.sum())} of {len(continuing)} models that are still undecided",
            notes=(CONDITIONAL,),
        )

    def _own_items(self, state: State, history: list[Wave], look: Look) -> Chosen | Finished:
        """Draw items for every model from its own open ones, the same for all models as far as possible."""
        open_items = (~state.asked).sum(axis=0).astype(np.float64)
        if self.rule == "rank_weighted":
            weights = rank_weights(look, self.goal)
        else:
            result = wave_result(state, history, "set")
            set_look = look_from(result.combined.scores, result.errors.covariance, 1.0, "set", state)
            weights = movable_weights(set_look, pair_deviations(state.labels), len(state.data), self.goal)
        cells = self._cells(state, int((open_items > 0).sum()))
        counts = counts_of(weights, cells, open_items, self.floor)
        if not counts.any() or (counts < np.minimum(FEWEST, open_items)).any():
            return Finished(
                "the budget is spent." if open_items.any() else "every item was judged or assigned."
            )
        # All models go along one random order, each as far as it gets.
        places = rng.uniforms(state.data.keys, state.seed, f"wave {state.number}")
        item_order = np.argsort(places, kind="stable")
        drawn_cells: Mask = np.zeros(state.asked.shape, bool)
        for model, count in enumerate(counts.astype(np.int64)):
            drawn_cells[item_order[~state.asked[item_order, model]][:count], model] = True
        chances = counts / np.maximum(open_items, 1.0)
        # A row for every item and chance: models of one chance share it.
        rows, row_models, probability = list[int](), list[tuple[str, ...]](), list[float]()
        for value in np.unique(chances[drawn_cells.any(axis=0)]):
            inside = drawn_cells & (chances == value)
            for row in np.flatnonzero(inside.any(axis=1)):
                rows.append(int(row))
                row_models.append(tuple(compress(state.data.models, inside[row])))
                probability.append(float(value))
        order = np.argsort(rows, kind="stable")
        models = np.empty(len(rows), object)
        models[:] = row_models
        return Chosen(
            rows=np.array(rows)[order],
            probability=np.array(probability)[order],
            models=models[order],
            reason=f"drawn for some models, by {self.rule}",
            notes=(CONDITIONAL,),
        )


def _finish(state: State, pairs: SettledPairs, goal: str) -> Finished:
    if goal == "best" and pairs.candidates.sum() == 1:
        best = state.data.models[int(np.argmax(pairs.candidates))]
        return Finished(f"{best} is the best model.", best)
    return Finished("no pair of models that is still judged is open.")
