"""Files are mended: no trailing whitespace, one newline at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.whitespace import main, mended


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a  \nb\t\n", b"a\nb\n"),
        (b"a", b"a\n"),
        (b"a\n\n\n", b"a\n"),
        (b"\n \n", b""),
        (b"", b""),
        (b"  a\r\n", b"  a\r\n"),
    ],
)
def test_mended(before: bytes, after: bytes) -> None:
    assert mended(before) == after
    assert mended(after) == after


def test_it_says_whether_a_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a \n")
    assert main([str(path)]) == 1
    assert main([str(path)]) == 0
    assert path.read_bytes() == b"a\n"
