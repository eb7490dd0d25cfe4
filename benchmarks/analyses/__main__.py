"""One analysis of a set as the papers show them: its numbers in a line, and its picture in a file.

    python -m benchmarks.analyses distances                      of the demo set
    python -m benchmarks.analyses distances --data data.jsonl --truth mqm --out distances.svg
    python -m benchmarks.analyses norms --data data.jsonl -m diffuse -m random -b 10% --out norms.svg
    python -m benchmarks.analyses map --data data.jsonl --pair "GPT-4" "Tower (70B)" -t mqm -m diffuse -b 30
    python -m benchmarks.analyses success --data data.jsonl --truth mqm --json

norms        how far apart the outputs of chosen items are, against all items
clusters     size of the clusters of diffuse against the difference between outputs
success      whether items whose outputs differ more name the winner more often
distances    how far apart the models are, over all pairs
map          where the outputs of two models differ, who is preferred there, what was chosen
item-curves  item response curves
irt-fit      how well item response theory fits

With --pair, methods see these two models only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import sparingly
from benchmarks.analyses.base import Analysis
from benchmarks.analyses.clusters import COUNTS, cluster_norms
from benchmarks.analyses.difference_map import difference_map
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.irt import irt_check, item_curves
from benchmarks.analyses.norms import chosen_norms
from benchmarks.analyses.pairs import of_pair
from benchmarks.analyses.success import success_by_norm
from sparingly.base.errors import SparinglyError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.show.figures.save import picture_kind, save_figure

Options = argparse.Namespace


def options(arguments: list[str] | None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=list(ANALYSES), metavar="KIND", help="which analysis")
    parser.add_argument("--data", type=Path, help="the evaluation set; the demo set unless given")
    parser.add_argument("--out", "-o", type=Path, help="the picture: .html, .svg, .png, .pdf or .json")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--pair", nargs=2, metavar=("A", "B"), help="two models; all unless given")
    parser.add_argument("--truth", "-t", help="an aspect, a metric, or sum:of=[one,other]")
    parser.add_argument("--aspect", help="without a truth: which of the set's preferences")
    parser.add_argument("--tie", type=float, help="scores that differ by no more are a tie")
    parser.add_argument("--selection", type=Path, help="a selection's file: its items are the chosen ones")
    parser.add_argument("--method", "-m", action="append", help="a method; repeat for several")
    parser.add_argument("--budget", "-b", help="what the method may choose: 100, 10%%")
    parser.add_argument("--embedding", help="tfidf, a model, or vectors, as for diffuse")
    parser.add_argument("--item", action="append", help="an item to show; repeat for several")
    parser.add_argument(
        "--clusters", type=int, action="append", help="a number of clusters; repeat for several"
    )
    parser.add_argument("--bins", type=int, help="the number of bins")
    parser.add_argument("--seed", type=int, default=0, help="the seed of what is drawn")
    return parser.parse_args(arguments)


def chosen_items(data: EvalSet, chosen: Options) -> dict[str, Selection]:
    """Return the selections by name: the file's, and what the methods choose on the models of the pair."""
    if bool(chosen.method) != (chosen.budget is not None):
        raise UsageError("A --method goes with a --budget.")
    selections = {} if chosen.selection is None else {chosen.selection.name: Selection.load(chosen.selection)}
    view = of_pair(data, _pair(chosen))
    for name in chosen.method or ():
        selections[name] = sparingly.select(view, name, chosen.budget, seed=chosen.seed)
    return selections


def _pair(chosen: Options) -> tuple[str, str] | None:
    return None if chosen.pair is None else (chosen.pair[0], chosen.pair[1])


def _given(chosen: Options, *names: str) -> dict[str, Any]:
    """Return those of the named options that were given."""
    values = {**vars(chosen), "pair": _pair(chosen)}
    return {name: values[name] for name in names if values[name] is not None}


def _norms(data: EvalSet, chosen: Options) -> Analysis:
    selections = chosen_items(data, chosen)
    if not selections:
        raise UsageError("Norms are those of chosen items: give --selection, or --method and --budget.")
    return chosen_norms(data, selections, **_given(chosen, "pair", "embedding", "bins"))


def _clusters(data: EvalSet, chosen: Options) -> Analysis:
    counts = chosen.clusters or COUNTS
    return cluster_norms(data, counts, seed=chosen.seed, **_given(chosen, "pair", "embedding"))


