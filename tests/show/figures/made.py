"""Pictures of the demo set, one of each kind, and what is inside a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import sparingly
from sparingly.infer.analysis.chosen_norms import ChosenNorms, chosen_norms
from sparingly.infer.analysis.cluster_norms import cluster_norms
from sparingly.infer.analysis.difference_map import DifferenceMap
from sparingly.infer.analysis.difference_map import difference_map as map_differences
from sparingly.infer.analysis.irt_check import irt_check
from sparingly.infer.analysis.item_curves import item_curves
from sparingly.infer.analysis.success_by_norm import success_by_norm
from sparingly.infer.analysis.winning_distances import winning_distances
from sparingly.infer.rank.compare import CurveComparison

PAIR = ("Elm + rerank (beam = 4)", "Rowan")
Spec = dict[str, Any]


@cache
def demo() -> sparingly.EvalSet:
    return sparingly.load_demo()


def norms() -> ChosenNorms:
    chosen = {method: sparingly.select(demo(), method, 24) for method in ("diffuse", "random")}
    return chosen_norms(demo(), chosen)


def difference_map() -> DifferenceMap:
    chosen = sparingly.select(demo().take(models=PAIR), "diffuse:weighted=true", 12)
    return map_differences(demo(), PAIR, chosen, truth="overall")


def curves() -> list[CurveComparison]:
    methods = ("metric_var:metric=learned", "diversity")
    return [sparingly.curve(demo(), method, "overall", shares=[0.1, 0.3], runs=5) for method in methods]


FOUND: dict[str, Callable[[], Any]] = {
    "norms": norms,
    "clusters": lambda: cluster_norms(demo(), [10, 25], most=50),
    "success": lambda: success_by_norm(demo(), truth="overall"),
    "distances": lambda: winning_distances(demo(), truth="overall"),
    "map": difference_map,
    "item-curves": lambda: item_curves(demo(), "irt:metric=learned"),
    "irt-fit": lambda: irt_check(demo(), "irt:metric=learned", most=40),
    "curve": curves,
}


@cache
def found(kind: str) -> Any:
    return FOUND[kind]()


@cache
def spec(kind: str) -> Spec:
    return dict(sparingly.figure(found(kind)).to_dict())


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
