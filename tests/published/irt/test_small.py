from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.published.irt import abilities

UPPER = np.triu_indices(3)


def full(matrix: Floats) -> Floats:
    """Return six entries x items as items x 3 x 3."""
    square = np.empty((matrix.shape[1], 3, 3))
    square[:, UPPER[0], UPPER[1]] = square[:, UPPER[1], UPPER[0]] = matrix.T
    return square


def positive(count: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).normal(size=(count, 3, 5))
    return np.ascontiguousarray((drawn @ drawn.transpose(0, 2, 1))[:, UPPER[0], UPPER[1]].T)


def test_root_solutions_and_inverse_are_those_of_linear_algebra() -> None:
    matrix, right = positive(50, 1), np.random.default_rng(2).normal(size=(3, 50))
    root = abilities.cholesky(matrix)
    expected = np.linalg.cholesky(full(matrix))
    rows, columns = np.tril_indices(3)
    order = [0, 1, 3, 2, 4, 5]
    np.testing.assert_allclose(root[order], expected[:, rows, columns].T, rtol=1e-9)
    solved = abilities.backward(root, abilities.forward(root, right))
    np.testing.assert_allclose(
        solved.T, np.linalg.solve(full(matrix), right.T[:, :, None])[:, :, 0], rtol=1e-7
    )
    np.testing.assert_allclose(full(abilities.inverse(matrix)), np.linalg.inv(full(matrix)), rtol=1e-7)


def test_several_right_sides_are_solved_at_once() -> None:
    matrix, right = positive(6, 3), np.random.default_rng(4).normal(size=(3, 4, 6))
    root = abilities.cholesky(matrix)
    together = abilities.backward(root, abilities.forward(root, right))
    for column in range(4):
        alone = abilities.backward(root, abilities.forward(root, np.ascontiguousarray(right[:, column])))
        np.testing.assert_allclose(together[:, column], alone)


def test_positive_matrices_are_told_from_others() -> None:
    matrix = np.random.default_rng(5).normal(size=(6, 400)) + np.array([[2.0], [0], [0], [2.0], [0], [2.0]])
    said = abilities.is_positive(matrix, 1e-6)
    # Scaled to a unit diagonal the determinant is at most the least eigenvalue times three.
    eigenvalues = np.linalg.eigvalsh(full(matrix))[:, 0]
    assert not said[eigenvalues <= 0].any()
    assert said.mean() > 0.2
    assert said[eigenvalues > 0.05].all()
