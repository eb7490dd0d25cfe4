"""Whether the tables of the papers reproduce, from reading what was computed beside the published."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# name -> yes; direction, where methods stand in the published order but by other amounts; or no, because.
REPRODUCES: Mapping[str, str] = MappingProxyType(
    {
        "s0-fig4": "direction: two of the nine pairs; metric_avg and metric_var gain as much, others less.",
        "s0-fig5": "direction: three of five are ahead of random; the published ones learned from far more.",
        "s0-fig6": "direction: other sets; the better the metric, the fewer labels, as published.",
        "s0-fig7": "direction: GPT-4's ratings stand for G-Eval, and SummEval has 12 models here.",
        "s0-table1": "direction: two of the nine pairs of languages are here.",
        "s0-table2": "direction: most of the gain is short documents, which random utilities find too.",
        "s0-table3": "no: the published gain comes from costs whose cheapest item is free.",
        "s0-table4": "direction: crowds gain more with a strong metric, and nothing with a weak one.",
        "s0-table5": "direction: fewer labels, by other shares; a first crossing flatters.",
        "s0-table6": "direction: GPT-4's ratings stand for G-Eval.",
        "s0-table8": "direction: two of the nine pairs of languages are here.",
        "s0-table9": "direction: metric_var is first here, not metric_cons; two of the nine pairs are here.",
        "s0-table10": "direction: the metric is fixed beforehand here, and the best one of each set there.",
        "s1-table1": "direction: proportional strata gain less; optimal ones gain with strong metrics.",
        "s1-table2": "direction: far worse than random on en–de, and as good as random on zh–en.",
        "s1-table3": "direction: several metrics at once are harmful here, as they nearly repeat each other.",
        "s1-table4": "direction: both together gain less; bins of a strong metric gain more.",
        "s1-table5": "yes",
        "s1-table6": "direction: BLEURT and COMET of 2021 are not here, so that only documents gain.",
        "s1-table12": "direction: other raters.",
        "s1-fig2": "direction: proportional strata gain less; those that follow ratings gain nothing.",
        "s1-fig3": "direction: several metrics at once are harmful here.",
        "s1-fig4": "direction: both together gain less; bins of a strong metric gain more.",
        "s1-fig5": "direction: BLEURT and COMET of 2021 are not here, so that only documents gain.",
        "s1-fig6": "yes",
        "s2-table1": "direction: smaller sets, of which more rankings change.",
        "s2-table2": "direction: the gain is that all models have the same draw.",
        "s2-table3": "yes",
        "s2-table4": "yes",
        "s2-context": "no: nothing is published; the paper names it a limitation.",
        "s3-table1": "no: published taus compare argsort results; between scores random is far better.",
        "s3-table2": "no: CASF finds the best model about as often as random, and less often than one phase.",
        "s3-table3": "no: with tau between scores, numbers of phases hardly differ.",
        "s3-table4": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table7": "no: with tau between scores, regressors hardly differ.",
        "s3-table8": "direction: boosting is first on other sets, too; the others are closer to it.",
        "s3-table9": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table10": "no: the first metric orders a tenth of the items; rows differ by chance.",
        "s3-table11": "direction: MoverScore is first on another validation set, too, by little.",
        "s3-table12": "no: tau rises with the sample, but CASF is ahead of random at half of the shares.",
        "s3-table13": "no: tau rises with the sample, but CASF is ahead of random at half of the sizes.",
        "s3-claim": "yes",
        "s3-texts": "no: nothing is published, as the paper leaves it to future work.",
        "s4-table2": "direction: by MiniLM fewer labels on five of seven sets, more errors; no HELM sets.",
        "s4-table3": "direction: by MiniLM fewer labels on four of seven sets, more errors; no HELM sets.",
        "s4-fig2": "yes",
        "s4-fig3": "yes",
        "s4-fig4": "yes",
        "s4-fig5": "direction: DiffUse leans towards the winner on most sets, not on AlpacaEval.",
        "s4-fig6": "direction: by MiniLM fewer labels on five of seven sets, more errors; no HELM sets.",
        "s4-fig7": "direction: summaries of different models hardly ever share all their n-grams.",
        "s4-fig8": "yes",
        "s4-fig9": "yes",
        "s4-fig10": "no: beyond the smallest norms, success is flat here.",
        "s4-fig11": "direction: by MiniLM ahead on five of seven sets by people, on three by metrics.",
        "s4-fig12": "direction: k-means is close to Ward's linkage; linkage by cosine is behind random.",
        "s4-fig13": "yes",
        "s4-fig14": "yes",
        "s4-fig15": "yes",
        "s4-fig16": "yes",
    }
)


def reproduces(name: str) -> tuple[str, str]:
    """Return whether a table reproduces (yes, direction or no), and what stands between."""
    verdict, _, because = REPRODUCES[name].partition(": ")
    return verdict, because
