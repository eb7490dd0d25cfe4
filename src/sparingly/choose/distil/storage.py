"""A model as a file: a skops archive of plain arrays and a card, from which no code is ever run.

An encoder is an archive of its own kind (``encoder.archive``).

skops can hold objects of many kinds, some of which it makes by calling what the file names. A model needs
texts, arrays of numbers and dictionaries of these, and nothing else is ever made from a file: the archive's
plan is read here, and anything beyond ``TRUSTED`` is refused before it is looked at. So a model is applied
without skops; only writing one needs it.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import ExtraMissingError, InputError
from sparingly.choose.distil.card import Card
from sparingly.choose.distil.encoder.fitted import is_encoder, load_encoder, save_encoder
from sparingly.choose.distil.learner import BITS, Fit, Linear, Trees
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.out_of_domain import SEEN_BITS
from sparingly.choose.distil.text_features import SURFACE_NAMES, WORD_BITS
from sparingly.data import files
from sparingly.data.values import as_mapping

# --- A model's numbers by name, and a model put together from numbers that were checked


_LINEAR = ("rarity", "centre", "spread", "surface", "characters", "words", "vectors", "intercepts")
_NODE_ARRAYS = ("feature", "threshold", "left", "right", "value")


def numbers_of(model: DistilledModel) -> dict[str, NDArray[Any]]:
    """Return all that a model holds beside its card, as numbers by name."""
    if isinstance(model.fit, Fit):
        return arrays_of(model.fit, model.seen)
    forms = {name: np.frombuffer(text.encode(), np.uint8) for name, text in model.fit.forms().items()}
    return {**model.fit.numbers(), **forms, "seen": model.seen}


def arrays_of(fit: Fit, seen: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return all numbers of a light model by name."""
    found = {name: getattr(fit.linear, name) for name in _LINEAR}
    held = {name: array for name, array in found.items() if array is not None} | {"seen": seen}
    for place, trees in enumerate(fit.trees):
        held |= {f"trees.{place}.{name}": getattr(trees, name) for name in (*_NODE_ARRAYS, "roots")}
        held[f"trees.{place}.start"] = np.array([trees.start])
    return held


