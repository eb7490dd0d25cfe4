"""The tables of honest scores, on a small set and on figures written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks import honesty, honesty_runs
from benchmarks.honesty_page import LABELS, MISSED, OPEN, REACHED, accuracy_of_cons, draw, over_sets, verdict
from benchmarks.honesty_runs import (
    COUNTS,
    OURS,
    RANDOM,
    TOP,
    Case,
    Claims,
    Kept,
    mean_with_interval,
    ratio_with_interval,
    usual_claims,
)
from benchmarks.pages import block, marker
from sparingly.data.synthetic import load_invented

SMALL = Case("made", "overall", "learned", "a made set", shares=(0.25, 0.5))
MARKERS = (
    "honesty-runs",
    "honesty-errors",
    "honesty-both",
    "honesty-budgets",
    "honesty-others",
    "honesty-coverage",
    "honesty-groups",
    "honesty-sets",
)


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    demo = load_invented()
    sparingly.save(demo.at(range(0, len(demo), 2)), folder / "made.jsonl.gz")
    return folder


def test_kept_runs_are_not_run_again(tmp_path: Path) -> None:
    kept, ran = Kept(tmp_path), list[int]()

    def run(place: int) -> list[float]:
        ran.append(place)
        return [float(place)]

    assert kept.runs({"a": 1}, 20, run).tolist() == [[float(place)] for place in range(20)]
    assert kept.runs({"a": 1}, 40, run).shape == (40, 1)
    assert ran == list(range(40))
    assert kept.runs({"a": 1}, 10, run, or_more=True).shape == (40, 1)
    kept.runs({"a": 2}, 1, run)
    assert ran[40:] == [0]


def test_interval_of_a_mean() -> None:
    found = mean_with_interval(np.array([1.0, 2.0, 3.0]))
    # The t quantile with 2 degrees of freedom times 1/√3.
    assert found == {"mean": 2.0, "low": pytest.approx(2 - 2.484138), "high": pytest.approx(2 + 2.484138)}
    assert mean_with_interval(np.array([1.0])) == {"mean": 1.0, "low": None, "high": None}


def test_ratio_of_means_holds_the_true_ratio() -> None:
    drawn = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = ratio_with_interval(drawn.normal(2.0, 0.4, 30), drawn.normal(4.0, 0.9, 60))
        held += found["low"] <= 0.5 <= found["high"]  # type: ignore[operator]
    assert 0.91 <= held / 400 <= 0.98


def test_usual_claims_are_those_of_scipy() -> None:
    from scipy import stats

    judged = np.random.default_rng(2).normal([0.0, 0.4, 1.0], 1.0, (25, 3))
    found = usual_claims(judged)
    for model in range(3):
        ends = stats.ttest_1samp(judged[:, model], 0.0).confidence_interval(0.95)
        assert found.score_ends[:, model].tolist() == pytest.approx([float(ends.low), float(ends.high)])
    for place, (one, other) in enumerate([(0, 1), (0, 2), (1, 2)]):
        test = stats.ttest_rel(judged[:, one], judged[:, other])
        ends = test.confidence_interval(0.95)
        assert found.difference_ends[:, place].tolist() == pytest.approx([float(ends.low), float(ends.high)])
        assert found.significant[place] == (test.pvalue < 0.05)


def test_claims_are_counted_by_hand() -> None:
    claims = Claims(
        scores=np.array([3.0, 2.0, 1.0]),
        score_ends=np.array([[2.5, 1.0, np.nan], [3.5, 1.5, np.nan]]),
        difference_ends=np.array([[0.5, 1.5, 0.5], [1.5, 2.5, 1.5]]),
        significant=np.array([True, True, True]),
        grouped=np.array([False, True, True]),
        together=np.array([False, True, False]),
    )
    # Truly the second is the best, and the third lies one below the first.
    found = dict(zip(COUNTS, claims.counted(np.array([3.0, 4.0, 2.0])), strict=True))
    assert found["scores"] == pytest.approx(1 / 3)
    assert found["scores told"] == pytest.approx(2 / 3)
    # The differences are −1, 1 and 2: no interval holds them.
    assert found["differences"] == 0.0
    assert found["differences told"] == 1.0
    assert found["wrong"] == pytest.approx(1 / 3)
    assert found["grouped wrong"] == 0.0
    assert found["together"] == pytest.approx(1 / 3)
    assert found["together wrong"] == 0.0
    assert found["width"] == pytest.approx(1.0)


def test_top_of_a_biased_list_loses_coverage_and_draws_keep_it(data_folder: Path) -> None:
    """Where the list is the truth's own order, its top cannot stand for the set."""
    data = SMALL.data(data_folder)
    values = data.truth(SMALL.truth)
    told = data.with_metric("learned", values)
    top = honesty_runs.Way(TOP, "metric_avg:metric=learned", is_ours=False)
    ours = honesty_runs.Way(OURS, "local_pivotal", is_ours=True)
    runs = [
        np.mean([honesty_runs.replicate(SMALL, told, way, seed) for seed in range(4)], axis=0)
        for way in (top, ours)
    ]
    scores, told_share = COUNTS.index("scores"), COUNTS.index("scores told")
    assert runs[0][:, scores].max() < 0.5
    assert runs[1][1:, scores].min() > 0.75
    # Nine items are too few for an interval of a draw.
    assert runs[1][0, told_share] == 0.0


