"""Options that several commands share, and how they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sparingly.base.errors import UsageError

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet

Data = Annotated[Path, Parameter(help="The evaluation set: a file or a directory.")]
SelectionFile = Annotated[Path, Parameter(help="The selection's file.")]
Json = Annotated[
    bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON for machines.")
]
OutFile = Annotated[
    Path | None, Parameter(name=["--out", "-o"], help="Where to write the result (JSON), for verify.")
]
Seed = Annotated[int, Parameter(help="Settles ties and draws; the same seed gives the same answer.")]

ScaleText = Annotated[
    str | None,
    Parameter(
        name="--scale",
        help="The lowest and highest possible score, such as 0,100; what the data tells unless given.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How the data is read."""

    format: Annotated[str | None, Parameter(help="The format of the data; recognised unless given.")] = None
    lower_is_better: Annotated[
        tuple[str, ...],
        Parameter(
            help="A metric for which low is good; repeat for several.", negative="", show_default=False
        ),
    ] = ()
    option: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--option", "-S"],
            help="An option of the format, key=value; repeat for several.",
            negative="",
            show_default=False,
        ),
    ] = ()

    def load(self, path: Path) -> EvalSet:
        """Load the data."""
        from sparingly.data import io

        with working(f"reading {path}"):
            return io.load(path, self.format, lower_is_better=self.lower_is_better, **self.options)

    @property
    def options(self) -> dict[str, str]:
        """The options of the format by name."""
        pairs = [text.partition("=") for text in self.option]
        for name, sign, _ in pairs:
            if not sign or not name:
                raise UsageError(f'The option "{name}" is not of the form key=value.')
        return {name: value for name, _, value in pairs}


DEFAULT_READING = Reading()


def scale_ends(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a scale that was given as text; None where none was."""
    if text is None:
        return None
    from sparingly.data.combine import check_scale

    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f'The scale "{text}" is not two numbers: write --scale 0,100.') from None
    check_scale((low, high))
    return low, high


def the_aspect(data: EvalSet, aspect: str | None) -> str:
    """Return the aspect that was named, or the only one; the error names the option."""
    from sparingly.data.evalset import the_only

    return aspect if aspect is not None else the_only("aspect", None, data.aspects, "Name one: --aspect ….")


def emit(values: Any) -> None:
    """Print values as JSON."""
    sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show on a terminal that something is being done; be silent in a pipe."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(message):
        yield


def read_ids(path: Path) -> list[str]:
    """Read ids from a file, one a line."""
    from sparingly.data import files

    return [line.strip() for _, line in files.text_lines(path) if line.strip()]


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    from sparingly.data.files import write_atomically

    def put(file: IO[bytes]) -> None:
        file.write(text.encode("utf-8", "backslashreplace"))

    write_atomically(path, put)
