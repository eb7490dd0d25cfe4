"""What a terminal shows of long work, and a pipe does not."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from sparingly.base.progress import report_progress
from sparingly.cli import options
from sparingly.cli.options import working


class Terminal(StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def worked(stream: StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work for 40 of 160 seconds, reading before; return what is shown."""
    now = [0.0]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(options, "monotonic", lambda: now[0])
    with working("choosing") as on_progress:
        for done, of in ((3, 4), (0, 8), (1, 8), (2, 8)):
            report_progress(done, of)
            now[0] += 20.0
        if on_progress is not None:
            on_progress(2, 8, "the third part")
    return stream.getvalue()


def test_a_terminal_shows_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = worked(Terminal(), monkeypatch)
    assert "choosing" in shown
    # Two of eight parts took 60 s in all: the six others take 180.
    assert "the third part" in shown
    assert "25%, about 3 min left" in shown


def test_a_pipe_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worked(StringIO(), monkeypatch) == ""
