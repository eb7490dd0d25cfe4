"""Re-derive a campaign: its journal, its data and every round, from what was known when it was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from sparingly.base.errors import SparinglyError
from sparingly.base.progress import tracked
from sparingly.data.selection import Selection
from sparingly.run.campaign.history import anchors_at, cells_of_round, is_own
from sparingly.run.campaign.journal import as_json, events_at
from sparingly.run.campaign.rounds import RoundDrawer
from sparingly.run.campaign.soundness import first_problem
from sparingly.run.campaign.tables import ASKED, rows_of
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import EARLIER_RULE, Verification, earlier_rule, same_numbers, version_notes

_SIGNED = {
    "method": "parameters of the strategy",
    "budget": "budgets",
    "seed": "seeds",
    "inputs": "data that it read",
    "labels": "answers that it knew",
    "earlier": "rounds before it",
}
_CELL = ("round", "place", "item", "model", "other", "probability")


def verify_campaign(drawer: RoundDrawer) -> Verification:
    """Check that no entry was changed, and that every round follows from what was known before it.

    Rounds are drawn again while the database is let go, so that raters need not wait.
    """
    with drawer.database.reading() as connection:
        problem = first_problem(connection, drawer.settings.name)
    if problem is not None:
        return Verification((problem,))
    problems: list[str] = []
    notes: list[str] = []
    for data in drawer.settings.budgets:
        _verify_rounds(drawer, data, problems, notes)
    unique = tuple(dict.fromkeys(notes))
    return Verification(tuple(problems), unique, partial=any(EARLIER_RULE in note for note in unique))


def _verify_rounds(drawer: RoundDrawer, data: str, problems: list[str], notes: list[str]) -> None:
    """Draw every round of a data set again, and add what is wrong and what to mind."""
    database, history = drawer.database, drawer.history
    with database.reading() as connection:
        last = history.last_seq(connection)
        rounds = history.rounds(connection, data, last)
        endings = events_at(connection, drawer.settings.name, ["finished"], last)
        endings = [event for event in endings if event["data"] == data]
        problems += _asked_problems(connection, drawer, data, [selection for selection, _ in rounds])
        asked_again: dict[int, set[tuple[str, str]]] = {}
        for cell in anchors_at(connection, drawer.settings.name, data, last):
            asked_again.setdefault(cell.round, set()).add((cell.item, cell.model))
    for number, (selection, as_of) in enumerate(tracked(rounds), 1):
        title = f"Round {number} of {data}"
        # A round knows the rounds before it, even one that was drawn while it was being computed.
        with database.reading() as connection:
            snapshot = history.at(connection, data, as_of)
        if snapshot.round_count != number - 1:
            problems.append(f"{title}: there were {snapshot.round_count} rounds before it when it was drawn.")
            continue
        if unknown := earlier_rule(title, selection.signature.method):
            notes += unknown
            continue
        redrawn: Selection | Finished
        try:
            if is_own(selection):
                redrawn, anchors = drawer.redraw_own(snapshot, selection.row(0).models or (), len(selection))
                if asked_again.get(number, set()) != set(anchors.cells):
                    problems.append(f"{title}: the outputs to judge again are not those that follow from it.")
            else:
                redrawn = drawer.decide(snapshot)
        except SparinglyError as error:
            problems.append(f"{title} cannot be drawn again: {error}")
        else:
            if isinstance(redrawn, Finished):
                problems.append(f"{title} should not be there: {redrawn.reason}")
            else:
                differing = _differences(selection, redrawn)
                problems += [
                    f"{title}: the {words} are not those that follow from it." for words in differing
                ]
        notes += version_notes("campaign", selection.signature.version)
    for event in endings:
        if any(earlier_rule(data, selection.signature.method) for selection, _ in rounds):
            continue
        with database.reading() as connection:
            snapshot = history.at(connection, data, event["as_of"])
        is_over = False
        with suppress(SparinglyError):
            is_over = isinstance(drawer.decide(snapshot), Finished)
        if not is_over:
            problems.append(f"{data} was ended, and its strategy would have gone on.")


def _differences(selection: Selection, redrawn: Selection) -> Iterator[str]:
    """Yield what differs between a round and the same round drawn again."""
    redrawn = Selection.from_dict(json.loads(as_json(redrawn.to_dict())))
    old, new = selection.signature, redrawn.signature
    yield from (words for name, words in _SIGNED.items() if getattr(old, name) != getattr(new, name))
    if list(selection.items) != list(redrawn.items):
        yield "items"
        return
    for name, words in (("models", "models"), ("pair", "pairs"), ("unit", "unit"), ("stratum", "stratum")):
        if [getattr(row, name) for row in selection] != [getattr(row, name) for row in redrawn]:
            yield words
    for name, words in (("probability", "probabilities"), ("utility", "utilities")):
        if not same_numbers(getattr(selection, name), getattr(redrawn, name)):
            yield words


def _asked_problems(
    connection: Connection, drawer: RoundDrawer, data: str, rounds: list[Selection]
) -> Iterator[str]:
    """Compare what people were asked with what the rounds say."""
    campaign, history = drawer.settings.name, drawer.history
    rows = connection.execute(rows_of(ASKED, campaign, " ".join((*_CELL, "seq")), data=data)).all()
    asked_cells = {tuple(row)[:-1] for row in rows}
    first_seq: dict[int, int] = {}
    for row in rows:
        first_seq[row.round] = min(row.seq, first_seq.get(row.round, row.seq))
    # Which models were there when a cell was asked for is known from its entry: that of its round, or the
    # one with which a model came late, for all rounds before.
    expected: set[tuple[Any, ...]] = set()
    for seq in {row.seq for row in rows}:
        present, own_names = (
            history.data_sets.at(connection, data, seq),
            history.own_models(connection, data, seq),
        )
        numbers = [number for number, first in first_seq.items() if first == seq]
        for number in numbers or [number for number, first in first_seq.items() if first < seq]:
            if number <= len(rounds):
                selection = rounds[number - 1]
                left_out = set() if is_own(selection) else own_names
                models = [name for name in present.models if name not in left_out]
                cells = cells_of_round(selection, models)
                expected |= {tuple({**cell, "round": number}[name] for name in _CELL) for cell in cells}
    if not asked_cells <= expected:
        yield f"{data}: there are questions that no round contains."
    if expected - asked_cells or len(first_seq) < len(rounds):
        yield f"{data}: a question of a round is missing."
