"""``writeup``: the paragraph and the table that a paper should have about its selection.

Ruan et al. (2024) ask that a paper publish the method and the list of what was judged, so that nobody
can choose a lucky subset and others can judge the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sparingly.base.errors import UnknownNameError
from sparingly.choose.design.top import Top
from sparingly.choose.select import as_selector
from sparingly.data.selection import Selection
from sparingly.signals.cost import SECONDS

FORMATS = ("markdown", "latex")


def writeup(selection: Selection, format: Literal["markdown", "latex"] = "markdown") -> str:  # noqa: A002
    """Return the paragraph, the table and the list of items for a paper, as Markdown or LaTeX."""
    if format not in FORMATS:
        raise UnknownNameError("format of a writeup", format, FORMATS)
    rows = table_rows(selection)
    items = list(selection.items)
    if format == "latex":
        return f"{_latex(paragraph(selection))}\n\n{_latex_table(rows)}\n\n{_latex_list(items)}\n"
    table = "\n".join(f"| {name} | {_cell(value)} |" for name, value in rows)
    listed = ", ".join(f"`{name}`" for name in items)
    return f"{paragraph(selection)}\n\n| selection | |\n|---|---|\n{table}\n\nItems in order: {listed}\n"


def paragraph(selection: Selection) -> str:
    """Return the sentences that say how the items were chosen and what their scores may be used for."""
    signature = selection.signature
    method = as_selector(signature.method)
    how = method.utility if isinstance(method, Top) else method
    named = f"{method} ({how.reference})"
    share = 100 * signature.n / signature.of
    sentences = [
        f"We chose {signature.n} of {signature.of} items ({share:.1f} %) for human evaluation with {named}, "
        f"using sparingly {signature.version} with seed {signature.seed} under a budget of {signature.budget}."
    ]
    if signature.pool is not None:
        sentences.append(
            f"They were chosen from a first selection of {signature.pool.n} of {signature.pool.of} items, "
            f"made with {as_selector(signature.pool.method)}."
        )
    if selection.never:
        sentences.append(f"{len(selection.never)} items were excluded beforehand.")
    if selection.is_probability_sample:
        sentences.append("Every item had a known probability of being chosen, so scores estimate the whole set.")
    else:
        sentences.append(
            "The chosen items have no inclusion probabilities: their scores rank the models "
            "but do not estimate scores on the whole set."
        )
    sentences.append("The selection follows from its signature and can be re-derived with `sparingly verify`.")
    return " ".join(sentences)


def table_rows(selection: Selection) -> list[tuple[str, str]]:
    """Return what the table says, name and value."""
    signature = selection.signature
    rows = [
        ("method", f"`{as_selector(signature.method)}`"),
        ("items", f"{signature.n} of {signature.of}"),
        ("budget", signature.budget),
        ("seed", str(signature.seed)),
        ("inclusion probabilities", _probabilities(selection)),
        ("labels used", signature.labels or "none"),
        ("data digest", signature.inputs),
    ]
    if selection.total_cost is not None:
        hours = f" ({selection.total_cost / 3600:.2f} hours)" if selection.cost_unit == SECONDS else ""
        rows.insert(3, ("cost", f"{selection.total_cost:.6g} {selection.cost_unit}".rstrip() + hours))
    if signature.pool is not None:
        rows.append(("pool", f"`{signature.pool}`"))
    return [*rows, ("signature", f"`{signature}`")]


def _probabilities(selection: Selection) -> str:
    column = selection.probability
    if column is None:
        return "none (ranking only)"
    low, high = column.min(), column.max()
    return f"{low:.4g} each" if high - low < 1e-12 else f"from {low:.4g} to {high:.4g}"


def _cell(value: str) -> str:
    return value.replace("|", "\\|")


_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": "",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _latex_table(rows: Sequence[tuple[str, str]]) -> str:
    lines = "\n".join(f"{_latex(name)} & {_latex(value)} \\\\" for name, value in rows)
    return f"\\begin{{tabular}}{{lp{{10cm}}}}\n\\hline\n{lines}\n\\hline\n\\end{{tabular}}"


def _latex_list(items: Sequence[str]) -> str:
    return "Items in order: " + ", ".join(_latex(name) for name in items)
