from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import parse_method
from sparingly.choose.utility.base import Mix
from sparingly.data.evalset import EvalSet

NAN = np.nan


@pytest.fixture
def data() -> EvalSet:
    """Means -> metric_avg 0, −1, −2, −4; variances 0, 1, 4, 0."""
    return EvalSet.from_arrays(
        ["a", "b", "c", "d"], ["x", "y"], metrics={"m": [[0.0, 0.0], [0.0, 2.0], [0.0, 4.0], [4.0, 4.0]]}
    )


def values(text: str, data: EvalSet) -> Floats:
    method = parse_method(text)
    assert isinstance(method, Mix)
    return method.resolve(data).values(data)


def test_ranks_are_shares_of_the_items_and_ties_share_theirs(data: EvalSet) -> None:
    # Ranks of metric_avg: 4, 3, 2, 1; of metric_var: 1.5, 3, 4, 1.5; over four items.
    assert values("mix:of=(metric_avg)+(metric_var)", data) == pytest.approx(
        [(4 + 1.5) / 8, (3 + 3) / 8, (2 + 4) / 8, (1 + 1.5) / 8]
    )
    assert values("mix:of=(metric_avg)+(3*metric_var)", data) == pytest.approx(
        [(4 + 4.5) / 16, (3 + 9) / 16, (2 + 12) / 16, (1 + 4.5) / 16]
    )


def test_zscores(data: EvalSet) -> None:
    avg, var = np.array([0.0, -1.0, -2.0, -4.0]), np.array([0.0, 1.0, 4.0, 0.0])
    expected = ((avg + 1.75) / avg.std() + 2 * (var - 1.25) / var.std()) / 3
    assert values("mix:of=(metric_avg)+(2*metric_var),scale=zscore", data) == pytest.approx(expected)


def test_minmax(data: EvalSet) -> None:
    # metric_avg on 0-1: 1, .75, .5, 0; metric_var: 0, .25, 1, 0.
    assert values("mix:of=(metric_avg)+(metric_var),scale=minmax", data) == pytest.approx(
        [0.5, 0.5, 0.75, 0.0]
    )


def test_products(data: EvalSet) -> None:
    minmax = values("mix:of=(metric_avg)+(2*metric_var),scale=minmax,operation=product", data)
    assert minmax == pytest.approx([0.0, 0.75 * 0.25**2, 0.5, 0.0])
    ranks = values("mix:of=(metric_avg)+(metric_var),operation=product", data)
    assert ranks == pytest.approx([1.0 * 1.5 / 4, 0.75 * 0.75, 0.5 * 1.0, 0.25 * 1.5 / 4])


def test_a_negative_weight_turns_a_utility_round(data: EvalSet) -> None:
    assert values("mix:of=(-1*metric_avg)", data) == pytest.approx([-1.0, -0.75, -0.5, -0.25])
    assert list(sparingly.select(data, "mix:of=(-1*metric_avg)", 4).items) == ["d", "c", "b", "a"]
    both = values("mix:of=(metric_avg)+(-2*metric_var)", data)
    assert both == pytest.approx([(4 - 3) / 12, (3 - 6) / 12, (2 - 8) / 12, (1 - 3) / 12])
    assert values("mix:of=(metric_avg)+(-1*metric_var)", data) == pytest.approx(
        [2.5 / 8, 0, -2 / 8, -0.5 / 8]
    )


def test_an_item_that_a_part_cannot_judge_has_no_value() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"],
        ["x"],
        metrics={"m": [[1.0], [2.0], [3.0]], "n": [[5.0], [NAN], [6.0]]},
    )
    found = values("mix:of=(metric_avg:metric=m)+(metric_avg:metric=n)", data)
    # m ranks three items, n two.
    np.testing.assert_allclose(found, [(1 + 1) / 2, NAN, (1 / 3 + 1 / 2) / 2])


@pytest.mark.parametrize("scale", ["rank", "zscore", "minmax"])
def test_a_part_without_any_value_leaves_none(scale: str) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x"], metrics={"m": [[1.0], [2.0]], "n": [[NAN], [NAN]]})
    assert np.isnan(values(f"mix:of=(metric_avg:metric=m)+(metric_avg:metric=n),scale={scale}", data)).all()


@pytest.mark.parametrize(("scale", "constant"), [("rank", 0.75), ("zscore", 0.0), ("minmax", 1.0)])
def test_a_constant_part_says_nothing(scale: str, constant: float) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x"], metrics={"m": [[5.0], [5.0]]})
    assert values(f"mix:of=(metric_avg),scale={scale}", data).tolist() == [constant, constant]


def test_last_bits_of_a_part_tell_no_ranks_apart() -> None:
    data = EvalSet.from_arrays(["a", "b", "c"], ["x"], metrics={"m": [[0.1 + 0.2], [0.3], [0.9]]})
    assert values("mix:of=(uncertainty)", data) == pytest.approx([0.5, 0.5, 1.0])


def test_parts_are_resolved_and_read_together(data: EvalSet) -> None:
    method = parse_method("mix:of=(metric_avg)+(metric_var:metric=source_length)")
    assert isinstance(method, Mix)
    resolved = method.resolve(data)
    assert resolved.reads(data) == {"metric:m", "sources"}
    assert str(resolved) == "mix:of=(metric_avg:metric=m)+(metric_var:metric=source_length)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mix", "needs the parameter of="),
        ("mix:of=(0*metric_avg)", "not all of them are 0"),
        ("mix:of=(1e999*metric_avg)", "finite numbers"),
        ("mix:of=(metric_avg),scale=zscore,operation=product", "A product of z-scores has no meaning"),
        ("mix:of=(-1*metric_avg),scale=minmax,operation=product", "takes no negative weights"),
        ("mix:of=metric_avg", r"takes methods in parentheses: \(name:…\)"),
        ("mix:of=(random)", 'There is no utility "random"'),
        ("mix:of=(metric_avg),scale=percent", 'no value of mix:scale "percent"'),
    ],
)
def test_what_cannot_be_mixed(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse_method(text)


def test_an_empty_mix_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one utility"):
        Mix(of=())
