"""``sparingly figure``: a picture of a set, a selection, a fit or a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

from sparingly.base.errors import UsageError
from sparingly.cli.options import DEFAULT_READING, Data, Json, Reading, Seed, emit, working

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection
    from sparingly.infer.analysis.base import Analysis
    from sparingly.infer.rank.compare import CurveComparison

    Found = Analysis | list[CurveComparison]

Kind = Literal["norms", "clusters", "success", "distances", "map", "item-curves", "irt-fit", "curve"]
_ONE_OR_MORE, _NONE_OR_MORE = Number(gte=1), Number(gte=0)


@Parameter(name="*")
@dataclass(frozen=True)
class Asked:
    """What is drawn; a picture takes those that mean something for it."""

    pair: Annotated[
        tuple[str, str] | None,
        Parameter(help="Two models: --pair A B. All models unless given.", negative=""),
    ] = None
    truth: Annotated[
        str | None, Parameter(name=["--truth", "-t"], help="An aspect, a metric, or sum:of=[one,other].")
    ] = None
    aspect: Annotated[str | None, Parameter(help="Without a truth: which of the set's preferences.")] = None
    tie: Annotated[
        float | None, Parameter(validator=_NONE_OR_MORE, help="Scores that differ by no more are a tie.")
    ] = None
    selection: Annotated[
        Path | None, Parameter(help="A selection's file: its items are the chosen ones.")
    ] = None
    method: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--method", "-m"], help="A method; repeat for several.", negative="", show_default=False
        ),
    ] = ()
    budget: Annotated[
        str | None, Parameter(name=["--budget", "-b"], help="What the method may choose: 100, 10%.")
    ] = None
    embedding: Annotated[str | None, Parameter(help="tfidf, a model, or vectors, as for diffuse.")] = None
    item: Annotated[
        tuple[str, ...],
        Parameter(help="An item to show; repeat for several.", negative="", show_default=False),
    ] = ()
    clusters: Annotated[
        tuple[int, ...],
        Parameter(help="A number of clusters; repeat for several.", negative="", show_default=False),
    ] = ()
    bins: Annotated[int | None, Parameter(validator=_ONE_OR_MORE, help="The number of bins.")] = None
    measure: Annotated[str | None, Parameter(help="What a curve measures.")] = None
    runs: Annotated[
        int | None, Parameter(validator=_ONE_OR_MORE, help="Random draws behind a curve; 20 unless given.")
    ] = None

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that were given."""
        return {name: value for name in names if (value := getattr(self, name)) not in (None, ())}

    def check(self, kind: str, takes: frozenset[str]) -> None:
        """Complain about an option that means nothing for this kind of picture."""
        for name in self.given(*vars(self)):
            if name not in takes:
                known = ", ".join(f"--{option}" for option in vars(self) if option in takes)
                raise UsageError(f"The picture {kind} does not take --{name}. It takes: {known}.")


DEFAULT_ASKED = Asked()


def figure(
    kind: Annotated[Kind, Parameter(help="What to draw.")],
    data: Data,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="The file: .html, .svg, .png, .pdf, or .json (Vega-Lite)."),
    ] = None,
    asked: Asked = DEFAULT_ASKED,
    seed: Seed = 0,
    reading: Reading = DEFAULT_READING,
    json: Json = False,
) -> None:
    """Draw a picture into a file, or print the data behind it with --json. Drawing needs the extra `report`.

    - norms: how far apart the outputs of chosen items are, against all items
    - clusters: size of the clusters of diffuse against the difference between outputs
    - success: whether items whose outputs differ more name the winner more often
    - distances: how far apart the models are, over all pairs
    - map: where the outputs of two models differ, who is preferred there, what was chosen
    - item-curves, irt-fit: item response curves; how well item response theory fits
    - curve: agreement with the full set over budgets, against random selection

    With --pair, methods see these two models only.

    ```
    sparingly figure norms data.jsonl -m diffuse -m random -b 10% --out norms.svg
    sparingly figure map data.jsonl --pair "GPT-4" "Tower (70B)" -t mqm -m diffuse -b 30 -o map.html
    sparingly figure success data.jsonl --truth mqm --out success.pdf
    sparingly figure irt-fit data.jsonl -m irt:metric=COMET --out fit.png
    sparingly figure curve data.jsonl -t mqm -m metric_var:metric=COMET -m diversity -o curve.svg
    sparingly figure distances data.jsonl --truth mqm --json
    ```
    """
    from sparingly.show.figures.draw import figure as draw
    from sparingly.show.figures.save import picture_kind, save_figure
    from sparingly.show.terminal.console import show_figure

    picture = _PICTURES[kind]
    asked.check(kind, picture.takes)
    if not json:
        if out is None:
            raise UsageError("Say where the picture goes: --out FILE, or print its data with --json.")
        picture_kind(out)
    elif out is not None:
        raise UsageError("A picture is written with --out, or its data printed with --json, not both.")
    held = reading.load(data)
    with working("computing"):
        found = picture.find(held, asked, seed)
    if json or out is None:
        emit([one.to_dict() for one in found] if isinstance(found, list) else found.to_dict())
        return
    with working("drawing"):
        save_figure(draw(found), out)
    if isinstance(found, list):
        show_figure(map(_curve_line, found), out, ())
    else:
        show_figure([str(found)], out, found.notes)


