"""Lists for harnesses that run the models themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.run.exchange.harnesses import samples_of


def items(*names: str) -> tuple[sparingly.EvalSet, sparingly.Selection]:
    data = sparingly.EvalSet.from_arrays(items=names, models=["m"], metrics={"acc": [[1.0]] * len(names)})
    return data, sparingly.select(data, "uniform", len(names))


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    data, chosen = items("arc#10", "arc#9", "mmlu_a#b#0", "arc#0")
    done = sparingly.export_tasks(data, chosen, to="lm-eval", folder=tmp_path / "out")
    assert json.loads((tmp_path / "out" / "samples.json").read_text("utf-8")) == {
        "arc": [0, 9, 10],
        "mmlu_a#b": [0],
    }
    assert done.key is None
    assert not (tmp_path / "out.key.json").exists()


@pytest.mark.parametrize("item", ["arc", "arc#x", "#3", "arc#-1", "arc#٣"])
def test_other_ids_get_one_sentence(item: str) -> None:
    with pytest.raises(DataError, match="is not TASK#DOC_ID"):
        samples_of([item])


def test_sample_ids_of_inspect(tmp_path: Path) -> None:
    data, chosen = items("b", "a", "3")
    sparingly.export_tasks(data, chosen, to="inspect", folder=tmp_path / "out")
    assert (tmp_path / "out" / "sample-id.txt").read_text("utf-8") == "3,a,b\n"
    data, chosen = items("t/one/1", "t/two/2", "t/one/3")
    done = sparingly.export_tasks(
        data, chosen, to="inspect", folder=tmp_path / "by", options={"tasks": "true"}
    )
    assert {path.name: path.read_text("utf-8") for path in done.files} == {
        "sample-id-t_one.txt": "1,3\n",
        "sample-id-t_two.txt": "2\n",
    }
    data, chosen = items("a,b")
    with pytest.raises(DataError, match="has a comma"):
        sparingly.export_tasks(data, chosen, to="inspect", folder=tmp_path / "bad")


def test_nothing_comes_back_from_a_harness(tmp_path: Path) -> None:
    from sparingly.run.exchange.key import Key

    with pytest.raises(UsageError, match="gives no answers back"):
        sparingly.import_answers([tmp_path / "x"], key=Key("score", {}, {}, {}), tool="lm-eval")
