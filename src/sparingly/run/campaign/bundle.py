"""Everything that a campaign holds, as files for the organiser: with names and times, for nobody else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from sparingly.run.campaign.audit import Audit
from sparingly.run.campaign.export import COLUMNS
from sparingly.run.campaign.hours import hours_of, sheet
from sparingly.run.campaign.marks import marked_rows
from sparingly.run.campaign.overview import overview
from sparingly.run.campaign.packing import csv_bytes, data_bytes, json_bytes, line_bytes, stems
from sparingly.run.campaign.placements import placement_rows
from sparingly.run.campaign.tables import EVENTS

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

_MOST_DEEDS = 1_000_000


def everything(campaign: Campaign) -> dict[str, bytes]:
    """Return every answer, round, event and judged data set of a campaign, as files by name.

    It holds the raters' names and the times of their work: use ``release`` for what others may see. All of it
    is of the entry that the overview names, although people may answer meanwhile.
    """
    seen = overview(campaign)
    answers = campaign.ratings(at=seen.seq)
    columns, rows = sheet(hours_of(answers))
    found = {"answers.csv": csv_bytes(answers, COLUMNS), "hours.csv": csv_bytes(rows, columns)}
    with campaign.database.reading() as connection:
        found["events.jsonl"] = line_bytes(_events(connection, campaign.name, seen.seq))
        if marked := marked_rows(connection, campaign.name, seen.seq):
            found["marks.jsonl"] = line_bytes(marked)
        if placements := placement_rows(connection, campaign.name, seen.seq):
            found["placements.jsonl"] = line_bytes(placements)
    deeds = Audit(campaign.database, campaign.name).entries(_MOST_DEEDS)
    found["log.jsonl"] = line_bytes(dict(vars(deed)) for deed in reversed(deeds))
    found["overview.json"] = json_bytes(seen.to_dict())
    names = list(campaign.settings.budgets)
    for name, stem in stems(names).items():
        found[f"data/{stem}.jsonl"] = data_bytes(campaign.data(name, at=seen.seq))
        for number, one in enumerate(campaign.rounds(name, at=seen.seq), 1):
            found[f"rounds/{stem}-{number}.json"] = json_bytes(one.to_dict())
    return found


def _events(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    table = EVENTS.c
    rows = connection.execute(
        select(table.seq, table.at, table.kind, table.detail, table.digest)
        .where(table.campaign == campaign, table.seq <= seq)
        .order_by(table.seq)
    )
    return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows.mappings()]
