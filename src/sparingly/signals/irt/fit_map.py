"""The fast fit: the most probable parameters (maximum a posteriori)."""

from __future__ import annotations

import numpy as np

from sparingly.signals.irt.climb import Climb, Patience, climb
from sparingly.signals.irt.point import PointItems, Points
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared, SharedObjective
from sparingly.signals.irt.start import mirrored, moment_start

BLOCK = 2048
_SETTLED = Patience(rounds=60, steps=3, enough=1e-6, gain=1e-7)
_FIRST_STEPS = 8
_ROUGHLY = 1e-2
_LOOKS = 1
# An item turns its curve round when that gains at least this much.
_WORTH_TURNING = 1e-3


def climb_points(responses: Responses, priors: Priors, patience: Patience = _SETTLED) -> Climb[Points]:
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
    states, _ = _turned(items, blocks, states, shared)
    found = climb(items, blocks, states, shared, objective, patience)
    for _ in range(_LOOKS):
        states, any_turned = _turned(items, blocks, found.states, found.shared)
        if not any_turned:
            break
        found = climb(items, blocks, states, found.shared, objective, patience)
    return found


def _turned(
    items: PointItems, blocks: list[Responses], states: list[Points], shared: Shared
) -> tuple[list[Points], bool]:
    """Turn the curves of items that are better off so, and say whether there were any."""
    better: list[Points] = []
    any_turned = False
    for block, state in zip(blocks, states, strict=True):
        other, _ = items.improve(block, mirrored(state, shared), shared, _FIRST_STEPS, _ROUGHLY)
        gain = items.objectives(block, state, shared) - items.objectives(block, other, shared)
        turns = gain > _WORTH_TURNING
        any_turned = any_turned or bool(turns.any())
        better.append(
            Points(np.where(turns, other.values, state.values), np.where(turns, other.damping, state.damping))
        )
    return better, any_turned
