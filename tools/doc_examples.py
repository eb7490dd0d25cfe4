"""Run the examples of a documentation page and compare what they print with what the page shows.

A page is a story: its blocks run in order, in one folder and one Python namespace.

* ```` ```python ```` blocks with ``>>>`` are doctests; ``...`` stands for anything.
* ```` ```console ```` blocks hold commands after ``$ `` and below each what it prints; ``...`` stands for
  anything. A command must succeed; one that is meant to fail ends in ``|| echo "exit code $?"``.
* Blocks of every other language are not run.
* ``<!-- files: tests/data/io/logs -->`` puts the files of a folder of the checkout beside the page's own.

``python tools/doc_examples.py PAGE...`` writes what the commands and examples print now into the pages.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w+)$")
CONSOLE_FLAGS = doctest.ELLIPSIS
PYTHON_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TIME_LIMIT = 300
# The same command leaves the same files in every folder: it is run once for all pages.
DEMO = "sparingly demo --out "
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``line`` is the 0-based line of its first line of content."""

    language: str
    line: int
    lines: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether the block is an example to run."""
        if self.language == "python":
            return any(line.startswith(">>>") for line in self.lines)
        return self.language == "console"


@dataclass(frozen=True)
class Outcome:
    """One command or statement, what the page says it prints, and what it printed."""

    what: str
    line: int
    expected: str
    printed: str
    agrees: bool


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        start, indent = number, len(opening["indent"])
        while number < len(lines) and lines[number].strip() != "```":
            number += 1
        content = tuple(line[indent:] for line in lines[start:number])
        yield Block(opening["language"], start, content)
        number += 1


def run_page(text: str, folder: Path) -> Iterator[Outcome]:
    """Run every example of a page in ``folder`` and yield the outcomes in order."""
    names: dict[str, object] = {"__name__": "__main__"}
    for source in re.findall(r"^<!-- files: (\S+) -->$", text, re.MULTILINE):
        shutil.copytree(ROOT / source, folder, dirs_exist_ok=True)
    for block in blocks(text):
        if block.runs:
            yield from (
                _run_python(block, names, folder)
                if block.language == "python"
                else _run_console(block, folder)
            )


def _run_console(block: Block, folder: Path) -> Iterator[Outcome]:
    for line, command, expected in commands(block):
        done = _demo(command, folder) if command.startswith(DEMO) else _run_command(command, folder)
        printed = _tidy(done.stdout)
        same = doctest.OutputChecker().check_output(_tidy(expected), printed, CONSOLE_FLAGS)
        if done.returncode:
            printed += f"[exit code {done.returncode}]\n"
        yield Outcome(command, line, _tidy(expected), printed, same and done.returncode == 0)


def _run_command(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=TIME_LIMIT,
        check=False,
    )


def _demo(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Write what the demo leaves into a folder: most pages begin with it, and it reads nothing there."""
    done, files = _run_demo(command)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return done


@cache
def _run_demo(command: str) -> tuple[subprocess.CompletedProcess[str], dict[str, bytes]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = _run_command(command, folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        return done, {str(path.relative_to(folder)): path.read_bytes() for path in files}


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the command and the expected output of every command in a console block.

    A command that ends in a backslash goes on in the next line.
    """
    starts = [number for number, line in enumerate(block.lines) if line.startswith("$ ")]
    for start, stop in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        end = start + 1
        while block.lines[end - 1].endswith("\\"):
            end += 1
        command = "\n".join(block.lines[start:end])[2:]
        yield block.line + start, command, "\n".join(block.lines[end:stop])


def environment() -> dict[str, str]:
    """Return the environment of the commands: this interpreter's scripts first, a plain wide terminal.

    The checkout's root is on Python's path, for commands such as ``python -m benchmarks.analyses``.
    """
    scripts = str(Path(sys.executable).parent)
    paths = {
        "PATH": os.pathsep.join([scripts, os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)])),
    }
    fixed = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    kept = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    return kept | fixed | paths


def _tidy(text: str) -> str:
    body = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    return f"{body}\n" if body else ""


class _Recorder(doctest.DocTestRunner):
    """A doctest runner that keeps what every example printed instead of reporting it."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=PYTHON_FLAGS)
        self.outcomes: list[Outcome] = []

    def _keep(self, example: doctest.Example, printed: str, agrees: bool) -> None:
        self.outcomes.append(Outcome(example.source.rstrip(), example.lineno, example.want, printed, agrees))

    def report_start(self, out: object, test: doctest.DocTest, example: doctest.Example) -> None:
        """Print nothing."""

    def report_success(self, out: object, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Keep an example whose output agrees."""
        self._keep(example, got, True)

    def report_failure(self, out: object, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Keep an example whose output differs."""
        self._keep(example, got, False)

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: object
    ) -> None:
        """Keep an example that raised."""
        error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
        self._keep(example, f"{type(error).__name__}: {error}\n", False)


def _run_python(block: Block, names: dict[str, object], folder: Path) -> Iterator[Outcome]:
    test = doctest.DocTestParser().get_doctest("\n".join(block.lines) + "\n", names, "page", None, block.line)
    test.globs = names  # DocTest copies its namespace; a page has one for all its blocks.
    recorder = _Recorder()
    with chdir(folder):
        recorder.run(test, out=lambda _: None, clear_globs=False)
    for outcome in recorder.outcomes:
        yield replace(outcome, line=block.line + outcome.line)


def updated(text: str, outcomes: list[Outcome]) -> str:
    """Return the page with the output of every example that disagreed replaced by what it printed.

    The version of the package is written as ``...``, so that a page outlives it.
    """
    lines = text.splitlines()
    for outcome in sorted(outcomes, key=lambda o: -o.line):
        if outcome.agrees:
            continue
        start = outcome.line + len(outcome.what.splitlines())
        stop = start
        while lines[stop].strip() != "```" and not lines[stop].startswith(("$ ", ">>> ")):
            stop += 1
        printed = outcome.printed.replace(version("sparingly"), "...").splitlines()
        lines[start:stop] = _shortened(printed, lines[start:stop])
    return "\n".join(lines) + "\n"


def _shortened(printed: list[str], before: list[str]) -> list[str]:
    """Leave out of an output what the page left out before: parts of lines, and lines in the middle."""
    partly = [line for line in before if "..." in line.lstrip(". ")]
    kept = [next((old for old in partly if _stands_for(old, line)), line) for line in printed]
    if before.count("...") != 1:
        return kept
    head = before.index("...")
    tail = len(before) - head - 1
    return kept if head + tail >= len(kept) else [*kept[:head], "...", *kept[len(kept) - tail :]]


def _stands_for(pattern: str, line: str) -> bool:
    return doctest.OutputChecker().check_output(f"{pattern}\n", f"{line}\n", CONSOLE_FLAGS)


def main(names: list[str]) -> int:
    """Write what the examples print now into the named pages."""
    for page in map(Path, names):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            outcomes = list(run_page(text, Path(folder)))
        changed = sum(not outcome.agrees for outcome in outcomes)
        page.write_text(updated(text, outcomes), encoding="utf-8")
        sys.stdout.write(f"{page}: {len(outcomes)} examples, {changed} rewritten\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
