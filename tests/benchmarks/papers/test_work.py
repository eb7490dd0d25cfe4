"""Cells of the tables: what is computed, and that it is computed once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sparingly
from benchmarks.papers.work import (
    DECIDING_BENCHMARKS,
    DEMO_SETTING,
    EFFORTS,
    HUMAN,
    MAIN,
    Interval,
    Reused,
    Setting,
    Work,
    at_marks,
    averages,
    deciding_rooms,
    file_of,
)
from sparingly.base.errors import UsageError
from sparingly.data.synthetic import load_invented


def test_interval_is_the_t_interval_of_the_mean() -> None:
    values = np.array([0.9, 0.95, 0.91, 0.97])
    found = Interval.of(values)
    expected = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert [found.low, found.high] == pytest.approx(list(expected))
    assert found.sd == pytest.approx(values.std(ddof=1))
    assert Interval.of(values[:1]) == Interval(0.9, None, None, None)


def test_curves_are_those_of_the_package(work: Work, setting: Setting) -> None:
    found = work.curves(setting, "kmeans:weighted=true", 2)
    data = sparingly.load(file_of(work.data, setting.file))
    for seed, values in enumerate(found):
        curve = sparingly.curve(
            data, "kmeans:weighted=true", "overall", shares=setting.grid, seed=seed, runs=1
        )
        assert values.tolist() == curve.curve.values.tolist()


def test_a_finished_cell_is_not_computed_again(work: Work, setting: Setting) -> None:
    made: list[int] = []

    def make() -> float:
        made.append(1)
        return 0.5

    assert work.cell(setting, {"what": "x"}, make) == work.cell(setting, {"what": "x"}, make) == 0.5
    assert len(made) == 1
    work.cell(setting, {"what": "y"}, make)
    work.cell(replace(setting, metric="judge"), {"what": "x"}, make)
    assert len(made) == 3


def test_other_data_are_other_cells(folder: Path, tmp_path: Path, setting: Setting) -> None:
    kept = tmp_path / "kept"
    other = tmp_path / "other"
    other.mkdir()
    file_of(other, "small").write_bytes(file_of(folder, "small").read_bytes() + b"x")
    assert Work(folder, kept).cell(setting, {"what": "x"}, lambda: 1) == 1
    assert Work(other, kept).cell(setting, {"what": "x"}, lambda: 2) == 2


def test_without_a_folder_nothing_is_kept(folder: Path, setting: Setting) -> None:
    values = iter([1, 2])
    work = Work(folder)
    assert [work.cell(setting, {"what": "x"}, lambda: next(values)) for _ in range(2)] == [1, 2]


def test_averages_leave_out_budgets_that_are_only_shown() -> None:
    setting = Setting("f", "t", "m", "title", shares=(0.25, 0.75), marks=(0.5,))
    curves = np.array([[0.5, 0.9, 0.7], [0.6, 0.8, 1.0]])
    assert averages(curves, setting) == pytest.approx([0.6, 0.8])
    assert at_marks(curves, setting) == {"50%": pytest.approx(0.85)}


def test_a_setting_shows_its_truth_and_its_metric_alone(work: Work, setting: Setting) -> None:
    data = work.evalset(setting)
    assert (list(data.metrics), list(data.aspects)) == (["learned"], ["overall"])
    more = work.evalset(replace(setting, also=("judge",), human_as_metric=True))
    assert set(more.metrics) == {"learned", "judge", HUMAN}
    assert np.array_equal(more.metrics[HUMAN], data.truth("overall"), equal_nan=True)


def test_methods_that_name_no_metric_share_their_cells(setting: Setting) -> None:
    more = replace(setting, also=("judge",), human_as_metric=True)
    assert more.seen_by("kmeans:weighted=true") == setting
    assert more.seen_by("search:oracle=true,n=10") == setting
    assert more.seen_by("mix:of=(diversity)+(metric_var:metric=judge)") == more
    assert more.seen_by("search:under=learned") == more


def test_about_a_setting(work: Work, setting: Setting) -> None:
    there = sparingly.describe(work.evalset(setting)).correlations[0]
    about = work.about(setting)
    assert about.pop("differences") == pytest.approx(there.differences, abs=1e-6)
    assert about == {"items": 40, "of_items": 40, "models": 8}
    assert work.about(replace(setting, metric=""))["differences"] is None


def test_settings_have_names_of_their_own() -> None:
    assert len({one.name for one in MAIN}) == len(MAIN)
    assert Work(Path(), is_demo=True).settings(MAIN) == (DEMO_SETTING,)
    assert Work(Path()).settings(MAIN) == MAIN


def test_a_data_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no data set wmt23_zhen\.jsonl\.gz in .*: name its folder with --data"
    ):
        Work(tmp_path).load("wmt23_zhen")


def test_data_sets_are_loaded_by_name(work: Work) -> None:
    there = sparingly.load(file_of(work.data, "small"))
    assert list(work.load("small").items) == list(there.items)
    assert list(replace(work, is_demo=True).load("small").items) == list(load_invented().items)


def test_cells_of_a_data_set_need_no_setting(work: Work) -> None:
    values = iter([1, 2, 3])
    found = [work.cell("small", {"what": name}, lambda: next(values)) for name in ("x", "y", "x")]
    assert found == [1, 2, 1]


def test_processes_give_what_one_gives(work: Work, setting: Setting) -> None:
    methods = ("metric_var", "random")
    bare = replace(work, kept=None)

    def averages_of(method: str) -> list[list[float]]:
        found: list[list[float]] = bare.curves(setting, method, 1).tolist()
        return found

    assert bare.each(averages_of, methods) == replace(bare, jobs=2).each(averages_of, methods)


def test_cells_that_are_found_tell_how_long_they_took(
    work: Work, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 3.0, 5.0, 10.0, 14.0])
    monkeypatch.setattr("benchmarks.papers.work.time.perf_counter", lambda: next(clock))

    def outer(of: Work) -> int:
        return int(of.cell(setting, {"what": "inner"}, lambda: 1))

    assert work.cell(setting, {"what": "outer"}, lambda: outer(work)) == 1
    assert outer(work) == 1
    assert work.reused.seconds == 0.0
    later = replace(work, reused=Reused())
    assert outer(later) == outer(later) == 1
    assert later.reused.seconds == 2.0
    # Made from a part that was there: four seconds here, and two for the part.
    another = replace(work, reused=Reused())
    assert another.cell(setting, {"what": "other"}, lambda: outer(another)) == 1
    last = replace(work, reused=Reused())
    assert last.cell(setting, {"what": "other"}, lambda: outer(last)) == 1
    assert (another.reused.seconds, last.reused.seconds) == (2.0, 6.0)


def test_processes_tell_how_long_what_they_found_took(
    work: Work, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 4.0, 0.0, 4.0])
    with monkeypatch.context() as patch:
        patch.setattr("benchmarks.papers.work.time.perf_counter", lambda: next(clock))
        assert work.each(lambda place: work.cell(setting, {"what": place}, lambda: place), "ab") == ["a", "b"]
    later = replace(work, reused=Reused(), jobs=2)
    assert later.each(lambda place: later.cell(setting, {"what": place}, lambda: 0), "ab") == ["a", "b"]
    assert later.reused.seconds == 4.0
    # Made by processes, and found again by the same table: counted once, when they were made.
    fresh = replace(work, reused=Reused(), jobs=2)
    for _ in range(2):
        made = fresh.each(lambda place: fresh.cell(setting, {"what": place}, lambda: 0), ["c", "d"])
        assert made == [0, 0]
    assert fresh.reused.seconds == 0.0


def test_the_digest_is_of_all_code_that_tables_load() -> None:
    script = """
