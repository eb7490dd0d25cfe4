"""Table 3: numbers of phases, and how large the first one is."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.pages import table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.ruan import published
from benchmarks.papers.ruan.sets import (
    Figures,
    beside,
    cases,
    files,
    mean_text,
    over_aspects,
    runs_of,
    set_figures,
)
from benchmarks.papers.work import Work

PHASES = tuple(range(2, 11))
_HEADS = ("phases", "average", "first 10 %", "first 5 %", "first 15 %")


def methods() -> dict[str, str]:
    """Return every mode, ratio and number of phases, and what it changes in CASF."""
    found = {f"average {phases}": f"phases={phases}" for phases in PHASES}
    for share in ("0.1", "0.05", "0.15"):
        for phases in PHASES:
            found[f"{share} {phases}"] = f"phases={phases},mode=preliminary_fixed,preliminary={share}"
    return found


def figures(work: Work) -> Figures:
    """Compute CASF with every number and size of phases."""
    return {"sets": set_figures(work, cases(work), lambda case: runs_of(work, case, methods()))}


def phases_table(sets: Sequence[Figures]) -> str:
    """Return the mean Kendall of every mode, ratio and number of phases, the published one in brackets."""
    rows = []
    for place, phases in enumerate(PHASES):
        found = {mode: mean_text(over_aspects(sets, f"{mode} {phases}")) for mode in published.PHASES}
        cells = [beside(tau, published.PHASES[mode][place]) for mode, tau in found.items()]
        rows.append([str(phases), *cells])
    return table(_HEADS, rows)


def text(computed: Figures) -> str:
    """Return Table 3 next to the published one."""
    sets = computed["sets"]
    count = sum(len(data_set["aspects"]) for data_set in sets)
    return "\n\n".join(
        [
            phases_table(sets),
            f"Mean Kendall over {count} aspects at half of the items; in brackets: published, over 44. "
            "Every cell is one run.",
            "The cells differ without an order by as much as the paper's do: its 5 phases of 10 % are the "
            "largest of 36 numbers, not a rule. Published taus are lower throughout because they are taken "
            "between `argsort` results; the published code also sorts later phases by the first phase's "
            "prediction.",
        ]
    )


def blocks(computed: Figures) -> dict[str, str]:
    """Return the part of the page about CASF, by the name of its marker."""
    return {"casf-phases": phases_table(computed["sets"])}


TABLE3 = PaperTable(
    "s3-table3",
    "Ruan et al. 2024, Table 3: the number of phases and the size of the first",
    files(),
    figures,
    text,
)
