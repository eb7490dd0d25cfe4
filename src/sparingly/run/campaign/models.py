"""Models that come late or are withdrawn: what was chosen stays chosen."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.content import to_bytes, unjudged
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.history import History
from sparingly.run.campaign.journal import Clock, Journal
from sparingly.run.campaign.library import models_of
from sparingly.run.campaign.names import check_lengths, check_letters
from sparingly.run.campaign.tables import ASKED, DATA_VERSIONS, MODELS
from sparingly.run.campaign.todo import cells_of


def add_models(database: Database, history: History, data: str, held: EvalSet, clock: Clock) -> list[str]:
    """Take the models of a set that the data set does not have; everything chosen so far is asked of them.

    The set is the data set with more models: the items and what is known of the other models are the same.
    """
    settings, given = history.settings, unjudged(held)
    check_letters(settings.name, data, given, settings.aspects)
    if not database.is_sqlite:
        check_lengths(settings.name, data, given, settings.aspects)
    with database.writing() as connection:
        journal = _open_journal(Journal(connection, settings.name, clock))
        present = models_of(connection, settings.name, data)
        new = [name for name in given.models if name not in present]
        if not new:
            raise UsageError(
                f"The set has no model that is not in the data set {data}: {', '.join(present)}."
            )
        now = history.library.at(connection, data, journal.last_seq)
        _check_same(now, given)
        rounds = history.rounds(connection, data, journal.last_seq)
        if any(one.models is not None or one.pairs is not None for one, _ in rounds):
            raise UsageError(
                f"The strategy {settings.strategy} chooses the models for each item, so none can join now. "
                "Start another campaign."
            )
        # Models that were withdrawn stay out, and the set is stored as it is now.
        kept = given.take(models=[name for name in given.models if name in new or name in now.models])
        stored, key = unjudged(kept), {"campaign": settings.name, "data": data}
        seq = journal.event("arrived", data=data, models=new, digest=stored.digest())
        connection.execute(
            insert(DATA_VERSIONS),
            {**key, "seq": seq, "digest": stored.digest(), "content": to_bytes(stored)},
        )
        connection.execute(insert(MODELS), [{**key, "model": name, "arrived": seq} for name in new])
        added = stored.take(models=new)
        cells = [
            {**key, "item": cell.item, "model": cell.model, "other": "", "round": number, "place": cell.place,
             "seq": seq, "probability": row.probability}
            for number, (selection, _) in enumerate(rounds, 1)
            for cell, row in cells_of(data, selection, number, added)
        ]  # fmt: skip
        if cells:
            connection.execute(insert(ASKED), cells)
        journal.finish()
    return new


def withdraw_model(database: Database, history: History, data: str, model: str, clock: Clock) -> None:
    """Take a model out: nobody is asked about it any more, and it leaves the estimates."""
    name = history.settings.name
    with database.writing() as connection:
        journal = _open_journal(Journal(connection, name, clock))
        table = MODELS.c
        here = list(
            connection.execute(
                select(table.model).where(
                    table.campaign == name, table.data == data, table.withdrawn.is_(None)
                )
            ).scalars()
        )
        if model not in here:
            raise UnknownNameError("model", model, sorted(here))
        if len(here) < 3:
            raise UsageError(
                f"Without {model} there would be nothing left to compare in the data set {data}."
            )
        seq = journal.event("withdrawn", data=data, model=model)
        connection.execute(
            update(MODELS)
            .where(table.campaign == name, table.data == data, table.model == model)
            .values(withdrawn=seq)
        )
        journal.finish()


def _open_journal(journal: Journal) -> Journal:
    if journal.closed is not None:
        raise UsageError(f'The campaign "{journal.campaign}" is closed.')
    return journal


def _check_same(now: EvalSet, given: EvalSet) -> None:
    missing = [name for name in now.models if name not in given.models]
    if missing:
        raise DataError(f'The set has no model "{missing[0]}", which is in the campaign. Give all of them.')
    if unjudged(given.take(models=now.models)).digest() != unjudged(now).digest():
        raise DataError(
            "The set is not the one of the campaign with more models: items, metrics or texts of the other "
            "models differ."
        )
