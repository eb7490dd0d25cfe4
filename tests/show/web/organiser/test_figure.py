from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.run.campaign.results import Findings, ModelStanding, Standings
from sparingly.show.web.organiser_views import LEFT, RIGHT, WIDTH, picture, ranking_views, ticks_between

NUMBERS = st.floats(-1e6, 1e6)


@given(low=NUMBERS, width=st.floats(1e-3, 1e6))
def test_ticks_lie_between_the_ends_and_are_few(low: float, width: float) -> None:
    found = ticks_between(low, low + width)
    assert len(found) <= 6
    assert all(low - 1e-6 * width <= value <= low + width * (1 + 1e-6) for value in found)
    assert len(set(found)) == len(found)


def test_round_numbers() -> None:
    assert ticks_between(0.3, 9.9) == [2, 4, 6, 8]
    assert ticks_between(-0.12, 0.11) == [-0.1, -0.05, 0, 0.05, 0.1]


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 100)), min_size=1, max_size=8))
def test_every_model_is_in_the_picture(models: list[tuple[float, float]]) -> None:
    rows = tuple(
        ModelStanding(f"model {place}", score, score - width, score + width)
        for place, (score, width) in enumerate(models)
    )
    found = picture(Standings("data", "headline", rows))
    assert found is not None
    assert len(found.lines) == len(models)
    for line in found.lines:
        assert line.low is not None
        assert line.high is not None
        assert LEFT <= line.low <= line.score <= line.high <= WIDTH - RIGHT
        assert 0 < line.y < found.bottom


def test_models_without_a_score_are_left_out_and_long_names_are_cut() -> None:
    rows = (ModelStanding("m" * 40, 1.0, None, None), ModelStanding("other", None, None, None))
    found = picture(Standings("data", "headline", rows))
    assert found is not None
    (line,) = found.lines
    assert (line.name, line.title, line.low) == ("m" * 23 + "…", "m" * 40, None)
    assert picture(Standings("data", "headline", rows[1:])) is None


@pytest.mark.parametrize("score", [0.0, 5.0])
def test_one_point_alone(score: float) -> None:
    found = picture(Standings("data", "headline", (ModelStanding("a", score, score, score),)))
    assert found is not None
    assert LEFT < found.lines[0].score < WIDTH - RIGHT


def test_rates_are_in_percent() -> None:
    rows = (
        ModelStanding("a", 0.93, 0.89, 0.97, interval="89.0 % to 97.0 %"),
        ModelStanding("b", None, None, None),
    )
    found = Standings("data", "headline", rows, is_rate=True)
    drawn = picture(found)
    assert drawn is not None
    assert [label for _, label in drawn.ticks] == ["90 %", "92 %", "94 %", "96 %"]
    (view,) = ranking_views(Findings(1, (found,), ()))
    assert [(score, interval) for _, _, score, interval, _ in view.rows] == [
        ("93.0 %", "89.0 % to 97.0 %"),
        ("-", "-"),
    ]
