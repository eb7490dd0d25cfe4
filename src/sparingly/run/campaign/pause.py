"""Pause a campaign: while it is paused nobody is handed a new question, and answers are still taken."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from sparingly.base.errors import UsageError
from sparingly.run.campaign.journal import Clock, Journal, utc_now
from sparingly.run.campaign.tables import EVENTS

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

PAUSED, RESUMED = "paused", "resumed"


@dataclass(frozen=True)
class Pause:
    """A pause that has not ended: since when, and what was said of it."""

    seq: int
    at: str
    reason: str


def paused_at(connection: Connection, campaign: str, seq: int | None = None) -> Pause | None:
    """Return the pause that lasts at a number of the journal, or now; None while questions are handed out."""
    table = EVENTS.c
    query = select(table.seq, table.at, table.kind, table.detail).where(
        table.campaign == campaign, table.kind.in_((PAUSED, RESUMED))
    )
    if seq is not None:
        query = query.where(table.seq <= seq)
    last = connection.execute(query.order_by(table.seq.desc()).limit(1)).one_or_none()
    if last is None or last.kind == RESUMED:
        return None
    return Pause(last.seq, last.at, json.loads(last.detail).get("reason", ""))


def pause(campaign: Campaign, reason: str = "", *, clock: Clock = utc_now) -> int:
    """Hand out no more questions until ``resume``; return the number of the entry.

    Answers that come in are taken: nobody who is in the middle of something loses it.
    """
    return _entered(campaign, PAUSED, clock, reason=reason)


def resume(campaign: Campaign, *, clock: Clock = utc_now) -> int:
    """Hand out questions again; return the number of the entry."""
    return _entered(campaign, RESUMED, clock)


def _entered(campaign: Campaign, kind: str, clock: Clock, **detail: str) -> int:
    with campaign.database.writing() as connection:
        journal = Journal(connection, campaign.name, clock)
        if journal.closed is not None:
            raise UsageError(f'The campaign "{campaign.name}" is closed.')
        now = paused_at(connection, campaign.name)
        if (now is not None) == (kind == PAUSED):
            state = "paused already" if now is not None else "not paused"
            raise UsageError(f'The campaign "{campaign.name}" is {state}.')
        seq = journal.event(kind, **detail)
        journal.finish()
    return seq
