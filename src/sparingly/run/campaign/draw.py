"""Draw the next round of a data set, once, however many ask for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import DataError, UsageError
from sparingly.data.selection import Selection
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.history import History, Known
from sparingly.run.campaign.journal import Clock, Journal, as_json
from sparingly.run.campaign.pause import paused_at
from sparingly.run.campaign.spending import limit_of, spent_at
from sparingly.run.campaign.status import checked_seq
from sparingly.run.campaign.stopping import stopped
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, ROUNDS
from sparingly.run.campaign.todo import asked_at, cells_of
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.strategy import Finished


@dataclass(frozen=True, eq=False)
class Step:
    """Where a data set stands when the next round is asked for.

    Attributes:
        data: The data set.
        number: The number of its last round; 0 before the first.
        selection: That round; None where there is none.
        new: Whether the round was drawn just now.
        outstanding: How many answers are still to come, of this round and the ones before.
        finished: Why no more is asked; None while it goes on.
    """

    data: str
    number: int
    selection: Selection | None
    new: bool
    outstanding: int
    finished: Finished | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values."""
        return {
            **vars(self),
            "selection": None if self.selection is None else self.selection.to_dict(),
            "finished": None if self.finished is None else vars(self.finished),
        }


class Drawer:
    """Draws rounds. What to ask is found out before the journal is held, so that raters need not wait."""

    def __init__(self, database: Database, history: History, clock: Clock) -> None:
        self.database, self.history, self.clock = database, history, clock
        self.settings = history.settings

    def step(self, data: str, *, early: bool = False) -> Step:
        """Return the round to judge now: the last one while answers are missing, then the next.

        With ``early`` the next round is drawn although answers are missing. Of several processes that ask at
        once, one draws the round, and the others get the same.
        """
        with self.database.reading() as connection:
            seq = self.history.last_seq(connection)
            known = self.history.at(connection, data, seq)
            here = self._step(connection, known)
            closed = connection.execute(
                select(CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == self.settings.name)
            ).scalar_one()
            held = closed is not None or paused_at(connection, self.settings.name) is not None
        waits = here.number > 0 and here.outstanding > 0 and not early
        if here.finished is not None or held or waits:
            return here
        return self._write(known, self.decide(known))

    def decide(self, known: Known) -> Selection | Finished:
        """Return what follows from what is known: the next round, or the reason to stop."""
        if (found := stopped(self.settings, known)) is not None:
            return found
        picked = self.pick(known)
        if isinstance(picked, Finished):
            return stopped(self.settings, known, final=True) or picked
        return picked

    def preview(self, data: str, at: int | None = None) -> Selection | Finished:
        """Return what would follow now, or at a number of the journal, and draw nothing.

        Rules to stop are asked only when a round is in: they look once a round.
        """
        with self.database.reading() as connection:
            known = self.history.at(connection, data, checked_seq(at, self.history.last_seq(connection)))
            here = self._step(connection, known)
        if here.finished is not None:
            return here.finished
        return self.pick(known) if here.outstanding else self.decide(known)

    def pick(self, known: Known) -> Selection | Finished:
        """Return what the strategy asks next, whatever the rules to stop say."""
        return next_round(
            known.drawn_from,
            self.settings.strategy,
            self.settings.budgets[known.name],
            aspect=self.settings.aspect,
            rounds=known.rounds,
            size=self.settings.size,
            seed=self.settings.seed,
            withdrawn=set(known.drawn_from.models) - set(known.data.models),
        )

    def _step(self, connection: Connection, known: Known, *, new: bool = False) -> Step:
        asked = asked_at(connection, self.settings, known.name, known.seq)
        last = known.rounds[-1] if known.rounds else None
        return Step(known.name, len(known.rounds), last, new, asked.outstanding, known.finished)

    def _write(self, known: Known, found: Selection | Finished) -> Step:
        with self.database.writing() as connection:
            journal = Journal(connection, self.settings.name, self.clock)
            drawn = self.history.round_count(connection, known.name)
            ended = self.history.finished(connection, known.name, journal.last_seq)
            held = journal.closed is not None or paused_at(connection, journal.campaign) is not None
            first = not held and drawn == len(known.rounds) and ended is None
            if first and isinstance(found, Finished):
                journal.event("finished", data=known.name, as_of=known.seq, **vars(found))
            elif first and isinstance(found, Selection):
                self._write_round(connection, journal, found, known)
            if first:
                journal.finish()
        with self.database.reading() as connection:
            after = self.history.at(connection, known.name, journal.last_seq)
            return self._step(connection, after, new=first and isinstance(found, Selection))

    def _write_round(self, connection: Connection, journal: Journal, found: Selection, known: Known) -> None:
        data, number, as_of, text = known.name, len(known.rounds) + 1, known.seq, as_json(found.to_dict())
        here = self.history.library.at(connection, data, journal.last_seq)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        seq = journal.event("round", data=data, number=number, as_of=as_of, digest=digest, rows=len(found))
        signature, key = found.signature, {"campaign": self.settings.name, "data": data}
        connection.execute(
            insert(ROUNDS),
            {
                **key,
                "number": number,
                "seq": seq,
                "as_of": as_of,
                "strategy": signature.method,
                "aspect": self.settings.aspect,
                "budget": signature.budget,
                "size": self.settings.size,
                "seed": signature.seed,
                "inputs": signature.inputs,
                "labels": signature.labels,
                "digest": digest,
                "selection": text,
            },
        )
        self._check_budget(connection, known, found, number, seq)
        cells = cells_of(data, found, number, here)
        if not cells:
            raise UsageError(f"The round asks about no model that is still in the data set {data}.")
        connection.execute(
            insert(ASKED),
            [
                {
                    **key,
                    **{name: getattr(cell, name) for name in ("item", "model", "other", "round", "place")},
                    "seq": seq,
                    "probability": row.probability,
                }
                for cell, row in cells
            ],
        )

    def _check_budget(
        self, connection: Connection, known: Known, found: Selection, number: int, seq: int
    ) -> None:
        """Refuse a round that would spend more than there is, whatever the strategy says."""
        began, pairs = known.drawn_from, found.pairs is not None
        limit = limit_of(self.settings.budgets[known.name], began, pairs=pairs)
        spent = spent_at(connection, self.settings.name, known.name, began, seq)
        wanted = len(cells_of(known.name, found, number, began))
        if spent + wanted > limit:
            what = "comparisons" if pairs else "outputs"
            raise DataError(f"The round asks for {wanted} {what}, and the budget leaves {limit - spent}.")
