"""``writeup``: the paragraph and the table that a paper should have about its selection.

Ruan et al. (2024) ask that a paper publish the method and the list of what was judged, so that nobody
can choose a lucky subset and others can judge the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sparingly.base.errors import UnknownNameError
from sparingly.base.format import counted
from sparingly.base.registry import Method, parse_method, spell_saved
from sparingly.base.text import Bare, Call, format_call, parse_call
from sparingly.choose.design.top import Top
from sparingly.choose.pool.select import ANCHOR
from sparingly.choose.pool.select import METHOD as POOL
from sparingly.choose.select import as_selector
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature
from sparingly.show.report.markup import cell, code, latex
from sparingly.signals.cost import SECONDS

FORMATS = ("markdown", "latex")
_POOL_PAPERS = {"top": "", "systematic": "Madow 1949"}
_PIVOTAL = "Deville and Tillé 1998"
_UNUSED = (Bare("none"), Bare("false"), Bare("random"))


def writeup(selection: Selection, format: Literal["markdown", "latex"] = "markdown") -> str:
    """Return the paragraph, the table and the list of items for a paper, as Markdown or LaTeX."""
    if format not in FORMATS:
        raise UnknownNameError("format of a writeup", format, FORMATS)
    rows = table_rows(selection)
    listed = "Items in order: " + ", ".join(map(code, selection.items))
    if format == "latex":
        lines = "\n".join(f"{latex(name)} & {latex(value)} \\\\" for name, value in rows)
        table = f"\\begin{{tabular}}{{lp{{10cm}}}}\n\\hline\n{lines}\n\\hline\n\\end{{tabular}}"
        return f"{latex(paragraph(selection))}\n\n{table}\n\n{latex(listed)}\n"
    table = "\n".join(f"| {name} | {cell(value)} |" for name, value in rows)
    return f"{paragraph(selection)}\n\n| selection | |\n|---|---|\n{table}\n\n{listed}\n"


def paragraph(selection: Selection) -> str:
    """Return the sentences that say how the items were chosen and what their scores may be used for."""
    signature = selection.signature
    share = 100 * signature.n / signature.of
    sentences = [
        f"We chose {signature.n:,} of {signature.of:,} items ({share:.1f} %) for human evaluation with "
        f"{_method_name(signature)}, using sparingly {signature.version} with seed {signature.seed} under a "
        f"budget of {signature.budget}."
    ]
    if is_from_pool(signature):
        sentences.append(f"The {signature.of} are those that the filters left of a pool of sources.")
        if anchors := sum(row.reason == ANCHOR for row in selection):
            sentences.append(f"{anchors} of the chosen are anchors that were taken for certain.")
    if crowd := signature.crowd:
        models = counted(len(crowd), "model")
        crowd_text = f"an artificial crowd of {models}, {_codes(crowd)} (Zouhar et al. 2025, eq. 11)"
        sentences.append(f"The method saw {crowd_text}, and nothing of other models.")
    if signature.crowd or signature.judged:
        sentences.append(f"The models to judge were {_judged(selection)}.")
    if (pool := signature.pool) is not None:
        on_crowd = f" on the artificial crowd {_codes(pool.crowd)}" if pool.crowd else ""
        sentences.append(
            f"They were chosen from a first selection of {pool.n:,} of {pool.of:,} items, made with "
            f"{_method_name(pool)}{on_crowd}."
        )
    if selection.never:
        count = len(selection.never)
        sentences.append(f"{count} {'item was' if count == 1 else 'items were'} excluded beforehand.")
    if selection.same_outputs:
        skipped = len(selection.same_outputs)
        sentences.append(f"Items on which all models gave the same output were skipped ({skipped}).")
    command = "sparingly pool verify" if is_from_pool(signature) else "sparingly verify"
    verify = f"The selection follows from its signature and can be re-derived with `{command}`."
    return " ".join([*sentences, _meaning(selection), verify])


def _meaning(selection: Selection) -> str:
    """Say what the scores may be used for."""
    if not selection.is_probability_sample:
        return (
            "The chosen items have no inclusion probabilities: their scores rank the models "
            "but do not estimate scores on the whole set."
        )
    signature = selection.signature
    exception = " without the excluded ones" if selection.never else ""
    subject, scores = "Every item", "scores"
    if selection.same_outputs:
        subject, scores = "Every other item", "differences between models"
    weighted = ", weighted by one over it," if selection.has_unequal_weights else ""
    frame = f"the whole set{exception}"
    if signature.pool is not None:
        frame = f"all {signature.pool.of} items that the first selection chose from{exception}"
    elif is_from_pool(signature):
        frame = f"all {signature.of} sources"
    sampled = f"{subject}{exception} had a known probability of being chosen"
    return f"{sampled}, so {scores}{weighted} estimate {frame}."


def is_from_pool(signature: Signature) -> bool:
    """Whether a selection was drawn from a pool of sources."""
    return parse_call(signature.method).name == POOL


def _method_name(signature: Signature) -> str:
    """Return the method as text, with its paper."""
    text, source = _method(signature)
    return f"{code(text)} ({source})" if source else code(text)


def _method(signature: Signature) -> tuple[str, str]:
    """Return the method as text, short of what it does not use, and its paper."""
    call = parse_call(signature.method)
    if call.name == POOL:
        values = dict(call.values)
        design = getattr(values["design"], "text", "")
        idle = {"tau"} if design in ("top", "uniform") else set()
        idle |= {"quota", "bands"} if values["groups"] == Bare("none") else set()
        pairs = [(name, value) for name, value in call.values if value not in _UNUSED and name not in idle]
        return format_call(Call(POOL, tuple(pairs))), _POOL_PAPERS.get(design, _PIVOTAL)
    if spell_saved(signature.method) != signature.method:
        return signature.method, ""
    method: Method = (
        as_selector(signature.method) if signature.round is None else parse_method(signature.method)
    )
    return str(method), (method.utility if isinstance(method, Top) else method).reference


def _judged(selection: Selection) -> str:
    return "all of them" if selection.judged is None else _codes(selection.judged)


def _codes(names: Sequence[str]) -> str:
    return ", ".join(map(code, names))


def table_rows(selection: Selection) -> list[tuple[str, str]]:
    """Return what the table says, name and value."""
    signature = selection.signature
    probabilities = "none (ranking only)"
    if selection.probability is not None:
        low, high = selection.probability.min(), selection.probability.max()
        probabilities = f"{low:.4g} each" if high - low < 1e-12 else f"from {low:.4g} to {high:.4g}"
    rows = [
        ("method", code(_method(signature)[0])),
        ("items", f"{signature.n:,} of {signature.of:,}"),
        ("budget", signature.budget),
        ("seed", str(signature.seed)),
        ("inclusion probabilities", probabilities),
        ("labels used", signature.labels or "none"),
        ("data digest", signature.inputs),
    ]
    if selection.total_cost is not None:
        hours = f" ({selection.total_cost / 3600:.2f} hours)" if selection.cost_unit == SECONDS else ""
        rows.insert(3, ("cost", f"{selection.total_cost:.6g} {selection.cost_unit}".rstrip() + hours))
    if signature.crowd:
        rows.append(("crowd", _codes(signature.crowd)))
    if signature.crowd or signature.judged:
        rows.append(("models to judge", _judged(selection)))
    if signature.pool is not None:
        rows.append(("pool", code(str(signature.pool))))
    return [*rows, ("signature", code(str(signature)))]
