"""Finished parts of a long run, saved until the code that decides about them changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import sparingly
from sparingly.bench.papers.work import write_whole

Row = dict[str, Any]
Part = TypeVar("Part")


class FinishedParts:
    """A folder of finished parts, found again by their key and the code.

    Args:
        folder: Where they are saved.
        package: Modules and folders of the package that decide about the figures.
        beside: Modules of this folder that do, too.
    """

    def __init__(self, folder: Path, package: Sequence[str], beside: Sequence[str]) -> None:
        """Read the code."""
        self.folder, self.code = folder, _digest(package, beside)

    def row(self, key: Mapping[str, Any], compute: Callable[[], Row]) -> Row:
        """Return what is saved under a key, or compute and save it."""
        text = json.dumps({**key, "code": self.code}, sort_keys=True)
        path = self.folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.json"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(compute()))
        return dict(json.loads(path.read_text(encoding="utf-8")))

    def rows(
        self,
        parts: Sequence[Part],
        key: Callable[[Part], Mapping[str, Any]],
        compute: Callable[[Part], Row],
        jobs: int,
    ) -> Iterator[Row]:
        """Yield the rows of all parts in order, those that are not saved computed in so many processes."""
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=jobs, return_as="generator")
        yield from work(delayed(self._row_of)(part, key(part), compute) for part in parts)

    def _row_of(self, part: Part, key: Mapping[str, Any], compute: Callable[[Part], Row]) -> Row:
        return self.row(key, lambda: compute(part))


def _digest(package: Sequence[str], beside: Sequence[str]) -> str:
    found = blake2b(digest_size=12)
    paths = [Path(__file__).with_name(name) for name in beside]
    for path in (Path(sparingly.__file__).parent / name for name in package):
        paths += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    for path in paths:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
