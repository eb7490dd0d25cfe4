"""The audit of a judge in the terminal: the answer, a small table, biases, and errors to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.infer.judge.audit import (
    AuditNumbers,
    agreement_text,
    alternative_text,
    bias_text,
    biases,
    error_row,
    short,
    worth_text,
)
from sparingly.show.terminal.console import fixed, line, show_summary, show_table, wrapped

if TYPE_CHECKING:
    from sparingly.infer.judge.audit import JudgeAudit
    from sparingly.infer.judge.error_rates import Rate

_MOST_JUDGES = 12


def show_audit(audit: JudgeAudit, typed: str = "DATA", *, verbose: bool = False) -> None:
    """Print an audit; ``typed`` stands after the command to type next."""

    def show_details() -> None:
        if len(audit.judges) > 1:
            line("")
            _show_judges(audit)
        for sentence in (agreement_text(audit), alternative_text(audit), *biases(audit)):
            if sentence:
                wrapped(sentence)
        if verbose:
            _show_errors(audit)
            _show_details(audit)
        elif audit.errors:
            wrapped(f"The {counted(len(audit.errors), 'worst error')}, all tests and coefficients: add -v.")

    show_summary(audit.summary(), typed, verbose=verbose, details=show_details)


def _show_judges(audit: JudgeAudit) -> None:
    """Print a line for each judge, those that save most labels first, and one for all together."""
    share, rows = AuditNumbers(is_rate=True), []
    for row in audit.judges[:_MOST_JUDGES]:
        errs = (
            ["-", "-"]
            if row.rates is None
            else [
                share.value(row.rates.passes_bad.value),
                share.value(row.rates.fails_good.value),
            ]
        )
        worth = "-" if row.worth is None else worth_text(row.worth)
        rows.append([row.judge, *errs, fixed(row.kappa.value), fixed(row.correlation.value), worth])
    if audit.worth is not None:
        rows.append(["all together", "", "", "", "", worth_text(audit.worth)])
    if all(row.rates is None for row in audit.judges):
        columns = ["judge", "κ", "correlation", "100 labels are worth"]
        rows = [[row[0], *row[3:]] for row in rows]
    else:
        columns = ["judge", "passes bad", "fails good", "κ", "correlation", "100 labels are worth"]
    show_table(columns, rows, numbers=len(columns) - 1)
    if (hidden := len(audit.judges) - _MOST_JUDGES) > 0:
        line(f"… and {hidden} that save less (--json shows all)")


def _show_errors(audit: JudgeAudit) -> None:
    """Print the worst errors with their texts."""
    for error in audit.errors:
        name, verdict, *scores = error_row(audit, error)
        wrapped(f"{name}: {verdict} (judge {scores[0]}, people {scores[1]})", style="bold")
        for part, text in (("input", error.source), ("output", error.output)):
            if text:
                wrapped(f"  {part}: {short(text)}")
        for text in error.comments:
            wrapped(f"  remark: {short(text)}")


def _show_details(audit: JudgeAudit) -> None:
    """Print all coefficients, all tests, and how it was done."""
    found = audit.agreement
    pairs = [
        (f"{audit.judge} and labels", found.labels),
        (f"{audit.judge} and one person", found.judge_and_person),
        ("two people", found.two_people),
    ]
    known = [(name, pair) for name, pair in pairs if pair is not None]
    rows = [
        ("outputs", *(str(pair.outputs) for _, pair in known)),
        ("κ", *(_number(pair.kappa) for _, pair in known)),
        ("AC1", *(_number(pair.ac1) for _, pair in known)),
        ("correlation", *(_number(pair.correlation) for _, pair in known)),
    ]
    show_table(("agreement of", *(name for name, _ in known)), rows, numbers=len(known))
    tests = [
        (
            bias.factor,
            bias.level,
            str(bias.labels),
            bias_text(audit, bias, short=True),
            fixed(bias.p, 4),
            fixed(bias.corrected, 4),
        )
        for bias in audit.biases
    ]
    if tests:
        columns = ("bias by", "level", "labels", "judge − people, beside the rest", "p", "p, Holm")
        show_table(columns, tests, numbers=4)
    if audit.line is not None:
        words = AuditNumbers(is_rate=False)
        line(f"people = {words.with_ends(audit.line.offset)} + {words.with_ends(audit.line.slope)} · judge")
    for sentence in METHOD:
        wrapped(sentence)


METHOD = (
    "Error rates: shares of good outputs by verdict, weighted to all verdicts; intervals by MOVER-R.",
    "Agreement: κ (quadratic weights for grades), Gwet's AC1; intervals by a jackknife over items.",
    "Biases: cluster-robust t-test and permutation test, the larger p; Holm over all.",
    "Labels worth: variance of labels over variance of what cross-fitted predictions leave.",
)


def _number(rate: Rate | None) -> str:
    return "-" if rate is None else AuditNumbers(is_rate=False).with_ends(rate)
