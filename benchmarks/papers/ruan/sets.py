"""The data sets on which constrained active sampling is compared: those of its paper, and three others."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.papers.settings import DEMO
from benchmarks.papers.work import Work
from sparingly.data.evalset import EvalSet

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
# As the paper names and orders them.
ORDERINGS = (
    "BERT-SCORE",
    "MOVER-SCORE",
    "ROUGE-1",
    "ROUGE-2",
    "ROUGE-L",
    "BART-SCORE",
    "BLEU",
    "METEOR",
)
TASKS = {"SUM": "summaries", "MT": "translation", "DGen": "dialogue", "MMGen": "captions"}


@dataclass(frozen=True)
class Case:
    """A data set: its aspects, the metrics of the learner, and the one that orders the first phase.

    The paper's eight metrics and MoverScore where the set has them; else all metrics, and chrF or ROUGE-L,
    which nobody chose by looking at the human scores.

    Attributes:
        file: The data set, without its ending.
        title: How it is called in the tables.
        task: The paper's short name of the task.
        aspects: What people judged.
        first: The metric that orders the first phase.
        metrics: The learner's features; all metrics where there are none.
        orderings: Which of the paper's eight metrics the set has, by the paper's name and its own.
        is_published: Whether the paper has this set.
    """

    file: str
    title: str
    task: str
    aspects: tuple[str, ...]
    first: str = "mover_score"
    metrics: tuple[str, ...] = EIGHT
    orderings: tuple[tuple[str, str], ...] = tuple(zip(ORDERINGS, EIGHT, strict=True))
    is_published: bool = True

    def data(self, work: Work) -> EvalSet:
        """Return the set with its outputs, metrics and aspects."""
        whole = work.load(self.file)
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
    Case("newsroom", "Newsroom", "SUM", ("coherence", "fluency", "informativeness", "relevance")),
    Case("thumb_mscoco", "THUMB-MSCOCO", "MMGen", ("human_score",)),
    Case(
        "personachat_usr",
        "PersonaChat",
        "DGen",
        ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall"),
    ),
    Case("casf_newstest2021_zhen", "newstest2021 zh–en", "MT", ("mqm",)),
    Case(
        "summeval",
        "SummEval",
        "SUM",
        ("coherence", "consistency", "fluency", "relevance"),
        "chrF",
        (),
        (("ROUGE-1", "ROUGE-1"), ("ROUGE-2", "ROUGE-2"), ("ROUGE-L", "ROUGE-L")),
    ),
    Case(
        "realsumm",
        "REALSumm",
        "SUM",
        ("litepyramid_recall",),
        "rouge_l_recall",
        (),
        (
            ("BERT-SCORE", "bert_f_score"),
            ("MOVER-SCORE", "mover_score"),
            ("ROUGE-1", "rouge_1_f_score"),
            ("ROUGE-2", "rouge_2_f_score"),
            ("ROUGE-L", "rouge_l_f_score"),
        ),
    ),
    Case(
        "opinsummeval",
        "OpinSummEval",
        "SUM",
        ("asp_rel", "self_coh", "sent_con", "readblty"),
        "chrF",
        (),
        (),
        is_published=False,
    ),
)
# Of the published sets that are here only one has more than 147 items: these show larger samples.
LARGER = (
    Case("wmt21_zhen", "WMT21 zh–en", "MT", ("mqm",), "chrF", (), (), is_published=False),
    Case("wmt21_ende", "WMT21 en–de", "MT", ("mqm",), "chrF", (), (), is_published=False),
)
DEMO_CASE = Case(
    DEMO, "demo", "SUM", ("overall",), "learned", (), (("MOVER-SCORE", "learned"), ("ROUGE-1", "surface"))
)


def cases(work: Work, usual: tuple[Case, ...] = CASES) -> tuple[Case, ...]:
    """Return the sets to compute on: the usual ones, or the demo set in their place."""
    return (DEMO_CASE,) if work.is_demo else usual


def files(usual: tuple[Case, ...] = CASES) -> tuple[str, ...]:
    """Return the names of the data sets."""
    return tuple(case.file for case in usual)
