"""Every table and figure of Zouhar et al. 2025 is computed on the demo set and shows what was published."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks.papers.catalogue import HOMES, IMPOSSIBLE, paper_table
from benchmarks.papers.work import DEMO_SETTING, QUICK, Setting, Work
from benchmarks.papers.zouhar import savings, selection, sets
from sparingly.base.errors import UsageError
from sparingly.data.synthetic import load_invented

NAMES = [name for name in HOMES if name.startswith("s0-")]
ASKED = [*(f"s0-fig{number}" for number in range(4, 8)), *(f"s0-table{number}" for number in range(1, 11))]
# Some published figures of each, and words that say why ours differ.
SHOWN = {
    "s0-fig4": ("| 91.6 |", "| 92.5 |", "| 93.3 |", "nine language pairs"),
    "s0-fig5": ("106.9", "78.7", "PreCOMET", "wmt23 itself is left out"),
    "s0-fig6": ("25 metrics", "BLEU, chrF", "BERTScore"),
    "s0-fig7": ("| 92.9 |", "| 94.7 |", "G-Eval"),
    "s0-table1": ("| 93.2 | 93.0 |", "| 92.9 | 92.6 |", "PreCOMET"),
    "s0-table2": ("| 87.2 | 87.2 |", "| 90.5 | 88.2 |", "many short documents"),
    "s0-table3": ("93.9 (+2.3)", "94.8 (+1.8) | 93.9 (+0.9)", "the cheapest item is free"),
    "s0-table4": ("| 91.8 |", "| 92.6 |", "| 90.7 |", "PreCOMET"),
    "s0-table5": ("| 71.4 | 90.1 |", "| 85.0 | 106.9 |", "first crossing"),
    "s0-table6": ("| 70.6 | 87.5 |", "| 99.5 | 78.6 |", "G-Eval"),
    "s0-table8": ("| 97.9 |", "| 84.7 |", "Sentinel-DA-src", "COMET-instant-confidence"),
    "s0-table9": ("| 93.0 | **93.4** |", "**3.68**", "**0.008** | 0.055", "range of all judgements"),
    "s0-table10": ("correlates best with its human scores", "40 rows"),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return Work(Path("nowhere"), tmp_path_factory.mktemp("kept"), QUICK, is_demo=True)


def test_every_table_has_a_name() -> None:
    assert set(ASKED) == {name for name in (*HOMES, *IMPOSSIBLE) if name.startswith("s0-")}
    assert set(SHOWN) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_computed_on_the_demo_and_shown_beside_the_published(name: str, demo: Work) -> None:
    table = paper_table(name)
    number = name.removeprefix("s0-").replace("fig", "Figure ").replace("table", "Table ")
    assert table.name == name
    assert table.title.startswith(f"Zouhar et al. 2025, {number}: ")
    computed = json.loads(json.dumps(table.figures(demo), allow_nan=False))
    text = table.text(computed)
    assert [part for part in SHOWN[name] if part not in text] == []
    assert "**Why they differ.**" in text
    assert text.endswith("\n")


@pytest.mark.parametrize("name", NAMES)
def test_names_of_data_sets_are_those_that_are_loaded(name: str, tmp_path: Path) -> None:
    table = paper_table(name)
    with pytest.raises(UsageError, match=r"There is no data set \w+\.jsonl\.gz in .*--data") as caught:
        table.figures(Work(tmp_path, effort=QUICK))
    assert any(f" {file}.jsonl.gz" in str(caught.value) for file in table.sets)


@pytest.mark.parametrize("name", ["s0-table7"])
def test_what_cannot_be_computed_says_why(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot be computed: it "):
        paper_table(name)


@pytest.mark.parametrize("options", ["", "balance=domain", "unit=document"])
def test_selectors_are_those_of_the_package(options: str, demo: Work) -> None:
    shown = replace(DEMO_SETTING, columns=("domain", "document", "position"))
    found = sets.selectors(demo, [shown], options)["settings"][0]
    data = load_invented()
    method = f"metric_var:metric=learned{',' * bool(options)}{options}"
    there = sparingly.curve(data, method, "overall", shares=shown.shares, runs=1)
    assert found["methods"][1]["method"] == sets.with_options("metric_var", options)
    assert found["methods"][1]["mean"] == pytest.approx(there.curve.average, abs=1e-6)
    assert found["random"]["method"] == sets.with_options("random", options)


def test_mean_over_settings_stands_beside_the_published() -> None:
    rows = [{"method": name, "mean": 0.91} for name in sets.METHODS]
    one = {"title": "a", "random": {"method": "random", "mean": 0.9, "low": 0.89}, "methods": rows}
    other = {**one, "title": "b", "methods": [{**row, "mean": 0.87} for row in rows]}
    published = {name: (90.0 + place,) for place, name in enumerate(sets.PUBLISHED_SELECTORS)}
    lines = sets.beside({"settings": [one, other]}, published).splitlines()
    assert lines[0] == "| method | published as | published | ours, mean | a | b |"
    assert lines[2] == "| `random` | Random | 90.0 | 90.0 | 90.0 | 90.0 |"
    assert lines[7] == "| `irt` | DiffDisc | 95.0 | 89.0 | 91.0 | 87.0 ▼▼ |"
    assert lines[8] == f"| `{sets.BY_MINILM}` | Diversity | 94.0 | 89.0 | 91.0 | 87.0 ▼▼ |"


def test_legend_of_figure_7_is_the_mean_of_table_10() -> None:
    shown = [row.published for row in sets.ROWS if row.setting.name.startswith("summeval")]
    means = np.mean([row for row in shown[:5]], axis=0)
    legend = [selection.PUBLISHED_FIG7[name][0] for name in sets.PUBLISHED_SELECTORS]
    assert legend == pytest.approx(means, abs=0.05001)


def test_costs_are_spent(demo: Work) -> None:
    part = savings._with_costs(demo.evalset(DEMO_SETTING))
    seconds, excess = (np.asarray(part.columns[name], float) for name in savings.COSTS)
    assert excess.min() == 0.0
    assert np.ptp(seconds - excess) == pytest.approx(0.0, abs=1e-9)
    setting = replace(DEMO_SETTING, shares=(0.25,))
    for cost, each in zip(savings.COSTS, (seconds, excess), strict=True):
        budget = 0.25 * each.sum()
        chosen = sparingly.select(part, f"metric_var:metric=learned,cost={cost}", f"cost:{budget}")
        rows = part.positions(chosen.items)
        assert each[rows].sum() <= budget
        there = sparingly.agree(part, list(chosen.items), "overall").agreement.soft_pairwise_accuracy
        found = savings._points(part, setting, "metric_var", cost, 0)
        assert found[0] == pytest.approx((there, len(rows) / len(part)))


def test_free_items_make_room_for_more(demo: Work) -> None:
    found = savings.TABLE3.figures(demo)["settings"][0]["methods"][sets.NOISE]
    assert found[savings.EXCESS]["items"] > found[savings.SECONDS]["items"] > 0.2


def test_noise_is_the_same_for_all_models_and_another_for_every_seed(demo: Work) -> None:
    part = demo.evalset(DEMO_SETTING)
    drawn = sets.noise(part, 0)
    assert np.ptp(drawn, axis=1).max() == 0.0
    assert len(np.unique(drawn[:, 0])) == len(part)
    assert not np.array_equal(drawn, sets.noise(part, 1))


def test_means_of_parity_are_over_settings() -> None:
    one = {"title": "a", "stays": dict.fromkeys(sets.METHODS, 0.6), "random": [0.8, 1.2]}
    one["first_crossing"] = one["stays"]
    other = {**one, "title": "b", "stays": dict.fromkeys(sets.METHODS, 1.5)}
    text = savings.TABLE5.text({"parity_runs": 3, "settings": [one, other]})
    assert "| `metric_cons` | MetricCons | 71.4 | 90.1 | 60 | 105 ▼ |" in text
    assert "| `random`, 5–95 % of single orders | 80–120 | 80–120 |" in text
    assert "means of 3 random orders" in text


def test_metric_curve_is_parity_by_metric(demo: Work) -> None:
    found = selection.FIG6.figures(demo)["settings"][0]
    data = load_invented()
    judge = next(one for one in found["metrics"] if one["metric"] == "judge")
    there = sparingly.parity(data, "metric_var:metric=judge", "overall", shares=DEMO_SETTING.shares, runs=2)
    assert judge["metric_var"] == pytest.approx(there.share, abs=1e-6)
    scores = np.stack([data.metrics["judge"].ravel(), data.truth("overall").ravel()])
    pooled = np.corrcoef(scores[:, ~np.isnan(scores).any(axis=0)])[0, 1]
    assert judge["pooled"] == pytest.approx(pooled, abs=1e-6)


def test_metrics_are_binned_by_their_correlation() -> None:
    def metric(name: str, pooled: float | None, needed: float) -> dict[str, Any]:
        return {"metric": name, "pooled": pooled, **dict.fromkeys(selection.METHODS, needed)}

    metrics = [metric("BLEU", 0.3, 1.2), metric("chrF", 0.39, 1.0), metric("COMET", 0.41, 0.5)]
    one = {
        "title": "a",
        "diversity": 0.7,
        sets.BY_MINILM: 0.8,
        "metrics": [*metrics, metric("constant", None, 2.0)],
    }
    lines = selection.FIG6.text({"parity_runs": 2, "settings": [one]}).splitlines()
    assert "| 0.3 to 0.4 | 2 | 110 ▼ | 110 ▼ | 110 ▼ | 110 ▼ | 70 | 80 |" in lines
    assert "| 0.4 to 0.5 | 1 | 50 | 50 | 50 | 50 | 70 | 80 |" in lines
    assert "| BLEU | 0.30 | 1 | 120 ▼ | 120 ▼ | 120 ▼ | 120 ▼ | 70 | 80 |" in lines


def test_errors_are_in_units_of_the_range(demo: Work) -> None:
    data = load_invented()
    truth, shares = data.truth("overall"), DEMO_SETTING.shares
    there = sparingly.curve(
        data, "metric_var:metric=learned", "overall", shares=shares, measure="mean_absolute_error", runs=1
    )
    found = selection.TABLE9.figures(demo)["settings"][0]["measures"]["mean_absolute_error"]["metric_var"]
    assert found == pytest.approx(there.curve.average / np.ptp(truth[~np.isnan(truth)]), abs=1e-6)


def test_table_10_shows_both_and_the_gaps() -> None:
    row = next(row for row in sets.ROWS if row.setting.file == "wmt20_ende_notext")
    found = [{"method": name, "mean": 0.93} for name in sets.METHODS if name != "diversity"]
    one = {
        "name": row.setting.name,
        "title": row.setting.title,
        "models": 7,
        "items": 1418,
        "random": {"method": "random", "mean": 0.9, "low": 0.89},
        "methods": found,
    }
    text = sets.TABLE10.text({"random_runs": 3, "settings": [one]})
    assert "| WMT20 en–de, MQM | 7 / 7 | 1418 / 1418 | 90.3 / 90.0 | 86.3 / **93.0** |" in text
    assert "| 85.0 / – |" in text


def test_sets_of_table_10_are_there_once() -> None:
    names = [row.setting.name for row in sets.ROWS]
    assert len(set(names)) == len(names) == 15
    assert all(len(row.published) == len(sets.PUBLISHED_SELECTORS) for row in sets.ROWS)


def test_without_texts_there_is_no_diversity(demo: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_invented()
    bare = data.only(name for name in data.fields if name not in ("outputs", "sources", "references"))
    monkeypatch.setattr(Work, "load", lambda self, name: bare)
    setting = Setting("bare", "overall", "learned", "without texts")
    found = sets._setting(replace(demo, data=Path("elsewhere"), kept=None), setting)
    assert [row["method"] for row in found["methods"]] == [
        name for name in sets.METHODS if not name.startswith("diversity")
    ]
