from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import sparingly
from sparingly.base import catalogue
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import Method, parse_method, register, registered
from sparingly.choose import MetricVar, Random, Top
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import digest_ids
from sparingly.data.synthetic import load_invented


@pytest.fixture(scope="module")
def data() -> EvalSet:
    drawn = np.random.default_rng(3)
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(40)],
        ["x", "y", "z"],
        metrics={"COMET": drawn.normal(size=(40, 3)), "chrF": drawn.normal(size=(40, 3))},
        aspects={"overall": drawn.normal(size=(40, 3))},
        columns={"domain": ["news", "social"] * 20},
    )


# --- methods ----------------------------------------------------------------------------------------


def test_a_utility_stands_for_the_top_of_its_list(data: EvalSet) -> None:
    forms: list[str | Method] = [
        "metric_var:metric=COMET",
        "top:utility=(metric_var:metric=COMET)",
        MetricVar(metric="COMET"),
        Top(utility=MetricVar(metric="COMET")),
    ]
    assert len({str(sparingly.select(data, form, 5).to_dict()) for form in forms}) == 1


def test_parameters_of_the_design_may_stand_with_the_utility(data: EvalSet) -> None:
    short = sparingly.select(data, "metric_var:metric=COMET,balance=domain", 6)
    long = sparingly.select(data, "top:utility=(metric_var:metric=COMET),balance=domain", 6)
    given = sparingly.select(data, "metric_var:metric=COMET", 6, balance="domain")
    assert short.to_dict() == long.to_dict() == given.to_dict()
    assert short.signature.method.startswith("top:utility=(metric_var:metric=COMET),balance=domain,")


def test_parameters_given_apart_go_over_those_in_the_text(data: EvalSet) -> None:
    picked = sparingly.select(data, "random:quota=share,balance=domain", 6, quota="equal", balance=None)
    assert picked.signature.method == "random:balance=domain,quota=equal,unit=item,cost=none"


