"""What leaves a campaign: every answer as it came in."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from sparingly.run.campaign.tables import RATINGS

COLUMNS = (
    "seq", "at", "data", "round", "rater", "item", "model", "first", "second", "aspect", "score", "seconds",
    "comment", "client", "corrects",
)  # fmt: skip


def rating_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return the answers up to a number in order, with the columns that ``record`` reads and a few more."""
    table = RATINGS.c
    rows = connection.execute(
        select(RATINGS).where(table.campaign == campaign, table.seq <= seq).order_by(table.seq)
    )
    return [_row(dict(row)) for row in rows.mappings()]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    pair = bool(row["other"])
    models = {
        "model": None if pair else row["model"],
        "first": row["model"] if pair else None,
        "second": row["other"] if pair else None,
    }
    return {name: {**row, **models}[name] for name in COLUMNS}