def _norms(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.chosen_norms import chosen_norms

    chosen = _chosen(held, asked, seed)
    if not chosen:
        raise UsageError("Norms are those of chosen items: give --selection, or --method and --budget.")
    return chosen_norms(held, chosen, **asked.given("pair", "embedding", "bins"))


def _clusters(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.cluster_norms import COUNTS, cluster_norms

    return cluster_norms(held, asked.clusters or COUNTS, seed=seed, **asked.given("pair", "embedding"))


def _success(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.success_by_norm import success_by_norm

    return success_by_norm(
        held, seed=seed, **asked.given("truth", "aspect", "tie", "pair", "embedding", "bins")
    )


def _distances(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.winning_distances import winning_distances

    return winning_distances(held, **asked.given("truth", "aspect", "tie"))


def _map(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.difference_map import difference_map

    chosen = list(_chosen(held, asked, seed).values())
    if len(chosen) > 1:
        raise UsageError("A map shows one selection: give one --method, or --selection.")
    how = asked.given("pair", "truth", "aspect", "tie", "embedding")
    return difference_map(held, chosen=chosen[0] if chosen else None, seed=seed, **how)


def _item_curves(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.item_curves import item_curves

    return item_curves(held, _one_method(asked), items=asked.item or None, seed=seed)


def _irt_fit(held: EvalSet, asked: Asked, seed: int) -> Analysis:
    from sparingly.infer.analysis.irt_check import irt_check

    return irt_check(held, _one_method(asked), seed=seed, **asked.given("bins"))


def _curve(held: EvalSet, asked: Asked, seed: int) -> list[CurveComparison]:
    from sparingly.infer.rank.compare import curve

    if not asked.method or asked.truth is None:
        raise UsageError("A curve needs a --truth and at least one --method.")
    how = asked.given("measure", "runs")
    return [curve(held, method, asked.truth, seed=seed, **how) for method in dict.fromkeys(asked.method)]


def _curve_line(one: CurveComparison) -> str:
    measure = one.curve.measure.replace("_", " ")
    return f"{one.method}: {measure} {one.curve.average:.4f} on average, random {one.random.average:.4f}"


def _one_method(asked: Asked) -> str:
    if len(asked.method) > 1:
        raise UsageError("This picture shows one fit: give one --method, such as irt:metric=COMET.")
    return asked.method[0] if asked.method else "irt"


def _chosen(held: EvalSet, asked: Asked, seed: int) -> dict[str, Selection]:
    """Return the selections by name: the file's, and what the methods choose on the models of the pair."""
    from sparingly.choose.select import select
    from sparingly.data.selection import Selection
    from sparingly.infer.analysis.outputs import of_pair

    if bool(asked.method) != (asked.budget is not None):
        raise UsageError("A --method goes with a --budget.")
    chosen = {} if asked.selection is None else {asked.selection.name: Selection.load(asked.selection)}
    seen = of_pair(held, asked.pair)
    return chosen | {name: select(seen, name, asked.budget or "", seed=seed) for name in asked.method}


class _Picture(NamedTuple):
    """How the data of a picture is found, and which options that takes."""

    find: Callable[[EvalSet, Asked, int], Found]
    takes: frozenset[str]


_JUDGED = {"truth", "aspect", "tie"}
_CHOSEN = {"selection", "method", "budget"}
_PICTURES: Mapping[str, _Picture] = MappingProxyType(
    {
        "norms": _Picture(_norms, frozenset({"pair", "embedding", "bins", *_CHOSEN})),
        "clusters": _Picture(_clusters, frozenset({"pair", "embedding", "clusters"})),
        "success": _Picture(_success, frozenset({"pair", "embedding", "bins", *_JUDGED})),
        "distances": _Picture(_distances, frozenset(_JUDGED)),
        "map": _Picture(_map, frozenset({"pair", "embedding", *_JUDGED, *_CHOSEN})),
        "item-curves": _Picture(_item_curves, frozenset({"method", "item"})),
        "irt-fit": _Picture(_irt_fit, frozenset({"method", "bins"})),
        "curve": _Picture(_curve, frozenset({"method", "truth", "measure", "runs"})),
    }
)
