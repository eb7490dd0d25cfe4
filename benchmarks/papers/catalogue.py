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
# name -> yes; direction, where methods stand in the published order but by other amounts; or no, because.
REPRODUCES: Mapping[str, str] = MappingProxyType(
    {
        "s0-fig4": "direction: two of the nine pairs of languages are here; gains are smaller.",
        "s0-fig6": "direction: other sets; the better the metric, the fewer labels, as published.",
        "s0-fig7": "direction: GPT-4's ratings stand for G-Eval, and SummEval has 12 models here.",
        "s0-table1": "direction: two of the nine pairs of languages are here.",
        "s0-table2": "direction: most of the gain is short documents, which random utilities find too.",
        "s0-table3": "no: the published gain comes from costs whose cheapest item is free.",
        "s0-table4": "direction: crowds gain less than published, on three settings.",
        "s0-table5": "direction: fewer labels, by other shares; a first crossing flatters.",
        "s0-table6": "direction: GPT-4's ratings stand for G-Eval.",
        "s0-table8": "direction: two of the nine pairs of languages are here.",
        "s0-table9": "yes",
        "s0-table10": "direction: the metric is fixed beforehand here, and the best one of each set there.",
        "s1-table1": "direction: other raters; proportional strata gain less.",
        "s1-table2": "yes",
        "s1-table3": "direction: several metrics at once are harmful here, as they nearly repeat each other.",
        "s1-table4": "yes",
        "s1-table5": "yes",
        "s1-table6": "direction: BLEURT and COMET of 2021 are not here, so that only documents gain.",
        "s1-table12": "direction: other raters.",
        "s1-fig2": "direction: proportional strata gain less; those that follow ratings gain nothing.",
        "s1-fig3": "direction: several metrics at once are harmful here.",
        "s1-fig4": "yes",
        "s1-fig5": "direction: BLEURT and COMET of 2021 are not here, so that only documents gain.",
        "s1-fig6": "yes",
        "s2-table1": "direction: smaller sets, of which more rankings change.",
        "s2-table2": "direction: the gain is that all models have the same draw.",
        "s2-table3": "yes",
        "s2-table4": "yes",
        "s3-table1": "no: published taus compare argsort results; between scores random is far better.",
        "s3-table2": "direction: the best model is found as often; random finds it more often.",
        "s3-table3": "no: with tau between scores, numbers of phases hardly differ.",
        "s3-table4": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table7": "no: with tau between scores, regressors hardly differ.",
        "s3-table8": "no: with tau between scores, regressors hardly differ; other validation sets.",
        "s3-table9": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table10": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table11": "no: the first metric orders a tenth of the items; other validation sets.",
        "s3-table12": "direction: tau rises with the size of the sample, for random as well.",
        "s3-table13": "direction: tau rises with the size of the sample, for random as well.",
        "s3-claim": "yes",
        "s3-texts": "no: nothing is published, as the paper leaves it to future work.",
        "s4-table2": "no: the scenarios of HELM are not here; random with the same stop errs no more.",
        "s4-table3": "no: the scenarios of HELM are not here; random with the same stop errs no more.",
        "s4-fig2": "yes",
        "s4-fig3": "yes",
        "s4-fig4": "yes",
        "s4-fig5": "direction: DiffUse leans towards the winner on most sets, not on AlpacaEval.",
        "s4-fig6": "no: the scenarios of HELM are not here; random with the same stop errs no more.",
        "s4-fig7": "direction: summaries of different models hardly ever share all their n-grams.",
        "s4-fig8": "yes",
        "s4-fig9": "yes",
        "s4-fig10": "no: beyond the smallest norms, success is flat here.",
        "s4-fig11": "no: DiffUse is ahead of random on some sets and behind on others.",
        "s4-fig12": "direction: k-means is close to Ward's linkage; linkage by cosine is behind random.",
        "s4-fig13": "yes",
        "s4-fig14": "yes",
        "s4-fig15": "yes",
        "s4-fig16": "yes",
    }
)
# name -> why these data sets do not allow it, in one sentence.
IMPOSSIBLE: Mapping[str, str] = MappingProxyType(
    {
        # Zouhar et al. 2025
        "s0-fig5": "its models of sources (PreCOMET) and their training data are not in the collection.",
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


def reproduces(name: str) -> tuple[str, str]:
    """Return whether a table reproduces (yes, direction or no), and what stands between."""
    verdict, _, because = REPRODUCES[name].partition(": ")
    return verdict, because


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
