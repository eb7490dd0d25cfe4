"""What all items share, abilities and noise, and the Newton step that sees through to the items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Mask
from sparingly.published.irt.model import Priors, Responses

# --- systems of three unknowns, one per item, solved for all items at once ---
# A symmetric matrix is kept as its six entries (00, 01, 02, 11, 12, 22), a lower triangular one as
# (00, 10, 20, 11, 21, 22); each entry is an array over items.


DIAGONAL = [0, 3, 5]


def cholesky(matrix: Floats) -> Floats:
    """Return the lower triangular root of symmetric positive matrices."""
    root = np.empty_like(matrix)
    root[0] = np.sqrt(matrix[0])
    root[1] = matrix[1] / root[0]
    root[2] = matrix[2] / root[0]
    root[3] = np.sqrt(matrix[3] - root[1] * root[1])
    root[4] = (matrix[4] - root[2] * root[1]) / root[3]
    root[5] = np.sqrt(matrix[5] - root[2] * root[2] - root[4] * root[4])
    return root


def forward(root: Floats, right: Floats) -> Floats:
    """Solve ``root · x = right``; the right side is 3 x items, or 3 x columns x items."""
    solved = np.empty_like(right)
    solved[0] = right[0] / root[0]
    solved[1] = (right[1] - root[1] * solved[0]) / root[3]
    solved[2] = (right[2] - root[2] * solved[0] - root[4] * solved[1]) / root[5]
    return solved


def backward(root: Floats, right: Floats) -> Floats:
    """Solve ``rootᵀ · x = right``."""
    solved = np.empty_like(right)
    solved[2] = right[2] / root[5]
    solved[1] = (right[1] - root[4] * solved[2]) / root[3]
    solved[0] = (right[0] - root[1] * solved[1] - root[2] * solved[2]) / root[0]
    return solved


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of symmetric positive matrices."""
    root = cholesky(matrix)
    columns = np.zeros((3, 3, matrix.shape[1]))
    columns[[0, 1, 2], [0, 1, 2]] = 1.0
    solved = backward(root, forward(root, columns))
    return np.stack([solved[0, 0], solved[0, 1], solved[0, 2], solved[1, 1], solved[1, 2], solved[2, 2]])


def is_positive(matrix: Floats, minimum: float) -> NDArray[np.bool_]:
    """Say which symmetric matrices are safely positive: no two unknowns are bound nearly rigidly.

    Scaled to a unit diagonal, every minor of two unknowns must exceed ``minimum`` and the determinant its
    square.
    """
    diagonal = matrix[DIAGONAL]
    positive = (diagonal > 0.0).all(axis=0)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    first, second, third = (
        matrix[1] / (scale[0] * scale[1]),
        matrix[2] / (scale[0] * scale[2]),
        matrix[4] / (scale[1] * scale[2]),
    )
    largest = np.maximum(np.maximum(first * first, second * second), third * third)
    determinant = 1.0 + 2.0 * first * second * third - first * first - second * second - third * third
    return np.asarray(positive & (largest < 1.0 - minimum) & (determinant > minimum * minimum))


# --- what all items share, and its Newton step ---
# The objective is a sum over items, each of which depends on its own three parameters x and on the shared
# ones w. Its matrix of second derivatives is an arrow: 3 x 3 blocks H along the diagonal, one border B per
# item, and a small corner D. Eliminating the items leaves the corner minus Σ Bᵀ H⁻¹ B, with as many rows as
# there are models: one step costs a few passes over the data and no more memory than a block of items.


_LARGEST_STEP = 0.7
_LEAST_CURVATURE = 1e-6
_LEAST_BEND = 1e-3


@dataclass(frozen=True, eq=False)
class Shared:
    """The shared parameters."""

    ability: Floats  # θ of every model (the mean of its distribution in the variational fit)
    ability_sd: Floats  # the standard deviation of that distribution; zeros in a fit of points
    log_noise: float  # the logarithm of the noise s


@dataclass(frozen=True, eq=False)
class Local:
    """The log-likelihood of every item of a block and its derivatives, averaged where items are uncertain."""

    value: Floats  # per item
    squares: Floats  # the squared residuals, per item
    slope: Floats  # the first derivatives with respect to (logit c, a, b), 3 x items
    curvature: Floats  # minus the second ones, 6 x items
    slope_ability: Floats  # the first derivative with respect to θ, models x items
    # Minus the mixed derivatives of θ and (logit c, a, b), 3 x models x items. The last of them is also the
    # second derivative by θ itself, because only θ − b enters.
    cross: Floats

    def replace_where(self, source: Local, mask: Mask) -> None:
        """Overwrite the numbers of some items by those that another evaluation gave them."""
        for mine, theirs in zip(vars(self).values(), vars(source).values(), strict=True):
            np.copyto(mine, theirs, where=mask)

    def put_few(self, source: Local, items: NDArray[np.intp]) -> None:
        """Overwrite the numbers of a few items by those of these items alone."""
        for mine, theirs in zip(vars(self).values(), vars(source).values(), strict=True):
            mine[..., items] = theirs


