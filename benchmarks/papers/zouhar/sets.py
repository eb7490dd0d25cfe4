"""Soft pairwise accuracy set by set: Table 10, for the sets that the collection shares with the paper."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import bold, points, table
from benchmarks.papers.settings import SMALL_SET_SHARES, Setting
from benchmarks.papers.work import Work
from benchmarks.papers.zouhar.beside import METHODS, OTHER_METHODS, SELECTORS, page, random_note, why
from benchmarks.papers.zouhar.spa import RANDOM, Row, mark, setting_figures

_METRICX, _CHRF = "MetricX-23", "chrF"
_BY_TEXT = "diversity"
_ASPECTS = ("relevance", "coherence", "consistency", "fluency")
_PRODUCT = f"product:of=[{','.join(_ASPECTS)}]"


@dataclass(frozen=True)
class PublishedSet:
    """A row of the published table: its size, its figures in the order of the selectors, and our set."""

    setting: Setting
    models: int
    items: int
    published: tuple[float, ...]


def _summaries(truth: str, metric: str, title: str) -> Setting:
    marks = (0.25, 0.5, 0.75)
    return Setting("summeval_llm12", truth, metric, f"SummEval, {title}", SMALL_SET_SHARES, marks)


_SUMMARIES = {
    "relevance": (94.0, 95.7, 95.9, 95.5, 94.2, 93.3),
    "coherence": (94.7, 95.6, 94.5, 95.0, 95.3, 95.1),
    "consistency": (90.2, 91.8, 91.2, 92.5, 92.0, 91.0),
    "fluency": (90.2, 93.9, 92.0, 94.1, 91.1, 93.1),
}
ROWS = (
    PublishedSet(
        Setting("wmt24_encs", "esa", _CHRF, "WMT24 en–cs, ESA"),
        15,
        571,
        (90.3, 86.5, 87.0, 89.6, 92.1, 89.0),
    ),
    PublishedSet(
        Setting("wmt24_enhi", "esa", _CHRF, "WMT24 en–hi, ESA"),
        10,
        634,
        (89.6, 86.1, 87.8, 92.5, 90.3, 91.7),
    ),
    PublishedSet(
        Setting("wmt24_enzh", "esa", _CHRF, "WMT24 en–zh, ESA"),
        12,
        634,
        (87.9, 87.3, 86.7, 86.8, 84.3, 86.7),
    ),
    PublishedSet(
        Setting("wmt23_ende", "da_sqm", _METRICX, "WMT23 en–de, DA+SQM"),
        12,
        549,
        (92.1, 91.8, 92.1, 91.9, 91.7, 92.3),
    ),
    PublishedSet(
        Setting("wmt23_zhen", "da_sqm", _METRICX, "WMT23 zh–en, DA+SQM"),
        15,
        884,
        (91.4, 93.3, 94.4, 90.3, 91.1, 91.0),
    ),
    PublishedSet(
        Setting("ted21_ende", "mqm", _CHRF, "TED 2021 en–de, MQM"),
        13,
        529,
        (83.8, 87.7, 85.7, 90.0, 85.0, 85.4),
    ),
    PublishedSet(
        Setting("wmt21_ende", "mqm", _CHRF, "WMT21 en–de, MQM"),
        13,
        527,
        (86.8, 91.1, 89.5, 93.5, 90.1, 91.0),
    ),
    PublishedSet(
        Setting("wmt21_zhen", "mqm", _CHRF, "WMT21 zh–en, MQM"),
        13,
        650,
        (81.3, 87.3, 87.7, 83.0, 89.4, 83.3),
    ),
    PublishedSet(
        Setting("wmt20_ende_notext", "mqm", _CHRF, "WMT20 en–de, MQM"),
        7,
        1418,
        (90.3, 86.3, 85.1, 91.0, 85.0, 92.2),
    ),
    *(
        PublishedSet(_summaries(aspect, f"gpt4_rts_{aspect}", aspect), 11, 100, _SUMMARIES[aspect])
        for aspect in _ASPECTS
    ),
    PublishedSet(_summaries("sum", "gpt4_rts_sum", "sum"), 11, 100, (95.5, 96.4, 95.8, 96.2, 96.0, 94.5)),
    PublishedSet(
        _summaries(_PRODUCT, "gpt4_rts_sum", "product"), 11, 100, (95.4, 96.1, 94.8, 96.1, 95.4, 93.8)
    ),
)


def _figures(work: Work) -> Figures:
    settings = work.settings(tuple(row.setting for row in ROWS))
    found = work.each(lambda setting: _setting(work, setting), settings)
    return {"random_runs": work.effort.random_runs, "settings": found}


def _setting(work: Work, setting: Setting) -> Figures:
    has_texts = "outputs" in work.load(setting.file).fields
    rows = [Row(name) for name in METHODS if has_texts or name != _BY_TEXT]
    return setting_figures(work, setting, rows)


def _text(computed: Figures) -> str:
    published = {row.setting.name: row for row in ROWS}
    rows = [_line(one, published.get(one["name"])) for one in computed["settings"]]
    head = ["set", "models", "items", *(f"`{name}`" for name in SELECTORS)]
    return page(
        f"{random_note(computed)} Every cell is *published / ours*; **bold** is our best of a line.",
        table(head, rows),
        why(
            "The metric is MetricX-23 on WMT23, GPT-4's ratings on SummEval and chrF elsewhere, fixed "
            "before looking; the published table takes on every set the metric that correlates best with "
            "its human scores, which no one has before judging. Sets differ in size where the collection "
            "keeps only items that are judged on all models, or models with texts (WMT21), and SummEval "
            "has 12 models.",
            OTHER_METHODS,
            "Of the other 40 rows the collection has no data.",
        ),
    )


def _line(found: Figures, published: PublishedSet | None) -> list[str]:
    ours = {row["method"]: row for row in (found["random"], *found["methods"])}
    best = max(row["mean"] for row in ours.values())
    cells = []
    for place, name in enumerate(SELECTORS):
        theirs = "–" if published is None else f"{published.published[place]:.1f}"
        row = ours.get(name)
        shown = "–" if row is None else bold(points(row["mean"]), row["mean"] == best)
        sign = "" if row is None or name == RANDOM else mark(row, found["random"])
        cells.append(f"{theirs} / {shown} {sign}".strip())
    sizes = ["–", "–"] if published is None else [str(published.models), str(published.items)]
    ours_sizes = (found["models"], found["items"])
    both = [f"{theirs} / {here}" for theirs, here in zip(sizes, ours_sizes, strict=True)]
    return [found["title"], *both, *cells]


TABLE10 = PaperTable(
    "s0-table10",
    "Zouhar et al. 2025, Table 10: soft pairwise accuracy set by set",
    tuple(dict.fromkeys(row.setting.file for row in ROWS)),
    _figures,
    _text,
)
