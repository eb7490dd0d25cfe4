"""What several commands share: options, how they print, progress of long work, tables to fill in."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from sparingly.base.errors import MissingDataError, UsageError, listing
from sparingly.base.syntax import command_with
from sparingly.cli.parameters import about, flag, repeatable, several
from sparingly.data.files import csv_text, text_lines, without_formulas, write_bytes

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.run.forms.question import Question


# --- options --------------------------------------------------------------------------------------


Data = Annotated[Path, about("The evaluation set: a file or a directory.")]
SelectionFile = Annotated[Path, about("The selection's file.")]
Json = Annotated[bool, flag("Print JSON for machines.", "--json", show_default=False)]
Verbose = Annotated[bool, flag("Also show details and the signature.", "--verbose", "-v", show_default=False)]
OutFile = Annotated[Path | None, about("Where to write the result (JSON), for verify.", "--out", "-o")]
Seed = Annotated[int, about("Decides ties and draws; the same seed gives the same answer.")]

Target = Annotated[
    Literal["set", "population"] | None,
    about(
        "What numbers describe: this set, or inputs like these (population); unless given, "
        "scores of this set, comparisons of inputs like these."
    ),
]
Level = Annotated[float, about("The confidence level of intervals.")]
ScaleText = Annotated[
    str | None,
    about("The lowest and highest possible score, such as 0,100; by default from the data.", "--scale"),
]


@Parameter(name="*", group=Group("Reading the data", sort_key=2))
@dataclass(frozen=True)
class ReadOptions:
    """How the data is read."""

    format: Annotated[str | None, about("The format of the data; detected by default.", "--from")] = None
    lower_is_better: Annotated[tuple[str, ...], several("A metric or labels for which low is good")] = ()
    role: Annotated[
        tuple[str, ...],
        repeatable("What a column of a table holds, COLUMN=ROLE; repeat for several. Saved beside the file."),
    ] = ()
    option: Annotated[tuple[str, ...], several("An option of the format, key=value", "--option", "-S")] = ()

    labels: Annotated[
        Path | None, about("People's judgements in a file of their own: item, model, score, rater.")
    ] = None

    def load(self, path: Path, *more: Path) -> EvalSet:
        """Load the data; several files join by item. What was said of columns is saved beside the files."""
        from sparingly.data import io
        from sparingly.data.roles import parse_options, save_roles

        roles, paths = parse_options(self.role), [path, *more]
        with working(f"reading {path}"):
            data = io.load(
                paths,
                self.format,
                labels=self.labels,
                roles=roles,
                lower_is_better=self.lower_is_better,
                **pairs_of(self.option, "-S sheet=2"),
            )
        if roles or self.lower_is_better:
            for each in paths:
                if data.roles is not None and (note := save_roles(each, roles, self.lower_is_better)):
                    sys.stderr.write(f"note: {note}\n")
        return data


DEFAULT_READ_OPTIONS = ReadOptions()


def pairs_of(arguments: Sequence[str], example: str = "-S language=de") -> dict[str, str]:
    """Return options that are written key=value."""
    parts = [text.partition("=") for text in arguments]
    for name, sign, _ in parts:
        if not sign or not name:
            raise UsageError(f'The option "{name}" is not of the form key=value: {example}.')
    return {name: value for name, _, value in parts}


def parts_of(text: str | None, sign: str = ",") -> list[str]:
    """Return the parts of a text between commas, or another sign, without spaces around them."""
    return [part.strip() for part in (text or "").split(sign) if part.strip()]


def print_roles(data: EvalSet) -> None:
    """Say on standard error what the columns of a table were taken for, where the user did not say it all."""
    if data.roles is not None:
        if data.roles.is_guessed:
            from sparingly.show.terminal.console import make_console
            from sparingly.show.terminal.describe import side_by_side

            first, *others = data.roles.lines()
            texts = (f"{data.roles.file}: {first}", *others)
            sys.stderr.write(f"{side_by_side(texts, make_console().width)}\n")
        sys.stderr.writelines(f"note: {note}\n" for note in data.roles.notes)


def scale_ends(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a scale that was given as text; None where none was."""
    if text is None:
        return None
    from sparingly.data.scale import Scale

    return Scale.parse(text)


