from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.signals.predict.features import PrincipalComponents, principal_components


def components_of(cells: Floats, squared: int, count: int) -> PrincipalComponents:
    flat = cells.reshape(-1, cells.shape[-1])
    covariance = np.cov(flat.T, bias=True).reshape(cells.shape[-1], -1)
    halves = np.array_split(cells, 2)
    return principal_components(flat.mean(axis=0), covariance, lambda: halves, squared, count)


def some_cells() -> Floats:
    draw = np.random.default_rng(0)
    return np.asarray(draw.normal(size=(50, 4, 3)) @ draw.normal(size=(3, 3)) + [1.0, 2.0, 3.0])


def test_components_are_those_of_the_singular_values() -> None:
    cells = some_cells()
    found = components_of(cells, 0, 2).project(cells).reshape(-1, 2)
    flat = cells.reshape(-1, 3) - cells.reshape(-1, 3).mean(axis=0)
    left = np.linalg.svd(flat, full_matrices=False)[0][:, :2] * np.sqrt(len(flat))
    far = np.clip(left * np.sign((left * found).sum(axis=0)), -4.0, 4.0)
    assert found == pytest.approx(far)


def test_products_are_standardised_over_the_whole_set() -> None:
    cells = some_cells()
    components = components_of(cells, 2, 2)
    assert components.product_names == ("component 1 x 1", "component 1 x 2", "component 2 x 2")
    found = components.project(cells)
    products = components.products(found)
    assert products.mean(axis=(0, 1)) == pytest.approx(0.0, abs=1e-9)
    assert products.std(axis=(0, 1)) == pytest.approx(1.0)
    raw = found[..., 0] * found[..., 1]
    assert products[..., 1] == pytest.approx((raw - raw.mean()) / raw.std())


def test_one_odd_cell_is_cut() -> None:
    cells = some_cells()
    cells[0, 0] = 1e6
    assert np.abs(components_of(cells, 3, 3).project(cells)).max() <= 4.0


def test_directions_without_variance_are_left_out() -> None:
    draw = np.random.default_rng(1)
    one = draw.normal(size=(30, 2, 1))
    components = components_of(np.concatenate([one, 2.0 * one], axis=2), 3, 3)
    assert components.axes.shape == (2, 1)
    assert components.squared == 1
