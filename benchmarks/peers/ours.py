"""One measurement of sparingly, run in a process of its own: ``ours WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import sparingly
from benchmarks.peers.data import item_ids, model_ids, prepared, responses
from benchmarks.peers.timing import Timing, peak_megabytes, report, timed, timed_anew, timed_command
from sparingly import EvalSet
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.curve import SHARES, SPA, RandomParity, curve, random_curve, sizes_of
from sparingly.published.irt import fit_irt

Outcome = tuple[Timing, Any]
SWEPT = range(5, 201)


class Given:
    """The file that is read, as an evaluation set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fields = {".npz": _numbers, ".jsonl": _texts, ".npy": _nothing}[path.suffix](path)

    def anew(self) -> EvalSet:
        """Return the evaluation set as loading a file gives it, with nothing computed from it yet."""
        return EvalSet.from_arrays(models=model_ids(), **self._fields)

    @cached_property
    def data(self) -> EvalSet:
        """The evaluation set for all calls."""
        return self.anew()


def _numbers(path: Path) -> dict[str, Any]:
    with np.load(path) as made:
        return {
            "items": item_ids(len(made["cost"])),
            "metrics": {"metric": made["metric"]},
            "aspects": {"human": made["human"]},
            "columns": {"cost": made["cost"]},
        }


