"""Whom a selection over-represents, in the terminal."""

from __future__ import annotations

from rich.console import Console

from sparingly.data.describe import Representation
from sparingly.show.terminal.console import fixed, line, make_console, make_table, number, percent


def show_representation(
    representation: Representation, console: Console | None = None, most: int = 12
) -> None:
    """Print shares by domain and length, and the metric means, of a selection against its set."""
    console = console or make_console()
    line(console, f"{representation.n} chosen items against the {representation.of} of the set", style="bold")
    kinds = {
        "domain": representation.domains,
        "document of": representation.document_lengths,
        "source": representation.source_lengths,
    }
    rows = [
        (kind, share.group, percent(share.full_share), percent(share.selected_share), fixed(share.ratio))
        for kind, shares in kinds.items()
        for share in shares
    ]
    if rows:
        console.print(make_table(("", "group", "of the set", "of the chosen", "ratio"), rows, numbers=3))
    if representation.cost is not None:
        every, chosen = representation.cost
        line(console, f"mean cost of an item: {number(every)} in the set, {number(chosen)} among the chosen")
    means = [(one.metric, one.model, number(one.full), number(one.selected)) for one in representation.means]
    if means:
        columns = ("metric", "model", "mean, all", "mean, chosen")
        console.print(make_table(columns, means[:most], numbers=2))
        if len(means) > most:
            line(console, f"… and {len(means) - most} more means (--json shows all)")
