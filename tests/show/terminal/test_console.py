from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from sparingly.show.terminal.console import (
    PipedConsole,
    fixed,
    line,
    make_console,
    make_table,
    notes,
    number,
    percent,
)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> tuple[Console, StringIO]:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    kept = StringIO()
    return make_console(kept), kept


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "[bold]not bold[/bold]",
        "a :smile: b:x:c",
        "back\\slash\\",
        "[/]",
        "top:utility=(x)|budget:10%|n:5",
        "",
    ],
)
def test_a_line_is_printed_as_it_is(wide: tuple[Console, StringIO], text: str) -> None:
    line(wide[0], text, style="bold red")
    assert wide[1].getvalue() == f"{text}\n"


def test_a_long_line_is_not_broken(wide: tuple[Console, StringIO]) -> None:
    line(wide[0], "signature " * 100)
    assert wide[1].getvalue().count("\n") == 1


def test_names_cannot_steer_the_terminal(wide: tuple[Console, StringIO]) -> None:
    line(wide[0], "evil \x1b[31m\x07\x00 name\nsecond")
    assert wide[1].getvalue() == "evil \\x1b[31m\\x07\\x00 name\nsecond\n"
    wide[0].print(make_table(("name",), [("x\x1b]0;title\x07",)]))
    assert "\x1b" not in wide[1].getvalue()


def test_tables_hold_cells_as_they_are(wide: tuple[Console, StringIO]) -> None:
    wide[0].print(
        make_table(("name", "[n]"), [("[red]model[/red] :x:", "1.5"), ("y", "10.25")], numbers=1, title="t")
    )
    rows = [row.split() for row in wide[1].getvalue().splitlines()]
    assert ["[red]model[/red]", ":x:", "1.5"] in rows
    assert ["name", "[n]"] in rows
    lines = [text.rstrip() for text in wide[1].getvalue().splitlines() if "1.5" in text or "10.25" in text]
    assert len({len(text) for text in lines}) == 1, "numbers end in one column"


def test_pipes_are_wide_and_the_environment_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console(StringIO()).width == 120
    monkeypatch.setenv("COLUMNS", "40")
    assert make_console(StringIO()).width == 40


def test_notes_are_one_a_line(wide: tuple[Console, StringIO]) -> None:
    notes(wide[0], ("one", "two"))
    assert wide[1].getvalue() == "note: one\nnote: two\n"


def test_a_broken_pipe_is_told() -> None:
    class Closed(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        PipedConsole(file=Closed()).print("text")


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (number(None), "-"),
        (number(float("nan")), "-"),
        (number(0.123456), "0.1235"),
        (number(3), "3"),
        (number(1234567.0), "1.235e+06"),
        (fixed(None), "-"),
        (fixed(0.5), "0.50"),
        (fixed(-0.126), "-0.13"),
        (percent(None), "-"),
        (percent(float("nan")), "-"),
        (percent(0.1234), "12.3 %"),
        (percent(1.0, 0), "100 %"),
        (percent(1.0), "100.0 %"),
        (percent(0.0001), "under 0.1 %"),
        (percent(0.0), "0.0 %"),
        (percent(0.9999), "over 99.9 %"),
        (percent(0.9999, 0), "over 99 %"),
    ],
)
def test_numbers(shown: str, text: str) -> None:
    assert shown == text
