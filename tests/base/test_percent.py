from __future__ import annotations

import pytest

from sparingly.base.percent import percent


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (0.0, "under 0.1 %"),
        (0.0009, "under 0.1 %"),
        (0.001, "0.1 %"),
        (0.0099, "1.0 %"),
        (0.01, "1 %"),
        (0.5, "50 %"),
        (0.99, "99 %"),
        (0.994, "99.4 %"),
        (0.999, "99.9 %"),
        (0.9991, "over 99.9 %"),
        (1.0, "over 99.9 %"),
        (None, "-"),
        (float("nan"), "-"),
    ],
)
def test_a_chance_is_never_nothing_nor_certain(chance: float | None, text: str) -> None:
    assert percent(chance) == text
