"""The commands put together, and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from cyclopts import App, Group
from cyclopts.exceptions import CycloptsError

from sparingly._version import __version__
from sparingly.base.errors import EXIT_DONE, SparinglyError, UsageError, exit_code, one_line
from sparingly.base.syntax import command_line, command_with
from sparingly.data.roles import DoubtfulRoleError, save_roles
from sparingly.show.terminal.console import PipedConsole

_HELP = """Get the result of a full human evaluation from a fraction of the labels.

Start with `sparingly demo`, or with `sparingly info FILE` on a file of your own.
"""
_EPILOGUE = (
    "Exit codes: 0 done, 1 the answer is no, 2 wrong use or input. Add --json to any command for machines."
)
# Each command with its module and function, in the groups and the order of the help page.
COMMANDS = {
    "Start": {
        "demo": "demo:demo",
        "info": "info:info",
        "plan": "plan:plan",
        "select": "select:select",
    },
    "Ask people": {
        "serve": "serve:serve",
        "campaign": "campaign:campaign",
        "export": "export:export",
        "assign": "assign:assign",
    },
    "Answers": {
        "run-judge": "run_judge:run_judge",
        "import": "import_:import_",
        "judge": "judge:judge",
        "estimate": "estimate:estimate",
        "compare": "compare:compare",
        "rank": "rank:rank",
        "strengths": "strengths:strengths",
        "raters": "raters:raters",
        "report": "report:report",
    },
    "Check": {
        "verify": "verify:verify",
        "diff": "diff:diff",
        "writeup": "report:writeup",
        "--cite": "cite:cite",
    },
    "Research": {
        "methods": "methods:methods",
        "agree": "agree:agree",
        "figure": "figure:figure",
        "pool": "pool:pool",
        "distil": "distil:distil",
        "bench": "bench:bench",
        "convert": "convert:convert",
    },
}


def build(*, import_all: bool = True) -> App:
    """Return the application with all of its commands.

    Args:
        import_all: Import every command's module, as help pages and completions need, not only that of the
            command that runs.
    """
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
        group_commands=Group("Options", sort_key=len(COMMANDS)),
        console=PipedConsole(),
    )
    for position, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=position)
        for name, place in commands.items():
            app.command(f"sparingly.cli.{place}", name=name, group=group)
            if import_all:
                app[name].sort_key = list(commands).index(name)
    if import_all:
        app.register_install_completion_command(add_to_startup=False)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every error is one sentence on standard error."""
    # Letters that the terminal's encoding does not have are spelled out.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A flag that is a command is found wherever it stands: --json --cite is --cite --json.
    ordered = sorted(arguments, key=lambda argument: argument != "--cite")
    try:
        if odd := next((argument for argument in arguments if "\0" in argument), None):
            raise UsageError(f'The argument "{odd}" holds a NUL character, and no name or value may.')
        with command_line(ordered):
            result = build(import_all=not ordered or ordered[0].startswith("-"))(ordered)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has gone (``| head``): be silent, and do not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except DoubtfulRoleError as error:
        if _ask_for_role(error):
            return run(arguments)
        with command_line(arguments):
            ways = [command_with(f"--{flag.replace('_', '-')}", value) for flag, value in error.ways]
        return _print_error(f"{error.problem} Type: {' or: '.join(ways)}", error)
    except (SparinglyError, CycloptsError) as error:
        return _print_error(str(error), error)
    except OSError as error:
        location = f"{error.filename}: " if error.filename else ""
        return _print_error(f"{location}{error.strerror or error}.", error)
    return result if isinstance(result, int) else EXIT_DONE


def _ask_for_role(error: DoubtfulRoleError) -> bool:
    """Ask on a terminal what a column holds, and save the answer beside the file."""
    path = Path(error.file)
    if not (sys.stdin.isatty() and sys.stderr.isatty() and path.exists()):
        return False
    sys.stderr.write(f"{error.question} [Y/n] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        return False
    flag, value = error.ways[answer.strip().lower().startswith("n")]
    column, _, role = value.rpartition("=")
    note = save_roles(path, {column: [role]}) if flag == "role" else save_roles(path, {}, [value])
    if note:
        sys.stderr.write(f"note: {note}\n")
        return False
    return True


def _print_error(sentence: str, error: Exception) -> int:
    sys.stderr.write(f"sparingly: {one_line(' '.join(sentence.split()))}\n")
    return exit_code(error)
