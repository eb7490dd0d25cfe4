"""What holds of all results: frames with the numbers of the file, a picture, and the answer first in HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from importlib import import_module
from typing import Any

import polars as pl
import pytest

import sparingly
from sparingly.base.summary import Tabular
from sparingly.data.synthetic import load_invented
from sparingly.infer.compare.strengths import win_matrix

DATA = load_invented()
CHOSEN = sparingly.select(DATA, "uniform", 60)


def strengths() -> Any:
    pairs = pl.DataFrame(
        {
            "prompt": [f"question {place}" for place in range(40)],
            "model_a": ["large"] * 40,
            "model_b": ["small"] * 40,
            "response_a": [f"long answer {place}" for place in range(40)],
            "response_b": [f"short answer {place}" for place in range(40)],
            "winner": ["model_a" if place % 4 else "model_b" for place in range(40)],
        }
    )
    return sparingly.bradley_terry(sparingly.from_frame(pairs))


def three_by_votes() -> Any:
    names = ("large", "small", "tiny")
    rows = [
        {"prompt": f"question {place}", "model_a": names[place % 3], "model_b": names[(place + 1) % 3]}
        | {"winner": "tie" if place % 5 == 0 else f"model_{'ab'[place % 2]}"}
        for place in range(60)
    ]
    return sparingly.from_frame(pl.DataFrame(rows))


# How each result is made, and what its HTML begins with.
RESULTS: dict[str, tuple[Callable[[], Any], Callable[[Any], str]]] = {
    "Selection": (lambda: CHOSEN, lambda _: "60 of 240 items chosen"),
    "Estimate": (
        lambda: sparingly.estimate(DATA, CHOSEN, "overall"),
        lambda _: "Rowan has the highest of 8 overall scores: ",
    ),
    "Ranking": (lambda: sparingly.rank(DATA, CHOSEN, "overall"), lambda _: "Rowan has the highest score"),
    "Plan": (lambda: sparingly.plan(DATA, CHOSEN, "overall"), lambda result: result.advice.sentences[0]),
    "SampleSize": (lambda: sparingly.sample_size(win_rate=0.6), lambda result: result.answer),
    "BradleyTerry": (strengths, lambda _: "large is the strongest of 2 models"),
    "HeadToHead": (
        lambda: sparingly.compare(DATA.take(models=["Rowan", "Cedar-MT"]), aspect="overall"),
        lambda result: result.sentence,
    ),
    "WinMatrix": (lambda: win_matrix(three_by_votes()), lambda result: result.sentences[0]),
    "JudgeAudit": (lambda: sparingly.judge(DATA, CHOSEN, "overall", judge="judge"), lambda _: "True"),
    "Comparison": (
        lambda: sparingly.agree(DATA, CHOSEN, truth="overall"),
        lambda _: "The 60 chosen items find ",
    ),
    "Representation": (lambda: sparingly.representation(DATA, CHOSEN), lambda result: result.headline),
    "Description": (lambda: sparingly.describe(DATA), lambda _: "invented: outputs of 8 models for 240"),
    "RaterReport": (lambda: sparingly.rater_report(DATA, "overall"), lambda result: result.headline),
    "Assignment": (
        lambda: sparingly.assign(CHOSEN, ["Ada", "Bo"], data=DATA),
        lambda _: "2 raters with 33 items each",
    ),
    "Changes": (
        lambda: sparingly.changes(
            sparingly.estimate(DATA, CHOSEN, "overall"), sparingly.estimate(DATA, None, "overall")
        ),
        str,
    ),
    "Expected": (
        lambda: sparingly.expect(DATA.take(DATA.items[:60]), aspect="overall"),
        lambda _: "Judging everything is expected to show ",
    ),
    "Winners": (
        lambda: sparingly.winners(DATA, truth="overall"),
        lambda _: "by overall: 28 of 28 pairs have a winner",
    ),
    "Parity": (
        lambda: sparingly.parity(DATA, "metric_var:metric=learned", truth="overall"),
        lambda result: f"{result.share:.1%} of random's labels",
    ),
    "Report": (
        lambda: sparingly.report(DATA, CHOSEN, "overall", figures=False, curve=False),
        lambda result: result.lead[0],
    ),
}

# What public functions return beside results: data, methods, what was done with files, pools, and rounds.
OTHERS = {
    *("EvalSet", "DistilledModel", "Method", "Finished", "Iterator", "ReplayEnd", "PoolSelection"),
    *("ScoredPool", "ExportReport", "ImportReport", "Verification", "Draws", "VConcatChart", "DataFrame"),
    *("Format", "CurveComparison", "MethodList"),
}


def test_every_public_function_returns_a_result_that_is_here_or_no_result() -> None:
    functions = [getattr(sparingly, name) for name in sparingly.__all__]
    hints = {str(getattr(one, "__annotations__", {}).get("return", "")) for one in functions}
    returned = {name for hint in hints for name in re.findall(r"\b[A-Z]\w+", re.sub(r"\[.*\]", "", hint))}
    assert returned - OTHERS - {"Any", "None"} <= set(RESULTS)


def test_the_list_of_methods_is_a_frame_and_a_page() -> None:
    found = sparingly.methods()
    assert found.to_polars().height == len(found.to_pandas()) == len(found)
    assert "<td>weighted_mean</td>" in found._repr_html_()


def test_every_result_is_here() -> None:
    import_module("sparingly.show.figures.charts")

    def below(kind: type) -> set[str]:
        return {kind.__name__}.union(*map(below, kind.__subclasses__()))

    assert below(Tabular) - {"Tabular", "CurveComparison"} == set(RESULTS)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_frame_a_picture_and_a_page(name: str) -> None:
    make, begins = RESULTS[name]
    result = make()
    frame = result.to_polars()
    assert frame.height == len(result.rows()) > 0
    assert list(result.to_pandas().columns) == frame.columns
    assert result.plot().to_dict()["$schema"].startswith("https://vega.github.io")
    page = result._repr_html_()
    assert unescape(re.sub("<[^>]+>", "", page)).startswith(begins(result))
