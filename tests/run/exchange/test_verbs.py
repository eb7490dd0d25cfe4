"""Exports and imports as a user calls them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.tool import annotation_tools, tool_named
from tests.run.exchange.fakes import Answers, csv_table
from tests.run.exchange.helpers import all_of, awkward

DATA = awkward()


def test_the_key_never_leaves_with_the_tasks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must not leave"):
        sparingly.export_tasks(DATA, all_of(DATA), to="csv", folder=tmp_path, key=tmp_path / "key.json")
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_other_settings_is_not_overwritten(tmp_path: Path) -> None:
    sparingly.export_tasks(DATA, all_of(DATA), to="csv", folder=tmp_path / "out")
    before = (tmp_path / "out.key.json").read_bytes()
    with pytest.raises(sparingly.DataError, match="another scales"):
        sparingly.export_tasks(DATA, all_of(DATA), to="csv", folder=tmp_path / "out", scale="1-5")
    assert (tmp_path / "out.key.json").read_bytes() == before


def test_a_file_in_the_place_of_the_folder_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        sparingly.export_tasks(DATA, all_of(DATA), to="csv", folder=tmp_path / "out")


def test_unknown_tools_are_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="label-studio"):
        sparingly.export_tasks(DATA, all_of(DATA), to="labelstudio", folder=tmp_path)
    assert tool_named("label_studio").name == "label-studio"
    assert [one.name for one in annotation_tools()] == sorted(one.name for one in annotation_tools())
    assert all(one.summary for one in annotation_tools())


def test_ratings_are_written_and_put_into_the_set(tmp_path: Path) -> None:
    from sparingly.run.exchange.tasks import make_tasks

    chosen = all_of(DATA)
    sparingly.export_tasks(DATA, chosen, to="csv", folder=tmp_path / "out")
    tasks = make_tasks(DATA, chosen)
    back = csv_table(sorted((tmp_path / "out").iterdir()), Answers(tasks, lambda *_: 50.0))
    taken = sparingly.import_answers(back, key=tmp_path / "out.key.json")
    taken.save(tmp_path / "ratings.csv")
    taken.save(tmp_path / "ratings.jsonl")
    with (tmp_path / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(taken.rows()) == 30
    assert {"item", "model", "aspect", "rater", "score", "round", "probability"} <= set(rows[0])
    assert len((tmp_path / "ratings.jsonl").read_text("utf-8").splitlines()) == 30
    judged = taken.into(DATA)
    assert len(judged.ratings) == 30
    assert int((~np.isnan(judged.aspects["overall"])).sum()) == 30
    sparingly.save(judged, tmp_path / "judged.jsonl")
    assert sparingly.load(tmp_path / "judged.jsonl").digest() == judged.digest()
    twice = taken.into(judged)
    assert len(twice.ratings) == 60
    assert repr(taken) == "ImportReport(29 answers read: 29 taken, 0 left out; 0 are missing)"
    assert taken.to_dict()["read"] == taken.read
    assert "left out" in taken._repr_html_()


def test_preferences_are_put_into_the_set(tmp_path: Path) -> None:
    from sparingly.run.exchange.tasks import make_tasks

    chosen = all_of(DATA)
    sparingly.export_tasks(DATA, chosen, to="csv", folder=tmp_path / "out", kind="ranking")
    tasks = make_tasks(DATA, chosen, kind="ranking")
    answers = Answers(tasks, lambda task, token, aspect: float(ord(token[0])))
    back = csv_table(sorted((tmp_path / "out").iterdir()), answers)
    judged = sparingly.import_answers(back, key=tmp_path / "out.key.json").into(DATA)
    assert len(judged.preferences) == 5 * 15
    assert judged.preferences.raters == ("Zoë",)


def test_who_is_not_in_the_set_is_told(tmp_path: Path) -> None:
    from sparingly.run.exchange.tasks import make_tasks

    chosen = all_of(DATA)
    sparingly.export_tasks(DATA, chosen, to="csv", folder=tmp_path / "out")
    back = csv_table(sorted((tmp_path / "out").iterdir()), Answers(make_tasks(DATA, chosen), lambda *_: 1.0))
    taken = sparingly.import_answers(back, key=Key.load(tmp_path / "out.key.json"))
    with pytest.raises(UnknownNameError, match="no model"):
        taken.into(DATA.take(models=["7"]))


def test_what_is_to_be_judged_must_be_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Say what is to be judged"):
        sparingly.export_tasks(DATA, to="csv", folder=tmp_path / "out")
    with pytest.raises(UsageError, match="at least one file"):
        sparingly.import_answers([], key=Key("score", {}, {}, {}, tool="csv"))