@pytest.mark.parametrize(
    ("method", "design", "error", "sentence"),
    [
        ("metric_vra", {}, UnknownNameError, r'no method "metric_vra"\. Did you mean metric_var'),
        ("metric_var:metrc=COMET", {}, UnknownNameError, 'no parameter of metric_var "metrc"'),
        (
            "metric_var:metric=COMET",
            {"balnce": "domain"},
            UnknownNameError,
            r'"balnce"\. Did you mean balance',
        ),
        (
            "metric_var:metric=COMET",
            {"unit": "documents"},
            UnknownNameError,
            r'"documents"\. Did you mean document',
        ),
        ("metric_var:metric=COMET,unit=word", {}, UnknownNameError, 'no value of top:unit "word"'),
        ("random", {"quota": "none"}, UnknownNameError, 'no value of random:quota "none"'),
        ("random", {"balance": ["domain"]}, UsageError, r"balance of random cannot be \['domain'\]"),
        ("random", {"utility": "x"}, UnknownNameError, 'no parameter of random "utility"'),
        ("top", {}, UsageError, "The method top needs the parameter utility="),
        ("metric_var:", {}, UsageError, "cannot be read: expected a parameter's name"),
        ("metric_var|mean", {}, UsageError, "cannot be read: expected the end"),
        ("", {}, UsageError, "expected the name of a method"),
    ],
)
def test_what_is_no_method(
    data: EvalSet, method: str, design: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as caught:
        sparingly.select(data, method, 5, **design)
    assert "\n" not in str(caught.value)


def test_objects_are_checked_as_texts_are() -> None:
    with pytest.raises(UnknownNameError, match='no value of random:unit "paragraph"'):
        Random(unit="paragraph")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Halt(Method):
    """Stops."""

    kind: ClassVar[str] = "stop"


def test_a_method_that_does_not_choose(data: EvalSet, monkeypatch: pytest.MonkeyPatch) -> None:
    registered()
    classes = {kind: dict(classes) for kind, classes in catalogue._CLASSES.items()}
    monkeypatch.setattr(catalogue, "_CLASSES", classes)
    register("halt")(Halt)
    with pytest.raises(UsageError, match=r"The stop halt does not choose items\. See: sparingly methods\."):
        sparingly.select(data, "halt", 5)


def test_text_of_a_selector_is_read_back() -> None:
    for text in ("random", "metric_var:metric=COMET,balance=domain", "random:unit=document,cost=length"):
        assert str(as_selector(text)) == text
        assert as_selector(parse_method(as_selector(text).full_text)) == as_selector(text)


# --- seeds and signatures ---------------------------------------------------------------------------


def test_signature_names_everything(data: EvalSet) -> None:
    picked = sparingly.select(data, "metric_var:metric=COMET", "10%", seed=7, never=["i03"])
    signature = picked.signature
    assert (signature.budget, signature.seed, signature.n, signature.of) == ("10%", 7, 3, 40), (
        "a share of the 39"
    )
    assert signature.inputs == data.digest({"metric:COMET"})
    assert signature.labels is None
    assert signature.version == sparingly.__version__
    assert signature.never == digest_ids(["i03"])
    assert signature.pool is None
    assert str(signature) in repr(picked)


@pytest.mark.parametrize("seed", [np.int64(5), -3, True])
def test_whole_numbers_are_seeds(data: EvalSet, seed: int) -> None:
    assert sparingly.select(data, "random", 3, seed=seed).signature.seed == int(seed)


@pytest.mark.parametrize("seed", [1.5, "1", None])
def test_other_things_are_no_seeds(data: EvalSet, seed: Any) -> None:
    with pytest.raises(UsageError, match="A seed is a whole number, not"):
        sparingly.select(data, "random", 3, seed=seed)


def test_an_empty_set_has_nothing_to_choose() -> None:
    empty = EvalSet.from_arrays([], ["x"])
    for budget in (1, "10%"):
        with pytest.raises(UsageError, match="has no items, so nothing can be chosen"):
            sparingly.select(empty, "random", budget)


# --- never ------------------------------------------------------------------------------------------


def test_what_must_never_be_chosen_is_not(data: EvalSet) -> None:
    first = sparingly.select(data, "metric_var:metric=COMET", 5)
    second = sparingly.select(data, "metric_var:metric=COMET", 5, never=first.items)
    assert not set(first.items) & set(second.items)
    assert second.never == tuple(sorted(first.items))
    assert sparingly.select(data, "metric_var:metric=COMET", 10).items.tolist() == [
        *first.items,
        *second.items,
    ]


def test_ids_that_are_not_there_and_doubles_do_no_harm(data: EvalSet) -> None:
    picked = sparingly.select(data, "random", 40, never=["elsewhere", "elsewhere"])
    assert picked.never == ("elsewhere",)
    with pytest.raises(UsageError, match="40 items is larger than the 39 that can be chosen"):
        sparingly.select(data, "random", 40, never=["i00"])


def test_probabilities_are_among_what_may_be_chosen(data: EvalSet) -> None:
    picked = sparingly.select(data, "random", 10, never=list(data.items[:20]))
    assert picked.probability == pytest.approx([0.5] * 10)


def test_numbers_in_the_list_stand_for_their_digits() -> None:
    data = EvalSet.from_arrays([1, 2, 3], ["x"])
    assert sorted(sparingly.select(data, "random", 2, never=[2]).items) == ["1", "3"]  # type: ignore[list-item]


def test_everything_barred_is_said(data: EvalSet) -> None:
    with pytest.raises(UsageError, match="Every item is on the never-select list"):
        sparingly.select(data, "random", 1, never=list(data.items))
    with pytest.raises(UsageError, match="is a list of ids, not the text 'i01'"):
        sparingly.select(data, "random", 1, never="i01")


# --- pools ------------------------------------------------------------------------------------------


def test_probabilities_multiply_and_the_signature_names_both(data: EvalSet) -> None:
    first = sparingly.select(data, "random", "50%", seed=1)
    second = sparingly.select(data, "random", "25%", seed=2, pool=first)
    assert set(second.items) <= set(first.items)
    assert len(second) == 5
    assert second.probability == pytest.approx([0.5 * 0.25] * 5)
    assert first.pool_probability is None
    assert second.pool_probability == pytest.approx([0.5] * 5)
    assert second.signature.pool == first.signature
    assert second.signature.of == 20
    assert str(second.signature).endswith(f"|pool:[{first.signature}]")
    assert second.pool is not None
    assert list(second.pool) == sorted(first.items)


def test_probabilities_of_the_pool_are_matched_by_id(data: EvalSet) -> None:
    first = sparingly.select(data.with_column("kind", ["a"] * 30 + ["b"] * 10), "random", 20, balance="kind")
    second = sparingly.select(data, "random", 10, seed=5, pool=first)
    expected = [(1 / 3 if name < "i30" else 1.0) * 0.5 for name in second.items]
    assert second.probability == pytest.approx(expected)
    assert len(set(expected)) == 2, "the test sees both kinds"


@pytest.mark.parametrize(
    ("first", "second"), [("random", "metric_var:metric=COMET"), ("metric_var:metric=COMET", "random")]
)
def test_a_list_in_either_phase_takes_the_probabilities_away(data: EvalSet, first: str, second: str) -> None:
    pool = sparingly.select(data, first, 20)
    chosen = sparingly.select(data, second, 5, pool=pool)
    assert chosen.probability is chosen.pool_probability is None


def test_three_phases(data: EvalSet) -> None:
    picked = None
    for seed, count in enumerate((30, 20, 10)):
        picked = sparingly.select(data, "random", count, seed=seed, pool=picked)
    assert picked is not None
    assert picked.probability == pytest.approx([10 / 40] * 10)
    assert picked.pool_probability == pytest.approx([20 / 40] * 10)
    assert picked.signature.pool is not None
    assert picked.signature.pool.pool is not None


def test_a_pool_must_be_in_the_data(data: EvalSet) -> None:
    pool = sparingly.select(data, "random", 5)
    stranger = replace(pool, items=np.array(["i0", *pool.items[1:]], object))
    with pytest.raises(UnknownNameError, match=r'no item "i0"'):
        sparingly.select(data, "random", 2, pool=stranger)
    with pytest.raises(UsageError, match="6 items is larger than the 5"):
        sparingly.select(data, "random", 6, pool=pool)


def test_a_second_phase_remembers_what_the_first_could_not_choose() -> None:
    data = load_invented()
    shut = list(data.items[:100])
    first = sparingly.select(data, "uniform", 80, never=shut)
    second = sparingly.select(data, "uniform", 40, pool=first)
    assert second.never == tuple(sorted(shut))
    assert "100 items are never chosen: scores describe the others only." in second.notes
    assert sparingly.verify(second, data).ok


def test_draws_of_each_model_are_no_pool() -> None:
    data = load_invented()
    apart = sparingly.select(data, "snippets:kind=segment,matching=false", 60)
    with pytest.raises(UsageError, match="draws of their own"):
        sparingly.select(data, "random", 10, pool=apart)
