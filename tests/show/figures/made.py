"""A picture of the demo set, and what is inside a picture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.compare import CurveComparison

if TYPE_CHECKING:
    from altair import VConcatChart

Spec = dict[str, Any]


@cache
def demo() -> sparingly.EvalSet:
    return load_invented()


@cache
def curves() -> list[CurveComparison]:
    methods = ("metric_var:metric=learned", "diversity")
    return [sparingly.curve(demo(), method, "overall", shares=[0.1, 0.3], runs=5) for method in methods]


def picture() -> VConcatChart:
    return sparingly.figure(curves())


@cache
def spec() -> Spec:
    return dict(picture().to_dict())


def chart_title(whole: Spec) -> str:
    return " ".join(whole["vconcat"][0]["title"]["text"])


def subtitle(whole: Spec) -> str:
    return " ".join(whole["vconcat"][0]["title"]["subtitle"])


def footnote(whole: Spec) -> str:
    return " ".join(whole["title"]["text"])


def views(part: Spec) -> Iterator[Spec]:
    """Every part of a picture that has marks."""
    if "mark" in part:
        yield part
    for inside in ("layer", "vconcat", "hconcat", "concat"):
        for one in part.get(inside, []):
            # A layer without data of its own draws those of the chart that it is in.
            yield from views({"data": part.get("data"), **one})


def rows(whole: Spec, view: Spec) -> list[dict[str, Any]]:
    """The data of a view."""
    held = view["data"]
    return list(held["values"] if "values" in held else whole["datasets"][held["name"]])


def marks(whole: Spec, kind: str) -> list[Spec]:
    """The views of one kind of mark."""
    return [view for view in views(whole) if view["mark"]["type"] == kind]


def titles_of_axes(part: Any) -> set[str]:
    """The titles of all axes of a picture."""
    if isinstance(part, list):
        return set().union(*map(titles_of_axes, part))
    if not isinstance(part, dict):
        return set()
    own = {part["encoding"][axis].get("title") for axis in ("x", "y") if axis in part.get("encoding", {})}
    inside = titles_of_axes([value for name, value in part.items() if name != "datasets"])
    return {title for title in own if title} | inside
