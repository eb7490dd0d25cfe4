"""The page of errors of scores: ours is what the package gives, and the page shows what was computed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks import score_errors
from benchmarks.pages import block, marker
from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED, PUBLISHED
from benchmarks.score_errors import OURS, Work, bars, blocks, load_cases, our_draws, our_method, set_figures
from sparingly.choose.design.probability_design import LocalPivotal
from sparingly.choose.utility.metric import MetricAvg
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.estimators import Greg
from sparingly.infer.estimate.sample import sample_from

SMALL = "small"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    demo = load_invented()
    sparingly.save(demo.at(range(0, len(demo), 6)), folder / f"{SMALL}.jsonl.gz")
    return folder


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    folder = tmp_path_factory.mktemp("sets")
    sparingly.save(sparingly.make_evalset(160, 3, seed=4, raters=0), folder / f"{SMALL}.jsonl.gz")
    return load_cases(folder, SMALL)


@pytest.fixture(scope="module")
def case(cases: Cases) -> Case:
    return cases.cases[0]


@pytest.mark.parametrize("metric", ["", "good"])
def test_ours_is_what_select_and_estimate_give(case: Case, metric: str) -> None:
    design = LocalPivotal(utility=MetricAvg(metric=metric) if metric else None)
    for seed in range(3):
        chosen = sparingly.select(case.data, design, 0.25, seed=seed)
        taken = our_draws(case, 0.25, design)(seed).taken
        assert set(case.data.items[taken[:, 0]]) == set(chosen.items)
        sample = sample_from(case.data, case.truth, chosen)
        expected = Greg().linear(sample, case.data, seed).scores(sample)
        assert our_method(case, 0.25, metric)(seed).scores == pytest.approx(expected, abs=1e-12)


def test_draws_are_shared_out_over_raters(cases: Cases) -> None:
    raters = replace(cases, cases=cases.cases * 3)
    assert [Work(Path(), draws).draws_of(raters) for draws in (2, 100, 200)] == [2, 50, 67]
    assert Work(Path(), 200).draws_of(cases) == 200


def test_bars_are_missed_only_where_the_interval_lies_above() -> None:
    def one(name: str, value: float, half: float) -> dict[str, Any]:
        line = {"method": OURS, "ratio": value, "low": value - half, "high": value + half}
        beside = {"difference": -0.1, "error": 0.03}
        return {"name": name, "methods": [line], "draws": 200, "beside_published": beside}

    found = bars([one("wmt23_ende", 0.77, 0.03), one("wmt23_zhen", 0.8, 0.03), one("other", 1.01, 0.02)])
    assert [line["missed"] for line in found] == [False, True, False, False]
    assert [line["reached"] for line in found] == [False, False, True, True]
    assert found[-1]["high"] == pytest.approx(-0.1 + 1.97196 * 0.03 / np.sqrt(3), abs=1e-5)


def test_a_metric_that_knows_makes_ours_better(cases: Cases, tmp_path: Path) -> None:
    """With a metric that is nearly the judgement, our error is a small part of random's."""
    case = cases.cases[0]
    noise = np.random.default_rng(0).normal(scale=0.1 * case.truth.std(), size=case.truth.shape)
    aspect = next(iter(case.data.aspects))
    clear = case.data.with_metric("clear", case.truth + noise).only(
        {"metric:clear", "metric:noisy", f"aspect:{aspect}", "column:document", "sources", "outputs"}
    )
    sparingly.save(clear, tmp_path / "clear.jsonl.gz")
    known, errors = Work(tmp_path, draws=12, keep=tmp_path / "kept").errors("clear")
    found = set_figures(known, errors, Work(tmp_path, 12).shares("clear"))
    ours = next(line for line in found["methods"] if line["method"] == OURS)
    # Below 30 judged items greg falls back to the mean of the spread draw; at half of the set it does not.
    assert ours["by_share"][-1] < 0.4
    assert ours["high"] < 0.8
    # What is kept is taken as it is.
    again = Work(tmp_path, draws=12, keep=tmp_path / "kept").errors("clear")[1]
    assert (again[OURS].error == errors[OURS].error).all()


def test_command_writes_figures_and_page(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_errors, "MAIN", (SMALL,))
    page = tmp_path / "page.md"
    names = blocks_of_small(folder)
    page.write_text("".join(f"{marker(name)}\n<!-- end -->\n" for name in names), encoding="utf-8")
    places = {"--data": folder, "--keep": tmp_path / "kept", "--results": tmp_path / "r.json", "--page": page}
    given = [str(part) for pair in places.items() for part in pair]
    assert score_errors.main([*given, "--draws", "3", "--only", SMALL, "--docs"]) == 0
    computed = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    lines = {line["method"]: line for line in computed["sets"][0]["methods"]}
    assert set(PUBLISHED) | {OURS} <= set(lines)
    assert lines[BASE]["ratio"] == 1.0
    assert all(line["error"] > 0 for line in lines.values())
    assert f"| {BEST_PUBLISHED} | " in block(page.read_text(encoding="utf-8"), "score-errors")


def blocks_of_small(folder: Path) -> list[str]:
    work = Work(folder, draws=2, main=(SMALL,))
    return list(blocks(score_errors.figures(work, [SMALL], [])))


def test_command_says_what_is_missing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score_errors.main(["--data", str(tmp_path / "nowhere")]) == 2
    assert score_errors.main(["--data", str(folder), "--only", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_page_shows_the_figures() -> None:
    computed = json.loads(score_errors.RESULTS.read_text(encoding="utf-8"))
    page = score_errors.PAGE.read_text(encoding="utf-8")
    for name, text in blocks(computed).items():
        assert block(page, name) == text


def test_figures_keep_to_what_was_asked() -> None:
    computed = json.loads(score_errors.RESULTS.read_text(encoding="utf-8"))
    assert computed["draws"] >= 200
    assert computed["bars"] == bars(computed["sets"])
    assert all(
        len(line["by_share"]) == len(one["shares"]) for one in computed["sets"] for line in one["methods"]
    )
