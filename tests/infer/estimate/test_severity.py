"""Severities and variance components of an evaluation set, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.rater_effects import MERGED, ONE_RATER, rater_scores, severity

Row = tuple[int, int, str, float]


def rated_set(rows: list[Row], models: int = 2, aspect: str = "overall") -> sparingly.EvalSet:
    """A set from rows of item, model, rater and score."""
    names = tuple(dict.fromkeys(rater for _, _, rater, _ in rows if rater))
    items = max(item for item, *_ in rows) + 1
    table = sparingly.Ratings(
        item=np.array([row[0] for row in rows], np.int32),
        model=np.array([row[1] for row in rows], np.int32),
        rater=np.array([names.index(row[2]) if row[2] else -1 for row in rows], np.int32),
        aspect=np.zeros(len(rows), np.int32),
        score=np.array([row[3] for row in rows]),
        seconds=np.full(len(rows), np.nan),
        raters=names,
        aspects=(aspect,),
    )
    ids = [f"i{item:03d}" for item in range(items)]
    return sparingly.EvalSet.from_arrays(ids, [f"m{model}" for model in range(models)], ratings=table)


def test_repeats_are_one_row_and_unknown_raters_are_counted() -> None:
    data = rated_set([(0, 0, "b", 1.0), (0, 0, "b", 3.0), (0, 1, "a", 5.0), (1, 0, "", 7.0)])
    held = rater_scores(data)
    assert held.raters == ("a", "b")
    assert held.score.tolist() == [2.0, 5.0]
    assert held.count.tolist() == [2.0, 1.0]
    assert held.anonymous == 1
    assert held.per_cell.tolist() == [1, 1]
    values, item = held.table()
    assert np.array_equal(values, [[np.nan, 2.0], [5.0, np.nan]], equal_nan=True)
    assert item.tolist() == [0, 0]


def test_who_rated_must_be_known() -> None:
    with pytest.raises(MissingDataError, match="who gave it"):
        rater_scores(rated_set([(0, 0, "", 1.0)]))
    with pytest.raises(UnknownNameError, match=r'"fluencey".*Did you mean fluency'):
        rater_scores(load_invented(), "fluencey")


def test_a_constant_shift_is_found_exactly() -> None:
    random = np.random.default_rng(0)
    quality = random.normal(size=(30, 2))
    rows = [
        (item, model, rater, float(quality[item, model]) + shift)
        for item in range(30)
        for rater, shift in (("mild", 1.5), ("strict", -1.5))
        for model in range(2)
        if item < 10 or (rater == "mild") == (item % 2 == 0)
    ]
    found = severity(rated_set(rows))
    assert found.raters == ("mild", "strict")
    assert found.severity == pytest.approx([1.5, -1.5], abs=1e-3)
    assert found.components == (("mild", "strict"),)
    assert found.variances["noise"] < 1e-4


def test_the_synthetic_raters_are_told_apart() -> None:
    data = sparingly.make_evalset(items=150, models=4, raters=6, raters_per_cell=1.5, seed=3, texts=False)
    found = severity(data, "overall")
    held = rater_scores(data, "overall")
    values, _ = held.table()
    # Against the plain mean difference from the other raters of the same outputs.
    total, count = np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1)
    for place in range(6):
        both = ~np.isnan(values[:, place]) & (count > 1)
        apart = values[both, place] - (total[both] - values[both, place]) / (count[both] - 1)
        assert np.sign(apart.mean()) == np.sign(found.severity[place]) or abs(found.severity[place]) < 1.5
    assert 1.0 < np.sqrt(found.variances["rater"]) < 10.0
    assert (found.standard_errors < 3.0).all()


def test_the_order_of_the_file_does_not_matter() -> None:
    data = sparingly.make_evalset(items=40, models=3, raters=4, raters_per_cell=1.3, texts=False)
    order = np.random.default_rng(1).permutation(len(data.ratings))
    mixed = data.with_parts(ratings=data.ratings.take(order))
    one, other = severity(data, "overall"), severity(mixed, "overall")
    assert other.to_dict() == one.to_dict()


def test_raters_without_a_common_item_are_reported_as_groups() -> None:
    random = np.random.default_rng(0)
    rows = [
        (item, model, ("a", "b")[item % 2] if item < 20 else "c", float(random.normal()))
        for item in range(40)
        for model in range(2)
    ]
    rows += [(0, 0, "b", 0.0), (2, 1, "b", 0.3)]
    found = severity(rated_set(rows))
    assert found.components == (("a", "b"), ("c",))
    assert any("2 groups that share no item" in note for note in found.notes)


def test_one_rater_and_no_common_output_are_said() -> None:
    alone = severity(rated_set([(item, 0, "a", float(item)) for item in range(9)], models=1))
    assert alone.notes == (ONE_RATER,)
    assert np.isnan(alone.standard_errors).all()
    rows = [(item, model, "ab"[item % 2], float(item % 5)) for item in range(20) for model in range(2)]
    apart = severity(rated_set(rows))
    assert MERGED in apart.notes
    assert "item × model" not in apart.variances


def test_too_few_ratings() -> None:
    with pytest.raises(DataError, match="too few"):
        severity(rated_set([(0, 0, "a", 1.0), (0, 1, "b", 2.0), (1, 0, "a", 0.5)]))


def test_documents_and_html() -> None:
    found = severity(load_invented(), "overall")
    assert "document" in found.variances
    assert "Dana" in found._repr_html_()
    assert repr(found).startswith("Severity(overall: 5 raters")
