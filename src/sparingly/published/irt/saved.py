"""A fitted model as a file: JSON, with the ids of its items and models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files, schema
from sparingly.data.values import as_id, as_list, as_mapping, as_number, check_version, shown
from sparingly.published.irt.model import IrtFit, Method, Parameters, Priors, Response

FORMAT, VERSION = "sparingly/irt", 1
_RESPONSES, _METHODS = ("continuous", "binary"), ("map", "variational")
_SPREADS = ("sds", "centres", "spreads")
_FILE_KEYS = frozenset(
    (
        "format",
        "version",
        "response",
        "method",
        "noise",
        "objective",
        "priors",
        "items",
        "models",
        "estimates",
    )
) | frozenset(_SPREADS)


@dataclass(frozen=True, eq=False)
class SavedIrt:
    """A fit with the ids that its numbers belong to.

    Attributes:
        fit: The fit.
        items: The ids of the items, in the order of the fit.
        models: The ids of the models, in the order of the fit.
        unknown: What the file says beyond that; it is kept when it is saved again.
    """

    fit: IrtFit
    items: tuple[str, ...]
    models: tuple[str, ...]
    unknown: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = len(self.fit.discrimination), len(self.fit.ability)
        if (len(self.items), len(self.models)) != shape:
            raise UsageError(
                f"The fit is of {shape[0]} items and {shape[1]} models, and there are "
                f"{len(self.items)} and {len(self.models)} ids."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as plain values, as its file holds it."""
        fit = self.fit
        spreads = {name: getattr(fit, name) for name in _SPREADS}
        return {
            "format": FORMAT,
            "version": VERSION,
            "response": fit.response,
            "method": fit.method,
            "noise": fit.noise,
            "objective": fit.objective,
            "priors": asdict(fit.priors),
            "items": list(self.items),
            "models": list(self.models),
            "estimates": _write_parameters(fit.estimates),
            **{name: _write_parameters(part) for name, part in spreads.items() if part is not None},
            **self.unknown,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SavedIrt:
        """Make a fit from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        items, models = _ids(values, "items"), _ids(values, "models")
        shape = len(items), len(models)
        spreads = {
            name: _read(values[name], name, shape) for name in _SPREADS if values.get(name) is not None
        }
        noise = values.get("noise")
        fit = IrtFit(
            response=cast("Response", _choice(values, "response", _RESPONSES)),
            method=cast("Method", _choice(values, "method", _METHODS)),
            estimates=_read(values.get("estimates"), "estimates", shape),
            noise=None if noise is None else as_number(noise, "noise"),
            objective=as_number(values.get("objective"), "objective"),
            priors=schema.read(Priors, values.get("priors"), "priors"),
            **spreads,
        )
        return cls(fit, items, models, schema.unknown_keys(values, *_FILE_KEYS))


def save_irt(path: str | Path, fit: IrtFit, items: Sequence[str], models: Sequence[str]) -> None:
    """Write a fit with the ids of its items and models, whole or not at all."""
    write_irt(path, SavedIrt(fit, tuple(items), tuple(models)))


def write_irt(path: str | Path, saved: SavedIrt) -> None:
    """Write a fit that has its ids, and whatever its file said beyond what is known."""
    text = json.dumps(saved.to_dict(), ensure_ascii=False, allow_nan=False)
    content = text.encode("utf-8", "backslashreplace") + b"\n"
    files.write_bytes(Path(path), content)


def load_irt(path: str | Path) -> SavedIrt:
    """Read a fit from its file."""
    path = Path(path)
    with files.naming(path):
        return SavedIrt.from_dict(as_mapping(files.read_json(path), "irt"))


def _write_parameters(parameters: Parameters) -> dict[str, list[float | None]]:
    return {
        name: [None if np.isnan(value) else value for value in column.tolist()]
        for name, column in vars(parameters).items()
    }


def _read(values: Any, name: str, shape: tuple[int, int]) -> Parameters:
    columns = as_mapping(values, name)
    items, models = shape
    return Parameters(
        **{
            part.name: _column(columns, name, part.name, models if part.name == "ability" else items)
            for part in fields(Parameters)
        }
    )


def _column(values: Mapping[str, Any], name: str, part: str, count: int) -> Floats:
    field = f"{name}.{part}"
    column = as_list(values.get(part), field)
    if len(column) != count:
        raise InputError(f"there are {len(column)} numbers for {count} ids", field=field)
    return np.array([as_number(value, field) for value in column], np.float64)


def _ids(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    ids = tuple(
        as_id(value, f"{name}[{place}]") for place, value in enumerate(as_list(values.get(name), name))
    )
    if len(set(ids)) < len(ids):
        raise InputError("an id is there twice", field=name, fix="Give every one its own id")
    return ids


def _choice(values: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = values.get(name)
    if value not in choices:
        raise InputError(f"{shown(value)} is none of {', '.join(choices)}", field=name)
    return str(value)
