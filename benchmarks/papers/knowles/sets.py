"""The fully judged sets with documents, and what stands for the truth in each."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.papers.settings import DEMO
from benchmarks.papers.work import Work

HUMAN = "human score"


@dataclass(frozen=True)
class Set:
    """A fully judged set, its human score, and the metrics that are truths too.

    Attributes:
        file: The data set, without its ending.
        title: How it is called in the tables.
        human: The aspect that people judged.
        truths: Columns of the tables by the metric that stands in each.
    """

    file: str
    title: str
    human: str
    truths: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> dict[str, str]:
        """The truth of every column of the tables."""
        return {HUMAN: self.human, **dict(self.truths)}


_COMPUTED = (("chrF", "chrF"), ("BLEU", "BLEU"), ("consensus chrF", "consensus_chrF"))
# Documents that are long enough for snippets to differ from them.
LONG = (
    Set(
        "wmt20_ende_notext",
        "WMT20 en–de",
        "mqm",
        (("chrF", "chrF"), ("BLEU", "parbleu"), ("YiSi-2", "YiSi-2[QE]"), ("BLEURT", "bleurt-combi")),
    ),
    Set("wmt21_ende", "WMT21 en–de", "mqm", _COMPUTED),
    Set("ted21_ende", "TED21 en–de", "mqm", _COMPUTED),
    Set("biomqm_deen", "bio de–en", "mqm", _COMPUTED),
    Set("biomqm_ende", "bio en–de", "mqm", _COMPUTED),
    Set("biomqm_enes", "bio en–es", "mqm", _COMPUTED),
    Set("biomqm_enfr", "bio en–fr", "mqm", _COMPUTED),
    Set("biomqm_enru", "bio en–ru", "mqm", _COMPUTED),
)
_PUBLISHED = (("COMET", "COMET"), ("YiSi-1", "YiSi-1"), ("BLEU", "BLEU"), ("chrF", "chrF"))
# Documents of ten segments at most; the first two have the paper's metrics.
SHORT = (
    Set("wmt23_ende", "WMT23 en–de", "mqm", _PUBLISHED),
    Set("wmt23_zhen", "WMT23 zh–en", "mqm", _PUBLISHED),
    Set("wmt24_encs", "WMT24 en–cs", "esa", _COMPUTED),
    Set("wmt24_enhi", "WMT24 en–hi", "esa", _COMPUTED),
    Set("wmt24_enzh", "WMT24 en–zh", "esa", _COMPUTED),
)
DEMO_SET = Set(DEMO, "the demo set", "overall", (("chrF", "learned"),))


def sets_of(work: Work, usual: tuple[Set, ...]) -> tuple[Set, ...]:
    """Return the sets to compute: the usual ones, or the demo set in their place."""
    return (DEMO_SET,) if work.is_demo else usual
