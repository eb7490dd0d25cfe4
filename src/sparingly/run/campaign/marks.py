"""Parts of an output that a rater marked as errors, kept beside the rating that they belong to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import UsageError
from sparingly.run.campaign.export import rating_rows
from sparingly.run.campaign.journal import as_json
from sparingly.run.campaign.tables import MARKS

# What an error costs in points: 1 and 5 as in Freitag et al. 2021; a critical one what they take off for an
# output that is no translation at all.
SEVERITIES = {"minor": 1.0, "major": 5.0, "critical": 25.0}
_MOST = 200


@dataclass(frozen=True, order=True)
class Mark:
    """An error in an output: from which letter (code point) to before which, and how bad it is."""

    start: int
    end: int
    severity: str

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as plain values."""
        return dict(vars(self))


def checked_marks(given: Sequence[Mapping[str, Any]], text: str | None) -> tuple[Mark, ...]:
    """Return marks in order, or say what is wrong with one: it must lie within the output."""
    length = len(text or "")
    if len(given) > _MOST:
        raise UsageError(f"At most {_MOST} errors are marked in one output.")
    marks = sorted(
        Mark(_whole(one.get("start")), _whole(one.get("end")), str(one.get("severity"))) for one in given
    )
    for mark in marks:
        if mark.severity not in SEVERITIES:
            raise UsageError(f"An error is {', '.join(SEVERITIES)}, not {mark.severity[:40]}.")
        if not 0 <= mark.start < mark.end <= length:
            raise UsageError(f"An error from {mark.start} to {mark.end} is not within {length} letters.")
    return tuple(marks)


def penalty(marks: Sequence[Mark]) -> float:
    """Return the points that marked errors cost: Σ of their severities."""
    return sum(SEVERITIES[mark.severity] for mark in marks)


def keep_marks(connection: Connection, campaign: str, found: Mapping[int, Sequence[Mark]]) -> None:
    """Keep the marks of ratings by their numbers; those that are there already are left as they are."""
    if not found:
        return
    table = MARKS.c
    here = select(table.seq).where(table.campaign == campaign, table.seq.in_(list(found)))
    known = set(connection.execute(here).scalars())
    rows = [
        {"campaign": campaign, "seq": seq, "marks": as_json([mark.to_dict() for mark in marks])}
        for seq, marks in sorted(found.items())
        if seq not in known
    ]
    if rows:
        connection.execute(insert(MARKS), rows)


def marks_by_seq(
    connection: Connection, campaign: str, seqs: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """Return the marks of some ratings, by the ratings' numbers."""
    table = MARKS.c
    rows = connection.execute(
        select(table.seq, table.marks).where(table.campaign == campaign, table.seq.in_(seqs))
    )
    return {row.seq: json.loads(row.marks) for row in rows}


def marks_at(connection: Connection, campaign: str, seq: int) -> dict[int, list[dict[str, Any]]]:
    """Return the marks of all ratings up to a number, by the ratings' numbers."""
    table = MARKS.c
    rows = connection.execute(
        select(table.seq, table.marks).where(table.campaign == campaign, table.seq <= seq).order_by(table.seq)
    )
    return {row.seq: json.loads(row.marks) for row in rows}


def marks_of(connection: Connection, campaign: str, seqs: Sequence[int]) -> list[dict[str, Any]]:
    """Return the marks of the first of some ratings that has any."""
    table = MARKS.c
    rows = connection.execute(
        select(table.marks).where(table.campaign == campaign, table.seq.in_(seqs)).order_by(table.seq)
    )
    return next((marks for text in rows.scalars() if (marks := json.loads(text))), [])


def marked_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return the ratings that have marks (an empty list: looked at and nothing found), with them."""
    found = marks_at(connection, campaign, seq)
    names = ("seq", "data", "round", "rater", "item", "model", "aspect", "score", "corrects")
    return [
        {**{name: row[name] for name in names}, "marks": found[row["seq"]]}
        for row in rating_rows(connection, campaign, seq)
        if row["seq"] in found
    ]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError("An error starts and ends at a whole number of letters.")
    return value
