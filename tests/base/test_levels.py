from __future__ import annotations

import pytest

from sparingly.base.checks import check_alpha, check_level
from sparingly.base.errors import UsageError


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, 95.0, float("nan")])
def test_what_lies_outside_is_refused(wrong: float) -> None:
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        check_level(wrong)
    with pytest.raises(UsageError, match="alpha must lie between 0 and 1"):
        check_alpha(wrong)


@pytest.mark.parametrize("right", [1e-9, 0.5, 0.95])
def test_what_lies_between_passes(right: float) -> None:
    check_level(right)
    check_alpha(right)
