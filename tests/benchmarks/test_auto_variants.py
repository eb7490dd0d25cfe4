"""The quick harness for variants of ``auto`` says what the package says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtr

import sparingly
from benchmarks.auto_variants import MEASURES, SHARES, Played, Variant, draws, expected, left_out, needs
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.sample import without_truth
from sparingly.infer.rank.compare import full_set
from sparingly.run.rounds.auto import Auto, spread_order


def made() -> tuple[Played, sparingly.EvalSet]:
    data = load_invented()
    full = full_set(data, "overall")
    sizes = np.round(np.array(SHARES) * len(data)).astype(np.int64)
    curve = 1.0 - 0.5 / np.sqrt(sizes)
    random = np.random.default_rng(0).normal(curve[None, :, None], 0.01, (60, len(sizes), len(MEASURES)))
    of_set = Played("made", "made", False, full.values, full.p_values, sizes, random)
    return of_set, without_truth(data, "overall")


def test_expectations_are_the_package_s(tmp_path: Path) -> None:
    of_set, data = made()
    rows = draws(of_set, data, "auto", 1, tmp_path / "kept")[0]
    order = spread_order(Auto()._visible(data), 0)
    for place in (2, 4):
        labels = np.full(of_set.truth.shape, np.nan)
        judged = order[: of_set.sizes[place]]
        labels[judged] = of_set.truth[judged]
        wanted = sparingly.expect(data, labels)
        said = expected(of_set, rows[place], Variant())
        np.testing.assert_allclose(ndtr(-said.z), wanted.p_values, atol=1e-5)
        np.testing.assert_allclose(said.spread, wanted.spread, rtol=1e-2)
        np.testing.assert_allclose(said.scores, wanted.scores, atol=1e-4)
        bare = sparingly.EvalSet.from_arrays(data.items.tolist(), data.models)
        without = expected(of_set, rows[place], Variant(metrics=False))
        np.testing.assert_allclose(ndtr(-without.z), sparingly.expect(bare, labels).p_values, atol=1e-5)
        tested = expected(of_set, rows[place], Variant(metrics=False, expects=False))
        np.testing.assert_allclose(tested.estimated, np.nanmean(labels, axis=0))
    assert [row["size"] for row in draws(of_set, data, "auto", 1, tmp_path / "kept")[0]] == (
        of_set.sizes.tolist()
    ), "what was drawn is kept"


def test_random_selection_needs_its_own_labels() -> None:
    of_set, _ = made()
    same = needs(of_set, of_set.random[:, :, 0].mean(axis=0)[None], 20, 0)
    assert np.abs(same - 1.0).max() < 0.25
    better = needs(of_set, of_set.random[:, :, 0].mean(axis=0)[None] + 0.02, 20, 0)
    assert (better < same).all()


def test_a_family_has_the_figures_of_what_is_best_elsewhere() -> None:
    one, other = np.array([50.0]), np.array([80.0])
    figures = {
        "x": {"a": {"labels": one}, "b": {"labels": other}},
        "y": {"a": {"labels": other}, "b": {"labels": one}},
    }
    found = left_out(figures, {"a": "first", "b": "second"})
    assert found["a"]["labels"] == other, "y is best on b"
    assert found["b"]["labels"] == other, "x is best on a"
