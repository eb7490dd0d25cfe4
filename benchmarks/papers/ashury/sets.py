"""The data sets on which pairs of models are compared, and what is known of each before anyone judges it.

The paper's sets (six scenarios of HELM, whose oracles are automatic metrics) are not in the collection. These
have human scores, or those of a judge, and metrics, each of which can stand for the oracle as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from benchmarks.analyses.pairs import Outputs, outputs_of
from benchmarks.papers.settings import DEMO
from benchmarks.papers.work import Work
from sparingly.base import rng

EMBEDDING = "tfidf"
# Pairs of models that are compared at most, drawn by their names: enough for a percent, in minutes.
MOST_PAIRS = 150
SHARE = 0.8


@dataclass(frozen=True)
class Source:
    """A data set, the scores that preferences are taken from, and its title."""

    file: str
    truth: str
    title: str


SUMMEVAL = Source("summeval_llm12", "sum", "SummEval")
SOURCES = (
    Source("alpacaeval2_llmjudge", "pref_vs_gpt4turbo_JUDGE_gpt4turbo", "AlpacaEval 2 (LLM judge)"),
    Source("wmt23_zhen", "mqm", "WMT23 zh–en"),
    Source("wmt23_ende", "mqm", "WMT23 en–de"),
    Source("wmt23_ende_esa", "esa1", "WMT23 en–de, ESA"),
    Source("wmt23_zhen_mqm3", "mqm3", "WMT23 zh–en, three raters"),
    Source("wmt23_ende_mqm3", "mqm3", "WMT23 en–de, three raters"),
    SUMMEVAL,
)
FILES = tuple(one.file for one in SOURCES)
DEMO_SOURCE = Source(DEMO, "overall", "demo")


def sources(work: Work, usual: tuple[Source, ...] = SOURCES) -> tuple[Source, ...]:
    """Return the sets to compute on: the usual ones, or the demo set in their place."""
    return (DEMO_SOURCE,) if work.is_demo else usual


@lru_cache(maxsize=1)
def outputs(work: Work, file: str) -> Outputs:
    """Return the embedded outputs of a set; kept, because many cells in a row use the same."""
    return outputs_of(work.load(file), EMBEDDING)


def drawn_pairs(models: tuple[str, ...], most: int | None) -> list[tuple[int, int]]:
    """Return the places of the two models of every pair, or of ``most`` of them, drawn by their names."""
    pairs = [(one, other) for one in range(len(models)) for other in range(one + 1, len(models))]
    if most is None or most >= len(pairs):
        return pairs
    keys = rng.keys_of([f"{models[one]}\x1f{models[other]}" for one, other in pairs])
    order = rng.stream(keys, 0, "pairs of a table").argsort(kind="stable")
    return [pairs[place] for place in sorted(order[:most].tolist())]
