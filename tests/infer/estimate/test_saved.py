from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.result import Estimate

DATA = load_invented()
CHOSEN = sparingly.select(DATA, "uniform", 60, seed=3)
FOUND = sparingly.estimate(DATA, CHOSEN, "overall", by="domain")
VALUES: dict[str, Any] = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))


def test_what_was_saved_is_read(tmp_path: Path) -> None:
    FOUND.save(tmp_path / "scores.json")
    read = sparingly.Estimate.load(tmp_path / "scores.json")
    assert read.to_dict() == VALUES
    assert read.signature == FOUND.signature
    assert str(read) == str(FOUND)
    assert read.selection is not None
    assert list(read.selection.items) == list(CHOSEN.items)


@pytest.mark.parametrize("selection", [None, sparingly.select(DATA, "metric_var:metric=learned", 20)])
def test_whole_sets_and_tops_of_lists(tmp_path: Path, selection: sparingly.Selection | None) -> None:
    found = sparingly.estimate(DATA, selection, "overall")
    found.save(tmp_path / "scores.json")
    read = sparingly.Estimate.load(tmp_path / "scores.json")
    assert read.to_dict() == found.to_dict()
    assert read.freedom == found.freedom
    np.testing.assert_array_equal(read.covariance, found.covariance)


def test_plain_arrays_have_no_signature_and_can_be_saved(tmp_path: Path) -> None:
    scores = np.random.default_rng(1).normal(size=(40, 2))
    scores[3, 1] = np.nan
    found = sparingly.estimate_scores(scores, size=100)
    found.save(tmp_path / "scores.json")
    assert sparingly.Estimate.load(tmp_path / "scores.json").to_dict() == found.to_dict()


def test_without_judgements_there_are_no_differences() -> None:
    read = Estimate.from_dict(VALUES)
    with pytest.raises(UsageError, match="estimate again from the data"):
        read.difference("Rowan", "Birch")
    with pytest.raises(UsageError, match="estimate again from the data"):
        read.full_set_p()


def test_unknown_keys_are_kept() -> None:
    assert Estimate.from_dict({**VALUES, "more": [1]}).to_dict()["more"] == [1]


def changed(**parts: Any) -> dict[str, Any]:
    return {**VALUES, **parts}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (changed(format="sparingly/selection"), 'field format: this is a "sparingly/selection" file'),
        (changed(version=2), "field version: version 2 is newer"),
        (changed(version="1"), 'field version: "1" is not a version'),
        (changed(models=[]), "field models: a model is named twice, or there is none"),
        (
            changed(models=[*VALUES["models"], VALUES["models"][0]]),
            "field models: a model is named twice, or there is none",
        ),
        (changed(models="Rowan"), "field models: expected a list"),
        (changed(models=[1]), r"field models\[0\]: expected an object"),
        (changed(covariance=[[1.0]]), "field covariance: expected 8 × 8 numbers"),
        (changed(covariance=None), "field covariance: expected 8 × 8 numbers"),
        (changed(target="everything"), 'field target: "everything" is none of set, population, chosen'),
        (changed(n=None), "field n: null is not a whole number"),
        (changed(outcome={}), "field outcome.printed: null is not a whole number"),
        (
            changed(groups={"news": {}}),
            r"field groups\.news\.models: a model is named twice, or there is none",
        ),
        (changed(selection={"rows": []}), "field selection.format: this is a null file"),
        (changed(signature={}), "field signature.estimator: the text is missing"),
        (changed(freedom="many"), 'field freedom: "many" is text'),
    ],
)
def test_broken_files_are_one_sentence(values: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InputError, match=problem) as error:
        sparingly.Estimate.load(path)
    assert str(error.value).startswith(str(path))
