"""Finished parts of a long run, saved until the code would give other figures."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from math import isclose
from pathlib import Path
from typing import Any, TypeVar

import sparingly
from benchmarks.pages import write_whole

Row = dict[str, Any]
Part = TypeVar("Part")
# So many words are prose.
_PROSE = 5


class FinishedParts:
    """A folder of finished parts, found again by their key, the code, or what their first draws give.

    Where a part can be begun again cheaply, its first draws are saved with it, and it counts for as long as
    they come out the same. So code may be moved and reworded; a change that shows in none of these draws is
    not noticed, and whoever makes one empties the folder.

    Args:
        folder: Where they are saved.
        package: Modules and folders of the package that decide about the figures, where first draws do not.
        beside: Modules and folders of the benchmarks that do, too.
    """

    def __init__(self, folder: Path, package: Sequence[str] = (), beside: Sequence[str] = ()) -> None:
        """Read the code."""
        self.folder, self.code = folder, code_digest(package, beside)

    def row(
        self, key: Mapping[str, Any], compute: Callable[[], Row], first: Callable[[], Row] | None = None
    ) -> Row:
        """Return what is saved under a key and still comes out the same, or compute and save it."""
        saved, begun = self._read(key), None if first is None else first()
        if saved is None or not _same(saved["first"], begun):
            saved = {"first": begun, "row": compute()}
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(key), json.dumps(saved))
        return dict(saved["row"])

    def saved(self, key: Mapping[str, Any]) -> Row | None:
        """Return what is saved under a key, unchecked."""
        saved = self._read(key)
        return None if saved is None else dict(saved["row"])

    def rows(
        self,
        parts: Sequence[Part],
        key: Callable[[Part], Mapping[str, Any]],
        compute: Callable[[Part], Row],
        jobs: int,
        first: Callable[[Part], Row] | None = None,
    ) -> Iterator[Row]:
        """Yield the rows of all parts in order, those that are not saved computed in so many processes."""
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")
        yield from work(delayed(self._row_of)(part, key(part), compute, first) for part in parts)

    def _row_of(
        self,
        part: Part,
        key: Mapping[str, Any],
        compute: Callable[[Part], Row],
        first: Callable[[Part], Row] | None,
    ) -> Row:
        return self.row(key, lambda: compute(part), None if first is None else lambda: first(part))

    def _read(self, key: Mapping[str, Any]) -> Row | None:
        path = self._path(key)
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def _path(self, key: Mapping[str, Any]) -> Path:
        text = json.dumps({**key, "code": self.code}, sort_keys=True)
        return self.folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.json"


def _same(one: Any, other: Any) -> bool:
    """Say whether two answers agree; numbers to eight digits, so that another machine may go on."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-8, abs_tol=1e-12)
    return bool(one == other)


def code_digest(package: Sequence[str], beside: Sequence[str] = ()) -> str:
    """Return the digest of modules and folders of the package, and of those of the benchmarks."""
    digest = blake2b(digest_size=12)
    for module in _modules(package, beside):
        digest.update(module.name.encode() + module.read_bytes())
    return digest.hexdigest()


def logic_digest(package: Sequence[str], beside: Sequence[str] = ()) -> str:
    """Return the digest of what modules do: other comments, docstrings and prose leave it as it is.

    Prose is a text of five words or more. The digest is the same in every version of Python.
    """
    digest = blake2b(digest_size=12)
    for module in _modules(package, beside):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        digest.update(module.name.encode() + "\x1f".join(_logic(tree)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _modules(package: Sequence[str], beside: Sequence[str]) -> Iterator[Path]:
    own, folder = Path(__file__).parent, Path(sparingly.__file__).parent
    for path in (*(own / name for name in beside), *(folder / name for name in package)):
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _logic(node: Any) -> Iterator[str]:
    """Yield the names and values of a syntax tree, without what newer versions of Python add to it."""
    if isinstance(node, list):
        for part in node:
            yield from _logic(part)
    elif isinstance(node, ast.Constant):
        is_prose = isinstance(node.value, str) and node.value.count(" ") >= _PROSE - 1
        yield "prose" if is_prose else repr(node.value)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    elif isinstance(node, ast.JoinedStr):
        # Some versions leave empty parts.
        yield "text"
        yield from _logic([p for p in node.values if not (isinstance(p, ast.Constant) and p.value == "")])
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, part in ast.iter_fields(node):
            if part not in (None, []):
                yield name
                yield from _logic(part)
        yield ")"
    else:
        yield repr(node)
