"""Awkward judgements through ``estimate``, ``rank``, ``report``, ``plan``: the right answer or one sentence.

Never NaN, never a negative zero, never 0 % for a simulated chance, on the command line and in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_WRONG, SparinglyError
from sparingly.cli.app import run

Scores = dict[str, list[Any]]
VERBS = ("estimate", "rank", "report", "plan")
# A number that is none, an infinite one, a negative zero, or a chance of nothing.
WRONG = re.compile(r"\bnan\b|\binf\b|(?<![\w.])[-−]0(\.0+)?(?![\w.])|(?<![\d.])0 %|Traceback", re.IGNORECASE)
MISSING = [None] * 12


def spread(seed: int, count: int) -> list[Any]:
    """Scores that vary."""
    return [round(float(score), 2) for score in np.random.default_rng(seed).normal(50, 10, count)]


@dataclass(frozen=True)
class Case:
    """Scores by model, the scale that is given with them, and what each command says (a part of it)."""

    scores: Scores
    said: dict[str, str]
    scale: tuple[float, float] | None = None


TWO, MORE = "ranking needs two", "is too small; judge at least 10."
SAME = "Every model has the same score on all its judged items"
NOTHING = "No item is judged, so there is nothing to estimate from"
OFF = "is not on the scale from 0 to 20."
ENDS = "A scale goes from a finite number to a higher one, not from"
CASES = {
    "one label": Case(
        {"a": [5, *MISSING], "b": [None, *MISSING]},
        {
            "estimate": "1 drawn unit is too few to learn an error from",
            "rank": TWO,
            "report": "1 label on 1 of 13 items",
            "plan": f"A pilot of 1 judged item {MORE}",
        },
    ),
    "one label each": Case(
        {"a": [5, *MISSING], "b": [6, *MISSING]},
        {
            "estimate": "1 of 13 items is judged",
            "rank": "Only 1 item is judged, too few to say who is better: judge at least 10.",
            "report": "Nothing is decided between the models",
            "plan": f"A pilot of 1 judged item {MORE}",
        },
    ),
    "one model": Case(
        {"a": [*spread(1, 12), *MISSING]},
        {
            "estimate": "a has ",
            "rank": TWO,
            "report": "1 model judged on q",
            "plan": "There is one model: name the width",
        },
    ),
    "all equal": Case(
        {"a": [3] * 24, "b": [3] * 24},
        {
            "estimate": "a and b share the highest of 2 q scores: 3 on",
            "rank": "a and b share the highest score",
            "report": "share the highest score: none is shown to be the best",
            "plan": SAME,
        },
    ),
    "all equal so far": Case(
        {"a": [3] * 12 + MISSING, "b": [3] * 12 + MISSING},
        {
            "estimate": "all judgements are the same, and further ones may not be; the scale of the scores "
            "(--scale LOW,HIGH) would give one",
            "rank": "a and b share the highest score",
            "report": "The two models do not differ significantly",
            "plan": SAME,
        },
    ),
    "negative zeros": Case(
        {"a": ["-0.0"] * 12 + MISSING, "b": ["-0"] * 11 + [-1] + MISSING},
        {
            "estimate": "to 0.000)",
            "rank": "a has the highest score",
            "report": "a has the highest score",
            "plan": "Judge",
        },
        (-25.0, 0.0),
    ),
    "all missing": Case({"a": MISSING, "b": MISSING}, dict.fromkeys(VERBS, NOTHING)),
    "all missing but one": Case(
        {"a": MISSING, "b": spread(2, 12)},
        {"estimate": "no interval", "rank": TWO, "report": TWO, "plan": "1 of 2 models was not judged"},
    ),
    "1e9 beside 1": Case(
        {"a": [1e9] + [1] * 15 + MISSING, "b": [1] * 16 + MISSING},
        {
            "estimate": "no upper limit for a, b: a few of the 16 drawn units lie far from the rest",
            "rank": "b is not ruled out as the best",
            "report": "b is not ruled out as the best",
            "plan": "Judge all 28 items",
        },
    ),
    "one of two constant": Case(
        {"a": [50] * 16 + MISSING, "b": [*spread(3, 16), *MISSING]},
        {
            "estimate": "16 of 28 items are judged",
            "rank": "The two models do not differ significantly",
            "report": "not ruled out as the best",
            "plan": "Judge all 28 items",
        },
    ),
    "off the scale": Case({"a": spread(4, 12), "b": spread(5, 12)}, dict.fromkeys(VERBS, OFF), (0.0, 20.0)),
    "endless scale": Case(
        {"a": spread(4, 12), "b": spread(5, 12)}, dict.fromkeys(VERBS, ENDS), (0.0, float("inf"))
    ),
    "scale backwards": Case({"a": spread(4, 12), "b": spread(5, 12)}, dict.fromkeys(VERBS, ENDS), (5.0, 1.0)),
    "rounding as an error": Case(
        {"a": [0.1] * 12 + MISSING, "b": [0.3] * 12 + MISSING},
        {
            "estimate": "no interval for a, b: all judgements are the same",
            "rank": "not ruled out as the best",
            "report": "The two models do not differ significantly",
            "plan": SAME,
        },
    ),
    "only pass and only fail": Case(
        {"a": ["pass"] * 12 + MISSING, "b": ["fail"] * 12 + MISSING},
        {
            "estimate": "at least 87.5 %",
            "rank": "at most 12.5 %",
            "report": "at least 87.5 %",
            "plan": SAME,
        },
    ),
}
TOLD = [(name, verb) for name in CASES for verb in VERBS]
PYTHON: dict[str, Callable[..., Any]] = {
    "estimate": sparingly.estimate,
    "rank": sparingly.rank,
    "report": lambda *given, **how: sparingly.report(*given, figures=False, curve=False, **how),
    "plan": sparingly.plan,
}


@pytest.fixture
def data(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table of the case's scores in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    scores = CASES[request.param].scores
    rows = [
        f"i{row:02},{model},{'' if score is None else score}"
        for model, column in scores.items()
        for row, score in enumerate(column)
    ]
    Path("data.csv").write_text("\n".join(["item,model,aspect:q", *rows]) + "\n")
    return "data.csv"


@pytest.mark.parametrize(("data", "verb"), TOLD, indirect=["data"])
def test_on_the_command_line(
    data: str, verb: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[request.node.callspec.params["data"]]
    line = [verb, data, "--aspect", "q"]
    line += [] if case.scale is None else [f"--scale={case.scale[0]:g},{case.scale[1]:g}"]
    line += ["--no-figures", "--no-curve", "--out", "report.md"] if verb == "report" else []
    code = run(line)
    shown = capsys.readouterr()
    if code == EXIT_WRONG:
        assert (shown.out, len(shown.err.splitlines())) == ("", 1)
        assert case.said[verb] in shown.err
        return
    assert (code, shown.err) == (EXIT_DONE, "")
    text = shown.out + (Path("report.md").read_text() if verb == "report" else "")
    assert case.said[verb] in " ".join(text.split())
    assert not WRONG.findall(text)
    assert run([*line, "--json"]) == EXIT_DONE
    assert "-0.0," not in capsys.readouterr().out


@pytest.mark.parametrize(("data", "verb"), TOLD, indirect=["data"])
def test_in_python(data: str, verb: str, request: pytest.FixtureRequest) -> None:
    case = CASES[request.node.callspec.params["data"]]
    loaded = sparingly.load(data)
    try:
        found = PYTHON[verb](loaded, None, "q", scale=case.scale)
    except SparinglyError as raised:
        error = str(raised)
    else:
        error = ""
    if error:
        assert case.said[verb] in error
        return
    texts = [str(found), repr(found), found.markdown() if verb == "report" else found._repr_html_()]
    if verb == "estimate":
        texts += [str(pair) for pair in found.differences()]
    assert not WRONG.findall("\n".join(texts))


def test_an_empty_file_and_one_without_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, said in (("", "the file is empty"), ("item,model,aspect:q\n", "")):
        path = tmp_path / "data.csv"
        path.write_text(text)
        for verb in VERBS:
            assert run([verb, str(path), "--aspect", "q"]) == EXIT_WRONG
            (line,) = capsys.readouterr().err.splitlines()
            assert said in line
            assert not WRONG.findall(line)


@pytest.mark.parametrize(("code", "wrong"), [("nan", 1), ("-0.00", 1), ("−0.0", 1), ("0 %", 1), ("50 %", 0)])
def test_what_counts_as_wrong(code: str, wrong: int) -> None:
    assert len(WRONG.findall(f"a  {code} of b-0 at 10.0 %, -0.01")) == wrong
