from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import InputError
from sparingly.data.io.format import check_lengths, line_id, names_of_files, read_lines


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/sys1.txt", "b/sys2.de"], ["sys1", "sys2"]),
        (["a/out.txt", "b/out.txt"], ["a/out.txt", "b/out.txt"]),
        (["GPT-4.1", "M2M100_1.2B-B4", "x.v2"], ["GPT-4.1", "M2M100_1.2B-B4", "x.v2"]),
        (["GPT-4.1.txt", "a b + (c).hyp.gz"], ["GPT-4.1", "a b + (c)"]),
        (["/dev/fd/63"], ["63"]),
        ([], []),
    ],
)
def test_files_give_names(paths: list[str], names: list[str]) -> None:
    assert names_of_files(paths) == names


def test_lines_are_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff a \r\n\n\u2028b\x0c\n\n".encode())
    assert read_lines(path) == [" a ", "", "\u2028b\x0c", ""]


def test_lengths_are_compared() -> None:
    assert check_lengths({Path("a"): ["x"], Path("b"): ["y"]}) == 1
    with pytest.raises(InputError) as caught:
        check_lengths({Path("d/a"): ["x"], Path("d/b"): []})
    assert str(caught.value) == (
        "d/b: there are 0 lines, but a has 1. Line-aligned files need one line for every item."
    )


def test_ids_of_lines_count_from_one() -> None:
    assert [line_id(place) for place in (0, 41, 1_234_566)] == ["line-000001", "line-000042", "line-1234567"]
