"""What the terminal shows of selections, methods, verifications, comparisons and evaluation sets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.registry import Method, method_class, parameter, registered
from sparingly.data.describe import describe, representation
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.show.terminal.describe import show_conversion, show_description, show_representation
from sparingly.show.terminal.methods import show_method, show_methods
from sparingly.show.terminal.results import (
    show_comparison,
    show_curve,
    show_draws,
    show_parity,
    show_selection,
    show_verification,
)

Shown = Callable[..., str]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.delenv("COLUMNS", raising=False)

    def keep(show: Callable[..., None], *given: Any) -> str:
        with redirect_stdout(StringIO()) as kept:
            show(*given)
        return kept.getvalue()

    return keep


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def row(text: str, start: str) -> list[str]:
    """The words of the first line that begins with a text."""
    return next(line.split() for line in text.splitlines() if line.strip().startswith(start))


# --- selections and verifications -------------------------------------------------------------------


def test_a_draw(demo: EvalSet, shown: Shown) -> None:
    drawn = sparingly.select(demo, "random", 10, seed=1)
    text = shown(show_selection, drawn, Path("chosen.json"))
    assert text.startswith("10 of 240 items chosen (4 %).\n")
    assert f"The first: {drawn.items[0]}, " in text
    assert "Probability sample: scores estimate the whole set.\n" in text
    assert "signature: " not in text
    assert f"signature: {drawn.signature}\n" in shown(partial(show_selection, verbose=True), drawn)
    assert text.endswith("written to chosen.json\n")


def test_a_list_under_a_cost(demo: EvalSet, shown: Shown) -> None:
    text = shown(show_selection, sparingly.select(demo, "metric_var:metric=learned", "1h", cost="length"))
    assert row(text, "item") == ["item", "utility", "cost"]
    assert "Ranking only" in text
    assert "no set that fits is worth over" in text
    assert "hours" in text
    assert "written to" not in text


def test_verifications(demo: EvalSet, shown: Shown) -> None:
    chosen = sparingly.select(demo, "random", 10)
    good = shown(show_verification, sparingly.verify(chosen, demo), chosen)
    assert good == "verified: the 10 rows follow from the signature\n"
    moved = replace(chosen, items=chosen.items[::-1].copy())
    bad = shown(show_verification, sparingly.verify(moved, demo), moved)
    assert bad.startswith("NOT verified\n- The items are the right ones, but in another order.\n")


# --- methods ----------------------------------------------------------------------------------------


def test_every_method_is_listed(shown: Shown) -> None:
    text = shown(show_methods, list(registered().values()))
    # The table's first column; what is wrapped begins further to the right.
    begun = [line.split()[0] for line in text.splitlines() if line.startswith(" ") and line[1:2].strip()]
    for name in registered():
        assert begun.count(name) == 1
    # The common ones come first, published ones last.
    assert begun.index("random") < begun.index("cube") < begun.index("anchor_points") < begun.index("auto")


@pytest.mark.parametrize("name", registered())
def test_a_method_in_full(name: str, shown: Shown) -> None:
    method = method_class(name)
    text = shown(show_method, method)
    assert text.startswith(f"{name} ({method.kind})\n{method.summary()}\n")
    assert f"after: {method.reference}\n" in text
    assert "needs: " in text
    for part in sparingly.base.registry.describe_method(method)["parameters"]:
        assert row(text, f"{part['name']} ")


@dataclass(frozen=True)
class Defaults(Method):
    """Has defaults of every kind."""

    label: str = parameter("COMET", "a text")
    flag: bool = parameter(True, "a switch")
    nothing: str | None = parameter(None, "nothing")


def test_defaults_are_shown_as_they_are_written(shown: Shown) -> None:
    text = shown(show_method, Defaults)
    assert "COMET" in row(text, "label")
    assert "true" in row(text, "flag")[1:]
    assert "none" in row(text, "nothing")


# --- agreement --------------------------------------------------------------------------------------


def test_a_comparison(demo: EvalSet, shown: Shown) -> None:
    compared = sparingly.agree(demo, sparingly.select(demo, "metric_var:metric=learned", 24), "overall")
    text = shown(partial(show_comparison, verbose=True), compared)
    assert text.startswith(
        "The 24 chosen items find the same best model as all 240 and order 96 % of 28 pairs"
    )
    for model in compared.models:
        assert model.model in text
    assert "note: ranking only" in text
    assert f"{100 * compared.agreement.soft_pairwise_accuracy:.1f} %" in text
    assert row(text, "significance groups")[-3:] == [
        str(compared.agreement.groups), "of", str(compared.agreement.groups_full)
    ]  # fmt: skip
    changed = sum(model.rank != model.full_rank for model in compared.models)
    assert text.count("←") == changed


def test_a_model_without_judgements_has_a_dash(shown: Shown) -> None:
    human = np.array([[np.nan, 2.0, 1.0], [5.0, 1.0, 3.0], [1.0, 2.0, 4.0]])
    data = EvalSet.from_arrays(["a", "b", "c"], ["x", "y", "z"], aspects={"overall": human})
    text = shown(show_comparison, sparingly.agree(data, ["a"], "overall"))
    assert row(text, "x ")[2:4] == ["-", "←"]


def test_a_curve(demo: EvalSet, shown: Shown) -> None:
    drawn = sparingly.curve(demo, "metric_var:metric=learned", "overall", shares=[0.1, 0.3], runs=3)
    text = shown(show_curve, drawn)
    assert "soft pairwise accuracy by share of items judged" in text
    assert row(text, "10%") == ["10%", "30%"]
    assert "· random, 90 % interval of its mean   o random   ● metric_var:metric=learned" in text
    assert "for random (3 draws)" in text


def test_parity_in_words(demo: EvalSet, shown: Shown) -> None:
    found = sparingly.parity(demo, "random", "overall", runs=2, shares=[0.1, 0.2])
    assert shown(show_parity, replace(found, share=0.8)) == (
        "parity: 80 % of random's labels for the same agreement (saves 20 %)\n"
    )
    assert "150 % of random's labels for the same agreement (costs 50 %)" in shown(
        show_parity, replace(found, share=1.5)
    )
    assert "there is no figure" in shown(show_parity, replace(found, share=float("nan")))


def test_draws(demo: EvalSet, shown: Shown) -> None:
    text = shown(show_draws, sparingly.draws(demo, "random", 12, "overall", runs=3))
    assert "3 runs of random, each on 80 % of the items" in text


# --- descriptions and conversions -------------------------------------------------------------------


def test_a_description(demo: EvalSet, shown: Shown) -> None:
    text = shown(show_description, describe(demo))
    assert f"outputs of {len(demo.models)} models for 240 items" in text.splitlines()[0]
    for name in (*demo.metrics, *demo.aspects, "documents", "ratings", "seconds", "domains"):
        assert name in text
    assert "correlation of metrics with aspects" in text


def test_a_description_of_almost_nothing(shown: Shown) -> None:
    text = shown(show_description, describe(EvalSet.from_arrays(["a"], ["[bold]x[/bold]"])))
    assert text.startswith("This set: 1 model for 1 item; no human labels yet.\n")
    assert "[bold]x[/bold]" in text
    assert "correlation" not in text


def test_a_description_names_cell_columns(shown: Shown) -> None:
    data = EvalSet.from_arrays(["a"], ["x", "y"], cells={"prompt": [["p", "q"]], "seed": [[1, 2]]})
    assert row(shown(show_description, describe(data)), "cell columns") == [
        *("cell", "columns", "(2)", "prompt,", "seed")
    ]


def test_identical_outputs_only_where_there_are_outputs(shown: Shown) -> None:
    sources = EvalSet.from_arrays(["a"], ["x", "y"], sources=["s"])
    assert "identical outputs" not in shown(show_description, describe(sources))
    outputs = EvalSet.from_arrays(["a"], ["x", "y"], outputs=[["o", "p"]])
    assert row(shown(show_description, describe(outputs)), "identical outputs")[2:4] == ["0.0", "%"]


def test_almost_all_is_not_all_and_almost_nothing_not_nothing(shown: Shown) -> None:
    scores, count = np.zeros((3000, 2)), 3000
    scores[7, 1] = np.nan
    outputs = [[f"x{place}", f"y{place}"] for place in range(count)]
    outputs[3] = ["same", "same"]
    items = [f"i{place:04d}" for place in range(count)]
    data = EvalSet.from_arrays(items, ["x", "y"], metrics={"chrF": scores}, outputs=outputs)
    text = shown(show_description, describe(data))
    assert row(text, "metric:chrF")[1:6] == ["over", "99.9", "%", "(1", "missing)"]
    assert row(text, "identical outputs")[2:5] == ["under", "0.1", "%"]
    assert "100.0 %" not in text


def test_metrics_without_a_correlation_come_last(shown: Shown) -> None:
    drawn = np.random.default_rng(1).normal(size=(30, 3))
    data = EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(30)],
        ["x", "y", "z"],
        metrics={"constant": np.ones((30, 3)), "inverse": -drawn, "same": drawn},
        aspects={"overall": drawn},
    )
    listed = [
        line.split()[1]
        for line in shown(show_description, describe(data)).splitlines()
        if line.startswith(" overall ")
    ]
    assert listed[-3:] == ["same", "inverse", "constant"]


def test_what_is_missing(shown: Shown) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x", "y"], metrics={"m": [[1.0, np.nan], [2.0, 3.0]]})
    text = shown(show_description, describe(data))
    assert "what is missing" in text
    assert "75.0 % (1 missing)" in text


def test_whom_a_selection_represents(demo: EvalSet, shown: Shown) -> None:
    chosen = sparingly.select(demo, "metric_var:metric=learned", 24)
    text = shown(show_representation, representation(demo, list(chosen.items)))
    assert text.startswith("24 chosen items against the 240 of the set: ")
    assert "domain" in text


def test_a_conversion(demo: EvalSet, shown: Shown) -> None:
    assert shown(show_conversion, demo, Path("out.parquet"), []).endswith("everything was carried over\n")
    lossy = shown(show_conversion, demo, Path("out.csv"), ["ratings", "column:domain"])
    assert "240 items x 8 models written to out.csv" in lossy
    assert "not carried by this format: ratings, column:domain" in lossy


def test_both_sides_of_a_selection(demo: EvalSet, shown: Shown) -> None:
    crowd = sparingly.select(demo, "random", 3, crowd=["Birch", "Rowan"], judge=["Juniper", "Rowan"])
    assert "Computed on: Birch, Rowan.\nTo judge: Juniper, Rowan.\n" in shown(show_selection, crowd)
    everyone = sparingly.select(demo, "random", 3, crowd=["Birch"], judge="all")
    assert "Computed on: Birch.\nTo judge: all models.\n" in shown(show_selection, everyone)
    named = shown(show_selection, sparingly.select(demo, "random", 3, judge=["Juniper", "Rowan"]))
    assert "To judge: Juniper, Rowan.\n" in named
    assert "Computed on" not in named
    assert "To judge" not in shown(show_selection, sparingly.select(demo, "random", 3))