def the_aspect(data: EvalSet, aspect: str | None, typed: str) -> str:
    """Return the aspect that was named, or the only one; the error says what to type.

    ``typed`` is what stands after a command.
    """
    names = list(data.aspects)
    if aspect is not None or len(names) == 1:
        return names[0] if aspect is None else aspect
    if names:
        doubtful = (
            {} if data.roles is None else {part.name: part for part in data.roles.columns if part.doubtful}
        )
        first = min(names, key=lambda name: name in doubtful)
        more = [] if first not in doubtful else ["--role", f"{doubtful[first].column}=human"]
        fix = command_with("--aspect", first, *more)
        raise UsageError(f"There are {len(names)} aspects: {listing(names)}. Name one: {fix}")
    columns = [] if data.roles is None else [part for part in data.roles.columns if part.role == "metric"]
    ways = [
        f"If {part.column} holds them: {command_with('--role', f'{part.column}=human')}; to"
        for part in columns
    ]
    way = ways[0] if ways else "To"
    raise MissingDataError(
        f"{data.name}: there are no human labels in it. {way} ask people: sparingly serve {typed}"
    )


def emit(values: Any) -> None:
    """Print values as JSON."""
    sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


OnProgress = Callable[[int, int, str], None]


@contextmanager
def working(message: str) -> Iterator[OnProgress | None]:
    """Show on a terminal what is being done, for how long, and how long it will take; not in a pipe.

    Yields what to call with the parts done, of how many, and the next one; what is tracked calls it, too.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from sparingly.base.progress import listening

    left = TextColumn("{task.fields[left]}")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), left)
    with Progress(*columns, console=console, transient=True) as bar:
        row, first, last = bar.add_task(message, total=None, left=""), (monotonic(), 0), (0, 0)

        def on_progress(done: int, total: int, text: str = "") -> None:
            nonlocal first, last
            # Other work has begun.
            if total != last[1] or done < last[0]:
                first = monotonic(), done
            last = done, total
            seconds = (monotonic() - first[0]) / max(done - first[1], 1) * (total - done)
            time = f"{round(seconds)} s" if seconds < 100 else f"{round(seconds / 60)} min"
            left = f"{done / total:.0%}, about {time} left" if done > first[1] and seconds >= 1 else ""
            bar.update(row, description=text or message, left=left)

        with listening(on_progress):
            yield on_progress


def read_ids(path: Path) -> list[str]:
    """Read ids from a file, one a line."""
    return [line.strip() for _, line in text_lines(path) if line.strip()]


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


# --- tables to fill in ----------------------------------------------------------------------------


_TEXTS = ("source", "output", "first_output", "second_output")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_form(questions: Iterable[Question], path: Path) -> None:
    """Write what is to be judged, one row per answer; ``campaign record`` reads it when it is filled in."""
    rows = [row for question in questions for row in question.to_rows()]
    if path.suffix.lower() != ".jsonl":
        # These columns come back unread.
        rows = [without_formulas(row, _TEXTS) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["item", "model", "score"]
    write_rows(rows, columns, path)


def write_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], path: Path) -> None:
    """Write rows as the extension of the file says."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        lines = (json.dumps({name: row.get(name) for name in columns}, ensure_ascii=False) for row in rows)
        write_text(path, "".join(f"{line}\n" for line in lines))
        return
    if suffix not in _SEPARATORS:
        raise UsageError(f'The extension "{suffix}" of {path.name} is none of .csv, .tsv and .jsonl.')
    write_text(path, csv_text(rows, columns, _SEPARATORS[suffix]))
