"""Rounds: draw the next one, stop, pause, and say what would follow."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import DataError, SparinglyError, UnknownNameError, UsageError
from sparingly.choose.select import select as select_items
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.history import (
    BUDGET,
    DataSnapshot,
    Ended,
    History,
    OwnDraw,
    anchors_at,
    cells_of_round,
    checked_seq,
    paused_at,
    questions_at,
    spent_at,
    unanswered,
)
from sparingly.run.campaign.journal import Clock, Journal, as_json, open_journal
from sparingly.run.campaign.own_draws import Anchors, next_anchors, next_own_round
from sparingly.run.campaign.reader import set_status, state_for_estimates
from sparingly.run.campaign.settings import BudgetLike, Settings, checked_budget, limit_of, saved_strategy
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, ROUNDS
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.stop.base import Progress, TestingStop, as_stop, first_stop
from sparingly.run.rounds.strategy import Finished, OneShot


@dataclass(frozen=True, eq=False)
class NextStep:
    """Where a data set stands when the next round is asked for."""

    data: str
    number: int  # the number of its last round; 0 before the first
    selection: Selection | None  # that round; None where there is none
    new: bool  # whether the round was drawn just now
    outstanding: int  # how many answers are still to come, of this round and the ones before
    finished: Finished | None = None  # why no more is asked; None while it goes on

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values."""
        return {
            **vars(self),
            "selection": None if self.selection is None else self.selection.to_dict(),
            "finished": None if self.finished is None else vars(self.finished),
        }


