"""Systems of three unknowns, one per item, solved for all items at once.

A symmetric matrix is kept as its six entries (00, 01, 02, 11, 12, 22), a lower triangular one as
(00, 10, 20, 11, 21, 22); each entry is an array over items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

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


def is_positive(matrix: Floats, least: float) -> NDArray[np.bool_]:
    """Say which symmetric matrices are safely positive: no two unknowns are bound nearly rigidly.

    Scaled to a unit diagonal, every minor of two unknowns must exceed ``least`` and the determinant its
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
    whole = 1.0 + 2.0 * first * second * third - first * first - second * second - third * third
    return np.asarray(positive & (largest < 1.0 - least) & (whole > least * least))
