from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError
from sparingly.run.raters.ratings import with_ratings_of

DATA = sparingly.load_demo().without_labels()


def read(folder: Path, rows: str) -> sparingly.EvalSet:
    (folder / "ratings.csv").write_text(f"rater,item,model,aspect,score,seconds\n{rows}", encoding="utf-8")
    return sparingly.load(folder / "ratings.csv")


def test_ratings_of_a_table_become_those_of_the_set(tmp_path: Path) -> None:
    rows = "anna,item-003,Rowan,overall,70,12\nben,item-003,Rowan,overall,60,9\n"
    rows += "ben,item-001,Birch,overall,40,5\n"
    joined = with_ratings_of(DATA, read(tmp_path, rows))
    found = joined.aspects["overall"]
    place = joined.positions(["item-001", "item-003"])
    assert found[place[1], joined.models.index("Rowan")] == 65.0
    assert found[place[0], joined.models.index("Birch")] == 40.0
    assert int((~np.isnan(found)).sum()) == 2
    assert joined.ratings.raters == ("anna", "ben")
    assert joined.ratings.seconds.sum() == 26.0
    assert list(joined.metrics) == list(DATA.metrics)


def test_ratings_of_strangers_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="models that the set does not have: Oak"):
        with_ratings_of(DATA, read(tmp_path, "anna,item-003,Oak,overall,70,12\n"))
    with pytest.raises(DataError, match="items that the set does not have: item-999"):
        with_ratings_of(DATA, read(tmp_path, "anna,item-999,Rowan,overall,70,12\n"))
    with pytest.raises(DataError, match="no ratings in it"):
        with_ratings_of(DATA, DATA)
