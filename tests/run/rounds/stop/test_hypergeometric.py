from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.stop.base import Progress, as_stop


def progress_after(values: list[float], models: str = "ab") -> Progress:
    """Judge all items of a set in which the first model is ahead by the given values."""
    scores = np.zeros((len(values), len(models)))
    scores[:, 0] = values
    data = EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(len(values))], list(models), aspects={"good": scores}
    )
    look = next(replay(data, "uniform", len(values), truth="good"))
    return Progress(look.state, look.strategy)


def test_a_clear_lead_stops() -> None:
    found = as_stop("hypergeometric").check(progress_after([1.0] * 9 + [-1.0]))
    assert found is not None
    assert found.answer == "a"
    assert "9 to 1 of 10 judged items" in found.reason
    assert "heuristic" in found.reason


def test_ties_are_no_votes() -> None:
    # Three of ten votes are likely by chance, three of three are not.
    assert as_stop("hypergeometric").check(progress_after([1.0] * 3 + [0.0] * 7)) is None


def test_fewer_items_than_asked_for_do_not_stop() -> None:
    assert as_stop("hypergeometric:least=11").check(progress_after([1.0] * 10)) is None


def test_the_width_of_a_tie_counts() -> None:
    assert as_stop("hypergeometric:tie=2").check(progress_after([1.0] * 10)) is None


def test_two_models_are_needed() -> None:
    progress = progress_after([-1.0] * 10, "abc")
    with pytest.raises(UsageError, match="two models, not 3"):
        as_stop("hypergeometric").check(progress)
    with pytest.raises(UnknownNameError, match="z"):
        as_stop("hypergeometric:models=[a,z]").check(progress)
    found = as_stop("hypergeometric:models=[a,c]").check(progress)
    assert found is not None
    assert found.answer == "c"


def test_a_risk_is_between_zero_and_one() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        as_stop("hypergeometric:p=0")