def _success(data: EvalSet, chosen: Options) -> Analysis:
    given = _given(chosen, "truth", "aspect", "tie", "pair", "embedding", "bins")
    return success_by_norm(data, seed=chosen.seed, **given)


def _distances(data: EvalSet, chosen: Options) -> Analysis:
    return winning_distances(data, **_given(chosen, "truth", "aspect", "tie"))


def _map(data: EvalSet, chosen: Options) -> Analysis:
    selections = list(chosen_items(data, chosen).values())
    if len(selections) > 1:
        raise UsageError("A map shows one selection: give one --method, or --selection.")
    given = _given(chosen, "pair", "truth", "aspect", "tie", "embedding")
    return difference_map(data, chosen=selections[0] if selections else None, seed=chosen.seed, **given)


def _item_curves(data: EvalSet, chosen: Options) -> Analysis:
    return item_curves(data, _one_method(chosen), items=chosen.item, seed=chosen.seed)


def _irt_fit(data: EvalSet, chosen: Options) -> Analysis:
    return irt_check(data, _one_method(chosen), seed=chosen.seed, **_given(chosen, "bins"))


def _one_method(chosen: Options) -> str:
    methods = chosen.method or ["irt"]
    if len(methods) > 1:
        raise UsageError("This picture shows one fit: give one --method, such as irt:metric=COMET.")
    return str(methods[0])


class Kind(NamedTuple):
    """How an analysis is computed, which options it takes, and those for the demo set."""

    compute: Callable[[EvalSet, Options], Analysis]
    takes: frozenset[str]
    demo: Mapping[str, Any]


_JUDGED = {"truth", "aspect", "tie"}
_CHOSEN = {"selection", "method", "budget"}
_OF_DEMO: Mapping[str, Any] = {"truth": "overall"}
_PAIR_OF_DEMO = ["Elm + rerank (beam = 4)", "Rowan"]
ANALYSES: Mapping[str, Kind] = MappingProxyType(
    {
        "norms": Kind(
            _norms,
            frozenset({"pair", "embedding", "bins", *_CHOSEN}),
            {"method": ["diffuse", "random"], "budget": "15%"},
        ),
        "clusters": Kind(_clusters, frozenset({"pair", "embedding", "clusters"}), {}),
        "success": Kind(_success, frozenset({"pair", "embedding", "bins", *_JUDGED}), _OF_DEMO),
        "distances": Kind(_distances, frozenset(_JUDGED), _OF_DEMO),
        "map": Kind(
            _map,
            frozenset({"pair", "embedding", *_JUDGED, *_CHOSEN}),
            {"pair": _PAIR_OF_DEMO, **_OF_DEMO},
        ),
        "item-curves": Kind(_item_curves, frozenset({"method", "item"}), {"method": ["irt:metric=learned"]}),
        "irt-fit": Kind(_irt_fit, frozenset({"method", "bins"}), {"method": ["irt:metric=learned"]}),
    }
)
_ALWAYS = {"kind", "data", "out", "json", "seed"}


def compute(chosen: Options) -> Analysis:
    """Return an analysis, with the demo's own options where neither data nor any option is given."""
    kind = ANALYSES[chosen.kind]
    given = {name for name, value in vars(chosen).items() if value is not None} - _ALWAYS
    for name in sorted(given - kind.takes):
        takes = ", ".join(f"--{option}" for option in vars(chosen) if option in kind.takes)
        raise UsageError(f"The analysis {chosen.kind} does not take --{name}. It takes: {takes}.")
    if chosen.data is None and not given:
        chosen = Options(**{**vars(chosen), **kind.demo})
    data = load_invented() if chosen.data is None else sparingly.load(chosen.data)
    return kind.compute(data, chosen)


def main(arguments: list[str] | None = None) -> int:
    """Print an analysis, and draw it where a file is named."""
    chosen = options(arguments)
    try:
        if chosen.out is not None:
            picture_kind(chosen.out)
        analysis = compute(chosen)
        if chosen.out is not None:
            save_figure(analysis.draw(), chosen.out)
    except SparinglyError as error:
        print(f"{chosen.kind}: {error}", file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps(analysis.to_dict(), ensure_ascii=False, indent=2))
        return 0
    print("\n".join([str(analysis), *(f"note: {note}" for note in analysis.notes)]))
    if chosen.out is not None:
        print(f"written to {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
