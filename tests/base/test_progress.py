from __future__ import annotations

from sparingly.base.progress import listening, tracked


def test_whoever_listens_is_told_of_the_outer_parts_only() -> None:
    told: list[tuple[int, int]] = []
    with listening(lambda done, of: told.append((done, of))):
        found = [(outer, inner) for outer in tracked("ab") for inner in tracked((1, 2, 3))]
    assert found == [(outer, inner) for outer in "ab" for inner in (1, 2, 3)]
    assert told == [(0, 2), (1, 2), (2, 2)]
    list(tracked("ab"))
    assert len(told) == 3
