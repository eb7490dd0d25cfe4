from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.result import EstimateSignature, signature_word

DATA = load_invented()
CHOSEN = sparingly.select(DATA, "uniform", 60, seed=3)


def signature(**asked: Any) -> EstimateSignature:
    found = sparingly.estimate(DATA, CHOSEN, "overall", **{"estimator": "weighted_mean", **asked}).signature
    assert found is not None
    return found


@pytest.mark.parametrize(
    "asked",
    [
        {"estimator": "mean"},
        {"target": "population"},
        {"level": 0.9},
        {"interval": "t"},
        {"scale": (0.0, 100.0)},
        {"by": "domain"},
        {"seed": 1},
    ],
)
def test_whatever_changes_the_numbers_changes_the_line(asked: dict[str, Any]) -> None:
    assert str(signature(**asked)) != str(signature())


def test_line() -> None:
    line = str(signature(scale=(0, 100), by="domain", level=0.123456789012))
    assert "|level:0.123456789012|interval:auto|scale:0,100|by:domain|seed:0|n:60|of:240|inputs:" in line
    assert line.endswith(f"|selection:[{CHOSEN.signature}]")


def test_judgements_of_items_that_were_not_chosen_are_not_in_the_digest() -> None:
    seen = np.full(DATA.shape, np.nan)
    rows = DATA.positions(CHOSEN.items)
    seen[rows] = DATA.aspects["overall"][rows]
    hidden = DATA.with_aspect("overall", seen)
    found = sparingly.estimate(hidden, CHOSEN, "overall", estimator="weighted_mean")
    assert found.signature == signature()


@pytest.mark.parametrize("asked", [{}, {"scale": (0.0, 100.0), "by": "domain"}])
def test_signatures_come_back(asked: dict[str, Any]) -> None:
    made = signature(**asked)
    assert EstimateSignature.from_dict(made.to_dict()) == made


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"aspect": None}, "field signature.aspect: the text is missing"),
        ({"seed": 1.5}, "field signature.seed: 1.5 is not a whole number"),
        ({"n": True}, "field signature.n: true is not a whole number"),
        ({"scale": [1]}, r"field signature.scale: \[1\] is not a scale"),
        ({"level": "high"}, 'field signature.level: "high" is text'),
    ],
)
def test_what_is_no_signature_is_said(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        EstimateSignature.from_dict({**signature().to_dict(), **change})


@pytest.mark.parametrize(
    ("name", "told"),
    [("domain", "domain"), ("none", '"none"'), ("a|seed:3", '"a|seed:3"'), ("a\n", '"a\\n"')],
)
def test_names_that_would_be_read_as_something_else_are_quoted(name: str, told: str) -> None:
    assert signature_word(name) == told
