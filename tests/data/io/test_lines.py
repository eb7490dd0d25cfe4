from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.data import io
from sparingly.data.evalset import EvalSet

ODD = "large + tuned (v1.2)"


def put(root: Path, files: dict[str, str]) -> Path:
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return put(
        tmp_path / "set",
        {
            "source.txt": "One\nTwo\nThree\n",
            "refA.txt": "Eins\nZwei\nDrei\n",
            "ref.human.txt": "Ein\nZwo\nDrei\n",
            "tiny.txt": "eins\n\ndrei\n",
            f"{ODD}.txt": "Eins.\nZwei.\nDrei.",
            "notes.md": "not a segment",
        },
    )


def test_a_folder_is_read_by_the_names_of_its_files(folder: Path) -> None:
    data = io.load(folder)
    assert list(data.items) == ["line-000001", "line-000002", "line-000003"]
    assert data.models == (ODD, "tiny")
    assert data.references == ("human", "refA")
    assert data.outputs is not None
    assert data.outputs.tolist() == [["Eins.", "eins"], ["Zwei.", ""], ["Drei.", "drei"]]
    assert data.sources is not None
    assert data.sources.tolist() == ["One", "Two", "Three"]
    assert data.reference_texts is not None
    assert data.reference_texts[1].tolist() == ["Zwo", "Zwei"]


def test_ids_come_from_their_file(folder: Path) -> None:
    put(folder, {"ids.txt": "c\nb\na\n"})
    data = io.load(folder)
    assert list(data.items) == ["a", "b", "c"]
    assert data.sources is not None
    assert data.sources.tolist() == ["Three", "Two", "One"]
    assert data.items[data.file_order].tolist() == ["c", "b", "a"]
    put(folder, {"ids.txt": "c\nb\nc\n"})
    with pytest.raises(InputError) as caught:
        io.load(folder)
    assert str(caught.value) == (
        f'{folder / "ids.txt"}, line 3, field ids: the item "c" was there before (line 1). '
        "Give every item its own id."
    )


def test_files_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = put(
        tmp_path / "set", {"in.en": "One\n", "gold.de": "Eins\n", "a.de": "1\n", "GPT-4.1": "I\n", "n": "x\n"}
    )
    data = io.load(root, "lines", source="in.en", references="gold.de", models="a.de,GPT-4.1", ids=["n"])
    assert list(data.items) == ["x"]
    assert data.models == ("GPT-4.1", "a")
    assert data.references == ("gold",)
    put(tmp_path, {"more.txt": "2\n"})
    monkeypatch.chdir(tmp_path)
    assert io.load(root, "lines", models="more.txt,a.de").models == ("a", "more")
    with pytest.raises(InputError, match=r"absent\.txt: there is no such file"):
        io.load(root, "lines", models="absent.txt")


def test_models_of_the_same_name_keep_their_folders(tmp_path: Path) -> None:
    put(tmp_path, {"s.txt": "One\n"})
    put(tmp_path / "a", {"out.txt": "1\n"})
    put(tmp_path / "b", {"out.txt": "2\n"})
    assert io.load(tmp_path, "lines", models="a/out.txt,b/out.txt").models == ("a/out.txt", "b/out.txt")


def test_compressed_files_and_windows_line_ends(folder: Path) -> None:
    (folder / "packed.txt.gz").write_bytes(gzip.compress("\ufeffa\r\nb\r\nc".encode()))
    data = io.load(folder)
    assert "packed" in data.models
    assert data.outputs is not None
    assert data.outputs[:, data.models.index("packed")].tolist() == ["a", "b", "c"]


def test_unequal_numbers_of_lines_are_both_named(folder: Path) -> None:
    put(folder, {"tiny.txt": "eins\nzwei\n"})
    with pytest.raises(InputError) as caught:
        io.load(folder)
    assert str(caught.value) == (
        f"{folder / 'tiny.txt'}: there are 2 lines, but source.txt has 3. "
        "Line-aligned files need one line for every item."
    )


def test_two_sources_need_a_choice(folder: Path) -> None:
    put(folder, {"src.de.txt": "1\n2\n3\n"})
    with pytest.raises(InputError) as caught:
        io.load(folder)
    assert str(caught.value) == (
        f"{folder}, field source: there are several: source.txt, src.de.txt. "
        "Choose one with source=source.txt."
    )
    data = io.load(folder, source="src.de.txt", format="lines")
    assert data.sources is not None
    assert data.sources.tolist() == ["1", "2", "3"]
    assert data.models == (ODD, "tiny")


def test_what_is_no_folder_of_lines_is_not_taken_for_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this directory holds no data in a known layout"):
        io.load(put(tmp_path / "a", {"tiny.txt": "x\n"}))
    with pytest.raises(InputError, match="there is no text file in it"):
        io.load(put(tmp_path / "b", {"x.md": ""}), "lines")
    with pytest.raises(InputError, match="expected a directory of text files"):
        io.load(tmp_path / "a" / "tiny.txt", "lines")


def test_writing_makes_files_that_other_tools_read(folder: Path, tmp_path: Path) -> None:
    data = io.load(folder)
    target = tmp_path / "out"
    assert io.save(data, target, "lines") == []
    assert sorted(file.name for file in target.iterdir()) == sorted(
        ["ids.txt", "source.txt", "ref.human.txt", "refA.txt", f"{ODD}.txt", "tiny.txt"]
    )
    assert (target / "tiny.txt").read_bytes() == b"eins\n\ndrei\n"
    assert io.load(target).digest() == data.digest()
    with pytest.raises(InputError) as caught:
        io.save(data, target, "lines")
    assert str(caught.value) == f"{target}: there is something already. Name a new directory."
    with pytest.raises(InputError, match="the folder to write to does not exist"):
        io.save(data, tmp_path / "no" / "out", "lines")


@pytest.mark.parametrize(
    ("text", "trouble"),
    [(None, "is missing"), ("two\nlines", "holds a line break"), ("end\r", "holds a line break")],
)
def test_what_lines_cannot_say_is_refused(tmp_path: Path, text: str | None, trouble: str) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["m"], outputs=[["x"], [text]])
    with pytest.raises(InputError) as caught:
        io.save(data, tmp_path / "out", "lines")
    assert str(caught.value) == (
        f'm.txt: the text of the item "b" {trouble}, which aligned lines cannot say. '
        "Leave the item or the model out, or write jsonl."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_set_without_outputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no outputs to write as lines"):
        io.save(EvalSet.from_arrays(["a"], ["m"], sources=["s"]), tmp_path / "out", "lines")


NAMES = st.sampled_from(
    [
        "ids",
        "source",
        "src-x",
        "ref",
        "refA",
        "ref.b",
        "model.x",
        "x.txt",
        "x.gz",
        "org/name",
        "100%",
        "%2F",
        ".a",
        "a b",
    ]
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    models=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    references=st.lists(NAMES, max_size=3, unique=True),
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=8, max_size=8),
)
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, models: list[str], references: list[str], texts: list[str]
) -> None:
    data = EvalSet.from_arrays(
        ["b", "a"],
        models,
        sources=["s", "t"],
        outputs=[texts[: len(models)], texts[4 : 4 + len(models)]],
        references={name: ["r", texts[0]] for name in references},
    )
    target = tmp_path_factory.mktemp("lines") / "out"
    io.save(data, target, "lines")
    back = io.load(target)
    assert back.models == data.models
    assert back.references == data.references
    assert back.digest() == data.digest()