@dataclass(frozen=True, eq=False)
class Sums:
    """What the shared parameters need to know of the items, summed over them."""

    objective: float  # what is minimised, over the items
    curvature: Floats  # the second derivatives in the shared parameters once the items have followed
    corner: Floats  # the same while the items stand still
    slope: Floats  # minus the first derivatives once the items have followed

    def __add__(self, sums: Sums) -> Sums:
        pairs = zip(vars(self).values(), vars(sums).values(), strict=True)
        return Sums(*(mine + theirs for mine, theirs in pairs))


def summed(
    responses: Responses, shared: Shared, local: Local, slope: Floats, precision: Floats, objective: Floats
) -> Sums:
    """Eliminate a block of items.

    ``slope`` is minus the gradient of the objective in the items' parameters, ``precision`` its second
    derivatives (positive), priors included in both; ``objective`` has a value for every item.
    """
    # The second and minus the first derivatives in the shared parameters, items standing still, and the
    # mixed ones, 3 x shared x items.
    direct = local.slope_ability.sum(axis=1)
    corner = np.diag(-local.cross[2].sum(axis=1))
    mixed = local.cross
    if responses.response == "continuous":
        squares = local.squares.sum() * np.exp(-2.0 * shared.log_noise)
        corner = np.pad(corner, (0, 1))
        # The likelihood falls with s², so a derivative with respect to log s is minus twice the one without.
        corner[:-1, -1] = corner[-1, :-1] = 2.0 * direct
        corner[-1, -1] = 2.0 * squares
        direct = np.append(direct, squares - responses.count)
        mixed = np.concatenate([mixed, 2.0 * local.slope[:, None, :]], axis=1)
    root = cholesky(precision)
    border, inner = forward(root, mixed), forward(root, slope)
    return Sums(
        objective=float(objective.sum()),
        curvature=corner - sum(part @ part.T for part in border),
        corner=corner,
        slope=direct - sum(part @ column for part, column in zip(border, inner, strict=True)),
    )


class SharedObjective:
    """The part of the objective that belongs to the shared parameters, and the steps in them."""

    def __init__(self, responses: Responses, priors: Priors, uncertain: bool) -> None:
        self._priors, self._uncertain = priors, uncertain
        self._noisy = responses.response == "continuous"

    def value(self, shared: Shared) -> float:
        """Return minus the log prior of abilities and noise (minus their entropy in the variational fit)."""
        mean, sd = self._priors.ability
        deviation = (shared.ability - mean) / sd
        value = 0.5 * float(deviation @ deviation)
        if self._uncertain:
            width = shared.ability_sd / sd
            value += float((0.5 * (width * width - 1.0) - np.log(width)).sum())
        if self._noisy:
            value += self._priors.noise_weight * shared.log_noise + 0.5 * self._believed(shared)
        return value

    def slope(self, shared: Shared) -> Floats:
        """Return minus the derivatives of that part."""
        mean, sd = self._priors.ability
        slope = -(shared.ability - mean) / (sd * sd)
        return np.append(slope, self._believed(shared) - self._priors.noise_weight) if self._noisy else slope

    def _believed(self, shared: Shared) -> float:
        """Return the squared residuals that the belief about the noise is worth, in units of the noise."""
        weight, noise = self._priors.noise_weight, self._priors.noise
        return float(weight * noise * noise * np.exp(-2.0 * shared.log_noise))

    def with_priors(self, sums: Sums, shared: Shared) -> Sums:
        """Add the derivatives of that part to those of the items."""
        models = len(shared.ability)
        corner = np.zeros(sums.corner.shape)
        corner[range(models), range(models)] = self._priors.ability[1] ** -2.0
        if self._noisy:
            corner[-1, -1] = 2.0 * self._believed(shared)
        return Sums(
            sums.objective + self.value(shared),
            sums.curvature + corner,
            sums.corner + corner,
            sums.slope + self.slope(shared),
        )

    def moved(self, shared: Shared, sums: Sums, damping: float) -> Shared:
        """Return the shared parameters after a Newton step; the sds of abilities follow the curvature."""
        step = newton_step(sums, damping)
        models = len(shared.ability)
        sd = shared.ability_sd
        if self._uncertain:
            # Far from the optimum a curvature can be negative; the data never say less than the prior.
            min_precision = self._priors.ability[1] ** -2.0
            scale = 1.0 / np.sqrt(np.maximum(sums.corner.diagonal()[:models], min_precision))
            sd = sd * (scale / sd) ** (0.5 / (1.0 + damping))
        noise = shared.log_noise + (float(step[-1]) if self._noisy else 0.0)
        return Shared(shared.ability + step[:models], sd, noise)


def newton_step(sums: Sums, damping: float) -> Floats:
    """Return the step to the optimum of the quadratic that the sums describe, held back by the damping.

    Where the objective bends downwards the step goes as far as it would if it bent upwards as strongly.
    """
    scale = np.sqrt(np.maximum(sums.corner.diagonal(), _LEAST_CURVATURE))
    bends, directions = np.linalg.eigh(sums.curvature / np.outer(scale, scale))
    along = directions.T @ (sums.slope / scale)
    step = directions @ (along / (np.maximum(np.abs(bends), _LEAST_BEND) + damping)) / scale
    return np.asarray(step * min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), _LARGEST_STEP)))
