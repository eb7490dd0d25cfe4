"""Every published table and figure by name: where it is computed, or why it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from benchmarks.papers.work import Work
from sparingly.base.errors import UnknownNameError, UsageError

# --- what a published table is here ----------------------------------------------------------------------


Figures = dict[str, Any]


@dataclass(frozen=True)
class PaperTable:
    """A published table or figure that is computed anew.

    Attributes:
        name: As it is asked for, such as ``s0-table5``.
        title: The paper, the number and what it shows: ``Zouhar et al. 2025, Table 5: …``.
        sets: The names of the data sets it is computed on.
        figures: Computes the figures, as plain values for a JSON file.
        text: Shows them as Markdown, next to the published ones, and explains the differences.
        picture: Draws them, where the paper has curves without numbers.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    figures: Callable[[Work], Figures]
    text: Callable[[Figures], str]
    picture: Callable[[Figures], Any] | None = None


# --- every published table and figure by name ------------------------------------------------------------


# name -> "module:attribute"; modules are imported when they are asked for.
HOMES: Mapping[str, str] = MappingProxyType(
    {
        # Zouhar et al. 2025
        "s0-fig4": "zouhar.selection:FIG4",
        "s0-fig5": "zouhar.sources:FIG5",
        "s0-fig6": "zouhar.selection:FIG6",
        "s0-fig7": "zouhar.selection:FIG7",
        "s0-table1": "zouhar.selection:TABLE1",
        "s0-table2": "zouhar.selection:TABLE2",
        "s0-table3": "zouhar.savings:TABLE3",
        "s0-table4": "zouhar.crowd:TABLE4",
        "s0-table5": "zouhar.savings:TABLE5",
        "s0-table6": "zouhar.savings:TABLE6",
        "s0-table8": "zouhar.appendix:TABLE8",
        "s0-table9": "zouhar.selection:TABLE9",
        "s0-table10": "zouhar.sets:TABLE10",
        # Saldías et al. 2022
        "s1-table1": "saldias.tables:TABLE_1",
        "s1-table2": "saldias.tables:TABLE_2",
        "s1-table3": "saldias.tables:TABLE_3",
        "s1-table4": "saldias.tables:TABLE_4",
        "s1-table5": "saldias.tables:TABLE_5",
        "s1-table6": "saldias.tables:TABLE_6",
        "s1-table12": "saldias.raters:TABLE_12",
        **{f"s1-fig{number}": f"saldias.figures:FIG{number}" for number in range(2, 7)},
        # Lo and Knowles 2023
        "s2-table1": "lo_knowles:TABLE_1",
        "s2-table2": "lo_knowles:TABLE_2",
        "s2-table3": "lo_knowles:TABLE_3",
        "s2-table4": "lo_knowles:TABLE_4",
        "s2-context": "context:CONTEXT",
        # Ruan et al. 2024
        "s3-table1": "ruan.methods:TABLE1",
        "s3-table2": "ruan.methods:TABLE2",
        "s3-table3": "ruan.phases:TABLE3",
        "s3-table4": "ruan.first_metric:TABLE4",
        "s3-table7": "ruan.regressors:TABLE7",
        "s3-table8": "ruan.validation:TABLE8",
        "s3-table9": "ruan.first_metric:TABLE9",
        "s3-table10": "ruan.first_metric:TABLE10",
        "s3-table11": "ruan.validation:TABLE11",
        "s3-table12": "ruan.sizes:TABLE12",
        "s3-table13": "ruan.sizes:TABLE13",
        "s3-claim": "ruan.validation:CLAIM",
        "s3-texts": "ruan.validation:TEXTS",
        # Ashury Tahan et al. 2024
        "s4-table2": "ashury.iterative:TABLE2",
        "s4-table3": "ashury.iterative:TABLE3",
        "s4-fig2": "ashury.analyses:FIG2",
        "s4-fig3": "ashury.curves:FIG3",
        "s4-fig4": "ashury.curves:FIG4",
        "s4-fig5": "ashury.curves:FIG5",
        "s4-fig6": "ashury.iterative:FIG6",
        "s4-fig7": "ashury.analyses:FIG7",
        "s4-fig8": "ashury.analyses:FIG8",
        "s4-fig9": "ashury.variants:FIG9",
        "s4-fig10": "ashury.analyses:FIG10",
        "s4-fig11": "ashury.curves:FIG11",
        "s4-fig12": "ashury.variants:FIG12",
        "s4-fig13": "ashury.variants:FIG13",
        "s4-fig14": "ashury.variants:FIG14",
        "s4-fig15": "ashury.analyses:FIG15",
        "s4-fig16": "ashury.variants:FIG16",
    }
)
# name -> why these data sets do not allow it, in one sentence.
IMPOSSIBLE: Mapping[str, str] = MappingProxyType(
    {
        # Zouhar et al. 2025
        "s0-table7": "it compares earlier work in words and has no results.",
        # Saldías et al. 2022
        "s1-fig1": "it is a drawing of the method and has no data.",
        "s1-table7": "it counts the segments and documents of each rater of WMT20 and has no results.",
        "s1-table8": "it lists the MQM scores of WMT20's systems and has no results of a method.",
        "s1-table9": "its metrics were submitted to WMT20, and their scores are not in the collection.",
        "s1-table10": "it counts the segments of each rater of WMT21 and has no results.",
        "s1-table11": "it lists the MQM scores of WMT21's systems and has no results of a method.",
        # Lo and Knowles 2023
        "s2-fig1": "it draws the shares of WMT22's test sets, which s2-table4 shows as numbers beside ours.",
        "s2-table5": "it lists the codes of languages and has no results.",
        "s2-table6": "it lists how much of WMT19 and WMT20 was judged; s2-table1 draws the mean of it.",
        "s2-table7": "it lists how much of WMT19 to WMT22 was judged; s2-table2 draws the mean of it.",
        "s2-table8": "it lists how much of WMT22 was judged; s2-table3 draws the mean of it.",
        # Ruan et al. 2024
        "s3-table5": "it describes the sets of the paper and has no results.",
        "s3-table6": "it describes the validation sets of the paper and has no results.",
        "s3-table14": "it counts the sets of s3-table13, which shows the counts of ours.",
        "s3-fig4": "it shows one ranking of OpenAI's TL;DR summaries, which are not in the collection.",
        "s3-fig5": "it counts papers of a survey, which is not in the collection.",
        "s3-fig6": "it counts papers of a survey, which is not in the collection.",
        # Ashury Tahan et al. 2024
        "s4-table1": "it describes the scenarios of HELM, which are not in the collection.",
        "s4-fig1": "it is a drawing of the method and has no data.",
    }
)


def names() -> tuple[str, ...]:
    """Return the names of all tables that can be computed."""
    return tuple(HOMES)


def paper_table(name: str) -> PaperTable:
    """Return a table by its name; a name that cannot be computed says why."""
    if name in IMPOSSIBLE:
        raise UsageError(f"{name} cannot be computed: {IMPOSSIBLE[name]}")
    if name not in HOMES:
        raise UnknownNameError("table of a paper", name, HOMES)
    module, attribute = HOMES[name].split(":")
    found: PaperTable = getattr(import_module(f"benchmarks.papers.{module}"), attribute)
    return found
