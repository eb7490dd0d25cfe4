"""The commands put together, and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from sparingly._version import __version__
from sparingly.base.errors import EXIT_DONE, SparinglyError, UsageError, exit_code, one_line
from sparingly.cli.agree import agree
from sparingly.cli.assign import assign
from sparingly.cli.bench import bench
from sparingly.cli.campaign import campaign
from sparingly.cli.cite import cite
from sparingly.cli.convert import convert
from sparingly.cli.demo import demo
from sparingly.cli.diff import diff
from sparingly.cli.distil import distil
from sparingly.cli.estimate import estimate
from sparingly.cli.export import export
from sparingly.cli.figure import figure
from sparingly.cli.import_ import import_
from sparingly.cli.info import info
from sparingly.cli.methods import methods
from sparingly.cli.plan import plan
from sparingly.cli.pool import pool
from sparingly.cli.rank import rank
from sparingly.cli.raters import raters
from sparingly.cli.report import report, writeup
from sparingly.cli.select import select
from sparingly.cli.serve import serve
from sparingly.cli.strengths import strengths
from sparingly.cli.verify import verify
from sparingly.show.terminal.console import PipedConsole

_HELP = """Choose which outputs people should judge, and see what judging everything would have said.

`sparingly demo` shows the whole way on data that comes with the package.
"""
_EPILOGUE = (
    "Exit codes: 0 done, 1 the answer is no, 2 wrong use or input. Add --json to any command for machines."
)


def build() -> App:
    """Return the application with all of its commands."""
    app = App(
        name="sparingly",
        help=_HELP,
        help_epilogue=_EPILOGUE,
        help_format="markdown",
        version=__version__,
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        console=PipedConsole(),
    )
    choosing, inferring = (info, methods, plan, select, verify, writeup), (estimate, rank, strengths, agree)
    for command in (*choosing, assign, raters, *inferring, report, diff, figure, convert, demo, bench):
        app.command(command)
    app.command(export)
    app.command(import_, name="import")
    app.command(serve)
    app.command(pool)
    app.command(campaign)
    app.command(distil)
    app.command(cite, name="--cite")
    app.register_install_completion_command(add_to_startup=False)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every error is one sentence on standard error."""
    _write_what_can_be_written()
    # A flag that is a command is found wherever it stands: --json --cite is --cite --json.
    ordered = sorted(arguments, key=lambda given: given != "--cite")
    try:
        if odd := next((given for given in arguments if "\0" in given), None):
            raise UsageError(f'The argument "{odd}" holds a NUL character, and no name or value may.')
        result = build()(ordered)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has gone (``| head``): be silent, and do not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except (SparinglyError, CycloptsError) as error:
        return _complain(str(error), error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}.", error)
    return result if isinstance(result, int) else EXIT_DONE


def _write_what_can_be_written() -> None:
    """Spell out letters that the terminal's encoding does not have, instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(sentence: str, error: Exception) -> int:
    sys.stderr.write(f"sparingly: {one_line(' '.join(sentence.split()))}\n")
    return exit_code(error)
