"""What the next round would ask, and when it would end; nothing is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import SparinglyError
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.run.campaign.status import SetStatus
from sparingly.run.campaign.todo import cells_of

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign


@dataclass(frozen=True)
class NextItem:
    """An item that the next round would ask about, with its chance to be drawn (None where it has none)."""

    item: str
    models: int
    probability: float | None
    reason: str


@dataclass(frozen=True)
class Outlook:
    """What would follow in a data set.

    Attributes:
        data: The data set.
        number: The number of the next round.
        waiting: How many answers to the rounds before are still to come.
        items: What the next round would ask about; empty where there would be none.
        outputs: How many outputs (or comparisons) that is.
        finished: Why no round would follow; None where one would.
        spent: How many outputs (or comparisons) were asked for so far.
        limit: How many the budget allows.
        rounds_left: How many rounds of that size the budget leaves.
        stops: The rules by which it may end earlier.
        notes: What to mind.
    """

    data: str
    number: int
    waiting: int
    items: tuple[NextItem, ...]
    outputs: int
    finished: str | None
    spent: int
    limit: int
    rounds_left: int
    stops: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def when(self) -> str:
        """When it would stop, in a sentence or two."""
        if self.finished is not None:
            return f"It would stop now: {self.finished}"
        if not self.outputs:
            return "Nothing can be said before the next round can be drawn."
        rounds = "1 more round" if self.rounds_left == 1 else f"{self.rounds_left} more rounds"
        left = self.limit - self.spent
        end = f"The budget leaves {left} of {self.limit}, which is {rounds} of this size."
        early = f" It stops earlier when a rule says so: {', '.join(self.stops)}." if self.stops else ""
        return end + early

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **vars(self),
            "items": [dict(vars(one)) for one in self.items],
            "stops": list(self.stops),
            "notes": list(self.notes),
            "when": self.when,
        }


def outlook(campaign: Campaign, data: str | None = None) -> Outlook:
    """Say what the next round of a data set would ask if it were drawn now; nothing is drawn or written.

    While answers are missing, rules to stop are not asked: they promise an error rate for one look a round,
    and what they would say in between may change.
    """
    name = campaign.settings.data_named(data)
    status = campaign.status()
    here = next(one for one in status.sets if one.data == name)
    if here.finished is not None:
        return _outlook(campaign, here, status.seq, None, here.finished)
    try:
        found = campaign.preview(name, at=status.seq)
    except SparinglyError as error:
        return _outlook(campaign, here, status.seq, None, None, str(error))
    if isinstance(found, Selection):
        return _outlook(campaign, here, status.seq, found, None)
    return _outlook(campaign, here, status.seq, None, found.reason)


def _outlook(
    campaign: Campaign, here: SetStatus, seq: int, found: Selection | None, finished: str | None, *notes: str
) -> Outlook:
    number, outputs = here.rounds + 1, 0
    items: tuple[NextItem, ...] = ()
    if found is not None:
        cells = cells_of(here.data, found, number, campaign.data(here.data, at=seq, judged=False))
        counts: dict[str, int] = {}
        for cell, _ in cells:
            counts[cell.item] = counts.get(cell.item, 0) + 1
        rows = {row.item: row for row in found}
        items = tuple(
            NextItem(item, counts.get(item, 0), plain(row.probability), row.reason)
            for item, row in rows.items()
        )
        outputs, notes = len(cells), (*notes, *found.notes)
    left = here.limit - here.spent
    return Outlook(
        data=here.data,
        number=number,
        waiting=here.outstanding,
        items=items,
        outputs=outputs,
        finished=finished,
        spent=here.spent,
        limit=here.limit,
        rounds_left=math.ceil(left / outputs) if outputs else 0,
        stops=campaign.settings.stops,
        notes=tuple(notes),
    )
