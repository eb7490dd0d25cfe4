"""The commands put together, and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from cyclopts import App, Group
from cyclopts.exceptions import CycloptsError

from sparingly._version import __version__
from sparingly.base.errors import EXIT_DONE, SparinglyError, UsageError, exit_code, one_line
from sparingly.cli.options import AspectMissingError
from sparingly.data.roles import DoubtfulRoleError, save_roles
from sparingly.show.terminal.console import PipedConsole

_HELP = """Choose which outputs people should judge, and see what judging everything would have said.

`sparingly demo` shows the whole way on data that comes with the package.
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
        "run-judge": "run_judge:run_judge",
    },
    "Ask people": {
        "serve": "serve:serve",
        "campaign": "campaign:campaign",
        "export": "export:export",
        "assign": "assign:assign",
    },
    "Answers": {
        "import": "import_:import_",
        "judge": "judge:judge",
        "estimate": "estimate:estimate",
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
        import_all: Import every command's module, as help pages need, not only that of the command that runs.
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
        result = build(import_all=not ordered or ordered[0].startswith("-"))(ordered)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has gone (``| head``): be silent, and do not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except DoubtfulRoleError as error:
        if _ask_for_role(error):
            return run(arguments)
        column, file = error.part.column, error.file
        ways = (
            f"sparingly {shlex.join([*arguments, '--role', f'{column}={role}'])}"
            for role in ("human", error.part.other)
        )
        return _print_error(
            f'{file}: the column "{column}" may hold labels of people or scores of a judge, and the result'
            f" depends on it. Type: {' or: '.join(ways)}",
            error,
        )
    except AspectMissingError as error:
        return _print_error(f"{error} Name one: sparingly {shlex.join([*arguments, *error.option])}", error)
    except (SparinglyError, CycloptsError) as error:
        return _print_error(str(error), error)
    except OSError as error:
        location = f"{error.filename}: " if error.filename else ""
        return _print_error(f"{location}{error.strerror or error}.", error)
    return result if isinstance(result, int) else EXIT_DONE


def _ask_for_role(error: DoubtfulRoleError) -> bool:
    """Ask on a terminal whose labels a column holds, and save the answer beside the file."""
    path, part = Path(error.file), error.part
    if not (sys.stdin.isatty() and sys.stderr.isatty() and path.exists()):
        return False
    sys.stderr.write(f'Did people give the labels in "{part.column}"? [Y/n] ')
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        return False
    role = part.other if answer.strip().lower().startswith("n") else "human"
    if note := save_roles(path, {part.column: [role]}):
        sys.stderr.write(f"note: {note}\n")
        return False
    return True


def _print_error(sentence: str, error: Exception) -> int:
    sys.stderr.write(f"sparingly: {one_line(' '.join(sentence.split()))}\n")
    return exit_code(error)
