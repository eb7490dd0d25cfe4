"""Copies a live campaign, from a file or a server, into a file of its own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sqlalchemy import insert, select

from sparingly.base.errors import InputError
from sparingly.data.files import naming_target
from sparingly.run.campaign.database import Database, migrate
from sparingly.run.campaign.tables import CAMPAIGNS, SCHEMA, TABLES

# Rows that are in memory at a time.
_ROWS = 2000


def back_up(database: Database, campaign: str, target: Path) -> int:
    """Copy one state of a campaign into a new file while others work on it; return its journal's last entry.

    The file appears whole or not at all.
    """
    if target.exists():
        raise InputError("there is such a file already", file=target, fix="Give a new name")
    with naming_target(target):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    copy = Database(name, create=True)
    try:
        migrate(copy, create=True)
        with database.reading() as source, copy.writing() as made:
            for table in (table for table in TABLES if table is not SCHEMA):
                owner = table.c.name if table is CAMPAIGNS else table.c.campaign
                rows = source.execution_options(yield_per=_ROWS).execute(
                    select(table).where(owner == campaign)
                )
                for part in rows.mappings().partitions(_ROWS):
                    made.execute(insert(table), [dict(row) for row in part])
            last_seq: int = made.execute(select(CAMPAIGNS.c.last_seq)).scalar_one()
        copy.close()
        # Linking refuses a file that somebody has made meanwhile; the database has synced what it wrote.
        with naming_target(target):
            os.link(name, target)
    finally:
        copy.close()
        Path(name).unlink(missing_ok=True)
    return last_seq
