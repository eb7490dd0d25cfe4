from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.ranking import Ranking

DATA = load_invented()
CHOSEN = sparingly.select(DATA, "uniform", 60, seed=3)
FOUND = sparingly.rank(DATA, CHOSEN, "overall").with_claim("non-inferior", "Rowan", "Birch", 2.0)
VALUES: dict[str, Any] = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))


def test_what_was_saved_is_read(tmp_path: Path) -> None:
    FOUND.save(tmp_path / "ranking.json")
    read = sparingly.Ranking.load(tmp_path / "ranking.json")
    assert read.to_dict() == VALUES
    assert read.signature == FOUND.signature
    assert read.claim == FOUND.claim
    assert str(read) == str(FOUND)
    again = read.margin_test("superior", "Rowan", "Birch", 1.0)
    assert again == FOUND.margin_test("superior", "Rowan", "Birch", 1.0)


@pytest.mark.parametrize("selection", [None, sparingly.select(DATA, "metric_var:metric=learned", 20)])
def test_whole_sets_and_tops_of_lists(tmp_path: Path, selection: sparingly.Selection | None) -> None:
    found = sparingly.rank(DATA, selection, "overall", target="set")
    found.save(tmp_path / "ranking.json")
    read = sparingly.Ranking.load(tmp_path / "ranking.json")
    assert read.to_dict() == found.to_dict()
    assert (read.freedom, read.certain) == (found.freedom, found.certain)


def test_rankings_of_plain_scores(tmp_path: Path) -> None:
    found = sparingly.rank_scores(np.array([1.0, 2.0]), np.eye(2))
    found.save(tmp_path / "ranking.json")
    assert sparingly.Ranking.load(tmp_path / "ranking.json").to_dict() == found.to_dict()
    assert found.with_claim("superior", "model 2", "model 1", 0.5).signature is None


def test_signature_says_how_pairs_were_decided() -> None:
    asked: list[dict[str, Any]] = [
        {"test": "wilcoxon"},
        {"groups_by": "algorithm1"},
        {"alpha": 0.01},
        {"target": "set"},
        {"seed": 2},
    ]
    found = [sparingly.rank(DATA, CHOSEN, "overall", **how) for how in asked]
    lines = {str(ranking.signature) for ranking in found} | {str(FOUND.signature)}
    assert len(lines) == len(asked) + 1
    assert "|target:set|decisions:population|test:t|groups_by:decisions|alpha:0.05|" in str(FOUND.signature)


def changed(**parts: Any) -> dict[str, Any]:
    return {**VALUES, **parts}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (changed(format=None), "field format: this is a null file"),
        (changed(version=9), "field version: version 9 is newer"),
        (changed(models=None), "field models: a model is named twice, or there is none"),
        (
            changed(models=[{**VALUES["models"][0], "rank": "1"}]),
            r'field models\[0\].rank: "1" is not a whole',
        ),
        (changed(p_values=[[None]]), "field p_values: expected 8 × 8 numbers"),
        (changed(certain="yes"), 'field certain: "yes" is neither true nor false'),
        (changed(groups=[["Rowan"]]), "field groups: the groups are not those of the models"),
        (changed(claim={**VALUES["claim"], "shown": False}), "field claim.shown: the answer does not follow"),
        (changed(claim={**VALUES["claim"], "question": "best"}), 'field claim.question: "best" is none of'),
        (changed(signature={"scores": {}}), "field signature.scores.estimator: the text is missing"),
        (changed(alpha="0.05"), 'field alpha: "0.05" is text'),
    ],
)
def test_broken_files_are_one_sentence(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Ranking.from_dict(values)


def test_unknown_keys_are_kept() -> None:
    assert Ranking.from_dict({**VALUES, "more": 1}).to_dict()["more"] == 1