def row(
    method: str, ratio: tuple[float, float], spa: tuple[float, float], *, ours: bool = True
) -> dict[str, Any]:
    interval = {"mean": sum(spa) / 2, "low": spa[0], "high": spa[1]}
    forms = honesty_runs.FORMS if ours else ("plain",)
    return {
        "method": method,
        "ours": ours,
        "draws": 20,
        "ratio": {"mean": sum(ratio) / 2, "low": ratio[0], "high": ratio[1]},
        "spa": dict.fromkeys(forms, interval),
        "above": dict.fromkeys(forms, 0.5),
        "by_budget": {"share": [0.25, 0.5], "ratio": [0.5, 0.6], "spa": [0.9, 0.95]},
    }


CONS = row("metric_cons:metric=m", (3.0, 3.0), (0.96, 0.96), ours=False)


@pytest.mark.parametrize(
    ("ratio", "spa", "said"),
    [
        ((0.5, 0.6), (0.961, 0.97), REACHED),
        ((0.5, 0.6), (0.955, 0.97), OPEN),
        ((0.5, 0.6), (0.94, 0.955), MISSED),
        ((1.1, 1.2), (0.961, 0.97), MISSED),
        ((0.9, 1.1), (0.961, 0.97), OPEN),
    ],
)
def test_verdicts(ratio: tuple[float, float], spa: tuple[float, float], said: str) -> None:
    found = row("uniform", ratio, spa)
    one = {"metric": "m", "rows": [CONS, found]}
    assert accuracy_of_cons(one) == pytest.approx(0.96)
    assert verdict(one, found, "predicted") == said


def coverage_of(values: dict[str, list[float | None]]) -> dict[str, Any]:
    names = (
        *(
            "score coverage",
            "difference coverage",
            "withheld",
            "significant",
            "wrong",
            "wrong of significant",
        ),
        *("grouped", "grouped wrong", "wrong of grouped", "together", "together wrong", "width"),
        *("over the set", "over the set wrong"),
    )
    rows = [{"way": way, "method": way, **dict.fromkeys(names, shown)} for way, shown in values.items()]
    about = {"title": "a set", "metric": "m", "items": 9, "models": 3, "replicates": 4}
    return {**about, "budgets": [0.1, 0.25, 0.5], "rows": rows}


def test_means_over_sets_leave_out_what_is_not_told() -> None:
    sets = [coverage_of({TOP: [0.5, 0.5, None]}), coverage_of({TOP: [0.7, 0.7, 0.9], OURS: [0.1, 0.1, 0.1]})]
    assert over_sets(sets, TOP, "wrong") == pytest.approx([0.6, 0.6, 0.9])
    assert over_sets(sets, OURS, "wrong") == pytest.approx([0.1, 0.1, 0.1])