def from_arrays(card: Card, arrays: Mapping[str, NDArray[Any]]) -> DistilledModel:
    """Put a model together; numbers that do not fit the card are an error."""
    held, count = CheckedArrays(arrays), len(card.utilities)
    if not count or len(set(card.names)) < count:
        raise InputError("the card names no utility, or one twice", field="utilities")
    given = "vectors" in arrays
    width = (len(SURFACE_NAMES),)
    linear = Linear(
        rarity=held.take("rarity", "f4", (1 << WORD_BITS,)),
        centre=held.take("centre", "f8", width),
        spread=held.take("spread", "f8", width),
        surface=held.take("surface", "f8", (count, *width)),
        characters=None if given else held.take("characters", "f4", (count, 1 << BITS)),
        words=None if given else held.take("words", "f4", (count, 1 << BITS)),
        vectors=held.take("vectors", "f8", (count, None)) if given else None,
        intercepts=held.take("intercepts", "f8", (count,)),
    )
    if (linear.spread <= 0).any():
        raise InputError("a standard deviation is not above 0", field="spread")
    boosted = card.learner == "boosting"
    trees = tuple(_trees(held, f"trees.{place}.") for place in range(count)) if boosted else ()
    return DistilledModel(card, Fit(linear, trees), held.take("seen", "u1", ((1 << SEEN_BITS) // 8,)))


def _trees(held: CheckedArrays, start: str) -> Trees:
    size = held.take(f"{start}feature", "i4", (None,)).shape
    numbers = {
        name: held.take(f"{start}{name}", "f8" if name in ("threshold", "value") else "i4", size)
        for name in _NODE_ARRAYS
    }
    roots = held.take(f"{start}roots", "i4", (None,))
    features, nodes = len(SURFACE_NAMES) + 1, size[0]
    for name, array, most in (
        ("feature", numbers["feature"], features),
        ("left", numbers["left"], nodes),
        ("right", numbers["right"], nodes),
        ("roots", roots, nodes),
    ):
        if array.size and not 0 <= array.min() <= array.max() < most:
            raise InputError("a tree points at something that is not there", field=f"{start}{name}")
    return Trees(**numbers, roots=roots, start=float(held.take(f"{start}start", "f8", (1,))[0]))


class CheckedArrays:
    """The arrays of a file, each checked when it is taken."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays

    def take(self, name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array; a wrong kind or shape, or a number that is not finite, is an error."""
        array = self._arrays.get(name)
        if array is None:
            raise InputError("the model lacks these numbers", field=name)
        fits = array.ndim == len(shape) and all(
            wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(f"<{kind}") or not fits:
            raise InputError(f"the numbers are {array.dtype} of the shape {array.shape}", field=name)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError("a number is not finite", field=name)
        return array


# --- A model as a file: a skops archive of plain arrays and a card, from which no code is ever run


EXTRA = "distil"
# The kinds of things that a model's file may hold: (module, class, how skops calls it).
_DICTIONARY = ("builtins", "dict", "DictNode")
_TEXT = ("builtins", "str", "JsonNode")
_ARRAY = ("numpy", "ndarray", "NdArrayNode")
TRUSTED = (_DICTIONARY, _TEXT, _ARRAY)
_PLAN = "schema.json"
_MOST_BYTES = 1 << 30
_MOST_LEVELS = 3
_CUT_OFF = "Is the file cut off? Copy it again, or train the model again"
_OURS = "Use a model that was saved by sparingly distil train"


def save_distilled(model: DistilledModel, path: str | Path) -> None:
    """Write a model, whole or not at all."""
    if not isinstance(model.fit, Fit):
        save_encoder(model.card, model.fit, model.seen, Path(path))
        return
    held = {
        "card": json.dumps(model.card.to_dict(), ensure_ascii=True, allow_nan=False),
        "arrays": arrays_of(model.fit, model.seen),
    }
    content: bytes = _skops().dumps(held, compression=zipfile.ZIP_DEFLATED)
    # A later skops may write archives of another form: better to hear of it now than when it is needed.
    _read(content)

    def put(file: IO[bytes]) -> None:
        file.write(content)

    files.write_atomically(Path(path), put)


def load_distilled(path: str | Path) -> DistilledModel:
    """Read a model from its file; nothing in the file is ever run.

    Examples:
        >>> import sparingly
        >>> sparingly.load_distilled("no-such-file.skops")
        Traceback (most recent call last):
        ...
        sparingly.base.errors.InputError: no-such-file.skops: there is no such file.
    """
    path = Path(path)
    with files.naming(path):
        found = path.stat()
    return _loaded(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _loaded(path: Path, changed: int, size: int) -> DistilledModel:
    """Read a file once, as long as it stays as it is."""
    with files.naming(path):
        if path.is_dir():
            raise InputError("this is a directory, and a model's file is wanted")
        if is_encoder(path):
            return DistilledModel(*load_encoder(path))
        if size > _MOST_BYTES:
            raise InputError("the file is too large for a model")
        return _read(path.read_bytes())


def _read(content: bytes) -> DistilledModel:
    held = _unpacked(content)
    text, arrays = held.get("card"), held.get("arrays")
    if not isinstance(text, str) or not isinstance(arrays, dict):
        raise InputError("this is a skops file, but no distilled model", fix=_OURS)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the card is no JSON", field="card") from None
    numbers = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
    return from_arrays(Card.from_dict(as_mapping(values, "card")), numbers)


def _unpacked(content: bytes) -> Mapping[str, Any]:
    """Return what an archive holds; one that is none, is damaged, or holds more than a model is refused."""
    if content[:1] == b"\x80":
        raise InputError(
            "this is a pickle file, which can run code when it is opened, so it is not opened", fix=_OURS
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MOST_BYTES:
                raise InputError("the file is too large for a model")
            found = _unpack(json.loads(archive.read(_PLAN)), archive)
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, zlib.error):
        raise InputError("this is no skops file, or a damaged one", fix=_CUT_OFF) from None
    except (KeyError, ValueError, TypeError, AttributeError):
        raise InputError("this is an archive, but no distilled model", fix=_OURS) from None
    if not isinstance(found, dict):
        raise InputError("this is a skops file, but no distilled model", fix=_OURS)
    return found


def _unpack(plan: Any, archive: zipfile.ZipFile, level: int = 0) -> Any:
    """Make a text, an array of numbers, or a dictionary of them; a plan for anything else is refused."""
    kind = tuple(plan[name] for name in ("__module__", "__class__", "__loader__"))
    if kind not in TRUSTED or level > _MOST_LEVELS:
        named = ".".join(map(str, kind[:2]))
        raise InputError(f"the file holds a {named}, which no model has, so it is not loaded", fix=_OURS)
    if kind == _DICTIONARY:
        return {str(name): _unpack(part, archive, level + 1) for name, part in plan["content"].items()}
    if kind == _TEXT:
        return json.loads(plan["content"])
    return _array(archive.read(plan["file"]))


def _array(content: bytes) -> NDArray[Any]:
    # Arrays of objects are pickles inside, and are refused.
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise TypeError("an array of numbers is wanted")
    return array


def check_extra() -> None:
    """Say so when a model could not be saved, before it is trained for long."""
    _skops()


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "skops":
            raise
        raise ExtraMissingError("Saving a distilled model", EXTRA) from None
