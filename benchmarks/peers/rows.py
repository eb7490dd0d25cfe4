"""The rows of the comparison: what is measured on which data, beside whom, and the least ratio wanted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.data import MODELS, STRONG, USUAL, Kind, arrays, item_ids, model_ids, responses, vectors
from sparingly.base.arrays import Floats

SUBSET2EVALUATE, PY_IRT = "subset2evaluate", "py-irt"


@dataclass(frozen=True)
class Row:
    """A line of the comparison.

    Attributes:
        name: What ``--only`` takes.
        label: What the table says.
        items: How many items there are.
        quick_items: The same with ``--quick``.
        compared: How the two answers are compared: a name in ``_answers.COMPARED``.
        wanted: The least ratio of the peer's time to ours; None for a row that is only shown.
        peer: Beside whom; None where the peers have no such thing.
        data: What the data are made of.
        work: What we do: a name in ``_ours.WORK``; the row's own unless given.
        peer_work: What the peer does: a name in its ``WORK``; ours unless given.
        noise: The spread of the metric's noise.
    """

    name: str
    label: str
    items: int
    quick_items: int
    compared: str
    wanted: float | None = None
    peer: str | None = SUBSET2EVALUATE
    data: Kind = "numbers"
    work: str = ""
    peer_work: str = ""
    noise: float = USUAL

    @property
    def our_work(self) -> str:
        """What we are asked to do."""
        return self.work or self.name

    @property
    def their_work(self) -> str:
        """What the peer is asked to do."""
        return self.peer_work or self.our_work


def _command(name: str, method: str, file: str) -> Row:
    label = f"the command, {file} to selection, {method}"
    work = f"command_{name}"
    return Row(f"{work}_{file.split()[0].lower()}", label, 100_000, 2_000, "common", 20, peer_work=work)


ROWS = (
    Row("metric_cons", "metric_cons, Kendall", 100_000, 2_000, "utilities", 150),
    Row("metric_cons_spearman", "metric_cons, Spearman (ours only)", 100_000, 2_000, "nothing", peer=None),
    Row("metric_var", "metric_var", 100_000, 2_000, "utilities", 50),
    Row("agreement", "soft pairwise accuracy, ten budgets, 1000 flips", 100_000, 2_000, "agreement", 40),
    Row("agreement_analytic", "the same, analytic limit (ours only)", 100_000, 2_000, "nothing", peer=None),
    Row("cost_aware", "cost-aware selection", 10_000, 1_000, "objective", 20),
    Row("parity", "parity curve", 300, 100, "parity", 40),
    # The peer stops at the first crossing, so a better method makes it quicker: shown, without a verdict.
    Row("parity_strong", "parity curve, stronger metric", 300, 100, "parity", work="parity", noise=STRONG),
    Row("diversity_chrf", "diversity, chrF", 1_000, 30, "diversity", 80, data="texts"),
    Row("diversity_bleu", "diversity, BLEU", 1_000, 30, "diversity", 40, data="texts"),
    Row(
        "irt_variational",
        "item response theory, binary, variational",
        1_000,
        100,
        "log_loss",
        40,
        PY_IRT,
        peer_work="irt",
    ),
    Row("irt_map", "the same, most probable values", 1_000, 100, "log_loss", 40, PY_IRT, peer_work="irt"),
    Row("irt_held_out", "the same, variational, a tenth held out", 1_000, 100, "held_out", peer=PY_IRT),
    Row(
        "irt_held_out_strong",
        "the same, stronger metric",
        1_000,
        100,
        "held_out",
        peer=PY_IRT,
        work="irt_held_out",
        noise=STRONG,
    ),
    Row("diffuse", "diffuse, 10 %, embeddings given", 3_000, 300, "clusters", 40, data="output vectors"),
    # Not what the peer does: it clusters a number per pair of models, as the row above.
    Row(
        "diffuse_concat",
        "diffuse, 10 %, whole difference vectors",
        3_000,
        300,
        "clusters",
        data="output vectors",
        peer_work="diffuse",
    ),
    Row(
        "diffuse_sweep",
        "diffuse, every budget from 5 to 200 (ours only)",
        3_000,
        300,
        "sweep",
        peer=None,
        data="output vectors",
    ),
    Row("search", "greedy search, 1000 draws, 10 %", 1_000, 100, "search", 80),
    Row("kmeans", "k-means, 10 %, embeddings given", 1_000, 200, "nearness", 1, data="source vectors"),
    # As they are typed: starting, reading, choosing, writing. The peer reads JSON Lines only.
    *(
        _command(name, method, file)
        for name, method in (("cons", "metric_cons, Kendall"), ("var", "metric_var"))
        for file in ("Jsonl file", "Parquet file")
    ),
)


# --- how far the answers of both sides are from each other, so that equal work is seen to be equal -------


Answers = dict[str, Any]
_LEAST = 1e-12


def compare_answers(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Return a text about both answers, and whether ours is as good where that is asked (``is_better``)."""
    return COMPARED[row.compared](row, items, ours, theirs)


