"""The command line: one file per command, each a thin layer over the Python verbs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from sparingly._version import __version__


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code: 0 done, 1 the answer is no, 2 wrong use or input."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words == ["--version"]:
        # Scripts ask for it often: nothing else is imported.
        sys.stdout.write(f"{__version__}\n")
        sys.exit(0)
    try:
        from sparingly.cli.app import run

        code = run(words)
    except KeyboardInterrupt:
        sys.stderr.write("sparingly: interrupted; nothing was half-written.\n")
        code = 130
    # The process ends here: the last search for garbage is not worth its time.
    gc.freeze()
    sys.exit(code)
