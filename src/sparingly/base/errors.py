"""Everything that can go wrong, as one tree.

SparinglyError
├── UsageError            a wrong call: an unknown name, a value out of range, a missing choice
│   └── UnknownNameError  a name that is not there, with the nearest ones that are
├── DataError             the data cannot answer the question
│   ├── InputError        a file cannot be read: names the file, line, field, value and the fix
│   └── MissingDataError  a method needs something that the evaluation set does not have
├── ExtraMissingError     an optional part of the package is not installed
└── AnswerIsNo            the question was understood and the answer is no (``verify`` fails)

Every message is one sentence (or two, where the second says what to do), on one line. ``exit_code`` is the
only place that turns an error into a process exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

EXIT_DONE = 0
EXIT_NO = 1
EXIT_WRONG = 2
# Control characters, line and paragraph separators, and halves of surrogate pairs.
_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class SparinglyError(Exception):
    """Base class of every error that this package raises on purpose."""


class UsageError(SparinglyError, ValueError):
    """The call itself is wrong."""


class UnknownNameError(UsageError):
    """A name that does not exist; the message suggests the nearest ones that do."""

    def __init__(self, kind: str, name: object, names: Iterable[str], hint: str = "") -> None:
        self.kind, self.name, self.names = kind, str(name), tuple(names)
        is_text = isinstance(name, str)
        sentence = f'There is no {kind} "{name}".'
        if not is_text:
            sentence = f"There is no {kind} {name}: names are text."
        close = nearest(name, self.names)
        if close:
            # The number 1 and the text "1" look the same without quotes.
            quoted = close if is_text else [f'"{candidate}"' for candidate in close]
            sentence += f" Did you mean {' or '.join(quoted)}?"
        elif self.names:
            sentence += f" There are: {listing(self.names)}."
        else:
            sentence += f" There is no {kind} at all."
        super().__init__(one_line(f"{sentence} {hint}".rstrip()))


class DataError(SparinglyError, ValueError):
    """The data cannot answer the question."""


class InputError(DataError):
    """A file that cannot be read as it stands.

    The sentence is put together from its parts, so that every reader reports the same way:
    ``scores.jsonl, line 3, field metrics.COMET: "high" is not a number. Write a number or null.``
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.field, self.fix = problem, file, line, field, fix
        super().__init__(str(self))

    def __str__(self) -> str:
        place = [str(self.file)] if self.file is not None else []
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.field is not None:
            place.append(f"field {self.field}")
        sentence = f"{', '.join(place)}: {self.problem}" if place else self.problem
        return one_line(_with_stop(sentence) + (f" {_with_stop(self.fix)}" if self.fix else ""))

    def at(
        self, *, file: str | Path | None = None, line: int | None = None, field: str | None = None
    ) -> InputError:
        """Return the same error with the place filled in where it was unknown."""
        return InputError(
            self.problem,
            file=self.file if self.file is not None else file,
            line=self.line if self.line is not None else line,
            field=self.field if self.field is not None else field,
            fix=self.fix,
        )


class MissingDataError(DataError):
    """A method needs something that the evaluation set does not have."""


class ExtraMissingError(SparinglyError, ImportError):
    """An optional part of the package is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs an extra. Install it with: pip install "sparingly[{extra}]"')


def import_extra(package: str, feature: str, extra: str) -> Any:
    """Return a module of an optional package; raise ExtraMissingError if the package is not installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        # A package that is installed but lacks one of its own is not ours to explain.
        if (error.name or "").partition(".")[0] != package.partition(".")[0]:
            raise
        raise ExtraMissingError(feature, extra) from None


class AnswerIsNo(SparinglyError):  # noqa: N818 - an answer, not a fault
    """The question was understood, and the answer is no."""


def exit_code(error: BaseException) -> int:
    """Map an error to the exit code of the command line: 1 for *no*, 2 for wrong use or input."""
    return EXIT_NO if isinstance(error, AnswerIsNo) else EXIT_WRONG


def one_line(text: str) -> str:
    """Return a text on one line; characters that break the line or the terminal are escaped."""
    return _BREAKING.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def _with_stop(sentence: str) -> str:
    """Return a sentence that ends in one full stop, or in its question mark."""
    return sentence if sentence.endswith("?") else f"{sentence.rstrip('.')}."


def listing(names: Iterable[str], limit: int = 12) -> str:
    """Join names for a sentence; of a long list name the first ones and count the rest."""
    all_names = list(names)
    more = len(all_names) - limit
    return ", ".join(all_names[:limit]) + (f" and {more} more" if more > 0 else "")


def nearest(name: object, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return the names that look like the given one, best first."""
    from rapidfuzz import process, utils

    matches = process.extract(
        str(name), list(names), limit=limit, score_cutoff=60, processor=utils.default_process
    )
    return [match[0] for match in matches]
