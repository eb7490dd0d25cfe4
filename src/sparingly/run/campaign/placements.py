"""Where on a page an output stood when it was judged: saved beside the rating, to examine order effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.run.campaign.tables import PLACEMENTS


@dataclass(frozen=True)
class Placement:
    """Where an output, or a pair of outputs, was shown.

    Attributes:
        place: Its place on the page, from 1; equal outputs share one.
        cards: How many places the page had.
        turned: Whether the second output of a pair was shown first.
    """

    place: int
    cards: int
    turned: bool = False


def save_placements(connection: Connection, campaign: str, placements: Mapping[int, Placement]) -> None:
    """Save where outputs were shown, by the numbers of their ratings."""
    rows = [
        {"campaign": campaign, "seq": seq, "place": one.place, "cards": one.cards, "turned": int(one.turned)}
        for seq, one in sorted(placements.items())
    ]
    if rows:
        connection.execute(insert(PLACEMENTS), rows)


def placement_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return where the outputs of all ratings up to a number were shown, by the ratings' numbers.

    Answers that did not come from the web pages, or came before this was saved, have no row.
    """
    table = PLACEMENTS.c
    rows = connection.execute(
        select(table.seq, table.place, table.cards, table.turned)
        .where(table.campaign == campaign, table.seq <= seq)
        .order_by(table.seq)
    )
    return [{**dict(row), "turned": bool(row["turned"])} for row in rows.mappings()]
