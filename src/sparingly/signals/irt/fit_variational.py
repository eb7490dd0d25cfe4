"""The variational fit: the normal distributions that maximise the evidence lower bound.

Items and abilities are independent of each other (mean field). The three parameters of one item are jointly
normal, because the scores of a dozen models leave them strongly correlated, and three independent ones would
come out far too sure. How sure abilities are, and items through them, is found afterwards (``posterior``).
"""

from __future__ import annotations

import numpy as np

from sparingly.signals.irt.averaged import NormalItems, Normals
from sparingly.signals.irt.climb import Climb, Patience, climb
from sparingly.signals.irt.fit_map import BLOCK, climb_points
from sparingly.signals.irt.point import PointItems
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared, SharedObjective

_START = Patience(rounds=20, steps=3, enough=1e-4, gain=1e-5)
_SETTLED = Patience(rounds=12, steps=3, enough=1e-3, gain=1e-3)


def climb_normals(responses: Responses, priors: Priors, patience: Patience = _SETTLED) -> Climb[Normals]:
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
