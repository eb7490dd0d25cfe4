"""Rounds: draw the next one, stop, pause, take late models, and say what would follow."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from sparingly.base.errors import DataError, SparinglyError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.datasets import check_lengths, check_letters, models_of, to_bytes, unjudged
from sparingly.run.campaign.history import (
    PAUSED,
    RESUMED,
    DataSnapshot,
    History,
    checked_seq,
    paused_at,
    spent_at,
)
from sparingly.run.campaign.journal import Clock, Journal, as_json, utc_now
from sparingly.run.campaign.questions import questions_at, questions_of_round, unanswered
from sparingly.run.campaign.reader import CampaignReader, SetStatus, set_status, state_for_estimates
from sparingly.run.campaign.settings import Settings, limit_of
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, DATA_VERSIONS, MODELS, ROUNDS
from sparingly.run.forms.question import Question
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.stop.base import Progress, first_stop
from sparingly.run.rounds.strategy import Finished


def stopped(settings: Settings, known: DataSnapshot, *, final: bool = False) -> Finished | None:
    """Return why to stop, by the campaign's rules and the models that are in it; None to go on.

    With ``final``, nothing more will be asked for whatever the rules say, and they speak for the last time.
    """
    if not settings.stops or not known.rounds:
        return None
    state, strategy = state_for_estimates(settings, known)
    found = first_stop(settings.stops, Progress(state, strategy, final=final))
    return None if found is None else Finished(found.reason, found.answer)


@dataclass(frozen=True, eq=False)
class NextStep:
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


class RoundDrawer:
    """Draws rounds. What to ask is found out before the journal is held, so that raters need not wait."""

    def __init__(self, database: Database, history: History, clock: Clock) -> None:
        self.database, self.history, self.clock = database, history, clock
        self.settings = history.settings

    def step(self, data: str, *, early: bool = False) -> NextStep:
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

    def decide(self, known: DataSnapshot) -> Selection | Finished:
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

    def pick(self, known: DataSnapshot) -> Selection | Finished:
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

    def _step(self, connection: Connection, known: DataSnapshot, *, new: bool = False) -> NextStep:
        asked = questions_at(connection, self.settings, known.name, known.seq)
        left = unanswered(connection, self.settings, known.seq, asked)
        outstanding = sum(len(question.aspects) for question in left)
        last = known.rounds[-1] if known.rounds else None
        return NextStep(known.name, len(known.rounds), last, new, outstanding, known.finished)

    def _write(self, known: DataSnapshot, found: Selection | Finished) -> NextStep:
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

    def _write_round(
        self, connection: Connection, journal: Journal, found: Selection, known: DataSnapshot
    ) -> None:
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
        questions = questions_of_round(data, found, number, here)
        if not questions:
            raise UsageError(f"The round asks about no model that is still in the data set {data}.")
        connection.execute(
            insert(ASKED),
            [_asked_row(question, seq, key) for question in questions],
        )

    def _check_budget(
        self, connection: Connection, known: DataSnapshot, found: Selection, number: int, seq: int
    ) -> None:
        """Refuse a round that would spend more than there is, whatever the strategy says."""
        began, pairs = known.drawn_from, found.pairs is not None
        limit = limit_of(self.settings.budgets[known.name], began, pairs=pairs)
        spent = spent_at(connection, self.settings.name, known.name, began, seq)
        wanted = len(questions_of_round(known.name, found, number, began))
        if spent + wanted > limit:
            what = "comparisons" if pairs else "outputs"
            raise DataError(f"The round asks for {wanted} {what}, and the budget leaves {limit - spent}.")


def _asked_row(question: Question, seq: int, key: Mapping[str, str]) -> dict[str, Any]:
    """Return the row of the table of what was asked for."""
    return {
        **key,
        "item": question.item,
        "model": question.model,
        "other": question.other or "",
        "round": question.round,
        "place": question.place,
        "seq": seq,
        "probability": question.probability,
    }


# --- Pauses ---


def pause(campaign: CampaignReader, reason: str = "", *, clock: Clock = utc_now) -> int:
    """Hand out no more questions until ``resume``; return the number of the entry.

    Answers that come in are taken: nobody who is in the middle of something loses it.
    """
    return _entered(campaign, PAUSED, clock, reason=reason)


def resume(campaign: CampaignReader, *, clock: Clock = utc_now) -> int:
    """Hand out questions again; return the number of the entry."""
    return _entered(campaign, RESUMED, clock)


def _entered(campaign: CampaignReader, kind: str, clock: Clock, **detail: str) -> int:
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


# --- Models that arrive late or are withdrawn ---


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
        asked = [
            _asked_row(question, seq, key)
            for number, (selection, _) in enumerate(rounds, 1)
            for question in questions_of_round(data, selection, number, added)
        ]
        if asked:
            connection.execute(insert(ASKED), asked)
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


# --- What the next round would ask; nothing is drawn ---


@dataclass(frozen=True)
class NextItem:
    """An item that the next round would ask about, with its chance to be drawn (None where it has none)."""

    item: str
    models: int
    probability: float | None
    reason: str


@dataclass(frozen=True)
class CampaignOutlook:
    """What would follow in a data set.

    Attributes:
        data: The data set.
        number: The number of the next round.
        waiting: How many answers to the rounds before are still to come.
        items: What the next round would ask about; empty where there would be none.
        outputs: How many outputs (or comparisons) that is.
        finished: Why no round would follow; None where one would.
        spent: How many outputs (or comparisons) were asked for so far.
        limit: How many the budget allows.
        rounds_left: How many rounds of that size the budget leaves.
        stops: The rules by which it may end earlier.
        notes: What to mind.
    """

    data: str
    number: int
    waiting: int
    items: tuple[NextItem, ...]
    outputs: int
    finished: str | None
    spent: int
    limit: int
    rounds_left: int
    stops: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def when(self) -> str:
        """When it would stop, in a sentence or two."""
        if self.finished is not None:
            return f"It would stop now: {self.finished}"
        if not self.outputs:
            return "Nothing can be said before the next round can be drawn."
        rounds = "1 more round" if self.rounds_left == 1 else f"{self.rounds_left} more rounds"
        left = self.limit - self.spent
        end = f"The budget leaves {left} of {self.limit}, which is {rounds} of this size."
        early = f" It stops earlier when a rule says so: {', '.join(self.stops)}." if self.stops else ""
        return end + early

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **vars(self),
            "items": [dict(vars(one)) for one in self.items],
            "stops": list(self.stops),
            "notes": list(self.notes),
            "when": self.when,
        }


def outlook(drawer: RoundDrawer, data: str) -> CampaignOutlook:
    """Say what the next round of a data set would ask if it were drawn now; nothing is drawn or written.

    While answers are missing, rules to stop are not asked: they promise an error rate for one look a round,
    and what they would say in between may change.
    """
    with drawer.database.reading() as connection:
        seq = drawer.history.last_seq(connection)
        status = set_status(connection, drawer.history, data, seq)
        models = drawer.history.library.at(connection, data, seq)
    preview: Selection | None = None
    finished = status.finished
    notes: tuple[str, ...] = ()
    if finished is None:
        try:
            following = drawer.preview(data, seq)
        except SparinglyError as error:
            notes = (str(error),)
        else:
            if isinstance(following, Selection):
                preview = following
            else:
                finished = following.reason
    return _outlook(drawer.settings, status, models, preview, finished, notes)


def _outlook(
    settings: Settings,
    status: SetStatus,
    models: EvalSet,
    preview: Selection | None,
    finished: str | None,
    notes: tuple[str, ...],
) -> CampaignOutlook:
    number, outputs = status.rounds + 1, 0
    items: tuple[NextItem, ...] = ()
    if preview is not None:
        questions = questions_of_round(status.data, preview, number, models)
        counts: dict[str, int] = {}
        for question in questions:
            counts[question.item] = counts.get(question.item, 0) + 1
        rows = {row.item: row for row in preview}
        items = tuple(
            NextItem(item, counts.get(item, 0), plain(row.probability), row.reason)
            for item, row in rows.items()
        )
        outputs, notes = len(questions), (*notes, *preview.notes)
    left = status.limit - status.spent
    return CampaignOutlook(
        data=status.data,
        number=number,
        waiting=status.outstanding,
        items=items,
        outputs=outputs,
        finished=finished,
        spent=status.spent,
        limit=status.limit,
        rounds_left=math.ceil(left / outputs) if outputs else 0,
        stops=settings.stops,
        notes=notes,
    )
