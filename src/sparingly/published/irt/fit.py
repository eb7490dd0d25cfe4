"""The fits, MAP and variational: where they start, how they climb, and from scores to a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Generic, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import DataError
from sparingly.base.progress import report_progress
from sparingly.published.irt.abilities import DIAGONAL, Shared, SharedObjective, Sums, inverse
from sparingly.published.irt.items import ItemFit, ItemPoints, NormalItems, Normals, PointItems, State
from sparingly.published.irt.model import (
    FitMethod,
    IrtFit,
    Parameters,
    Priors,
    Response,
    Responses,
    as_responses,
    default_priors,
)

_DAMPING = 0.1
_NOISE = 0.15


def moment_start(responses: Responses, priors: Priors) -> tuple[ItemPoints, Shared]:
    """Return items and abilities that reproduce the mean response of every item and of every model.

    The logit of an item's mean, measured against where its curve levels off, is how far its difficulty lies
    below the typical ability; the spread of these logits over items is the typical discrimination, since
    difficulties have a standard deviation of 1.
    """
    # The mean response of every item, with one response of the grand mean added.
    grand = responses.values.sum() / responses.count
    level = np.asarray((responses.values.sum(axis=0) + grand) / (responses.per_item() + 1.0))
    typical_top = float(1.0 / (1.0 + np.exp(-priors.logit_feasibility[0])))
    top = np.clip(typical_top, (1.0 + level) / 2.0, 0.995)
    share = np.clip(level / top, 0.02, 0.98)
    logit = np.log(share / (1.0 - share))
    discrimination = float(np.clip(logit.std() / priors.difficulty[1], 0.3, 3.0))
    typical = logit.mean()
    steepness = max(float((top * share * (1.0 - share)).mean()), 0.02)
    # How far every model is above the level of the items that it answered.
    above = responses.values - level
    if responses.present is not None:
        above *= responses.present
    model_level = above.sum(axis=1) / np.maximum(responses.per_model(), 1.0)
    ability = (typical + model_level / steepness) / discrimination
    difficulty = (typical - logit) / discrimination
    values = np.stack([np.log(top / (1.0 - top)), np.full(len(level), discrimination), difficulty])
    shared = Shared(ability, np.zeros(len(ability)), float(np.log(_NOISE)))
    return ItemPoints(values, np.full(len(level), _DAMPING)), shared


def mirrored(start: ItemPoints, shared: Shared) -> ItemPoints:
    """Return the same items with curves that fall where they rose, through the same typical response.

    An item on which better models do worse has its optimum at a negative discrimination, and between the two
    signs lies a flat curve of half the height that no small step crosses.
    """
    logit, discrimination, difficulty = start.values
    mirror = np.stack([logit, -0.5 * discrimination, 2.0 * shared.ability.mean() - difficulty])
    return ItemPoints(mirror, np.full(len(logit), _DAMPING))


# --- the loop of both fits ---


@dataclass(frozen=True)
class Climb(Generic[State]):
    """Where a fit stands."""

    states: list[State]  # the items, block by block
    shared: Shared
    sums: Sums  # what was summed over the items at the shared parameters, priors included
    rounds: int  # how many rounds it took to get there


@dataclass(frozen=True)
class ClimbPatience:
    """When to stop."""

    rounds: int  # at most so many steps of the shared parameters
    steps: int  # steps of the items in a round
    enough: float  # the items rest until the next round when none moves further, in prior standard deviations
    gain: float  # stop when a round gains less than this per item


def climb(
    items: ItemFit[State],
    blocks: list[Responses],
    states: list[State],
    shared: Shared,
    objective: SharedObjective,
    patience: ClimbPatience,
) -> Climb[State]:
    """Improve items and shared parameters in turn until a round gains next to nothing."""

    def sweep(states: list[State], shared: Shared) -> tuple[list[State], Sums]:
        moved = [
            items.improve(block, state, shared, patience.steps, patience.enough)
            for block, state in zip(blocks, states, strict=True)
        ]
        sums = reduce(add, (sums for _, sums in moved))
        return [state for state, _ in moved], objective.with_priors(sums, shared)

    states, sums = sweep(states, shared)
    little = patience.gain * sum(block.shape[1] for block in blocks)
    damping, rounds = 0.0, 0
    while rounds < patience.rounds:
        report_progress(rounds, patience.rounds)
        rounds += 1
        trial = objective.moved(shared, sums, damping)
        trial_states, trial_sums = sweep(states, trial)
        gain = sums.objective - trial_sums.objective
        if gain >= -1e-10 * abs(sums.objective):
            states, shared, sums = trial_states, trial, trial_sums
            # A step that was held back gains little wherever it is taken.
            if gain < little and damping == 0.0:
                break
            damping = 0.0 if damping < 0.05 else 0.3 * damping
        else:
            damping = 10.0 * max(damping, 1e-2)
            if damping > 1e6:
                break
    return Climb(states, shared, sums, rounds)


# --- the fast fit ---


BLOCK = 2048
_MAP_PATIENCE = ClimbPatience(rounds=60, steps=3, enough=1e-6, gain=1e-7)
_FIRST_STEPS = 8
_ROUGHLY = 1e-2
_LOOKS = 1
# An item turns its curve round when that gains at least this much.
_WORTH_TURNING = 1e-3


def climb_points(
    responses: Responses, priors: Priors, patience: ClimbPatience = _MAP_PATIENCE
) -> Climb[ItemPoints]:
    """Find the parameters at which the posterior density is highest near where the moments point.

    Every item is first fitted twice at the abilities of the start, once with a rising and once with a falling
    curve, and goes on with the better one. Once abilities have settled, items may turn their curves round
    again, and all goes on from there.
    """
    items = PointItems(priors)
    objective = SharedObjective(responses, priors, uncertain=False)
    start, shared = moment_start(responses, priors)
    blocks = list(responses.blocks(BLOCK))
    states = [start.take(slice(first, first + BLOCK)) for first in range(0, responses.shape[1], BLOCK)]
    states = [
        items.improve(block, state, shared, _FIRST_STEPS, _ROUGHLY)[0]
        for block, state in zip(blocks, states, strict=True)
    ]
    states, _ = _mirror_items(items, blocks, states, shared)
    result = climb(items, blocks, states, shared, objective, patience)
    for _ in range(_LOOKS):
        states, any_turned = _mirror_items(items, blocks, result.states, result.shared)
        if not any_turned:
            break
        result = climb(items, blocks, states, result.shared, objective, patience)
    return result


def _mirror_items(
    items: PointItems, blocks: list[Responses], states: list[ItemPoints], shared: Shared
) -> tuple[list[ItemPoints], bool]:
    """Turn the curves of items that are better off so, and say whether there were any."""
    better: list[ItemPoints] = []
    any_turned = False
    for block, state in zip(blocks, states, strict=True):
        mirror, _ = items.improve(block, mirrored(state, shared), shared, _FIRST_STEPS, _ROUGHLY)
        gain = items.objectives(block, state, shared) - items.objectives(block, mirror, shared)
        turns = gain > _WORTH_TURNING
        any_turned = any_turned or bool(turns.any())
        values = np.where(turns, mirror.values, state.values)
        better.append(ItemPoints(values, np.where(turns, mirror.damping, state.damping)))
    return better, any_turned


# --- the variational fit ---
# ItemFit and abilities are independent of each other (mean field). The three parameters of one item are
# jointly normal, because the scores of a dozen models leave them strongly correlated, and three independent
# ones would come out far too sure. How sure abilities are, and items through them, is found afterwards
# (``posterior``).


_START = ClimbPatience(rounds=20, steps=3, enough=1e-4, gain=1e-5)
_VARIATIONAL_PATIENCE = ClimbPatience(rounds=12, steps=3, enough=1e-3, gain=1e-3)


def climb_normals(
    responses: Responses, priors: Priors, patience: ClimbPatience = _VARIATIONAL_PATIENCE
) -> Climb[Normals]:
    """Maximise the bound, starting from the most probable parameters and the curvature there."""
    points = climb_points(responses, priors, _START)
    blocks = list(responses.blocks(BLOCK))
    curved = PointItems(priors)
    states = [
        Normals(state.values, curved.precision(block, state, points.shared), np.zeros(len(state.damping)))
        for block, state in zip(blocks, points.states, strict=True)
    ]
    models = len(points.shared.ability)
    sds = 1.0 / np.sqrt(points.sums.corner.diagonal()[:models])
    shared = Shared(points.shared.ability, sds, points.shared.log_noise)
    objective = SharedObjective(responses, priors, uncertain=True)
    return climb(NormalItems(priors), blocks, states, shared, objective, patience)


# --- from scores to a fitted model ---


@dataclass(frozen=True, eq=False)
class FitInput:
    """The responses of items and models that have a score, which ones these are, and the priors."""

    responses: Responses
    priors: Priors
    items: Mask
    models: Mask

    @classmethod
    def from_scores(
        cls,
        scores: Floats,
        response: Response,
        threshold: float | None,
        priors: Priors | None,
        *,
        scale: bool,
    ) -> Self:
        """Return what is fitted; a set without any score is an error."""
        scored = ~np.isnan(scores)
        items, models = np.asarray(scored.any(axis=1)), np.asarray(scored.any(axis=0))
        if not items.any():
            raise DataError("Item response theory needs scores, and there are none.")
        present = np.asarray(scores[np.ix_(items, models)], np.float64)
        responses = as_responses(present, response, threshold, scale=scale)
        return cls(responses, priors or default_priors(response), items, models)

    def spread_out(self, values: Floats, ability: Floats) -> Parameters:
        """Put the parameters of scored items and models in their places, NaN elsewhere."""
        all_items, abilities = np.full((3, len(self.items)), np.nan), np.full(len(self.models), np.nan)
        all_items[:, self.items], abilities[self.models] = values, ability
        logit, discrimination, difficulty = all_items
        return Parameters(discrimination, difficulty, logit, abilities)

    def noise_of(self, shared: Shared) -> float | None:
        """Return the standard deviation of the noise; success and failure have none."""
        return float(np.exp(shared.log_noise)) if self.responses.response == "continuous" else None


def fit_irt(
    scores: Floats,
    *,
    method: FitMethod = "variational",
    response: Response = "continuous",
    threshold: float | None = None,
    priors: Priors | None = None,
    scale: bool = True,
) -> IrtFit:
    """Fit items and models to scores, items x models with NaN where missing.

    The response is r̂ = c σ(a (θ − b)) (Zouhar et al. 2025, eq. 7 and 8): of the scores scaled to 0–1 with
    normal noise, or of success, which is a score above the threshold (their median unless given). Without
    ``scale`` the scores are taken as they are.

    Nothing is drawn: the same scores give the same fit, and no order of items or models matters.
    """
    scored = FitInput.from_scores(scores, response, threshold, priors, scale=scale)
    if method == "variational":
        return variational_fit(scored, climb_normals(scored.responses, scored.priors))
    points = climb_points(scored.responses, scored.priors)
    values = np.concatenate([state.values for state in points.states], axis=1)
    estimates, noise = scored.spread_out(values, points.shared.ability), scored.noise_of(points.shared)
    return IrtFit(response, method, estimates, noise, -points.sums.objective, scored.priors)


def variational_fit(scored: FitInput, normals: Climb[Normals]) -> IrtFit:
    """Return the fitted model that the variational distributions stand for."""
    shared = normals.shared
    mean = np.concatenate([state.mean for state in normals.states], axis=1)
    sd = np.concatenate([np.sqrt(inverse(state.precision)[DIAGONAL]) for state in normals.states], axis=1)
    return IrtFit(
        scored.responses.response,
        "variational",
        scored.spread_out(mean, shared.ability),
        scored.noise_of(shared),
        -normals.sums.objective,
        scored.priors,
        sds=scored.spread_out(sd, shared.ability_sd),
    )
