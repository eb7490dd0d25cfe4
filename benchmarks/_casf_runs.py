"""Runs of CASF and of what it is compared with, on the sets of its paper and on three others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly import EvalSet
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.infer.rank.measures import kendall_b, significance_retained, top1_match
from sparingly.run.rounds.replay import replay

Rows = NDArray[np.int64]
EIGHT = (
    "bert_score_f",
    "mover_score",
    "rouge1_f",
    "rouge2_f",
    "rougel_f",
    "bart_score_avg_f",
    "BLEU_4",
    "METEOR",
)
REPEATED = ("random", "heuristic")
MEASURES = ("kendall", "top1", "retained_05", "retained_001")


@dataclass(frozen=True)
class Case:
    """A data set: its aspects, the metrics of the learner, and the one that orders the first phase.

    The paper's eight metrics and MoverScore where the set has them; else all metrics, and chrF or ROUGE-L,
    which nobody chose by looking at the human scores.
    """

    file: str
    title: str
    aspects: tuple[str, ...]
    first: str = "mover_score"
    metrics: tuple[str, ...] = EIGHT

    def data(self, folder: Path) -> EvalSet:
        """Return the set with its outputs, metrics and aspects."""
        whole = sparingly.load(folder / f"{self.file}.jsonl.gz")
        return whole.only(name for name in whole.fields if name not in ("ratings", "preferences"))

    def method(self, changes: str = "") -> str:
        """Return CASF as text, with some parameters changed."""
        names = ",".join(f'"{name}"' for name in self.metrics)
        parts = [f"metric={self.first}", *([f"metrics=[{names}]"] if names else [])]
        if len(self.aspects) > 1:
            parts.append(f"aspects=[{','.join(self.aspects)}]")
        given = {part.split("=")[0] for part in changes.split(",")}
        kept = [part for part in parts if part.split("=")[0] not in given]
        return f"casf:{','.join([*kept, *([changes] if changes else [])])}"


CASES = (
    Case("newsroom", "Newsroom", ("coherence", "fluency", "informativeness", "relevance")),
    Case("thumb_mscoco", "THUMB-MSCOCO", ("human_score",)),
    Case(
        "personachat_usr",
        "PersonaChat",
        ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall"),
    ),
    Case("casf_newstest2021_zhen", "newstest2021 zh–en", ("mqm",)),
    Case("summeval", "SummEval", ("coherence", "consistency", "fluency", "relevance"), "chrF", ()),
    Case("realsumm", "REALSumm", ("litepyramid_recall",), "rouge_l_recall", ()),
    Case("opinsummeval", "OpinSummEval", ("asp_rel", "self_coh", "sent_con", "readblty"), "chrF", ()),
)


def chosen_rows(data: EvalSet, case: Case, method: str, share: str, seed: int = 0) -> Rows:
    """Return the items that a method judges under a share of them."""
    if not method.startswith("casf"):
        return data.positions(sparingly.select(data, method, share, seed=seed).items)
    state = list(replay(data, method, share, truth=case.aspects[0], seed=seed))[-1].state
    return np.flatnonzero(state.asked.any(axis=1))


def measured(data: EvalSet, case: Case, rows: Rows) -> dict[str, list[float]]:
    """Return how close a subset's ranking comes to that of all items, aspect by aspect."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for aspect in case.aspects:
        scores = data.aspects[aspect]
        means, full = scores[rows].mean(axis=0), scores.mean(axis=0)
        part, whole = pair_signed_rank(scores[rows]), pair_signed_rank(scores)
        found["kendall"].append(float(kendall_b(means, full)))
        found["top1"].append(float(top1_match(means, full)))
        found["retained_05"].append(float(significance_retained(part, whole, 0.05)))
        found["retained_001"].append(float(significance_retained(part, whole, 0.001)))
    return found


def mean_of_runs(runs: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Return the mean over runs of every measure, aspect by aspect, and the spread of Kendall's tau."""
    means: dict[str, Any] = {name: np.mean([run[name] for run in runs], axis=0).tolist() for name in MEASURES}
    spread = np.std([run["kendall"] for run in runs], axis=0, ddof=1) if len(runs) > 1 else None
    means["kendall_sd"] = None if spread is None else spread.tolist()
    return means
