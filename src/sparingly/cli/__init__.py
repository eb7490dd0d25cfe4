"""The command line: one file per command, each a thin layer over the Python verbs."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code: 0 done, 1 the answer is no, 2 wrong use or input."""
    try:
        from sparingly.cli.app import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        sys.stderr.write("sparingly: interrupted; nothing was half-written.\n")
        code = 130
    sys.exit(code)