def _texts(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {"items": [line["i"] for line in lines], "outputs": [list(line["tgt"].values()) for line in lines]}


def _nothing(path: Path) -> dict[str, Any]:
    """Return ids alone: the method reads the vectors itself."""
    names = path.with_suffix(".ids.tsv").read_text(encoding="utf-8").splitlines()
    return {"items": list(dict.fromkeys(name.partition("\t")[0] for name in names))}


def by_variance(data: EvalSet) -> NDArray[np.int64]:
    """Return the row numbers in the order that is evaluated (not timed)."""
    return np.argsort(-data.metrics["metric"].var(axis=1), kind="stable")


def utilities(method: str, given: Given) -> Outcome:
    """Time ``select`` of everything: the utility of every item, and the list in their order."""
    timing, chosen = timed(lambda: sparingly.select(given.data, method, "100%", seed=0))
    by_id = dict(zip(chosen.items, np.asarray(chosen.utility).tolist(), strict=True))
    return timing, [by_id[name] for name in given.data.items]


def agreement(test: Literal["auto", "analytic"], given: Given) -> Outcome:
    """Time soft pairwise accuracy over ten budgets, the full set's tests included."""
    data = given.data
    order, sizes = by_variance(data), sizes_of(SHARES, len(data))
    timing, found = timed(lambda: curve(full_set(data, "human", test=test), order, sizes))
    return timing, found.values.tolist()


def parity(given: Given) -> Outcome:
    """Time the items needed to reach each of ten targets (written for the peer first; not timed)."""
    data = given.data
    order, sizes = by_variance(data), sizes_of(SHARES, len(data))
    targets = random_curve(full_set(data, "human"), sizes, seeds=list(range(10))).values
    Path(sys.argv[4]).write_text(json.dumps(targets.tolist()), encoding="utf-8")

    def share() -> float:
        full = full_set(data, "human")
        dense = np.arange(5, len(full) + 1)
        return RandomParity(full, SPA, "first_crossing", targets, sizes, dense, 1.0).of(order).raw

    return timed(share)


def cost_aware(given: Given) -> Outcome:
    """Time ``select`` under a tenth of the total cost, utilities included."""
    data = given.data
    budget = f"cost:{0.1 * sum(data.columns['cost'].tolist())!r}"
    method = "metric_var:metric=metric"
    timing, chosen = timed(lambda: sparingly.select(data, method, budget, seed=0, cost="cost"))
    return timing, chosen.items.tolist()


def item_response(method: Literal["variational", "map"], given: Given, *, held_out: bool = False) -> Outcome:
    """Time a fit to success and failure; return the chance of success for every item and model.

    The variational fit has means and standard deviations, as the peer's; what makes intervals hold is not
    part of it on either side.
    """
    seen = responses(given.data.metrics["metric"], held_out=held_out)
    timing, fit = timed(lambda: fit_irt(seen, method=method, response="binary", threshold=0.5))
    return timing, [fit.predicted().tolist()]


def chosen_tenth(method: str, given: Given) -> Outcome:
    """Time ``select`` of a tenth of the items."""
    timing, chosen = timed(lambda: sparingly.select(given.data, method, "10%", seed=0))
    return timing, chosen.items.tolist()


def clustered(method: str, given: Given) -> Outcome:
    """Time ``select`` of a tenth by clusters: of a new set every time, as clusters are remembered."""
    timing, chosen = timed_anew(given.anew, lambda data: _by_vectors(method, data, given.path, "10%"))
    return timing, chosen


def sweep(given: Given) -> Outcome:
    """Time all budgets of a sweep on one set, and the first of them on another."""
    one, _ = timed_anew(given.anew, lambda data: _by_vectors("diffuse", data, given.path, SWEPT[0]))
    timing, _ = timed_anew(
        given.anew, lambda data: [_by_vectors("diffuse", data, given.path, count) for count in SWEPT]
    )
    return timing, {"budgets": len(SWEPT), "one": one.median}


def _by_vectors(method: str, data: EvalSet, path: Path, budget: int | str) -> list[str]:
    sign = "," if ":" in method else ":"
    found: list[str] = sparingly.select(
        data, f"{method}{sign}embedding={path}", budget, seed=0
    ).items.tolist()
    return found


def command(method: str, ending: str, given: Given) -> Outcome:
    """Time ``sparingly select`` from a file to a written selection of a tenth, as it is typed."""
    lines = prepared(
        given.path.parent, "numbers", len(given.data), float(given.path.stem.split("-")[-1]), for_peer=True
    )
    source, chosen = lines.with_suffix(ending), Path(sys.argv[3]).with_suffix(".chosen")
    if not source.exists():
        sparingly.save(sparingly.load(lines), source)
    words = [
        str(Path(sys.executable).with_name("sparingly")),
        "select",
        str(source),
        "-m",
        method,
        "-b",
        "10%",
    ]
    timing = timed_command([*words, "-o", str(chosen)], chosen.with_suffix(".printed"))
    return timing, sparingly.Selection.load(chosen).items.tolist()


_CONS = "metric_cons:metric=metric,correlation=kendall"
WORK: dict[str, Callable[[Given], Outcome]] = {
    "command_cons_jsonl": lambda given: command(_CONS, ".jsonl", given),
    "command_cons_parquet": lambda given: command(_CONS, ".parquet", given),
    "command_var_jsonl": lambda given: command("metric_var:metric=metric", ".jsonl", given),
    "command_var_parquet": lambda given: command("metric_var:metric=metric", ".parquet", given),
    "metric_cons": lambda given: utilities(_CONS, given),
    "metric_cons_spearman": lambda given: utilities("metric_cons:metric=metric,correlation=spearman", given),
    "metric_var": lambda given: utilities("metric_var:metric=metric", given),
    "agreement": lambda given: agreement("auto", given),
    "agreement_analytic": lambda given: agreement("analytic", given),
    "cost_aware": cost_aware,
    "parity": parity,
    "diversity_chrf": lambda given: utilities("diversity:similarity=chrf", given),
    "diversity_bleu": lambda given: utilities("diversity:similarity=bleu", given),
    "irt_variational": lambda given: item_response("variational", given),
    "irt_map": lambda given: item_response("map", given),
    "irt_held_out": lambda given: item_response("variational", given, held_out=True),
    "diffuse": lambda given: clustered("diffuse", given),
    "diffuse_concat": lambda given: clustered("diffuse:pairs=concat", given),
    "diffuse_sweep": sweep,
    "search": lambda given: chosen_tenth("search:under=metric,n=1000,step=10", given),
    "kmeans": lambda given: clustered("kmeans", given),
}


def main() -> None:
    """Load, measure, write the outcome."""
    given = Given(Path(sys.argv[2]))
    assert len(given.data)
    loaded = peak_megabytes()
    timing, answer = WORK[sys.argv[1]](given)
    report(Path(sys.argv[3]), timing, loaded, answer)


if __name__ == "__main__":
    main()
