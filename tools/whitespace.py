"""Mend the files named on the command line: no trailing whitespace, and one newline at the end.

It exits with 1 when a file had to be mended, as pre-commit expects of a hook that changes files.
"""

from __future__ import annotations

import sys
from pathlib import Path


def mended(text: bytes) -> bytes:
    """Return the text without trailing whitespace and with exactly one newline at its end."""
    lines = [line.rstrip(b" \t") for line in text.split(b"\n")]
    body = b"\n".join(lines).rstrip(b"\n")
    return body + b"\n" if body else b""


def main(names: list[str]) -> int:
    """Mend every named file and return 1 if any of them changed."""
    changed = 0
    for path in map(Path, names):
        before = path.read_bytes()
        after = mended(before)
        if after != before:
            path.write_bytes(after)
            sys.stderr.write(f"mended {path}\n")
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
