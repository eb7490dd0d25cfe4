"""The errors of scores: the fast draws are those of the package, and figures are what they are said to be."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import score_errors
import sparingly
from _score_errors_cases import Case, Cases, load_cases
from _score_errors_draws import Strata, count_of, our_draws, sample_of_draw, stratified_draws, uniform_draws
from _score_errors_figures import bars, bound_figures, method_figures, ratio, set_figures
from _score_errors_methods import (
    BASE,
    BEST_PUBLISHED,
    OURS,
    PUBLISHED,
    Published,
    Variates,
    draws_of,
    our_method,
    published_scores,
)
from _score_errors_page import blocks
from _score_errors_work import Errors, Work, groups
from _tables_markdown import block, marker
from sparingly.choose.design.local_pivotal import LocalPivotal
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.infer.estimate.control_variate import ControlVariate
from sparingly.infer.estimate.drawn import sample_from
from sparingly.infer.estimate.greg import Greg

SMALL = "small"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    folder = tmp_path_factory.mktemp("sets")
    sparingly.save(sparingly.make_evalset(160, 3, seed=4, raters=0), folder / f"{SMALL}.jsonl.gz")
    return load_cases(folder, SMALL)


@pytest.fixture(scope="module")
def case(cases: Cases) -> Case:
    return cases.cases[0]


def test_raters_with_enough_items_are_cases_of_their_own(tmp_path: Path) -> None:
    lines = []
    for item in range(130):
        # One rater judges both systems on 104 items (twice on the first), the other too few.
        rater = "often" if item < 104 else "seldom"
        given = [(system, rater, float(item + place)) for place, system in enumerate(("a", "b"))]
        given += [("a", rater, 2.0)] if item == 0 else []
        ratings = [
            {"model": system, "rater": who, "aspect": "overall", "score": score}
            for system, who, score in given
        ]
        scores = {system: {"metric": float(item % 7 + place)} for place, system in enumerate(("a", "b"))}
        lines.append(json.dumps({"item": f"i{item:03d}", "scores": scores, "ratings": ratings}))
    with gzip.open(tmp_path / "rated.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    found = load_cases(tmp_path, "rated")
    assert found.by_rater
    assert [one.name for one in found.cases] == ["often"]
    assert found.simulations == 2
    # The two ratings of one output, 0 and 2, count as their mean.
    assert found.cases[0].means == pytest.approx([(np.arange(104).sum() + 1) / 104, np.arange(1, 105).mean()])


def test_metrics_are_those_that_correlate_most(cases: Cases, case: Case) -> None:
    def correlation(name: str) -> float:
        x = case.data.metrics[name]
        return abs(float(np.mean([np.corrcoef(x[:, j], case.truth[:, j])[0, 1] for j in range(3)])))

    inside = [name for name in cases.best if name in case.data.metrics]
    assert inside == sorted(inside, key=correlation, reverse=True)
    assert {"source_length", "output_length"} <= set(cases.shown("all"))
    assert not {"source_length", "output_length"} & set(cases.metrics_of("all"))


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


@pytest.mark.parametrize(
    "strata", [None, Strata("document"), Strata("metrics"), Strata("metrics", "optimal", "published")]
)
@pytest.mark.parametrize("variate", ["one", "mean", "several", "knn"])
def test_published_scores_are_those_of_the_estimator(
    case: Case, cases: Cases, strata: Strata | None, variate: Any
) -> None:
    method = Published(strata, variate)
    variates = Variates(case, cases)
    metrics = {"one": (), "mean": cases.metrics_of("best")}.get(variate, cases.best)
    estimator = ControlVariate(
        metric=cases.one if variate == "one" else None,
        variate=variate,
        metrics=metrics,
        covariance="published",
        crossfit=False,
        guard=False,
    )
    # Few judged items, and so many that neighbours are looked for along the whole order.
    for share in (0.2, 0.6):
        sample = sample_of_draw(case, draws_of(case, cases, share, method)(7))
        expected = estimator.linear(sample, case.data, 0).scores(sample)
        assert published_scores(method, sample, variates) == pytest.approx(expected, abs=1e-9)


def test_systems_are_drawn_apart_with_the_right_chances(case: Case, cases: Cases) -> None:
    share, runs = 0.2, 400
    for draw in (
        uniform_draws(case, share),
        stratified_draws(case, share, Strata("document"), ()),
        stratified_draws(case, share, Strata("metrics", "optimal"), cases.metrics_of("best")),
    ):
        drawn = [draw(seed) for seed in range(runs)]
        counts = np.stack([one.taken.sum(axis=0) for one in drawn])
        assert (counts == count_of(case, share)).all()
        assert not (drawn[0].taken[:, 0] == drawn[0].taken[:, 1]).all()
        chance = drawn[0].chance
        seen = np.mean([one.taken for one in drawn], axis=0)
        away = (seen - chance) / np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / runs)
        assert np.abs(away).max() < 5.0


def test_methods_that_share_draws_go_together() -> None:
    found = groups(PUBLISHED)
    assert sorted(name for group in found for name in group) == sorted(PUBLISHED)
    uniform = next(group for group in found if BASE in group)
    assert "cv-knn" in uniform
    assert "docs-prop" not in uniform


def test_draws_are_shared_out_over_raters(cases: Cases) -> None:
    raters = replace(cases, cases=cases.cases * 3)
    assert [Work(Path(), draws).draws_of(raters) for draws in (2, 100, 200)] == [2, 50, 67]
    assert Work(Path(), 200).draws_of(cases) == 200


def test_ratio_and_its_error_by_hand() -> None:
    baseline = np.array([1.0, 2.0, 3.0, 2.0])[None, :, None]
    error = np.array([1.0, 1.0, 2.0, 2.0])[None, :, None]
    value, wide = ratio(error, baseline)
    left = np.array([1.0, 1.0, 2.0, 2.0]) - 0.75 * np.array([1.0, 2.0, 3.0, 2.0])
    assert value == pytest.approx(0.75)
    assert wide == pytest.approx(left.std(ddof=1) / 2.0 / 2.0)


def test_figures_of_a_method_by_hand() -> None:
    # 2 shares × 2 draws × 2 simulations: better in three of four cells.
    baseline = np.array([[[2.0, 2.0], [4.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    error = np.array([[[1.0, 3.0], [3.0, 1.0]], [[0.5, 2.0], [0.5, 2.0]]])
    found = method_figures("x", error, baseline)
    assert found["error"] == pytest.approx(error.mean())
    assert found["win"] == 0.75
    assert found["sd"] == pytest.approx((np.sqrt(2.0) * 2 + 0.0) / 4, abs=1e-5)
    assert found["ratio"] == pytest.approx(error.mean() / baseline.mean(), abs=1e-5)
    assert found["by_share"] == pytest.approx([2.0 / 3.0, 1.25], abs=1e-5)
    assert method_figures(BASE, baseline, baseline)["win"] is None


def test_bounds_by_hand(cases: Cases, case: Case) -> None:
    shares = (0.1, 0.3, 0.5)
    shape = (3, 2, 3)
    found = {name: Errors(np.full(shape, 0.5), np.ones(shape)) for name in (BASE, BEST_PUBLISHED, OURS)}
    lines = bound_figures(cases, found, shares)
    n, size = count_of(case, 0.3), len(case.data)
    spread = np.ptp(case.truth, axis=0)
    hoeffding = spread * np.sqrt((1 - (n - 1) / size) * np.log(40.0) / (2 * n))
    bernstein = np.sqrt(2 * np.log(60.0) / n) + 3 * spread * np.log(60.0) / n
    there = {line["bound"]: line for line in lines if line["share"] == 0.3 and line["method"] == OURS}
    for name, width in (("Hoeffding", hoeffding), ("Bernstein", bernstein)):
        assert there[name]["width"] == pytest.approx(width.mean(), abs=1e-4)
        assert there[name]["slack"] == pytest.approx((width - 0.5).mean(), abs=1e-4)
        assert there[name]["calibration"] == pytest.approx((width >= 0.5).mean(), abs=1e-4)


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
