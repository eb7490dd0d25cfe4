"""Record answers that came back from a tool in the campaign that asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.run.exchange.report import SAME_OUTPUT, Taken

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.record import Recorded


def record_taken(campaign: Campaign, taken: Taken) -> Recorded:
    """Record what was taken, with the errors that were marked; recording it again changes nothing.

    The id of a task is the client id of its answers: an answer that was changed in the tool and is imported
    again is a correction of the one before.
    """
    from sparingly.run.campaign.answers import Answer
    from sparingly.run.campaign.marks import Mark

    rows = [(row, one.spans) for one in (*taken.judgements, *taken.same) for row in one.rows()]
    answers = [
        Answer(
            rater=row["rater"],
            item=row["item"],
            score=row["score"],
            model=row.get("model"),
            pair=None if row.get("model") is not None else (row["first"], row["second"]),
            aspect=row["aspect"],
            data=row["data"],
            seconds=row["seconds"],
            comment=row["comment"],
            client=row["client"] or SAME_OUTPUT,
            marks=tuple(Mark(span.start, span.end, span.severity) for span in spans) or None,
        )
        for row, spans in rows
    ]
    return campaign.record(answers)
