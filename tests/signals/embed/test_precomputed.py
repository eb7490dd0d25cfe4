from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from sparingly.base.errors import DataError, InputError, MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_outputs, embed_sources, embedding_fields

ITEMS, MODELS = ["c", "a", "b"], ["x", "w"]
# By item and model, whatever their order: (1, place of the item, place of the model).
VECTORS = np.array([[[1.0, item, model] for model in range(2)] for item in range(3)])
EXPECTED = (VECTORS / np.linalg.norm(VECTORS, axis=2, keepdims=True))[[1, 2, 0]][:, [1, 0]]


def made(**parts: Any) -> EvalSet:
    return EvalSet.from_arrays(ITEMS, MODELS, **parts)


def save_npy(folder: Path, ids: list[str], vectors: np.ndarray) -> str:
    np.save(folder / "vectors.npy", vectors)
    (folder / "vectors.ids.tsv").write_text("".join(f"{line}\n" for line in ids))
    return str(folder / "vectors.npy")


def output_ids() -> list[str]:
    return [f"{item}\t{model}" for item in ITEMS for model in MODELS]


def test_npy_with_ids_beside(tmp_path: Path) -> None:
    order = [5, 0, 3, 1, 4, 2]
    ids = ["other\tx", *(output_ids()[place] for place in order)]
    vectors = np.vstack([np.ones(3), VECTORS.reshape(6, 3)[order]])
    name = save_npy(tmp_path, ids, vectors)
    embedded = embed_outputs(made(), name)
    np.testing.assert_allclose(embedded.vectors, EXPECTED)
    assert embedded.present.all()
    assert embedding_fields(name, outputs=True) == frozenset()


def test_npy_of_sources_with_a_gap(tmp_path: Path) -> None:
    name = save_npy(tmp_path, ["b", "a"], np.array([[0.0, 2.0], [3.0, 0.0]], np.float32))
    vectors, there = embed_sources(made(), name)
    np.testing.assert_allclose(vectors, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert there.tolist() == [True, True, False]


def frame() -> polars.DataFrame:
    ids = [line.split("\t") for line in output_ids()]
    return polars.DataFrame(
        {
            "item": [item for item, _ in ids],
            "model": [model for _, model in ids],
            "minilm": VECTORS.reshape(6, 3).tolist(),
            "score": range(6),
        }
    )


def test_parquet_column(tmp_path: Path) -> None:
    path = tmp_path / "vectors.parquet"
    frame().write_parquet(path)
    np.testing.assert_allclose(embed_outputs(made(), str(path)).vectors, EXPECTED)
    wide = frame().with_columns(polars.col("minilm").list.reverse().alias("other"))
    wide.cast({"minilm": polars.Array(polars.Float32, 3)}).write_parquet(path)
    np.testing.assert_allclose(embed_outputs(made(), f"{path}#minilm").vectors, EXPECTED, atol=1e-6)
    with pytest.raises(InputError, match="Columns with lists: minilm, other; name one with"):
        embed_outputs(made(), str(path))


def test_column_of_the_set() -> None:
    cells = np.empty((3, 2), object)
    for item in range(3):
        for model in range(2):
            cells[item, model] = VECTORS[item, model].tolist()
    cells[0, 0] = None
    data = made(cells={"minilm": cells}, columns={"topic": VECTORS[:, 0], "lists": VECTORS[:, 0].tolist()})
    vectors, there = embed_outputs(data, "column:minilm")
    assert there.tolist() == [[True, True], [True, True], [True, False]]
    np.testing.assert_allclose(vectors[there], EXPECTED[there])
    assert not vectors[~there].any()
    for name in ("topic", "lists"):
        np.testing.assert_allclose(embed_sources(data, f"column:{name}").vectors, EXPECTED[:, 1])
    assert embedding_fields("column:minilm", outputs=True) == {"cell:minilm"}
    assert embedding_fields("column:topic", outputs=False) == {"column:topic"}


def test_what_is_wrong_with_a_column_is_said() -> None:
    data = made(columns={"odd": [[1.0], [1.0, 2.0], None], "words": ["a", "b", "c"], "empty": [None] * 3})
    with pytest.raises(UnknownNameError, match=r'no column "od".*odd'):
        embed_sources(data, "column:od")
    with pytest.raises(DataError, match="of different lengths: 1, 2"):
        embed_sources(data, "column:odd")
    with pytest.raises(DataError, match='vector of "a" in the column "words" is no list'):
        embed_sources(data, "column:words")
    with pytest.raises(MissingDataError, match="no vector of any item"):
        embed_sources(data, "column:empty")


@pytest.mark.parametrize(
    ("ids", "vectors", "sentence"),
    [
        (["a"], np.ones((2, 3)), r"shape \(2, 3\), and there are 1 ids in vectors.ids.tsv"),
        (["a", "a"], np.ones((2, 3)), 'two vectors of "a"'),
        (["a\tx", "b\tx"], np.ones((2, 3)), '"a, x" names no vector of an item'),
        (["a", "b"], np.ones(2), r"shape \(2,\)"),
        (["a", "b"], np.array([[1.0], [np.nan]]), 'vector of "b".*no list of finite numbers'),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, ids: list[str], vectors: np.ndarray, sentence: str
) -> None:
    name = save_npy(tmp_path, ids, vectors)
    with pytest.raises(DataError, match=sentence):
        embed_sources(made(), name)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.npy: there is no such file"):
        embed_sources(made(), str(tmp_path / "none.npy"))
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(InputError, match="no array of numbers"):
        embed_sources(made(), str(tmp_path / "text.npy"))
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        embed_sources(made(), str(tmp_path / "text.parquet"))
    np.save(tmp_path / "alone.npy", np.ones((2, 2)))
    with pytest.raises(InputError, match=r"alone.ids.tsv: there is no such file"):
        embed_sources(made(), str(tmp_path / "alone.npy"))
