from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.bench.sets import (
    TRUTHS,
    SetFile,
    family_of,
    judged_in_full,
    one_metric,
    open_set,
    set_files,
    strong_metric,
)
from sparingly.data.evalset import EvalSet

NAN = np.nan


def made(human: list[list[float]], metrics: dict[str, list[list[float]]] | None = None) -> EvalSet:
    items = [f"i{place}" for place in range(len(human))]
    models = ["a", "b", "c"][: len(human[0])]
    return EvalSet.from_arrays(items, models, aspects={"good": human}, metrics=metrics or {})


# --- which files ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = sparingly.make_evalset(items=70, models=5, texts=False)
    sparingly.save(data, tmp_path / "talks_one.jsonl.gz")
    sparingly.save(data.take(models=data.models[:4]), tmp_path / "talks_two.parquet")
    (tmp_path / "README.md").write_text("no set")
    return tmp_path


def test_all_sets_of_a_folder(folder: Path) -> None:
    found = set_files(folder)
    assert [file.name for file in found] == ["talks_one", "talks_two"]
    assert {file.family for file in found} == {"talks"}
    assert not any(file.strong for file in found)


def test_named_sets_in_the_order_asked_for(folder: Path) -> None:
    names = [file.name for file in set_files(folder, ["talks_two", "demo", "talks_two"])]
    assert names == ["talks_two", "demo"]


def test_a_set_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean talks_one"):
        set_files(folder, ["talks_on"])
    with pytest.raises(UsageError, match="folder=…"):
        set_files(None, ["talks_one"])
    with pytest.raises(UsageError, match="folder=…"):
        set_files(None)
    with pytest.raises(UsageError, match="is not a folder"):
        set_files(folder / "absent")


def test_two_files_of_one_name_are_refused(folder: Path) -> None:
    (folder / "talks_one.csv").write_text("item,model\n")
    with pytest.raises(UsageError, match="Two files are the data set talks_one"):
        set_files(folder)


def test_the_digest_follows_the_file(folder: Path) -> None:
    file = set_files(folder, ["talks_one"])[0]
    before = file.digest()
    assert file.digest() == before
    sparingly.save(sparingly.make_evalset(items=71, models=5, texts=False), folder / "talks_one.jsonl.gz")
    assert file.digest() != before


# --- families, metrics, truths ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("wmt23_ende_esa", "wmt23"),
        ("wmt24_encs", "wmt24"),
        ("ted21_ende", "wmt20-21"),
        ("casf_newstest2021_zhen", "wmt20-21"),
        ("biomqm_enru", "biomqm"),
        ("frank_cnndm_notext", "summaries"),
        ("alpacaeval2_llmjudge", "dialogue"),
        ("thumb_mscoco", "rest"),
        ("mine_one", "mine"),
        ("mine", "mine"),
    ],
)
def test_families(name: str, family: str) -> None:
    assert family_of(name) == family


def test_strong_metrics() -> None:
    assert strong_metric("wmt23_zhen_mqm3") == "MetricX-23"
    assert strong_metric("summeval_llm12") == "gpt4_rts_sum"
    assert strong_metric("summeval") is None
    with pytest.raises(UnknownNameError, match="strong metric of wmt23_zhen"):
        one_metric("wmt23_zhen", made([[1.0, 2.0]]))


def test_the_weak_metric_is_the_first_of_three_else_the_first_by_name_that_is_whole() -> None:
    whole, holed = [[1.0, 2.0]], [[NAN, 2.0]]
    assert one_metric("x", made([[1.0, 2.0]], {"chrF": holed, "ROUGE-L": whole, "A": whole})) == "chrF"
    assert one_metric("x", made([[1.0, 2.0]], {"consensus_chrF": whole, "A": whole})) == "consensus_chrF"
    assert one_metric("x", made([[1.0, 2.0]], {"A": holed, "b": whole, "B": whole})) == "B"
    assert one_metric("x", made([[1.0, 2.0]], {"A": holed})) is None


def test_only_what_was_judged_in_full_is_left() -> None:
    mostly = made([[1.0, 2.0, 3.0], [1.0, NAN, 3.0], [4.0, 5.0, 6.0]])
    assert list(judged_in_full(mostly, "good").items) == ["i0", "i2"]
    seldom = made([[1.0, NAN, 3.0], [1.0, NAN, 3.0], [4.0, 5.0, 6.0]])
    cut = judged_in_full(seldom, "good")
    assert cut.shape == (3, 2)
    assert cut.models == ("a", "c")
    with pytest.raises(DataError, match="no two models"):
        judged_in_full(made([[1.0, NAN], [NAN, 2.0]]), "good")


def test_the_truth_is_that_of_the_grid_or_the_only_aspect(folder: Path) -> None:
    file = set_files(folder, ["talks_one"], {"talks_one": "fluency"}, {"talks_one": "weak"})[0]
    judged = open_set(file)
    assert (judged.truth, judged.metric, judged.counts) == ("fluency", "weak", True)
    with pytest.raises(UsageError, match="Name the truth of talks_one"):
        open_set(SetFile("talks_one", file.path))
    two = set_files(folder, ["talks_two"], {"talks_two": "overall"})[0]
    assert not open_set(two).counts, "four models are too few"


def test_a_metric_as_the_truth_is_no_metric_any_more(folder: Path) -> None:
    judged = open_set(set_files(folder, ["talks_one"], {"talks_one": "good"})[0])
    assert judged.truth in judged.data.aspects
    assert "good" not in judged.data.metrics


def test_the_demo_set() -> None:
    judged = open_set(SetFile("demo", None))
    assert (judged.truth, judged.metric) == ("mqm", "chrF")
    assert judged.counts


# --- the public sets ------------------------------------------------------------------------------------


@pytest.mark.shared_data
def test_the_truths_are_the_bold_aspects_of_the_collection(shared_data: Path) -> None:
    table = (shared_data / "DATA.md").read_text(encoding="utf-8")
    bold = dict(re.findall(r"^\| (\w+) \|.*?\*\*([^*|]+)\*\*", table, re.MULTILINE))
    for file in set_files(shared_data):
        judged = open_set(file)
        assert judged.truth == bold[file.name], file.name
        assert not np.isnan(judged.data.truth(judged.truth)).any()
        assert judged.metric in judged.data.metrics
    assert set(TRUTHS) <= set(bold)


@pytest.mark.shared_data
def test_which_public_sets_count(shared_data: Path) -> None:
    small = {file.name for file in set_files(shared_data) if not open_set(file).counts}
    assert small == {"llmfao_pairwise", "personachat_usr"}
