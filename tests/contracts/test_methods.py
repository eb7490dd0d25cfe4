"""One contract suite over every registered method: what is registered is tested, whoever registered it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sparingly.base import catalogue, registry
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import (
    Method,
    describe_method,
    format_method,
    parameter,
    parse_method,
    register,
    registered,
)
from sparingly.choose.utility.base import MetricUtility, Utility
from sparingly.data.evalset import EvalSet
from tests.contracts.checks import CHECKS
from tests.contracts.examples import EXAMPLES, all_texts, chooser_texts, chooses, examples, utility_texts


# All promises of a method in a row, since they share its choices.
@pytest.mark.parametrize("promise", CHECKS)
@pytest.mark.parametrize("text", chooser_texts())
def test_promise(promise: str, text: str) -> None:
    CHECKS[promise](text)


@pytest.mark.parametrize("text", all_texts())
def test_text_gives_the_method_back(text: str) -> None:
    method = parse_method(text)
    assert parse_method(format_method(method)) == method
    assert parse_method(method.full_text) == method
    assert parse_method(format_method(method, spell_defaults=True)) == method


@pytest.mark.parametrize("name", registered())
def test_parameters_are_checked_in_the_object(name: str) -> None:
    method = parse_method(examples(name)[0])
    for part in fields(method):
        with pytest.raises(UsageError):
            replace(method, **{part.name: object()})


# --- what is said of a method -----------------------------------------------------------------------

WORDS = {"metrics", "aspects", "outputs", "sources", "references", "documents", "ratings", "preferences"}


def test_the_catalogue_says_where_everything_is_that_we_register() -> None:
    for kind, places in catalogue.CATALOGUE.items():
        classes = catalogue.registered_classes((kind,))
        found = {name: f"{made.__module__}:{made.__qualname__}" for name, made in classes.items()}
        assert places == {name: place for name, place in found.items() if place.startswith("sparingly.")}
    package = Path(catalogue.__file__).parents[1]
    decorated = [
        name
        for path in package.rglob("*.py")
        for name in re.findall(r'^@register\("(.+)"\)', path.read_text(), re.M)
    ]
    assert sorted(decorated) == sorted(name for places in catalogue.CATALOGUE.values() for name in places)


@pytest.mark.parametrize("name", registered())
def test_every_method_has_an_example(name: str) -> None:
    assert all(text.partition(":")[0] == name for text in examples(name))


def test_examples_are_of_registered_methods() -> None:
    assert set(EXAMPLES) <= set(registered())
    assert {text.partition(":")[0] for text in all_texts()} == set(registered())


@pytest.mark.parametrize("method", registered().values(), ids=registered())
def test_listing_says_everything(method: type[Method]) -> None:
    described = json.loads(json.dumps(describe_method(method), allow_nan=False))
    assert set(described) == {"name", "kind", "needs", "parameters", "summary", "reference"}
    assert described["name"] == method.name
    assert described["kind"] in registry.KINDS
    assert described["summary"]
    assert described["reference"]
    assert all(word in WORDS or word.startswith("what its ") for word in described["needs"])
    for part in described["parameters"]:
        assert part["name"]
        assert part["help"], "a parameter says what it means"
        assert part["type"]


@pytest.mark.parametrize("method", registered().values(), ids=registered())
def test_documentation_has_summary_formula_and_reference(method: type[Method]) -> None:
    summary, _, rest = (method.__doc__ or "").partition("\n")
    assert re.fullmatch(r"[A-Z].*\.", summary), "the first line is a sentence"
    assert re.search(r"[a-zπΣ]\S* .*[=≤] ", rest), "a line gives the formula"
    assert re.search(r"\b(19|20)\d\d\b", method.reference), "the reference names a paper and its year"


# --- methods of third parties -----------------------------------------------------------------------


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register what it likes."""
    registered()
    classes = {kind: dict(classes) for kind, classes in catalogue._CLASSES.items()}
    monkeypatch.setattr(catalogue, "_CLASSES", classes)


@dataclass(frozen=True)
class Loudness(MetricUtility):
    """Prefers items with a high score.

    u_i = max_j m_ij.
    """

    reference: ClassVar[str] = "Nobody 2026, eq. 1"

    def values(self, data: EvalSet) -> Floats:
        scores = self.scores(data)
        return np.where(np.isnan(scores).all(axis=1), np.nan, np.nan_to_num(scores, nan=-np.inf).max(axis=1))


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("promise", CHECKS)
def test_a_third_partys_method_is_held_to_every_promise(promise: str) -> None:
    register("loudness")(Loudness)
    assert chooses(Loudness)
    assert "loudness" in chooser_texts()
    assert "loudness" in utility_texts()
    CHECKS[promise]("loudness")


@dataclass(frozen=True, kw_only=True)
class Demanding(MetricUtility):
    """Needs a parameter that nobody has given an example of."""

    power: float = parameter(help="how much")

    def values(self, data: EvalSet) -> Floats:
        return np.asarray(self.scores(data)[:, 0] * self.power)


@pytest.mark.usefixtures("own_registry")
def test_a_method_without_an_example_is_noticed() -> None:
    register("demanding")(Demanding)
    with pytest.raises(AssertionError, match=r"The method demanding needs \['power'\]"):
        all_texts()


@dataclass(frozen=True)
class Careless(Utility):
    """Breaks one promise after the other."""

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    fault: str = parameter("none", "which promise is broken")

    def reads(self, data: EvalSet) -> frozenset[str]:
        further = {"column:domain"} if self.fault == "reads too much" else set()
        return frozenset({"metric:score", "aspect:overall"} - {self.fault} | further)

    def values(self, data: EvalSet) -> Floats:
        first: Floats = data.metrics["score"][:, 0]
        if self.fault == "depends on the file":
            return np.asarray(first + data.store.file_order)
        if self.fault == "gives everything a value":
            return np.nan_to_num(first)
        if self.fault == "peeks":
            return np.asarray(data.store.aspects["overall"][:, 0])
        return np.asarray(first + 0 * data.aspects["overall"][:, 0])


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize(
    ("fault", "promise"),
    [
        ("depends on the file", "order_in_the_file_does_not_matter"),
        ("gives everything a value", "an_item_without_scores_comes_last"),
        ("metric:score", "same_seed_same_answer"),
        ("reads too much", "what_it_reads_and_misses_is_said_in_a_sentence"),
    ],
)
def test_a_broken_promise_is_noticed(fault: str, promise: str) -> None:
    register("careless")(Careless)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        CHECKS[promise](f"careless:fault={fault}")
