"""``sparingly --cite``: how to cite the package and the methods it builds on."""

from __future__ import annotations

import sys

from sparingly._version import __version__
from sparingly.cli.options import Json, emit

_OURS = """@software{{sparingly,
  title   = {{sparingly: choosing what people judge, and learning what judging everything would have said}},
  author  = {{{{The sparingly developers}}}},
  version = {{{version}}},
  year    = {{2026}}
}}
"""


# What each paper is used for, its authors, year and title.
_PAPERS = (
    (
        "metric_avg, metric_var, metric_cons, diversity, irt, search, kmeans, mix"
        ", cost-aware selection, crowds",
        "Zouhar, Cui and Sachan",
        2025,
        "How to Select Datapoints for Efficient Human Evaluation of NLG Models?",
    ),
    (
        "diffuse, max_norm, winners of pairs",
        "Ashury Tahan, Gera, Sznaider, Choshen, Ein-Dor and Shnarch",
        2024,
        "Label-Efficient Model Selection for Text Generation",
    ),
    (
        "heuristic, significance retained, standings",
        "Ruan, Pu, Gao, Wan and Zhu",
        2024,
        "Better than Random: Reliable NLG Human Evaluation with Constrained Active Sampling",
    ),
    (
        "stratified, control_variate, bounds of scores",
        "Saldías, Foster, Freitag and Tan",
        2022,
        "Toward More Effective Human Evaluation for Machine Translation",
    ),
    (
        "snippets, documents, stability, representation",
        "Lo and Knowles",
        2023,
        "Data Sampling and (In)stability in Machine Translation Evaluation",
    ),
    (
        "soft pairwise accuracy",
        "Thompson, Mathur, Deutsch and Khayrallah",
        2024,
        "Improving Statistical Significance in Human Evaluation of Automatic Metrics"
        " via Soft Pairwise Accuracy",
    ),
)


def cite(*, json: Json = False) -> None:
    """Print how to cite the package and the methods."""
    bibtex = _OURS.format(version=__version__)
    if json:
        papers = [
            {"used_for": used_for.split(", "), "authors": authors, "year": year, "title": title}
            for used_for, authors, year, title in _PAPERS
        ]
        emit({"bibtex": bibtex, "papers": papers})
        return
    sys.stdout.write(f"{bibtex}\nPlease cite the papers whose methods you use, too:\n")
    for used_for, authors, year, title in _PAPERS:
        sys.stdout.write(f"  {used_for}: {authors} ({year}),\n    {title}\n")