def test_picture_says_what_was_found() -> None:
    sets = [
        coverage_of({TOP: [0.5, 0.6, 0.7], RANDOM: [0.95, 0.95, 0.98], OURS: [0.95, 0.96, 0.94]}),
        coverage_of({TOP: [0.5, 0.3, 0.7], RANDOM: [0.95, 0.95, 0.98], OURS: [0.95, 0.94, 0.94]}),
    ]
    spec = draw(sets).to_dict()
    title = " ".join(spec["vconcat"][0]["title"]["text"])
    assert "30–60 % of the time from the top of a list" in title
    assert "94–96 % from a draw" in title
    assert all(label in json.dumps(spec) for label in LABELS.values())


def test_command_writes_figures_page_and_picture(
    data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(honesty, "MAIN", (SMALL, SMALL))
    monkeypatch.setattr(honesty, "OTHERS", (replace(SMALL, metric="noisy"),))
    monkeypatch.setattr(honesty, "COVERAGE", (SMALL,))
    monkeypatch.setattr(honesty_runs, "RANDOM_RUNS", 3)
    monkeypatch.setattr(honesty_runs, "SELECTORS", honesty_runs.SELECTORS[:3])
    monkeypatch.setattr(honesty_runs, "DESIGNS", honesty_runs.FEW)
    monkeypatch.setenv("SPARINGLY_CACHE", "off")
    page, results, picture = tmp_path / "page.md", tmp_path / "figures.json", tmp_path / "picture.svg"
    page.write_text("".join(f"{marker(name)}\n<!-- end -->\n" for name in MARKERS), encoding="utf-8")
    places = ["--results", results, "--page", page, "--picture", picture, "--keep", tmp_path / "kept"]
    asked = [
        "all",
        "--draws",
        "2",
        "--draws-others",
        "2",
        "--parts",
        "2",
        "--docs",
        "--data",
        data_folder,
        *places,
    ]
    assert honesty.main([str(part) for part in asked]) == 0
    figures = json.loads(results.read_text(encoding="utf-8"))
    random = figures["errors"]["main"][0]["random"]
    own = [one for one in figures["errors"]["main"][0]["rows"] if one["ours"]]
    assert len(own) == len(honesty_runs.DESIGNS)
    assert random["mae"]["mean"] > 0
    assert all(0 < one["ratio"]["mean"] < 2 for one in own)
    assert all(0.5 < one["spa"][form]["mean"] <= 1 for one in own for form in honesty_runs.FORMS)
    text = page.read_text(encoding="utf-8")
    assert "`local_pivotal:utility=(metric_avg),tau=0.5`, `greg`" in block(text, "honesty-errors")
    assert "2 draws" in block(text, "honesty-runs")
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_command_says_what_is_missing(
    tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert honesty.main(["all", "--data", str(tmp_path / "nowhere")]) == 2
    assert "--data" in capsys.readouterr().err
    assert honesty.main(["all", "--data", str(data_folder), "--docs", "--only", "made/overall"]) == 2
    assert "--only" in capsys.readouterr().err


def test_page_shows_the_figures() -> None:
    figures = json.loads(honesty.RESULTS.read_text(encoding="utf-8"))
    page = honesty.PAGE.read_text(encoding="utf-8")
    assert block(page, "honesty-runs") == honesty.runs_of(figures)
    for name, text in honesty.blocks(figures).items():
        assert block(page, name) == text


def test_rows_name_methods_that_there_are() -> None:
    for one in (*honesty_runs.SELECTORS, *honesty_runs.DESIGNS):
        kind = sparingly.parse_method(one.text(SMALL)).kind
        assert kind == "design" if one.is_ours else kind in ("utility", "selector")


def test_metrics_were_fixed_by_a_rule() -> None:
    for case in (*honesty_runs.MAIN, *honesty_runs.OTHERS, *honesty_runs.COVERAGE):
        learned = {"wmt20_ende_notext": "bleurt-combi", "summeval_llm12": "gpt4_rts_sum"}
        fixed = "MetricX-23" if case.file.startswith("wmt23") else learned.get(case.file, "chrF")
        assert case.metric == fixed
