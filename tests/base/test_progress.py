from __future__ import annotations

from pathlib import Path

from sparingly.base.progress import listening, report_progress, tracked
from sparingly.data import files


def test_whoever_listens_is_told_of_the_outer_parts_only() -> None:
    told: list[tuple[int, int]] = []
    with listening(lambda done, of: told.append((done, of))):
        found = [(outer, inner) for outer in tracked("ab") for inner in tracked((1, 2, 3))]
        for _ in tracked("c"):
            report_progress(7, 9)
    assert found == [(outer, inner) for outer in "ab" for inner in (1, 2, 3)]
    assert told == [(0, 2), (1, 2), (2, 2), (0, 1), (1, 1)]
    list(tracked("ab"))
    assert len(told) == 5


def test_reading_a_long_file_reports_how_much_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("line\n" * 10_000)
    told: list[tuple[int, int]] = []
    with listening(lambda done, of: told.append((done, of))):
        assert sum(1 for _ in files.text_lines(path)) == 10_000
    assert told == [(5 * 4096, 50_000), (5 * 8192, 50_000)]