class RoundDrawer:
    """Draws rounds, each once, however many processes ask for it.

    What to ask is computed before the journal is held, so that raters need not wait.
    """

    def __init__(self, database: Database, history: History, clock: Clock) -> None:
        self.database, self.history, self.clock = database, history, clock
        self.settings = history.settings

    def step(self, data: str, *, early: bool = False) -> NextStep:
        """Return the round to judge now: the last one while answers are missing, then the next.

        With ``early`` the next round is drawn although answers are missing. Of several processes that ask at
        once, one draws the round, and the others get the same.
        """
        with self.database.reading() as connection:
            snapshot = self.history.at(connection, data, self.history.last_seq(connection))
            step = self._step(connection, snapshot)
            closed = connection.execute(
                select(CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == self.settings.name)
            ).scalar_one()
            is_stopped = closed is not None or paused_at(connection, self.settings.name) is not None
        waits = step.number > 0 and step.outstanding > 0 and not early
        if step.finished is not None or is_stopped or waits:
            return step
        return self._write(snapshot, self.decide(snapshot))

    def step_of_new_models(self, data: str, models: Sequence[str], size: int | None = None) -> NextStep:
        """Return the round of new models to judge now: the last one while answers are missing, then the next.

        Of several processes that ask at once, one draws the round, and the others get the same.
        """
        with self.database.reading() as connection:
            snapshot = self.history.at(connection, data, self.history.last_seq(connection))
            step = self._step(connection, snapshot, models)
            if step.outstanding or paused_at(connection, self.settings.name) is not None:
                return step
            draw = self._draw_of(snapshot, models)
            decision = next_own_round(connection, self.history, snapshot, draw, size)
        if isinstance(decision, Finished):
            return replace(step, finished=decision)
        anchors = next_anchors(snapshot, draw, len(decision), self.settings.aspect, self.settings.seed)
        with self.database.writing() as connection:
            journal = open_journal(connection, self.settings.name, self.clock)
            may_write = self.history.round_count(connection, data) == snapshot.round_count
            if may_write:
                self._write_round(connection, journal, decision, snapshot, anchors)
                journal.finish()
        with self.database.reading() as connection:
            latest = self.history.at(connection, data, journal.last_seq)
            return self._step(connection, latest, models, new=may_write)

    def redraw_own(self, snapshot: DataSnapshot, models: Sequence[str], size: int) -> tuple[Any, Anchors]:
        """Return the round of new models that follows from what is known, with its anchors."""
        with self.database.reading() as connection:
            draw = self._draw_of(snapshot, models)
            decision = next_own_round(connection, self.history, snapshot, draw, size)
        return decision, next_anchors(snapshot, draw, size, self.settings.aspect, self.settings.seed)

    def _draw_of(self, snapshot: DataSnapshot, models: Sequence[str]) -> OwnDraw:
        """Return the draw of some new models; ``new`` stands for those that came last."""
        draws = snapshot.own_draws
        if not draws:
            raise UsageError(
                f"No model of the data set {snapshot.name} has a draw of its own. Add one with: "
                "sparingly campaign add-models CAMPAIGN OUTPUTS --budget 60."
            )
        if list(models) == ["new"]:
            return draws[-1]
        for draw in draws:
            if set(models) <= set(draw.models):
                return draw
        raise UnknownNameError("new model", models[0], [name for draw in draws for name in draw.models])

    def set_budget(self, data: str, value: BudgetLike) -> int:
        """Change what a data set may spend over all rounds; return the number of the entry."""
        budget = checked_budget(value)
        with self.database.reading() as connection:
            snapshot = self.history.at(connection, data, self.history.last_seq(connection))
            status = set_status(connection, self.history, data, snapshot.seq)
        limit = limit_of(budget, snapshot.drawn_from, pairs=status.unit == "comparisons")
        if limit < status.spent:
            raise UsageError(
                f"{status.spent} {status.unit} are asked for already, and a budget of {budget} is {limit}."
            )
        testing = [rule.name for rule in map(as_stop, self.settings.stops) if isinstance(rule, TestingStop)]
        if testing and snapshot.rounds:
            raise UsageError(
                f"The stopping rule {testing[0]} divides its error over the budget of {snapshot.budget}, "
                "which cannot change after the first round: to judge more, begin a campaign of fresh items."
            )
        unlabelled = snapshot.drawn_from.without_labels()
        strategy = saved_strategy(self.settings.strategy).resolve(unlabelled, self.settings.aspect, budget)
        if isinstance(strategy, OneShot) and snapshot.rounds:
            # What was chosen at once must be the beginning of what the new budget chooses.
            chosen = select_items(unlabelled, strategy.selector, budget, seed=self.settings.seed)
            chosen_rows = [(row.item, row.models) for row in chosen]
            asked = [(row.item, row.models) for selection in snapshot.rounds for row in selection]
            if asked != chosen_rows[: len(asked)]:
                raise UsageError(
                    f"{strategy.selector} chose its items at once, for a budget of {snapshot.budget}; for "
                    f"{budget} it would choose others. Begin a campaign with that budget, or with auto."
                )
        with self.database.writing() as connection:
            journal = open_journal(connection, self.settings.name, self.clock)
            if self.history.round_count(connection, data) != snapshot.round_count:
                raise UsageError("A round was drawn meanwhile: look at it, then change the budget.")
            seq = journal.event(BUDGET, data=data, budget=str(budget))
            journal.finish()
        return seq

    def decide(self, snapshot: DataSnapshot) -> Selection | Finished:
        """Return what follows from what is known: the next round, or the reason to stop."""
        if (reason := _reason_to_stop(self.settings, snapshot)) is not None:
            return reason
        picked = self._pick(snapshot)
        if isinstance(picked, Finished):
            return _reason_to_stop(self.settings, snapshot, final=True) or picked
        return picked

    def preview(self, data: str, at: int | None = None) -> Selection | Finished:
        """Return what would follow now, or at a number of the journal, and draw nothing.

        Rules to stop are asked only when a round is in: they look once a round.
        """
        with self.database.reading() as connection:
            seq = checked_seq(at, self.history.last_seq(connection))
            snapshot = self.history.at(connection, data, seq)
            step = self._step(connection, snapshot)
        if step.finished is not None:
            return step.finished
        return self._pick(snapshot) if step.outstanding else self.decide(snapshot)

    def _pick(self, snapshot: DataSnapshot) -> Selection | Finished:
        """Return what the strategy asks next, whatever the rules to stop say."""
        return next_round(
            snapshot.drawn_from,
            saved_strategy(self.settings.strategy),
            snapshot.budget,
            aspect=self.settings.aspect,
            rounds=snapshot.rounds,
            size=self.settings.size,
            seed=self.settings.seed,
            withdrawn=set(snapshot.drawn_from.models) - set(snapshot.data.models),
        )

    def _step(
        self, connection: Connection, snapshot: DataSnapshot, models: Sequence[str] = (), *, new: bool = False
    ) -> NextStep:
        """Return where a data set stands, or the rounds of some new models and their anchors."""
        data, seq = snapshot.name, snapshot.seq
        questions = questions_at(connection, self.settings, data, seq)
        rounds, finished = snapshot.rounds, snapshot.finished
        number = snapshot.numbers[-1] if snapshot.numbers else 0
        if models:
            draw = self._draw_of(snapshot, models)
            rounds, finished, number = draw.rounds, None, snapshot.round_count
            items = {item for selection in rounds for item in selection.items}
            anchors = anchors_at(connection, self.settings.name, data, seq)
            anchor_cells = {(cell.item, cell.model, cell.round) for cell in anchors}
            questions = [
                question
                for question in questions
                if (question.model in draw.models and question.item in items)
                or (question.item, question.model, question.round) in anchor_cells
            ]
        missing = unanswered(connection, self.settings, seq, questions)
        outstanding = sum(len(question.aspects) for question in missing)
        return NextStep(data, number, rounds[-1] if rounds else None, new, outstanding, finished)

    def _write(self, snapshot: DataSnapshot, decision: Selection | Finished) -> NextStep:
        """Write a round or the end of a data set, unless another process was quicker."""
        name = snapshot.name
        with self.database.writing() as connection:
            journal = Journal(connection, self.settings.name, self.clock)
            may_write = (
                journal.closed is None
                and paused_at(connection, journal.campaign) is None
                and self.history.round_count(connection, name) == snapshot.round_count
                and self.history.finished(connection, name, journal.last_seq) is None
                and self.history.budget(connection, name, journal.last_seq) == snapshot.budget
            )
            if may_write:
                if isinstance(decision, Finished):
                    journal.event("finished", data=name, as_of=snapshot.seq, **vars(decision))
                else:
                    self._write_round(connection, journal, decision, snapshot)
                journal.finish()
        with self.database.reading() as connection:
            latest = self.history.at(connection, name, journal.last_seq)
            return self._step(connection, latest, new=may_write and isinstance(decision, Selection))

    def _write_round(
        self,
        connection: Connection,
        journal: Journal,
        selection: Selection,
        snapshot: DataSnapshot,
        anchors: Anchors | None = None,
    ) -> None:
        data, number, text = snapshot.name, snapshot.round_count + 1, as_json(selection.to_dict())
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        extra: dict[str, Any] = {}
        if anchors is not None and anchors.cells:
            extra = {"anchors": list(map(list, anchors.cells)), "anchor_probability": anchors.probability}
        seq = journal.event(
            "round", data=data, number=number, as_of=snapshot.seq, digest=digest, rows=len(selection), **extra
        )
        signature, key = selection.signature, {"campaign": self.settings.name, "data": data}
        connection.execute(
            insert(ROUNDS),
            {
                **key,
                "number": number,
                "seq": seq,
                "as_of": snapshot.seq,
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
        present = self.history.data_sets.at(connection, data, journal.last_seq)
        if anchors is not None:
            cells = cells_of_round(selection, present.models)
            connection.execute(
                insert(ASKED), [{**key, **cell, "round": number, "seq": seq} for cell in cells]
            )
            return
        # No round spends more than there is, whatever the strategy says.
        first_set, pairs = snapshot.drawn_from, selection.pairs is not None
        limit = limit_of(self.history.budget(connection, data, seq), first_set, pairs=pairs)
        spent = spent_at(connection, self.settings.name, data, first_set.models, seq)
        cost = len(cells_of_round(selection, first_set.models))
        if spent + cost > limit:
            noun = "comparisons" if pairs else "outputs"
            raise DataError(f"The round asks for {cost} {noun}, and the budget leaves {limit - spent}.")
        own_models = self.history.own_models(connection, data, journal.last_seq)
        cells = cells_of_round(selection, [name for name in present.models if name not in own_models])
        if not cells:
            raise UsageError(f"The round asks about no model that is still in the data set {data}.")
        connection.execute(insert(ASKED), [{**key, **cell, "round": number, "seq": seq} for cell in cells])


def _reason_to_stop(settings: Settings, snapshot: DataSnapshot, *, final: bool = False) -> Finished | None:
    """Return why to stop before the budget is spent, by the campaign's rules; None to go on.

    With ``final``, nothing more will be asked for whatever the rules say, and they speak for the last time.
    """
    if not settings.stops or not snapshot.rounds:
        return None
    state, strategy = state_for_estimates(settings, snapshot)
    verdict = first_stop(settings.stops, Progress(state, strategy, final=final))
    if verdict is None:
        return None
    left = state.left
    if snapshot.rounds[0].pairs is not None:
        left = limit_of(snapshot.budget, snapshot.drawn_from, pairs=True) - sum(map(len, snapshot.rounds))
    return Ended(verdict.reason, verdict.answer, 0 if final else max(left, 0))


# --- What the next round would ask ---


@dataclass(frozen=True)
class NextItem:
    """An item that the next round would ask about, with its inclusion probability (None without one)."""

    item: str
    models: int
    probability: float | None
    reason: str


@dataclass(frozen=True)
class CampaignOutlook:
    """What would follow in a data set."""

    data: str
    number: int  # the number of the next round
    waiting: int  # how many answers to the rounds before are still to come
    items: tuple[NextItem, ...]  # what the next round would ask about; empty where there would be none
    outputs: int  # how many outputs (or comparisons) that is
    finished: str | None  # why no round would follow; None where one would
    spent: int  # how many outputs (or comparisons) were asked for so far, of the ``limit`` of the budget
    limit: int
    rounds_left: int  # how many rounds of this size the budget leaves
    stops: tuple[str, ...]  # the rules by which it may end earlier
    notes: tuple[str, ...] = ()

    @property
    def when(self) -> str:
        """When it would stop, in a sentence or two."""
        if self.finished is not None:
            return f"It would stop now: {self.finished}"
        if not self.outputs:
            return "Nothing can be said before the next round can be drawn."
        rounds = "1 more round" if self.rounds_left == 1 else f"{self.rounds_left} more rounds"
        unspent = self.limit - self.spent
        end = f"The budget leaves {unspent} of {self.limit}, which is {rounds} of this size."
        early = f" It stops earlier when a rule says so: {', '.join(self.stops)}." if self.stops else ""
        return end + early

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**plain(asdict(self)), "when": self.when}


def outlook(drawer: RoundDrawer, data: str) -> CampaignOutlook:
    """Say what the next round of a data set would ask if it were drawn now; nothing is drawn or written.

    While answers are missing, rules to stop are not asked: they promise an error rate for one look a round,
    and what they would say in between may change.
    """
    with drawer.database.reading() as connection:
        seq = drawer.history.last_seq(connection)
        status = set_status(connection, drawer.history, data, seq)
        own_models = drawer.history.own_models(connection, data, seq)
        models = drawer.history.data_sets.at(connection, data, seq).models
        present = [name for name in models if name not in own_models]
    decision: Selection | Finished | None = None
    notes: tuple[str, ...] = ()
    finished = status.finished
    if finished is None:
        try:
            decision = drawer.preview(data, seq)
        except SparinglyError as error:
            notes = (str(error),)
    if isinstance(decision, Finished):
        finished = decision.reason
    number, outputs = status.rounds + 1, 0
    items: tuple[NextItem, ...] = ()
    if isinstance(decision, Selection):
        counts = Counter(cell["item"] for cell in cells_of_round(decision, present))
        rows = {row.item: row for row in decision}
        items = tuple(
            NextItem(item, counts[item], plain(row.probability), row.reason) for item, row in rows.items()
        )
        outputs, notes = counts.total(), tuple(decision.notes)
    return CampaignOutlook(
        data=data,
        number=number,
        waiting=status.outstanding,
        items=items,
        outputs=outputs,
        finished=finished,
        spent=status.spent,
        limit=status.limit,
        rounds_left=math.ceil((status.limit - status.spent) / outputs) if outputs else 0,
        stops=drawer.settings.stops,
        notes=notes,
    )
