"""Re-derive a campaign: its journal, its data and every round, from what was known when it was drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, select

from sparingly.base.errors import SparinglyError
from sparingly.data.selection import Selection
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.draw import Drawer
from sparingly.run.campaign.journal import as_json, sealed
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, DATA_VERSIONS, EVENTS, RATERS, RATINGS, ROUNDS
from sparingly.run.campaign.todo import cells_of
from sparingly.run.rounds.state import Finished
from sparingly.run.verification import Verification, same_numbers, version_notes

_SIGNED = {
    "method": "parameters of the strategy",
    "budget": "budgets",
    "seed": "seeds",
    "inputs": "data that it read",
    "labels": "answers that it knew",
    "earlier": "rounds before it",
}
_ROW = {"pairs": "pair"}


@dataclass(frozen=True)
class _Entry:
    seq: int
    values: dict[str, Any]


def verify_campaign(database: Database, drawer: Drawer) -> Verification:
    """Check that no entry was changed, and that every round follows from what was known before it.

    Rounds are drawn again while the database is let go, so that raters need not wait.
    """
    with database.reading() as connection:
        problems = [
            *_journal_problems(connection, drawer.settings.name),
            *_content_problems(connection, drawer),
        ]
    notes: list[str] = []
    for data in drawer.settings.budgets if not problems else ():
        for found, note in _rounds(database, drawer, data):
            problems += found
            notes += note
    return Verification(tuple(problems), tuple(dict.fromkeys(notes)))


def _entries(connection: Connection, table: Table, campaign: str) -> list[_Entry]:
    rows = connection.execute(select(table).where(table.c.campaign == campaign).order_by(table.c.seq))
    return [_Entry(row["seq"], dict(row)) for row in rows.mappings()]


def _journal_problems(connection: Connection, campaign: str) -> list[str]:
    """Number and seal all entries again."""
    end = connection.execute(select(CAMPAIGNS).where(CAMPAIGNS.c.name == campaign)).one()
    entries = [*_entries(connection, EVENTS, campaign), *_entries(connection, RATINGS, campaign)]
    entries.sort(key=lambda entry: entry.seq)
    if [entry.seq for entry in entries] != list(range(1, end.last_seq + 1)):
        return [f"The journal says that it has {end.last_seq} entries, and {len(entries)} are there."]
    head = ""
    for entry in entries:
        head = sealed(head, entry.values)
        if head != entry.values["digest"]:
            return [f"The entry {entry.seq} of the journal, or one before it, was changed."]
    return [] if head == end.head else ["The end of the journal is not the one that was written last."]


def _content_problems(connection: Connection, drawer: Drawer) -> Iterator[str]:
    """Compare what the events say with the tables they speak about."""
    campaign, history = drawer.settings.name, drawer.history
    last = history.last_seq(connection)
    begun = history.events(connection, "begun", last)
    digests = {(name, begun[0]["seq"]): digest for name, digest in begun[0]["data"].items()}
    digests |= {
        (one["data"], one["seq"]): one["digest"] for one in history.events(connection, "arrived", last)
    }
    versions = connection.execute(
        select(DATA_VERSIONS.c.data, DATA_VERSIONS.c.seq, DATA_VERSIONS.c.digest).where(
            DATA_VERSIONS.c.campaign == campaign
        )
    )
    if digests != {(row.data, row.seq): row.digest for row in versions}:
        yield "The data sets are not those that the journal speaks of."
    drawn = {(one["data"], one["number"]): one for one in history.events(connection, "round", last)}
    rows = connection.execute(select(ROUNDS).where(ROUNDS.c.campaign == campaign)).mappings().all()
    if {(row["data"], row["number"]) for row in rows} != set(drawn):
        yield "The rounds are not those that the journal speaks of."
        return
    for row in rows:
        event = drawn[row["data"], row["number"]]
        told = (row["seq"], row["as_of"], hashlib.sha256(row["selection"].encode()).hexdigest()[:32])
        if told != (event["seq"], event["as_of"], event["digest"]):
            yield f"Round {row['number']} of {row['data']} is not the one that the journal speaks of."
    raters = connection.execute(select(RATERS.c.rater).where(RATERS.c.campaign == campaign)).scalars()
    answered = connection.execute(select(RATINGS.c.rater).where(RATINGS.c.campaign == campaign).distinct())
    if set(raters) != set(answered.scalars()):
        yield "The raters are not those that answered."


def _rounds(database: Database, drawer: Drawer, data: str) -> Iterator[tuple[list[str], list[str]]]:
    history = drawer.history
    with database.reading() as connection:
        last = history.last_seq(connection)
        rounds = history.rounds(connection, data, last)
        ended = [one for one in history.events(connection, "finished", last) if one["data"] == data]
        asked = list(_asked_problems(connection, drawer, data, [given for given, _ in rounds]))
    yield asked, []
    for number, (given, as_of) in enumerate(rounds, 1):
        where = f"Round {number} of {data}"
        # A round knows the rounds before it, even one that was drawn while it was being found.
        with database.reading() as connection:
            known = history.at(connection, data, as_of)
        if len(known.rounds) != number - 1:
            yield [f"{where}: there were {len(known.rounds)} rounds before it when it was drawn."], []
            continue
        yield (
            _compare(where, given, _again(drawer, known)),
            list(version_notes("campaign", given.signature.version)),
        )
    for event in ended:
        with database.reading() as connection:
            known = history.at(connection, data, event["as_of"])
        if not isinstance(_again(drawer, known), Finished):
            yield [f"{data} was ended, and its strategy would have gone on."], []


def _again(drawer: Drawer, known: Any) -> Selection | Finished | str:
    try:
        return drawer.decide(known)
    except SparinglyError as error:
        return str(error)


def _compare(where: str, given: Selection, again: Selection | Finished | str) -> list[str]:
    if isinstance(again, str):
        return [f"{where} cannot be drawn again: {again}"]
    if isinstance(again, Finished):
        return [f"{where} should not be there: {again.reason}"]
    again = Selection.from_dict(json.loads(as_json(again.to_dict())))
    return [f"{where}: the {what} are not those that follow from it." for what in _differing(given, again)]


def _differing(given: Selection, again: Selection) -> Iterator[str]:
    """Yield what differs between a round and the same round drawn again."""
    old, new = given.signature, again.signature
    yield from (words for name, words in _SIGNED.items() if getattr(old, name) != getattr(new, name))
    if list(given.items) != list(again.items):
        yield "items"
        return
    for name in ("models", "pairs", "unit", "stratum"):
        if [getattr(row, _ROW.get(name, name)) for row in given] != [
            getattr(row, _ROW.get(name, name)) for row in again
        ]:
            yield name
    for name, words in (("probability", "probabilities"), ("utility", "utilities")):
        if not same_numbers(getattr(given, name), getattr(again, name)):
            yield words


def _asked_problems(
    connection: Connection, drawer: Drawer, data: str, rounds: list[Selection]
) -> Iterator[str]:
    """Compare what people were asked with what the rounds say."""
    campaign, history = drawer.settings.name, drawer.history
    table = ASKED.c
    rows = connection.execute(
        select(table.round, table.item, table.model, table.other, table.seq).where(
            table.campaign == campaign, table.data == data
        )
    ).all()
    asked = {(row.round, row.item, row.model, row.other) for row in rows}
    drawn: dict[int, int] = {}
    for row in rows:
        drawn[row.round] = min(row.seq, drawn.get(row.round, row.seq))
    # Who was there when a cell was asked for is known from its entry: that of its round, or the one with
    # which a model came late, for all rounds before.
    wanted: set[tuple[int, str, str, str]] = set()
    for seq in {row.seq for row in rows}:
        here = history.library.at(connection, data, seq)
        begun = [number for number, first in drawn.items() if first == seq]
        for number in begun or [number for number, first in drawn.items() if first < seq]:
            cells = cells_of(data, rounds[number - 1], number, here) if number <= len(rounds) else []
            wanted |= {(cell.round, cell.item, cell.model, cell.other) for cell, _ in cells}
    if not asked <= wanted:
        yield f"{data}: people were asked for what no round asks for."
    if wanted - asked or len(drawn) < len(rounds):
        yield f"{data}: something that a round asks for was never asked."
