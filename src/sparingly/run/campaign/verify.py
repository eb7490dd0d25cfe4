"""Re-derive a campaign: its journal, its data and every round, from what was known when it was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from sparingly.base.errors import SparinglyError
from sparingly.base.registry import spell_saved
from sparingly.data.selection import Selection
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.journal import as_json
from sparingly.run.campaign.questions import questions_of_round
from sparingly.run.campaign.rounds import RoundDrawer
from sparingly.run.campaign.soundness import first_problem
from sparingly.run.campaign.tables import ASKED
from sparingly.run.rounds.strategy import Finished
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
_CELL = ("round", "place", "item", "model", "other", "probability")


def verify_campaign(database: Database, drawer: RoundDrawer) -> Verification:
    """Check that no entry was changed, and that every round follows from what was known before it.

    Rounds are drawn again while the database is let go, so that raters need not wait.
    """
    with database.reading() as connection:
        problem = first_problem(connection, drawer.settings.name)
    if problem is not None:
        return Verification((problem,))
    problems: list[str] = []
    notes: list[str] = []
    for data in drawer.settings.budgets:
        for found, note in _rounds(database, drawer, data):
            problems += found
            notes += note
    return Verification(tuple(problems), tuple(dict.fromkeys(notes)))


def _rounds(database: Database, drawer: RoundDrawer, data: str) -> Iterator[tuple[list[str], list[str]]]:
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


def _again(drawer: RoundDrawer, known: Any) -> Selection | Finished | str:
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
    old = replace(old, method=spell_saved(old.method))
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
    connection: Connection, drawer: RoundDrawer, data: str, rounds: list[Selection]
) -> Iterator[str]:
    """Compare what people were asked with what the rounds say."""
    campaign, history = drawer.settings.name, drawer.history
    table = ASKED.c
    rows = connection.execute(
        select(*(table[name] for name in _CELL), table.seq).where(
            table.campaign == campaign, table.data == data
        )
    ).all()
    asked = {tuple(row)[:-1] for row in rows}
    drawn: dict[int, int] = {}
    for row in rows:
        drawn[row.round] = min(row.seq, drawn.get(row.round, row.seq))
    # Who was there when a cell was asked for is known from its entry: that of its round, or the one with
    # which a model came late, for all rounds before.
    wanted: set[tuple[Any, ...]] = set()
    for seq in {row.seq for row in rows}:
        here = history.data_sets.at(connection, data, seq)
        begun = [number for number, first in drawn.items() if first == seq]
        for number in begun or [number for number, first in drawn.items() if first < seq]:
            asked_then = (
                questions_of_round(data, rounds[number - 1], number, here) if number <= len(rounds) else []
            )
            wanted |= {
                (one.round, one.place, one.item, one.model, one.other or "", one.probability)
                for one in asked_then
            }
    if not asked <= wanted:
        yield f"{data}: people were asked for what no round asks for."
    if wanted - asked or len(drawn) < len(rounds):
        yield f"{data}: something that a round asks for was never asked."
