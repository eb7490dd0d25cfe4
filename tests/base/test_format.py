from __future__ import annotations

import math

import pytest

from sparingly.base.format import counted, ends_text, error_text, percent, score_text


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


@pytest.mark.parametrize(
    ("score", "error", "low", "high", "texts"),
    [
        (0.93, 0.018, 0.8919, 0.9601, ("93.0 %", "1.8 points", "89.1 % to 96.1 %")),
        (1.0, 0.0, None, None, ("100.0 %", "0.0 points", "no interval")),
        (0.9999, 0.0001, 0.97, math.nan, ("over 99.9 %", "under 0.1 points", "at least 97.0 %")),
        (-0.0, None, math.nan, 0.0, ("0.0 %", "-", "at most 0.0 %")),
        (0.5, 0.1, 0.5, 0.5, ("50.0 %", "10.0 points", "50.0 %")),
    ],
)
def test_rates_are_in_percent_and_their_errors_in_points(
    score: float, error: float | None, low: float | None, high: float | None, texts: tuple[str, str, str]
) -> None:
    shown = score_text(score, is_rate=True), error_text(error, is_rate=True)
    assert (*shown, ends_text(low, high, is_rate=True)) == texts


def test_other_scores_are_numbers() -> None:
    assert [score_text(value, is_rate=False) for value in (-0.0, 51.1649, None)] == ["0", "51.16", "-"]
    assert error_text(2.889, is_rate=False) == "2.9"
    assert ends_text(-0.0, 3.14159) == "[0, 3.142]"


def test_a_count_with_its_noun() -> None:
    assert [counted(count, "entry", "entries") for count in (0, 1, 2)] == [
        "0 entries",
        "1 entry",
        "2 entries",
    ]
