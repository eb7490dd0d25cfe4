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
from sparingly.base.tabular import Tabular
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
        lambda _: "Rowan has the highest of 8 scores: ",
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
    "Description": (lambda: sparingly.describe(DATA), lambda _: "invented: 240 items x 8 models"),
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
}


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