import sys
from pathlib import Path
from benchmarks.papers.catalogue import names, paper_table
from benchmarks.papers.work import QUICK, Work
for name in names():
    paper_table(name)
for name in ("s0-table5", "s2-context", "s3-claim", "s4-fig2"):
    paper_table(name).figures(Work(Path(), effort=QUICK, is_demo=True))
print(*(name for name in sys.modules if name.startswith(("sparingly.", "benchmarks."))))
"""
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    rooms = {room.removesuffix(".py") for room in deciding_rooms()}
    outside = {
        name
        for name in loaded.split()
        if name.startswith("sparingly.")
        and name.count(".") > 1
        and name.split(".")[1] not in ("bench", "cli", "show")
        and "/".join(name.split(".")[1:3]) not in rooms
    }
    assert not outside
    # Pages and files of results decide nothing, and of what holds out families tables take the folds alone.
    beside = {name.split(".")[1] for name in loaded.split() if name.startswith("benchmarks.")}
    assert beside - {"pages", "resume", "leaderboard"} <= {
        name.split("/")[0].removesuffix(".py") for name in DECIDING_BENCHMARKS
    }
    assert "run/rounds" in rooms
    assert "run/campaign" not in rooms


def test_more_effort_is_more_runs() -> None:
    quick, usual, full = (EFFORTS[name] for name in ("quick", "usual", "full"))
    assert quick.random_runs < usual.random_runs <= full.random_runs == 100
    assert quick.seeds < usual.seeds < full.seeds == 10
    assert quick.parity_runs < usual.parity_runs < full.parity_runs
