from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import io
from sparingly.data.io.mt_metrics_eval import metric_names

ODD = "ONLINE-W + (beam 5)"
PLAIN = "GPT4-5shot"


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def blocks(**scores: str) -> str:
    """Lines of a score file, tab-separated: one block for each system."""
    return "".join(f"{system}\t{score}\n" for system, row in scores.items() for score in row.split())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A test set of one language pair as the README of mt-metrics-eval lays it out."""
    return put(
        tmp_path / "wmt99",
        {
            "sources/en-de.txt": "One\nTwo\nThree\n",
            "documents/en-de.docs": "news doc.1\nnews doc.1\nsocial doc.2\n",
            "references/en-de.refA.txt": "Eins\nZwei\nDrei\n",
            "references/en-de.refB.txt": "Ein\nZwo\nDrei!\n",
            f"system-outputs/en-de/{PLAIN}.txt": "eins\n\ndrei\n",
            f"system-outputs/en-de/{ODD}.txt": "1\n[No translation supplied]\n3\n",
            "system-outputs/en-de/refA.txt": "Eins\nZwei\nDrei\n",
            "human-scores/en-de.mqm.seg.score": blocks(
                **{PLAIN: "-1 None -5", ODD: "0 -2.5 -25", "refA": "0 0 -1"}
            ),
            "human-scores/en-de.mqm.sys.score": blocks(**{PLAIN: "-3", ODD: "-9"}),
            "human-scores/en-de.wmt-z.domain.score": f"news\t{PLAIN}\t0.1\n",
            "metric-scores/en-de/chrF-refA.seg.score": blocks(**{PLAIN: "50 60 70", ODD: "10 20 30"}),
            "metric-scores/en-de/BLEU-refA.seg.score": blocks(**{PLAIN: "5 6 7", ODD: "1 2 3"}),
            "metric-scores/en-de/BLEU-refB.seg.score": blocks(
                **{PLAIN: "8 8 8", ODD: "9 9 9", "refA": "1 1 1"}
            ),
            "metric-scores/en-de/MetricX-23-QE-src.seg.score": blocks(**{PLAIN: "-1 -1 -2", "refA": "0 0 0"}),
            "metric-scores/en-de/BLEU-refA.sys.score": blocks(**{PLAIN: "30", ODD: "20"}),
        },
    )


def test_a_tree_is_read_with_everything_it_holds(tree: Path) -> None:
    data = io.load(tree)
    assert list(data.items) == ["en-de#0", "en-de#1", "en-de#2"]
    assert data.models == (PLAIN, ODD)
    assert data.references == ("refA", "refB")
    assert data.sources is not None
    assert data.sources.tolist() == ["One", "Two", "Three"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["eins", "1"], ["", None], ["drei", "3"]]
    assert data.reference_texts is not None
    assert data.reference_texts[0].tolist() == ["Eins", "Ein"]
    assert data.columns["domain"].tolist() == ["news", "news", "social"]
    assert data.columns["document"].tolist() == ["doc.1", "doc.1", "doc.2"]
    assert data.columns["position"].tolist() == [0, 1, 0]
    assert set(data.metrics) == {"chrF", "BLEU-refA", "BLEU-refB", "MetricX-23-QE[QE]"}
    np.testing.assert_array_equal(data.metrics["BLEU-refA"], [[5, 1], [6, 2], [7, 3]])
    np.testing.assert_array_equal(data.metrics["MetricX-23-QE[QE]"][:, 1], [np.nan] * 3)
    assert list(data.aspects) == ["mqm"]
    np.testing.assert_array_equal(data.aspects["mqm"], [[-1, 0], [np.nan, -2.5], [-5, -25]])
    np.testing.assert_array_equal(data.reference_aspects["mqm"][:, 0], [0, 0, -1])
    assert np.isnan(data.reference_aspects["mqm"][:, 1]).all()
    assert data.name == "wmt99/en-de"


def test_references_with_an_output_can_be_ranked_as_models(tree: Path) -> None:
    data = io.load(tree, references_as="models")
    assert data.models == (PLAIN, ODD, "refA")
    np.testing.assert_array_equal(data.aspects["mqm"][:, 2], [0, 0, -1])
    np.testing.assert_array_equal(data.metrics["BLEU-refB"][:, 2], [1, 1, 1])
    assert np.isnan(data.metrics["BLEU-refA"][:, 2]).all()
    assert not data.reference_aspects
    with pytest.raises(UsageError, match='"models" or absent, not "systems"'):
        io.load(tree, references_as="systems")


def test_several_language_pairs_need_a_choice(tree: Path) -> None:
    put(
        tree,
        {
            "sources/zh-en.jsonl": '{"source": "一"}\n',
            "system-outputs/zh-en/X.jsonl": '{"hypothesis": "1"}\n',
        },
    )
    with pytest.raises(InputError) as caught:
        io.load(tree)
    assert str(caught.value) == (
        f"{tree}: there are 2 language pairs: en-de, zh-en. Choose one with language_pair=en-de."
    )
    with pytest.raises(UnknownNameError, match='There is no language pair "en-fr"'):
        io.load(tree, language_pair="en-fr")
    data = io.load(tree, language_pair="zh-en")
    assert list(data.items) == ["zh-en#0"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["1"]]


def test_error_lists_are_kept_with_their_raters(tree: Path) -> None:
    errors = [{"start": 0, "end": 4, "category": "Accuracy", "severity": "major", "score": None}]
    rows: list[tuple[str, Any, str]] = [
        (PLAIN, {"errors": errors}, "r7"),
        (PLAIN, None, ""),
        (PLAIN, {"errors": []}, "r7"),
    ]
    rows += [("refA", {"errors": [], "score": -0.5}, "r7"), ("refA", None, ""), ("refA", None, "")]
    lines = [
        "\t".join([system, "None" if held is None else json.dumps(held), *([rater] if rater else [])])
        for system, held, rater in rows
    ]
    put(tree, {"human-scores/en-de.mqm.merged.seg.rating": "\n".join(lines) + "\n"})
    data = io.load(tree)
    table = data.ratings
    assert len(table) == 3
    assert table.raters == ("r7",)
    assert table.aspects == ("mqm",)
    assert table.extra["errors"].tolist() == [errors, [], []]
    assert table.model.tolist() == [0, 0, 2]
    np.testing.assert_array_equal(table.score, [np.nan, np.nan, -0.5])
    np.testing.assert_array_equal(data.aspects["mqm"][:, 0], [-1, np.nan, -5])


def test_a_rating_without_rater_belongs_to_its_file(tree: Path) -> None:
    lines = "".join(f'{ODD}\t{{"errors": []}}\n' for _ in range(3))
    put(tree, {"human-scores/en-de.mqm.rater1.seg.rating": lines})
    assert io.load(tree).ratings.raters == ("mqm.rater1",)


def test_scores_alone_make_a_set(tmp_path: Path) -> None:
    root = put(
        tmp_path,
        {
            "sources/en-de.txt": "One\nTwo\n",
            "human-scores/en-de.da-sqm.seg.score": "A 1\nA 2\nrefA 3\nrefA 4\nB 5\nB None\n",
            "metric-scores/en-de/COMET-22-refA.seg.score": "B 0.5\nB 0.6\nA 0.7\nA 0.8\n",
        },
    )
    data = io.load(root)
    assert data.models == ("A", "B")
    assert data.outputs is None
    np.testing.assert_array_equal(data.aspects["da-sqm"], [[1, 5], [2, np.nan]])
    np.testing.assert_array_equal(data.reference_aspects["da-sqm"], [[3], [4]])
    np.testing.assert_array_equal(data.metrics["COMET-22"], [[0.7, 0.5], [0.8, 0.6]])


def test_metadata_of_translations_are_cells(tree: Path) -> None:
    put(tree, {f"metadata/en-de/{ODD}.jsonl": '{"tokens": 3}\n{}\n{"tokens": 5}\n'})
    assert io.load(tree).cells["tokens"].tolist() == [[None, 3], [None, None], [None, 5]]


def test_names_of_metrics() -> None:
    names = metric_names(
        ["A-refA", "B-refA", "B-refB", "B-src", "C-refA.refB", "D-all", "COMET-22", "E[QE]-src"],
        ["refA", "refB"],
    )
    assert list(names.values()) == ["A", "B-refA", "B-refB", "B[QE]", "C", "D", "COMET-22", "E[QE]"]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        (
            f"system-outputs/en-de/{PLAIN}.txt",
            "eins\nzwei\n",
            "there are 2 lines, but en-de.txt has 3 sources. "
            "Give one line for every source, None where nothing is known.",
        ),
        (
            "human-scores/en-de.mqm.seg.score",
            f"{PLAIN}\t1\n{PLAIN}\t2\n",
            f"there are 2 scores of {PLAIN}, but en-de.txt has 3 sources. "
            "Give one line for every source, None where nothing is known.",
        ),
    ],
)
def test_unequal_counts_are_both_named(tree: Path, file: str, text: str, sentence: str) -> None:
    put(tree, {file: text})
    with pytest.raises(InputError) as caught:
        io.load(tree)
    assert str(caught.value) == f"{tree / file}: {sentence}"


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("human-scores/en-de.x.seg.score", f"{ODD} 3\n", "line 1: 5 columns are there, and 2 are needed"),
        ("human-scores/en-de.x.seg.score", f"{PLAIN}\tgood\n", 'line 1, field x: "good" is not a number'),
        (
            "metric-scores/en-de/X-refA.seg.score",
            "GPT4-shot 1\nGPT4-shot 1\nGPT4-shot 1\n",
            "Did you mean GPT4-5shot?",
        ),
        ("documents/en-de.docs", "news d\nnews\nnews d\n", 'line 2: "news" is not a domain and a document'),
        (
            "human-scores/en-de.x.seg.rating",
            f"{PLAIN}\t[1]\n",
            "line 1, field rating: expected an object {…}",
        ),
        (
            "human-scores/en-de.x.seg.rating",
            f'{PLAIN}\t{{"score": [1]}}\n{PLAIN}\tNone\n{PLAIN}\tNone\n',
            "field score: [1] is not a number",
        ),
        ("human-scores/en-de.x.seg.rating", f"{PLAIN}\t{{\n", "line 1: this is not JSON"),
        (
            "human-scores/en-de.x.seg.rating",
            f"{PLAIN} None\n",
            "line 1: 1 columns are there, and 2 or 3 are needed",
        ),
    ],
)
def test_a_bad_line_is_named(tree: Path, file: str, text: str, wrong: str) -> None:
    put(tree, {file: text})
    with pytest.raises(InputError) as caught:
        io.load(tree)
    assert str(caught.value).startswith(str(tree / file))
    assert wrong in str(caught.value)


def test_a_tree_without_sources_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder sources in it"):
        io.load(tmp_path, "mt_metrics_eval")
    (tmp_path / "sources").mkdir()
    with pytest.raises(InputError, match=r"there is no source file SRC-TGT\.txt in it"):
        io.load(tmp_path, "mt_metrics_eval")
