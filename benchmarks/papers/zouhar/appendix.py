"""The other methods of Zouhar et al. 2025, appendix A, with the figures of their Table 8 beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.minilm import EMBEDDING
from benchmarks.pages import points, table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import HUMAN, WMT23, Setting, Work
from benchmarks.papers.zouhar.sets import BY_MINILM, OTHER_METHODS, OTHER_SETS, page, random_note, why
from benchmarks.papers.zouhar.spa import Row, mark, setting_figures

Figures = dict[str, Any]

SECOND_METRIC = "XCOMET-XXL"
RANDOM_PUBLISHED = 0.916


@dataclass(frozen=True)
class Published:
    """A row of the published table, and the method that stands for it here.

    ``{metric}`` and ``{second}`` in a method are the names of the two metrics; ``human`` is the truth, shown
    as if it were a metric.
    """

    name: str
    accuracy: float
    method: str
    is_seeded: bool = False
    is_oracle: bool = False

    def row(self, metric: str, second: str) -> Row:
        """Return the method to run, with its metrics named."""
        return Row(self.method.format(metric=metric, second=second), self.is_seeded, self.is_oracle)


def _search(name: str, accuracy: float, method: str) -> Published:
    return Published(name, accuracy, method, is_seeded=True, is_oracle="oracle" in method)


def _human(name: str, accuracy: float, utility: str) -> Published:
    return Published(f"{name} (human)", accuracy, f"{utility}:metric={HUMAN}", is_oracle=True)


def _kmeans(name: str, accuracy: float, method: str) -> tuple[Published, ...]:
    """Return clusters of character n-grams, and those of the encoder that the paper has."""
    texts = (method, f"{method},embedding={EMBEDDING}")
    return tuple(Published(f"k-means ({name})", accuracy, text, is_seeded=True) for text in texts)


def _irt(name: str, accuracy: float, utility: str) -> Published:
    return Published(f"IRT ({name})", accuracy, f"irt:metric={{metric}},utility={utility}")


def _mix(name: str, accuracy: float, first: str, second: str) -> Published:
    return Published(name, accuracy, f"mix:of=({first})+({second})")


ROWS = (
    _search("Oracle subset (human, N=10)", 0.941, "search:kind=bruteforce,oracle=true,n=10"),
    _search("Oracle subset (human, N=100)", 0.953, "search:kind=bruteforce,oracle=true,n=100"),
    _search("Oracle subset (human, N=1000)", 0.961, "search:kind=bruteforce,oracle=true"),
    _search("Oracle subset (MetricX, N=10)", 0.916, "search:kind=bruteforce,under={metric},n=10"),
    _search("Oracle subset (MetricX, N=100)", 0.917, "search:kind=bruteforce,under={metric},n=100"),
    _search("Oracle subset (MetricX, N=1000)", 0.917, "search:kind=bruteforce,under={metric}"),
    _search("Greedy subset (human, N=10, S=10)", 0.970, "search:oracle=true,n=10"),
    _search("Greedy subset (human, N=100, S=10)", 0.979, "search:oracle=true,n=100"),
    _search("Greedy subset (MetricX, N=10, S=10)", 0.922, "search:under={metric},n=10"),
    _search("Greedy subset (MetricX, N=100, S=10)", 0.918, "search:under={metric},n=100"),
    _human("MetricAvg", 0.925, "metric_avg"),
    _human("MetricVar", 0.926, "metric_var"),
    _human("MetricCons", 0.962, "metric_cons"),
    Published("Diversity (unigram)", 0.924, "diversity:similarity=unigram"),
    Published("Diversity (chrF)", 0.921, "diversity:similarity=chrf"),
    Published("Diversity (BLEU)", 0.929, "diversity:similarity=bleu"),
    *_kmeans("sources", 0.923, "kmeans:features=source"),
    *_kmeans("sources, weighted", 0.915, "kmeans:features=source,weighted=true"),
    *_kmeans("outputs", 0.918, "kmeans:features=output_mean"),
    *_kmeans("outputs, weighted", 0.893, "kmeans:features=output_mean,weighted=true"),
    Published("DiffUse", 0.924, "diffuse"),
    Published("DiffUse", 0.924, f"diffuse:embedding={EMBEDDING}"),
    _irt("difficulty", 0.890, "difficulty"),
    _irt("discriminability", 0.887, "discrimination"),
    _irt("feasibility", 0.847, "feasibility"),
    _irt("Fisher information", 0.925, "information"),
    _mix(
        "MetricAvg (MetricX) + MetricVar (MetricX)",
        0.931,
        "metric_avg:metric={metric}",
        "metric_var:metric={metric}",
    ),
    _mix(
        "MetricAvg (MetricX) + MetricAvg (XCOMET)",
        0.926,
        "metric_avg:metric={metric}",
        "metric_avg:metric={second}",
    ),
    _mix(
        "MetricVar (MetricX) + MetricVar (XCOMET)",
        0.935,
        "metric_var:metric={metric}",
        "metric_var:metric={second}",
    ),
    _mix(
        "MetricCons (MetricX) + MetricVar (MetricX)",
        0.932,
        "metric_cons:metric={metric}",
        "metric_var:metric={metric}",
    ),
    _mix("MetricCons (MetricX) + Diversity (LM)", 0.931, "metric_cons:metric={metric}", "diversity"),
    _mix("MetricCons (MetricX) + Diversity (LM)", 0.931, "metric_cons:metric={metric}", BY_MINILM),
    Published("Better than Random", 0.912, "casf:metric={metric},metrics=[{metric},{second}]"),
)


# Rows of the published table that are not computed, and why.
NOT_HERE = (
    ("Sentinel-DA-src", 0.920, "a trained model of sources"),
    ("Sentinel-MQM-src", 0.922, "a trained model of sources"),
    ("COMET-instant-confidence (high error)", 0.911, "no set has the error that this metric expects"),
    ("COMET-instant-confidence (low error)", 0.851, "no set has the error that this metric expects"),
)


def figures(work: Work) -> Figures:
    """Compute the figures of the table."""
    second = "judge" if work.is_demo else SECOND_METRIC
    settings = [replace(setting, also=(second,), human_as_metric=True) for setting in work.settings(WMT23)]
    found = work.each(lambda setting: _with_published(work, setting, second), settings)
    return {"random_runs": work.effort.random_runs, "seeds": work.effort.seeds, "settings": found}


def _with_published(work: Work, setting: Setting, second: str) -> Figures:
    found = setting_figures(work, setting, [row.row(setting.metric, second) for row in ROWS])
    for ours, theirs in zip(found["methods"], ROWS, strict=True):
        ours.update(name=theirs.name, published=theirs.accuracy)
    return found


def blocks(computed: Figures) -> dict[str, str]:
    """Return the table as Markdown, by the name of its marker."""
    settings = computed["settings"]
    randoms = [setting["random"] for setting in settings]
    rows = [_line("random", "Random", RANDOM_PUBLISHED, randoms, randoms)]
    for place, row in enumerate(settings[0]["methods"]):
        found = [setting["methods"][place] for setting in settings]
        rows.append(_line(row["method"], row["name"], row["published"], found, randoms))
    head = ["method", "published as", "published", "ours, mean", *(setting["title"] for setting in settings)]
    return {"appendix": table(head, rows, texts=2)}


def _line(
    method: str, name: str, published: float, found: Sequence[Figures], randoms: Sequence[Figures]
) -> list[str]:
    mean = sum(one["mean"] for one in found) / len(found)
    cells = [
        f"{points(one['mean'])} {mark(one, random)}".strip()
        for one, random in zip(found, randoms, strict=True)
    ]
    return [f"`{method}`", name, points(published), points(mean), *cells]


def _text(computed: Figures) -> str:
    absent = [[name, reason, points(accuracy)] for name, accuracy, reason in NOT_HERE]
    return page(
        f"{random_note(computed)} Searches and k-means are means of {computed['seeds']} seeds.",
        blocks(computed)["appendix"],
        f"Not computed:\n\n{table(['published as', 'because', 'published'], absent, texts=2)}",
        why(
            OTHER_SETS,
            OTHER_METHODS,
            "The published code also sorts by the negative of IRT difficulty and discriminability, and "
            "clusters DiffUse by mean coordinates in place of the distances that its text speaks of.",
        ),
    )


TABLE8 = PaperTable(
    "s0-table8",
    "Zouhar et al. 2025, Table 8: other methods of the appendix",
    tuple(dict.fromkeys(setting.file for setting in WMT23)),
    figures,
    _text,
)
