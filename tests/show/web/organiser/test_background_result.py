from __future__ import annotations

from threading import Event

from sparingly.base.errors import UsageError
from sparingly.show.web.organiser import BackgroundResult

LONG = 30.0


def test_once_for_every_state() -> None:
    asked: list[int] = []
    now = [1]

    def compute(seq: int) -> int:
        asked.append(seq)
        return 10 * seq

    result = BackgroundResult(compute, lambda: now[0])
    for _ in range(3):
        kept, fresh = result.look(LONG)
        assert kept is not None
        assert (kept.value, kept.seq, kept.problem, fresh) == (10, 1, "", True)
    assert asked == [1]


def test_the_last_result_is_shown_while_the_next_is_computed() -> None:
    go, now = Event(), [1]

    def compute(seq: int) -> int:
        assert seq == 1 or go.wait(LONG)
        return seq

    result = BackgroundResult(compute, lambda: now[0])
    result.look(LONG)
    result._not_before = 0.0
    now[0] = 2
    kept, fresh = result.look()
    assert kept is not None
    assert (kept.value, fresh) == (1, False)
    go.set()
    kept, fresh = result.look(LONG)
    assert kept is not None
    assert (kept.value, fresh) == (2, True)


def test_nothing_is_there_at_first() -> None:
    go = Event()
    result = BackgroundResult(lambda _: go.wait(LONG), lambda: 1)
    assert result.look() == (None, False)
    go.set()
    assert result.look(LONG)[1]


def test_it_is_not_computed_all_the_time() -> None:
    now = [1]
    result = BackgroundResult(lambda seq: seq, lambda: now[0])
    result.look(LONG)
    result._not_before = float("inf")
    now[0] = 2
    kept, fresh = result.look(LONG)
    assert kept is not None
    assert (kept.seq, fresh) == (1, False)


def test_what_goes_wrong_is_said() -> None:
    def wrong(_: int) -> int:
        raise UsageError("One sentence.")

    def worse(_: int) -> int:
        raise ZeroDivisionError

    for compute, sentence in (
        (wrong, "One sentence."),
        (worse, "It could not be computed (ZeroDivisionError)."),
    ):
        kept, _ = BackgroundResult(compute, lambda: 1).look(LONG)
        assert kept is not None
        assert (kept.value, kept.problem) == (None, sentence)
