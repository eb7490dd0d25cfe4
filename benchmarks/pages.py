"""Tables as Markdown, and pages of the documentation in which the parts between markers are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from sparingly.base.errors import UsageError
from sparingly.data.files import write_atomically

END = "<!-- end -->"
WORSE, CLEARLY_WORSE = "▼", "▼▼"


def marker(name: str) -> str:
    """Return the line after which a table stands."""
    return f"<!-- table: {name} -->"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a Markdown table; the first columns are texts, the others are numbers."""
    lines = [head, [*["---"] * texts, *["---:"] * (len(head) - texts)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def folded(title: str, text: str) -> str:
    """Return a part of a page that opens on a click."""
    inside = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    return f'??? note "{title}"\n\n{inside}'


def points(value: float | None, digits: int = 1) -> str:
    """Return an accuracy in percent, without the sign."""
    return "–" if value is None else f"{100 * value:.{digits}f}"


def signed(value: float) -> str:
    """Return a difference of accuracies in points."""
    # Adding 0 turns −0 into 0.
    return f"{round(100 * value, 1) + 0.0:+.1f}".replace("-", "−")


def bold(text: str, is_bold: bool) -> str:
    """Return a text, bold or not."""
    return f"**{text}**" if is_bold else text


def replaced(page: str, blocks: Mapping[str, str]) -> str:
    """Return a page with the text between every marker and its end replaced."""
    for name, text in blocks.items():
        before, start, rest = page.partition(f"{marker(name)}\n")
        old, end, after = rest.partition(END)
        if not start or not end or "<!-- table:" in old:
            raise UsageError(f"The page has no part {marker(name)} … {END}.")
        page = f"{before}{start}\n{text}\n\n{end}{after}"
    return page


def block(page: str, name: str) -> str:
    """Return what stands between a marker and its end."""
    return page.split(f"{marker(name)}\n", 1)[1].split(END, 1)[0].strip()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that an interruption leaves the old one or the new one; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write(file: IO[bytes]) -> None:
        file.write(text.encode())

    write_atomically(path, write)
