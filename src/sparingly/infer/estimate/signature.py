"""The signature of an estimate: the line from which it can be re-derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparingly.base.errors import InputError
from sparingly.base.text import Quoted, format_number, format_value
from sparingly.data.values import as_number, as_scale, as_text, as_whole


@dataclass(frozen=True)
class EstimateSignature:
    """How an estimate came about, so that it can be had again.

    ``inputs`` is the digest of what was read beside the judgements, ``labels`` that of the judgements that
    were used: those of items that were not chosen never change it. ``selection`` is the line of the
    selection's own signature. ``raters`` is the digest of the ratings, with who gave them, where these
    widened the errors; None where raters were not counted.
    """

    estimator: str
    aspect: str
    target: str
    level: float
    interval: str
    scale: tuple[float, float] | None
    by: str | None
    seed: int
    n: int
    of: int
    inputs: str
    labels: str
    version: str
    selection: str | None = None
    raters: str | None = None

    def __str__(self) -> str:
        """Return the signature in one line."""
        return "|".join((self.estimator, *self.about, f"level:{format_number(self.level)}", *self._parts))

    @property
    def about(self) -> tuple[str, ...]:
        """What the scores are of, as parts of the line."""
        return f"aspect:{word(self.aspect)}", f"target:{self.target}"

    @property
    def origin(self) -> tuple[str, ...]:
        """What the scores were made from, as parts of the line."""
        names = ("seed", "n", "of", "inputs", "labels", "version")
        chosen = () if self.selection is None else (f"selection:[{self.selection}]",)
        return (*(f"{name}:{getattr(self, name)}" for name in names), *chosen)

    @property
    def scale_text(self) -> str:
        """The lowest and the highest possible score; empty where they are not known."""
        return "" if self.scale is None else ",".join(format_number(end) for end in self.scale)

    @property
    def _parts(self) -> tuple[str, ...]:
        ends = "none" if self.scale is None else self.scale_text
        group = "none" if self.by is None else word(self.by)
        counted = () if self.raters is None else (f"raters:{self.raters}",)
        return f"interval:{self.interval}", f"scale:{ends}", f"by:{group}", *counted, *self.origin

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files."""
        values = {
            **vars(self),
            "scale": None if self.scale is None else list(self.scale),
            "text": str(self),
        }
        return (
            values
            if self.raters is not None
            else {name: value for name, value in values.items() if name != "raters"}
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], field: str = "signature") -> EstimateSignature:
        """Read a signature back from a file's values."""
        words = ("estimator", "aspect", "target", "interval", "inputs", "labels", "version")
        held: dict[str, Any] = {name: said(values, name, f"{field}.{name}") for name in words}
        held |= {name: as_whole(values.get(name), f"{field}.{name}") for name in ("seed", "n", "of")}
        return cls(
            **held,
            level=as_number(values.get("level"), f"{field}.level"),
            scale=None if values.get("scale") is None else as_scale(values["scale"], f"{field}.scale"),
            by=as_text(values.get("by"), f"{field}.by"),
            selection=as_text(values.get("selection"), f"{field}.selection"),
            raters=as_text(values.get("raters"), f"{field}.raters"),
        )


def word(text: str) -> str:
    """Return a name as a part of a signature's line: in quotes where it would be read as something else."""
    plain = text != "none" and text.isprintable() and not set('|"') & set(text)
    return text if plain else format_value(Quoted(text))


def said(values: Mapping[str, Any], name: str, field: str) -> str:
    """Return a text that has to be there."""
    text = as_text(values.get(name), field)
    if not text:
        raise InputError("the text is missing", field=field)
    return text
