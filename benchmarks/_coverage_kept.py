"""Finished cells of the coverage grid, kept until the code that decides about them changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import sparingly

# What decides about the figures, within the package and beside this file.
_CODE = (
    "base/rng.py",
    "choose/design/draw",
    "choose/design/probability.py",
    "infer/estimate",
    "signals/predict",
)
_GRID = (
    "_coverage_cells.py",
    "_coverage_real.py",
    "_coverage_scores.py",
    "_coverage_tally.py",
    "coverage_grid.py",
)


class Kept:
    """A folder of finished cells."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.code = folder, _digest()

    def row(self, key: Mapping[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what is kept under a key, or compute and keep it."""
        text = json.dumps({**key, "code": self.code}, sort_keys=True)
        path = self.folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.json"
        if path.exists():
            return dict(json.loads(path.read_text(encoding="utf-8")))
        row = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps(row), encoding="utf-8")
        partial.replace(path)
        return row


def _digest() -> str:
    package, here = Path(sparingly.__file__).parent, Path(__file__).parent
    found = blake2b(digest_size=12)
    paths = [here / name for name in _GRID]
    for name in _CODE:
        path = package / name
        paths += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    for path in paths:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
