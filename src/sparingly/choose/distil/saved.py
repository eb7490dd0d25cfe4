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
from sparingly.choose.distil.arrays import arrays_of, from_arrays
from sparingly.choose.distil.card import Card
from sparingly.choose.distil.encoder.archive import is_encoder, load_encoder, save_encoder
from sparingly.choose.distil.learner import Fit
from sparingly.choose.distil.model import DistilledModel
from sparingly.data import files
from sparingly.data.values import as_mapping

EXTRA = "distil"
# The kinds of things that a model's file may hold: (module, class, how skops calls it).
_DICTIONARY = ("builtins", "dict", "DictNode")
_TEXT = ("builtins", "str", "JsonNode")
_NUMBERS = ("numpy", "ndarray", "NdArrayNode")
TRUSTED = (_DICTIONARY, _TEXT, _NUMBERS)
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
            found = _made(json.loads(archive.read(_PLAN)), archive)
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, zlib.error):
        raise InputError("this is no skops file, or a damaged one", fix=_CUT_OFF) from None
    except (KeyError, ValueError, TypeError, AttributeError):
        raise InputError("this is an archive, but no distilled model", fix=_OURS) from None
    if not isinstance(found, dict):
        raise InputError("this is a skops file, but no distilled model", fix=_OURS)
    return found


def _made(plan: Any, archive: zipfile.ZipFile, level: int = 0) -> Any:
    """Make a text, an array of numbers, or a dictionary of them; a plan for anything else is refused."""
    kind = tuple(plan[name] for name in ("__module__", "__class__", "__loader__"))
    if kind not in TRUSTED or level > _MOST_LEVELS:
        named = ".".join(map(str, kind[:2]))
        raise InputError(f"the file holds a {named}, which no model has, so it is not loaded", fix=_OURS)
    if kind == _DICTIONARY:
        return {str(name): _made(part, archive, level + 1) for name, part in plan["content"].items()}
    if kind == _TEXT:
        return json.loads(plan["content"])
    return _numbers(archive.read(plan["file"]))


def _numbers(content: bytes) -> NDArray[Any]:
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
