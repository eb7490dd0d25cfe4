"""Record answers that came back from a tool in the campaign that asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparingly.run.exchange.report import SAME_OUTPUT, Taken
from sparingly.run.exchange.spans import Span

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.record import Acknowledgement, Recorded


def record_taken(campaign: Campaign, taken: Taken) -> Recorded:
    """Record what was taken, with the errors that were marked; recording it again changes nothing.

    The id of a task is the client id of its answers: an answer that was changed in the tool and is imported
    again is a correction of the one before.
    """
    from sparingly.run.campaign.answers import Answer

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
        )
        for row, _ in rows
    ]
    done: list[Acknowledgement] = []
    recorded = campaign.record(answers, acknowledge=done.append)
    _keep_spans(campaign, done, [spans for _, spans in rows])
    return recorded


def _keep_spans(campaign: Campaign, done: Sequence[Acknowledgement], spans: Sequence[Sequence[Span]]) -> None:
    from sparingly.run.campaign.marks import Mark, keep_marks

    found: dict[int, Any] = {
        one.seq: [Mark(span.start, span.end, span.severity) for span in spans[one.line - 1]]
        for one in done
        if one.seq is not None and one.what in ("new", "correction") and spans[one.line - 1]
    }
    if found:
        with campaign.database.writing() as connection:
            keep_marks(connection, campaign.name, found)
