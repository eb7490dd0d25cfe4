"""Ridge regression on cells, with an intercept per model and the penalty judged by leaving out whole items.

min over β, a, d of Σ_ij w_ij (y_ij − a − d_j − x_ij·β)² + κ Σ_j d_j² + λ ‖β‖²

Leaving out item i changes its residuals r_i to (I − H_i)⁻¹ r_i, where H_i is the item's block of the hat
matrix (Allen 1974, PRESS, for a group of rows): one eigendecomposition serves every penalty, exactly, and the
cells of one item, which share its difficulty, never predict each other.

Instead of the best penalty alone, all that are nearly as good take part: with D_λ the loss of λ minus that of
the best and s_λ its standard error over items, coefficients are averaged with weights exp(−½ (D_λ/s_λ)²). The
infinite penalty (intercepts only) is among them, so that useless metrics are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats

# How many labels the prior of each model's intercept (the common one) counts for.
PRIOR_LABELS = 1.0
# In units of the mean eigenvalue of the features' cross product.
PENALTIES = tuple(float(10.0**power) for power in np.arange(-3.0, 3.01, 0.5))
_ZERO_ENERGY = 1e-10


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A fitted ridge."""

    coefficients: Floats  # one per feature
    intercepts: Floats  # one per model
    parameters: float  # the trace of the hat matrix, which counts the parameters that were really free
    # The residual of every cell when its item is left out, items x models; 0 without a label.
    left_out: Floats
    penalties: Floats  # the penalties that were tried, the last one infinite
    shares: Floats  # how much each of them counts

    def predict(self, x: Floats) -> Floats:
        """Return predictions for items x models x features."""
        return np.asarray(x @ self.coefficients + self.intercepts)


def fit_ridge(
    x: Floats, y: Floats, weights: Floats, penalties: tuple[float, ...] = PENALTIES, relative: bool = True
) -> RidgeFit:
    """Fit scores y (items x models) to features x (items x models x features).

    Weights are 0 where there is no label (y is not read there). With ``relative``, penalties are multiples of
    the mean eigenvalue of the features' cross product.
    """
    y = np.where(weights > 0, y, 0.0)
    # The common intercept is free: taking out the mean first only saves digits.
    centre = float((weights * y).sum() / weights.sum())
    problem = RidgeProblem.rotate(x, y - centre, weights)
    scale = problem.energy.sum() / x.shape[2] if relative else 1.0
    tried = np.append(np.array(penalties) * scale, np.inf)
    solutions = [problem.solve(penalty) for penalty in tried]
    slopes, left_out, parameters = (np.stack(parts) for parts in zip(*solutions, strict=True))
    shares = _shares((left_out**2).sum(axis=2))
    coefficients = problem.axes @ np.tensordot(shares, slopes, 1)
    unexplained = y - x @ coefficients
    intercepts = problem.smoother @ (weights * unexplained).sum(axis=0)
    root = np.sqrt(weights)
    return RidgeFit(
        coefficients=coefficients,
        intercepts=intercepts,
        parameters=float(shares @ parameters),
        left_out=np.tensordot(shares, left_out, 1) / np.where(root > 0, root, 1.0),
        penalties=tried,
        shares=shares,
    )


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """The regression in the coordinates in which its features are uncorrelated."""

    axes: Floats  # features x axes
    energy: Floats  # the eigenvalue of each axis
    rows: Floats  # items x models x axes, times the root of the weights, intercepts taken out
    pull: Floats  # the cross product of each axis with the scores
    scores: Floats  # items x models, times the root of the weights, intercepts taken out
    roots: Floats  # the roots of the weights
    smoother: Floats  # from weighted sums to intercepts

    @classmethod
    def rotate(cls, x: Floats, y: Floats, weights: Floats) -> RidgeProblem:
        """Take the shrunk intercepts out of features and scores, and rotate the features."""
        smoother = intercept_smoother(weights.sum(axis=0))
        roots = np.sqrt(weights)
        centred = x - smoother @ np.einsum("ij,ijp->jp", weights, x)
        flat = (roots[:, :, None] * centred).reshape(-1, x.shape[2])
        cross = flat.T @ (roots[:, :, None] * x).reshape(-1, x.shape[2])
        energy, axes = np.linalg.eigh((cross + cross.T) / 2.0)
        positive = energy > _ZERO_ENERGY * max(energy[-1], 0.0)
        axes, energy = axes[:, positive], energy[positive]
        rows = (flat @ axes).reshape(*y.shape, -1)
        pull = np.einsum("ijk,ij->k", rows, roots * y)
        scores = roots * (y - smoother @ (weights * y).sum(axis=0))
        return cls(axes, energy, rows, pull, scores, roots, smoother)

    def solve(self, penalty: float) -> tuple[Floats, Floats, float]:
        """Return the slopes on the axes under a penalty, the residuals of left-out items, and the parameters.

        Residuals are times the root of the weights.
        """
        shrunk = 1.0 / (self.energy + penalty)
        slopes = shrunk * self.pull
        hat = (self.rows * shrunk) @ self.rows.transpose(0, 2, 1)
        hat += self.roots[:, :, None] * self.smoother * self.roots[:, None, :]
        residual = self.scores - self.rows @ slopes
        identity = np.eye(residual.shape[1])
        left_out = np.asarray(np.linalg.solve(identity - hat, residual[:, :, None])[:, :, 0], np.float64)
        return slopes, left_out, float(np.einsum("ijj->", hat))


def _shares(losses: Floats) -> Floats:
    """Return how much every penalty counts, from the losses of penalties x items."""
    best = int(np.argmin(losses.sum(axis=1)))
    worse = losses - losses[best]
    mean = worse.mean(axis=1, keepdims=True)
    error = np.sqrt(((worse - mean) ** 2).sum(axis=1))
    far = np.divide(worse.sum(axis=1), error, out=np.zeros(len(losses)), where=error > 0)
    shares: Floats = np.exp(-0.5 * far**2)
    return np.asarray(shares / shares.sum())


# An intercept for every model: the mean of its labels, shrunk a little towards the mean of all. Metrics and
# people differ in how they see one model as a whole, so labels of all models can share slopes but not an
# intercept. The intercept itself cancels from an estimate of the model's mean.


def intercept_smoother(totals: Floats) -> Floats:
    """Return K (models x models) with intercepts = K · (weighted sums of what is left to explain).

    It solves min Σ w_ij (r_ij − a − d_j)² + κ Σ d_j² with κ = ``PRIOR_LABELS``, for models whose labels weigh
    ``totals``: a model without labels gets the common intercept.
    """
    models = len(totals)
    common = np.column_stack([np.ones(models), np.eye(models)])
    inner = common.T @ (totals[:, None] * common)
    inner[1:, 1:] += PRIOR_LABELS * np.eye(models)
    return np.asarray(common @ np.linalg.solve(inner, common.T))


def model_intercepts(scores: Floats, weights: Floats) -> Floats:
    """Return the shrunk intercepts of scores, items x models, with weight 0 where there is none."""
    return np.asarray(intercept_smoother(weights.sum(axis=0)) @ (weights * scores).sum(axis=0))
