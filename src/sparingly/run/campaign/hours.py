"""A sheet of hours per rater, from which people are paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.run.campaign.time_spent import TimeSpent

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

COLUMNS = (
    "rater", "answers", "corrections", "without_time", "seconds", "hours", "seconds_per_answer", "days",
    "first", "last",
)  # fmt: skip
PAID = ("rate", "amount")


@dataclass(frozen=True)
class RaterHours(TimeSpent):
    """What one rater did, and for how long.

    Attributes:
        rater: The rater.
        answers: How many answers came in, corrections too: these took time as well.
        corrections: How many of them changed an earlier one.
        without_time: How many came without their seconds, so that the sum is too small.
        seconds: The seconds of all answers together.
        days: On how many days (UTC) there was an answer.
        first: When the first answer came in.
        last: When the last one did.
    """

    rater: str
    answers: int
    corrections: int
    without_time: int
    seconds: float
    days: int
    first: str
    last: str

    def to_row(self, rate: float | None = None) -> dict[str, Any]:
        """Return the columns of the sheet, with the amount due at a rate per hour."""
        row = {name: getattr(self, name) for name in COLUMNS}
        each = self.seconds_per_answer
        row |= {
            "seconds": round(self.seconds, 1),
            "hours": round(self.hours, 4),
            "seconds_per_answer": None if each is None else round(each, 1),
        }
        return row if rate is None else {**row, "rate": rate, "amount": round(self.hours * rate, 2)}


def hours(campaign: Campaign, *, at: int | None = None) -> tuple[RaterHours, ...]:
    """Return the hours of every rater who has answered, in the order of their names.

    The seconds are those that came with the answers. Of several answers about the same thing all count, since
    a correction is work, too.
    """
    return hours_of(campaign.ratings(at=at))


def hours_of(ratings: Sequence[Mapping[str, Any]]) -> tuple[RaterHours, ...]:
    """Return the hours of every rater of some answers."""
    by_rater: dict[str, list[Mapping[str, Any]]] = {}
    for row in ratings:
        by_rater.setdefault(row["rater"], []).append(row)
    return tuple(_of_rater(rater, by_rater[rater]) for rater in sorted(by_rater))


def _of_rater(rater: str, rows: list[Mapping[str, Any]]) -> RaterHours:
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
    moments = sorted(row["at"] for row in rows)
    return RaterHours(
        rater=rater,
        answers=len(rows),
        corrections=sum(row["corrects"] is not None for row in rows),
        without_time=len(rows) - len(seconds),
        seconds=float(sum(seconds)),
        days=len({moment[:10] for moment in moments}),
        first=moments[0],
        last=moments[-1],
    )


def sheet(
    found: Sequence[RaterHours], rate: float | None = None
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the columns and rows of the sheet; with a rate per hour, what is due to everybody, too."""
    if rate is not None and not 0 <= rate < float("inf"):
        raise UsageError(f"An hour is paid with 0 or more, not {rate:g}.")
    columns = COLUMNS if rate is None else (*COLUMNS, *PAID)
    return columns, [one.to_row(rate) for one in found]
