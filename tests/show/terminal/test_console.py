from __future__ import annotations

from io import StringIO

import pytest

from sparingly.base.summary import Summary
from sparingly.show.terminal.console import (
    PipedConsole,
    fixed,
    line,
    make_console,
    notes,
    number,
    percent,
    show_summary,
    show_table,
)


@pytest.fixture
def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> pytest.CaptureFixture[str]:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return capsys


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
def test_a_line_is_printed_as_it_is(printed: pytest.CaptureFixture[str], text: str) -> None:
    line(text, style="bold red")
    assert printed.readouterr().out == f"{text}\n"


def test_a_long_line_is_not_broken(printed: pytest.CaptureFixture[str]) -> None:
    line("signature " * 100)
    assert printed.readouterr().out.count("\n") == 1


def test_names_cannot_steer_the_terminal(printed: pytest.CaptureFixture[str]) -> None:
    line("evil \x1b[31m\x07\x00 name\nsecond")
    assert printed.readouterr().out == "evil \\x1b[31m\\x07\\x00 name\nsecond\n"
    show_table(("name",), [("x\x1b]0;title\x07",)])
    assert "\x1b" not in printed.readouterr().out


def test_tables_hold_cells_as_they_are(printed: pytest.CaptureFixture[str]) -> None:
    rows_shown = [("[red]model[/red] :x:", "1.5"), ("y", "10.25")]
    show_table(("name", "[n]"), rows_shown, numbers=1, title="t")
    shown = printed.readouterr().out.splitlines()
    rows = [row.split() for row in shown]
    assert ["[red]model[/red]", ":x:", "1.5"] in rows
    assert ["name", "[n]"] in rows
    lines = [text.rstrip() for text in shown if "1.5" in text or "10.25" in text]
    assert len({len(text) for text in lines}) == 1, "numbers end in one column"


def test_pipes_are_wide_and_the_environment_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "40")
    assert make_console().width == 40


def test_notes_are_one_a_line(printed: pytest.CaptureFixture[str]) -> None:
    notes(("one", "two"))
    assert printed.readouterr().out == "note: one\nnote: two\n"


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


@pytest.mark.parametrize("width", ["80", "160"])
def test_the_answer_and_what_to_do_next_fit_a_screen(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    for count in (3, 8, 40):
        rows = tuple((f"model-{at}", str(at)) for at in range(count))
        answer = "One model is best, " + "and this is said at some length, " * 6 + "with p < .001."
        show_summary(
            Summary(
                (answer,), ("model", "rank"), rows, next_steps=("sparingly report DATA",), notes=("Mind.",)
            )
        )
        lines = capsys.readouterr().out.splitlines()
        assert sum("model-" in line for line in lines) == count
        assert next(at for at, line in enumerate(lines) if line.startswith("Next: ")) < 15
        assert not any(line.endswith(("p", "p <")) for line in lines)
