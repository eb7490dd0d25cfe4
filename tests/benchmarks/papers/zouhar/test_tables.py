"""The tables themselves, on a small set: every method runs, and every mark is where it belongs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks.papers.work import Setting, Work
from benchmarks.papers.zouhar import appendix, diffuse, parity, spa

RANDOM = {
    "method": "random",
    "mean": 0.9,
    "low": 0.89,
    "high": 0.91,
    "p5": 0.85,
    "p95": 0.95,
    "at": {"10%": 0.8},
}


def method(name: str, mean: float, **more: Any) -> dict[str, Any]:
    return {
        "method": name,
        "mean": mean,
        "low": None,
        "high": None,
        "oracle": False,
        "beats": 0.5,
        "at": {"10%": mean},
        **more,
    }


def figures(*means: float, title: str = "set", oracle: float = 0.99) -> dict[str, Any]:
    names = ("metric_avg", "metric_var", "metric_cons")
    rows = [method(name, mean) for name, mean in zip(names, means, strict=True)]
    rows.append(method("search:oracle=true", oracle, oracle=True))
    size = {"items": 50, "of_items": 60, "models": 3, "metric": "m", "differences": 0.4321}
    return {"name": title, "title": title, **size, "random": RANDOM, "methods": rows}


def test_marks() -> None:
    marks = [spa.mark({"mean": mean}, RANDOM) for mean in (0.95, 0.9, 0.899, 0.88)]
    assert marks == ["", "", "▼", "▼▼"]


def test_overview_marks_the_best_that_one_can_use() -> None:
    found = spa.blocks({"settings": [figures(0.95, 0.899, 0.88)]})
    rows = found["spa"].splitlines()
    assert "| `metric_avg` | **95.0** |" in rows
    assert "| `metric_var` | 89.9 ▼ |" in rows
    assert "| `metric_cons` | 88.0 ▼▼ |" in rows
    assert "| `search:oracle=true` (oracle) | 99.0 |" in rows
    assert "| `random`, 5–95 % of single runs | 85.0–95.0 |" in rows
    assert "| *how well the metric separates models* | 0.43 |" in rows
    assert "50 items that have the truth, of 60; 3 models" in found["spa-sets"]


def test_published_figures_stand_beside_ours() -> None:
    settings = [figures(0.95, 0.899, 0.88, title="wmt24_enzh/esa"), figures(0.8, 0.8, 0.8)]
    for one in settings:
        one["methods"] += [method("diversity", 0.81), method("irt", 0.82)]
    rows = spa.blocks({"settings": settings})["spa-published"].splitlines()
    assert rows[2:] == [
        "| `random` | 87.9 | 90.0 |",
        "| `metric_avg` | 87.3 | 95.0 |",
        "| `metric_var` | 86.7 | 89.9 |",
        "| `metric_cons` | 86.8 | 88.0 |",
        "| `diversity` | 84.3 | 81.0 |",
        "| `irt` | 86.7 | 82.0 |",
    ]


def test_random_can_be_the_best() -> None:
    found = spa.blocks({"settings": [figures(0.8, 0.8, 0.8)]})
    assert "| `random` | **90.0** |" in found["spa"]


def test_worse_methods_are_listed_with_their_sets() -> None:
    sets = [figures(0.95, 0.88, 0.88, title="a"), figures(0.95, 0.899, 0.95, title="b")]
    found = spa.blocks({"settings": sets})["spa-worse"].splitlines()
    assert "- `metric_var`: everywhere." in found
    assert "- `metric_cons` (1 of 2): a ▼▼." in found
    assert "Never below random's mean here: `metric_avg`." in found


def test_every_method_of_the_main_table_runs(work: Work, setting: Setting) -> None:
    found = spa.setting_figures(work, setting, spa.ROWS)
    assert [row["method"] for row in found["methods"]] == [row.method for row in spa.ROWS]
    assert all(0 < row["mean"] <= 1 for row in found["methods"])
    assert [row["runs"] for row in found["methods"] if row["method"] in ("irt", "kmeans")] == [1, 2]
    best = {row["method"]: row["mean"] for row in found["methods"]}
    assert best["search:oracle=true,n=100"] > found["random"]["mean"]
    assert set(spa.blocks({"settings": [found]})) == {
        "spa",
        "spa-worse",
        "spa-published",
        "spa-sets",
    }


def test_every_method_of_the_appendix_runs(
    work: Work, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Work, "embedding", lambda self, name: "tfidf")
    shown = replace(setting, also=("judge",), human_as_metric=True)
    cheap = [row for row in appendix.ROWS if "search" not in row.method]
    rows = [row.row("learned", "judge") for row in cheap]
    found = spa.setting_figures(work, shown, rows)
    assert len(found["methods"]) == len(rows)
    for row in appendix.ROWS:
        sparingly.parse_method(row.row("learned", "judge").method)


def test_appendix_puts_the_published_figure_beside_the_mean_of_ours() -> None:
    settings = [figures(0.95, 0.9, 0.9), figures(0.85, 0.9, 0.9)]
    for one in settings:
        for row in one["methods"]:
            row.update(name=row["method"].upper(), published=0.925)
    found = appendix.blocks({"settings": settings})["appendix"]
    assert "| `metric_avg` | METRIC_AVG | 92.5 | 90.0 | 95.0 | 85.0 ▼▼ |" in found
    assert "| `random` | Random | 91.6 | 90.0 | 90.0 | 90.0 |" in found


def test_parity_is_that_of_the_package(work: Work, setting: Setting) -> None:
    found = parity.setting_figures(work, setting, ("metric_var", "diversity"))
    data = work.evalset(setting)
    for rule in parity.RULES:
        for name, share in found[rule].items():
            there = sparingly.parity(data, name, "overall", shares=setting.shares, rule=rule, runs=2)
            assert share == pytest.approx(there.share, abs=1e-6)
    assert found["random"][0] <= found["random"][1]


def test_parity_marks_what_needs_more_than_random() -> None:
    shares = {name: 1.2 for name in parity.METHODS} | {"metric_var": 0.7}
    one = {"name": "x", "title": "x", "stays": shares, "first_crossing": shares, "random": [0.8, 1.3]}
    found = parity.blocks({"settings": [one]})
    assert "| `metric_var` | **70 %** |" in found["parity"]
    assert "| `metric_avg` | 120 % ▼ |" in found["parity"]
    assert "| `random`, 5–95 % of single orders | 80–130 % |" in found["parity"]


def test_parity_beside_the_published_figures_is_a_mean_over_settings() -> None:
    low = {name: 0.6 for name in parity.METHODS}
    high = {name: 0.8 for name in parity.METHODS}
    settings = [
        {"name": one.name, "title": one.title, "stays": low, "first_crossing": high, "random": [1, 1]}
        for one in parity.SETTINGS
    ]
    settings[0]["stays"] = high
    found = parity.blocks({"settings": settings})["parity-published"]
    assert "| `metric_cons` | 71.4 % | 80.0 % | 65.0 % | 70.6 % | 80.0 % | 60.0 % |" in found


def test_diffuse_counts_sets_and_takes_means() -> None:
    def one(*means: float) -> dict[str, Any]:
        rows = [method(row.method, mean) for row, mean in zip(diffuse.ROWS, means, strict=True)]
        return {"title": "t", "random": RANDOM, "methods": rows}

    settings = [one(0.95, 0.92, *[0.9] * 6), one(0.87, 0.9, *[0.9] * 6)]
    assert np.allclose(diffuse.gains(settings, diffuse.DISTANCE), [0.05, -0.03])
    found = diffuse.blocks({"settings": settings})["diffuse"]
    assert "| `diffuse:pairs=distance` | +1.0 |" in found
    assert "| 1 of 2 | 1 of 2 | 1 of 2 |" in found
    assert "| `diffuse:pairs=distance` | `diffuse:pairs=concat` | +0.0 |" in found


def test_every_form_of_diffuse_runs(work: Work, setting: Setting) -> None:
    found = spa.setting_figures(work, setting, diffuse.ROWS)
    assert len({row["mean"] for row in found["methods"]}) > 3