def nothing(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Say nothing: there is no peer."""
    return {"text": ""}


def utilities(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the largest difference of two utilities."""
    difference = _largest_gap(ours, theirs)
    return {"text": f"utilities differ by at most {difference:.1e}", "difference": difference}


def diversity(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the largest difference once the peer's pairs of an output with itself, 100 each, are taken off."""
    mean = MODELS * MODELS * np.asarray(theirs) + 100.0 * MODELS
    difference = _largest_gap(ours, mean / (MODELS * (MODELS - 1)))
    correlation = _rank_correlation(np.asarray(ours), np.asarray(theirs))
    text = (
        f"rank correlation {correlation:.6f}; utilities differ by at most {difference:.1e} without self pairs"
    )
    return {"text": text, "difference": difference, "rank_correlation": correlation}


def parity(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give both shares of random's data."""
    text = f"share of random's data {ours:.3f} (theirs {theirs:.3f})"
    return {"text": text, "difference": _largest_gap(ours, theirs)}


def agreement(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give both averages over budgets."""
    text = f"average {np.mean(ours):.4f} (theirs {np.mean(theirs):.4f}; other random signs)"
    return {"text": text, "difference": _largest_gap(ours, theirs)}


def objective(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Value both sets alike: utilities scaled to [0.1, 0.6], summed, with what the set costs."""
    made = arrays(items)
    utility = made["metric"].var(axis=1)
    value = 0.1 + 0.5 * (utility - utility.min()) / (utility.max() - utility.min())
    budget = 0.1 * sum(made["cost"].tolist())
    found: Answers = {}
    for side, names in (("ours", ours), ("theirs", theirs)):
        rows = _rows_of(names, items)
        spent = math.fsum(made["cost"][rows].tolist())
        found[side] = {"objective": math.fsum(value[rows].tolist()), "cost": spent, "fits": spent <= budget}
    mine, peer = found["ours"], found["theirs"]
    found["is_better"] = mine["fits"] and (mine["objective"] >= peer["objective"] or not peer["fits"])
    fit = {True: "fits", False: "does not fit"}
    found["text"] = (
        f"objective {mine['objective']:.4f}, {fit[mine['fits']]} "
        f"(theirs {peer['objective']:.4f}, {fit[peer['fits']]})"
    )
    return found


def log_loss(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the log-loss of what was fitted, ours and the better of the peer's two sets of parameters."""
    metric = arrays(items, row.noise)["metric"]
    return _losses("log-loss", responses(metric), ours, theirs)


def held_out(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the log-loss of the cells that neither side has seen."""
    metric = arrays(items, row.noise)["metric"]
    hidden = np.isnan(responses(metric, held_out=True))
    return _losses("log-loss of held-out cells", np.where(hidden, responses(metric), np.nan), ours, theirs)


def _losses(what: str, observed: Floats, ours: Any, theirs: Any) -> Answers:
    mine, peer = (min(_log_loss(np.array(one), observed) for one in side) for side in (ours, theirs))
    return {
        "text": f"{what} {mine:.4f} (theirs {peer:.4f})",
        "ours": mine,
        "theirs": peer,
        "is_better": mine <= peer,
    }


def _log_loss(chance: Floats, observed: Floats) -> float:
    """Return the mean of −log p over successes and −log(1 − p) over failures; NaN is left out."""
    sure = np.clip(chance, _LEAST, 1.0 - _LEAST)
    return float(np.nanmean(-np.where(observed > 0.0, np.log(sure), np.log1p(-sure)) + 0.0 * observed))


def search(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the soft pairwise accuracy of both sets by the metric, with one test for both."""
    from sparingly import EvalSet
    from sparingly.infer.rank.compare import full_set
    from sparingly.infer.rank.curve import curve

    metric = arrays(items, row.noise)["metric"]
    data = EvalSet.from_arrays(items=item_ids(items), models=model_ids(), metrics={"metric": metric})
    full = full_set(data, "metric")
    mine, peer = (
        float(curve(full, _rows_of(names, items), [len(names)]).values[0]) for names in (ours, theirs)
    )
    text = f"soft pairwise accuracy {mine:.4f} (theirs {peer:.4f}), 1000 flips for both"
    return {"text": text, "ours": mine, "theirs": peer}


def nearness(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the mean distance of items to the nearest chosen one, as a share of a random choice's."""
    points = vectors(items, row.data).astype(np.float64)
    drawn = np.random.default_rng(0).permutation(items)[: len(ours)]
    chance = _mean_distance(points, drawn)
    mine, peer = (_mean_distance(points, _rows_of(names, items)) / chance for names in (ours, theirs))
    text = f"items lie at {mine:.3f} of the distance to random ones (theirs {peer:.3f})"
    return {"text": text, "ours": mine, "theirs": peer}


def _mean_distance(points: Floats, chosen: Any) -> float:
    centres = points[chosen]
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * points @ centres.T
    return float(np.sqrt(np.maximum(squares.min(axis=1), 0.0)).mean())


def clusters(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give how many of the peer's items our linkage has in clusters of their own, from the peer's vectors.

    The peer averages a difference vector over its coordinates, so its vectors, and its items, are others than
    ours.
    """
    from sparingly.published.linkage import ward_linkage

    means = vectors(items, row.data).astype(np.float64).reshape(items, MODELS, -1).mean(axis=2)
    first, second = np.triu_indices(MODELS, 1)
    found = ward_linkage(means[:, first] - means[:, second]).cut(len(theirs))
    apart = len(set(found[_rows_of(theirs, items)].tolist()))
    both = len(set(ours) & set(theirs))
    text = f"from its vectors, {apart} of its {len(theirs)} clusters; from ours, {both} items in common"
    return {"text": text, "same_clusters": apart, "common": both, "chosen": len(ours)}


def common(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give how many of the chosen items both sides chose."""
    both = len({*ours} & {*theirs})
    return {"text": f"{both} of {len(ours)} items in common", "common": both, "chosen": len(ours)}


def sweep(row: Row, items: int, ours: Any, theirs: Any) -> Answers:
    """Give the number of budgets and what the first of them takes alone."""
    return {"text": f"{ours['budgets']} budgets; the first alone takes {ours['one']:.3g} s", **ours}


def _largest_gap(ours: Any, theirs: Any) -> float:
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's correlation of values rounded to nine digits, so that equal ones are equal."""
    from scipy.stats import spearmanr

    return float(spearmanr(np.round(one, 9), np.round(other, 9)).statistic)


def _rows_of(names: list[str], items: int) -> list[int]:
    places = {name: row for row, name in enumerate(item_ids(items))}
    return [places[name] for name in names]


COMPARED: dict[str, Callable[[Row, int, Any, Any], Answers]] = {
    "nothing": nothing,
    "utilities": utilities,
    "diversity": diversity,
    "parity": parity,
    "agreement": agreement,
    "objective": objective,
    "log_loss": log_loss,
    "held_out": held_out,
    "search": search,
    "nearness": nearness,
    "clusters": clusters,
    "common": common,
    "sweep": sweep,
}
