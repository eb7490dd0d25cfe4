from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.bench.grid import (
    GridRuns,
    ReplayGrid,
    entry_of,
    first_share,
    grid_from_text,
    grid_of,
    read_grid,
    shares_of,
    standard_grid,
)

TEXT = """
sets = ["demo", "talks"]
budgets = ["20%", 0.1]

[runs]
random = 7
resamples = 2

[truths]
talks = "fluency"

[metrics]
talks = "COMET"

[[entry]]
method = "random"

[[entry]]
method = "uniform|greg"
p_values = "full_set"
name = "ours"
"""


def test_a_grid_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(TEXT, encoding="utf-8")
    grid = read_grid(path)
    assert grid.sets == ("demo", "talks")
    assert grid.shares == (0.1, 0.2)
    assert grid.runs == GridRuns(random=7, stochastic=10, resamples=2)
    assert grid.truths == {"talks": "fluency"}
    assert grid.metrics == {"talks": "COMET"}
    assert [entry.name for entry in grid.entries] == ["random", "ours"]
    assert grid.text == TEXT


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sets = [", "this is not TOML"),
        ("methods = []", 'no part of a grid "methods"'),
        ("sets = 3\n[[entry]]\nmethod = 'random'", "sets is a list"),
        ("runs = 3", "runs is a table"),
        ("[runs]\nlucky = 3\n[[entry]]\nmethod = 'random'", 'no kind of runs "lucky"'),
        ("[runs]\nrandom = 0\n[[entry]]\nmethod = 'random'", "random is a whole number from 1 on"),
        ("entry = [3]", "every entry is a table"),
        ("", "one method or more"),
        ("budgets = [1.5]\n[[entry]]\nmethod = 'random'", "a share of the items"),
        ("[[entry]]\nmethod = 'random'\n[[entry]]\nmethod = 'random'", 'are called "random"'),
    ],
)
def test_wrong_grids_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(SparinglyError, match=sentence):
        grid_from_text(text)


def test_the_file_is_named_in_the_complaint(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text("sets = [", encoding="utf-8")
    with pytest.raises(InputError, match=r"grid\.toml: this is not TOML"):
        read_grid(path)
    with pytest.raises(InputError, match="there is no such file"):
        read_grid(tmp_path / "absent.toml")


def test_a_grid_from_options() -> None:
    grid = grid_of(["random", "kmeans"], sets=["demo"], budgets=["5%"], seeds=3, resamples=0)
    assert grid.runs == GridRuns(random=3, stochastic=3, resamples=0)
    assert grid.shares == (0.05,)
    assert grid_of(["random"]).runs == GridRuns()


@pytest.mark.parametrize("budget", ["0%", "101%", "many", 0.0, "-5%", "nan"])
def test_budgets_are_shares(budget: str | float) -> None:
    with pytest.raises(UsageError, match="a share of the items"):
        shares_of([budget])


def test_runs_by_kind() -> None:
    runs = GridRuns(random=4, stochastic=2, resamples=3)
    assert runs.of_entry(entry_of("random")) == ((0, 0), (1, 0), (2, 0), (3, 0))
    assert runs.of_entry(entry_of("kmeans")) == ((0, 0), (1, 0))
    assert runs.of_entry(entry_of("metric_var")) == ((0, 0), (0, 1), (0, 2), (0, 3))
    assert runs.of_entry(entry_of("metric_var", runs=2)) == ((0, 0), (0, 1))
    assert runs.of_entry(entry_of("random", runs=1)) == ((0, 0),)


def test_budgets_by_size_and_speed() -> None:
    grid = ReplayGrid((entry_of("random"),))
    quick, slow = entry_of("random"), entry_of("kmeans", slow=True)
    usual = tuple(round(0.05 * step, 6) for step in range(1, 11))
    assert grid.shares_of(quick, 150) == (0.02, 0.035, *usual)
    small = grid.shares_of(quick, 149)
    assert small[:3] == (0.1, 0.175, 0.25)
    assert (len(small), small[-1]) == (12, 0.75)
    assert (first_share(150), first_share(149)) == (0.05, 0.25)
    assert grid.shares_of(slow, 150) == (0.1, 0.25, 0.5)
    few = ReplayGrid((slow,), shares=(0.1, 0.3))
    assert few.shares_of(slow, 150) == (0.1, 0.3)


def test_the_standard_grid_holds_random_with_every_estimate_that_others_are_held_against() -> None:
    grid = standard_grid()
    assert grid.runs == GridRuns(random=200)
    names = {entry.name for entry in grid.entries}
    assert {"random", "random|greg", "random|greg, expected p"} <= names
    slow = {entry.method.split(":")[0] for entry in grid.entries if entry.slow}
    assert {"casf", "search"} <= slow
