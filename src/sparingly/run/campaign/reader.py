"""Read a campaign, now or at any number of its journal: status, data, rounds, estimates.

Rounds are never drawn anew: a model that came late is judged on what was chosen without it, and one that was
withdrawn leaves the estimates and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from sqlalchemy import Connection, func, select

from sparingly.base.errors import UsageError
from sparingly.base.format import html_table
from sparingly.choose.select import select as select_items
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected, expect
from sparingly.run.campaign.database import Database, migrate
from sparingly.run.campaign.datasets import DataSets, models_of
from sparingly.run.campaign.history import (
    DataSnapshot,
    History,
    checked_seq,
    paused_at,
    rating_rows,
    spent_at,
)
from sparingly.run.campaign.journal import check_end
from sparingly.run.campaign.questions import questions_at, unanswered
from sparingly.run.campaign.settings import Settings, compares, limit_of, read_settings
from sparingly.run.campaign.soundness import check_kinds
from sparingly.run.campaign.tables import CAMPAIGNS, RATINGS
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.run.rounds.strategy import (
    OneShot,
    State,
    Strategy,
    as_strategy,
    asked_cells,
    compared_rows,
)

# --- Status ---


@dataclass(frozen=True)
class SetStatus:
    """Where one data set of a campaign stands.

    Attributes:
        data: The data set.
        items: Its number of items.
        models: The models that are judged.
        late: Those of them that came after the first round.
        withdrawn: Models that were taken out.
        rounds: How many rounds were drawn.
        spent: How many outputs (or comparisons) were asked for, of the models of the first round.
        limit: How many outputs (or comparisons) the budget allows.
        asked: How many answers were asked for.
        outstanding: How many of them nobody has given yet.
        answers: How many answers count: of each rater about each cell and aspect the last.
        corrections: How many answers were changed.
        raters: How many people (or judges) answered.
        finished: Why no more is asked; None while it goes on.
        answer: What the strategy found by itself, where it gives an answer.
    """

    data: str
    items: int
    models: tuple[str, ...]
    late: tuple[str, ...]
    withdrawn: tuple[str, ...]
    rounds: int
    spent: int
    limit: int
    asked: int
    outstanding: int
    answers: int
    corrections: int
    raters: int
    finished: str | None
    answer: str | None


@dataclass(frozen=True)
class Status:
    """Where a campaign stands at a number of its journal."""

    campaign: str
    seq: int
    last_seq: int
    aspect: str
    aspects: tuple[str, ...]
    strategy: str
    stops: tuple[str, ...]
    budget: str
    closed: bool
    sets: tuple[SetStatus, ...]
    paused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain values."""
        return {
            **vars(self),
            "aspects": list(self.aspects),
            "stops": list(self.stops),
            "sets": [_plain(one) for one in self.sets],
        }

    def _repr_html_(self) -> str:
        rows = [
            (
                one.data,
                one.rounds,
                f"{one.spent} of {one.limit}",
                one.answers,
                one.outstanding,
                one.corrections,
            )
            for one in self.sets
        ]
        columns = ("data set", "rounds", "outputs asked for", "answers", "outstanding", "corrections")
        return html_table(columns, rows, self.campaign, f"entry {self.seq}; {self.strategy}")


def _plain(one: SetStatus) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(one).items()}


def status_at(connection: Connection, history: History, seq: int | None) -> Status:
    """Return where a campaign stands at a number, or now."""
    settings, last = history.settings, history.last_seq(connection)
    here = checked_seq(seq, last)
    closed = connection.execute(
        select(CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == settings.name)
    ).scalar_one()
    return Status(
        campaign=settings.name,
        seq=here,
        last_seq=last,
        aspect=settings.aspect,
        aspects=tuple(settings.aspects),
        strategy=settings.strategy,
        stops=settings.stops,
        budget=settings.budget,
        closed=closed is not None and closed <= here,
        sets=tuple(set_status(connection, history, data, here) for data in settings.budgets),
        paused=paused_at(connection, settings.name, here) is not None,
    )


def set_status(connection: Connection, history: History, data: str, seq: int) -> SetStatus:
    """Return where one data set stands at a number."""
    settings = history.settings
    known = history.at(connection, data, seq)
    asked = questions_at(connection, settings, data, seq)
    began, now = known.drawn_from, known.data
    present = models_of(connection, settings.name, data)
    table = RATINGS.c
    where = (table.campaign == settings.name, table.data == data, table.seq <= seq)
    corrections = connection.execute(
        select(func.count()).where(*where, table.corrects.is_not(None))
    ).scalar_one()
    raters = connection.execute(select(func.count(func.distinct(table.rater))).where(*where)).scalar_one()
    finished = known.finished
    return SetStatus(
        data=data,
        items=len(now),
        models=now.models,
        late=tuple(name for name in now.models if name not in began.models),
        withdrawn=tuple(
            sorted(
                name for name, one in present.items() if one.withdrawn is not None and one.withdrawn <= seq
            )
        ),
        rounds=len(known.rounds),
        spent=spent_at(connection, settings.name, data, began, seq),
        limit=limit_of(
            settings.budgets[data], began, pairs=compares(settings.strategy, began, settings.aspect)
        ),
        asked=len(asked) * len(settings.aspects),
        outstanding=sum(len(question.aspects) for question in unanswered(connection, settings, seq, asked)),
        answers=len(history.answers(connection, data, seq)),
        corrections=corrections,
        raters=raters,
        finished=None if finished is None else finished.reason,
        answer=None if finished is None else finished.answer,
    )


# --- Estimates ---


_PICKED = "these comparisons were picked, not drawn: leads are exaggerated, and errors hold only for these."


@dataclass(frozen=True, kw_only=True)
class DrawnBefore(OneShot):
    """One selection, made from the models that were there when it was drawn, whoever came or went since."""

    drawn_from: EvalSet

    def _whole(self, state: State) -> Selection:
        return select_items(self.drawn_from, self.selector, state.budget, seed=state.seed)


def estimate_of(settings: Settings, known: DataSnapshot, **asked: Any) -> Estimate:
    """Return the scores of the models that are in a data set, from all of its rounds."""
    if not known.rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to estimate from.")
    state, strategy = state_for_estimates(settings, known)
    found = strategy.estimate(state, **asked)
    return replace(found, notes=(*found.notes, *_model_notes(known)))


def expected_of(settings: Settings, known: DataSnapshot) -> Expected:
    """Return what judging everything is expected to say of a data set, from every answer to its rounds."""
    if not known.rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to go by.")
    state, _ = state_for_estimates(settings, known)
    return expect(state.data, state.labels, aspect=state.aspect)


def strengths_of(settings: Settings, known: DataSnapshot, **asked: Any) -> BradleyTerry:
    """Return how strong the models of a data set are, from the comparisons of all of its rounds.

    Comparisons that were drawn with known chances are weighed by them; those that were picked count alike.
    """
    rounds = _answered_rounds(known)
    if not rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to estimate from.")
    if any(one.pairs is None for one in rounds):
        raise UsageError(f"The strategy {settings.strategy} asks for scores: see estimate.")
    drawn = all(one.probability is not None for one in rounds)
    aspect = settings.aspect if settings.aspect in settings.aspects else None
    found = bradley_terry(known.data, aspect, rounds=rounds if drawn else (), **asked)
    return replace(found, notes=(*found.notes, *(() if drawn else (_PICKED,)), *_model_notes(known)))


def state_for_estimates(settings: Settings, known: DataSnapshot) -> tuple[State, Strategy]:
    """Return what is known with the models that are here, and the strategy as it was settled at the start."""
    budget = settings.budgets[known.name]
    began = known.drawn_from.without_labels()
    strategy: Strategy = as_strategy(settings.strategy).resolve(began, settings.aspect, budget)
    if isinstance(strategy, OneShot):
        strategy = DrawnBefore(selector=strategy.selector, rounds=strategy.rounds, drawn_from=began)
    rounds = tuple(_of_models(one, known.data) for one in _answered_rounds(known))
    seen = known.data.reveal(asked_cells(known.data, rounds), compared_rows(known.data, rounds))
    return State(seen, settings.aspect, rounds, budget, settings.size, settings.seed), strategy


def _answered_rounds(known: DataSnapshot) -> tuple[Selection, ...]:
    """Return the rounds without the last ones that nobody has answered: these are not missing by chance."""
    rounds = list(known.rounds)
    judged = {known.data.items[row] for row in (*known.data.ratings.item, *known.data.preferences.item)}
    while len(rounds) > 1 and judged.isdisjoint(rounds[-1].items):
        rounds.pop()
    return tuple(rounds)


def _of_models(selection: Selection, data: EvalSet) -> Selection:
    """Return a round without comparisons with models that were withdrawn."""
    if selection.pairs is None:
        return selection
    here = set(data.models)
    kept = [place for place, pair in enumerate(selection.pairs) if pair is None or here.issuperset(pair)]
    if len(kept) == len(selection):
        return selection
    columns: dict[str, Any] = {
        name: value[kept]
        for name, value in vars(selection).items()
        if isinstance(value, np.ndarray) and name != "pool"
    }
    return replace(selection, **columns)


def _model_notes(known: DataSnapshot) -> list[str]:
    began, now = set(known.drawn_from.models), set(known.data.models)
    notes = []
    if late := sorted(now - began):
        notes.append(f"judged on what was chosen without them: {', '.join(late)}")
    if gone := sorted(began - now):
        notes.append(f"withdrawn: {', '.join(gone)}")
    return notes


# --- The reader ---


class CampaignReader:
    """Reads a campaign that was begun before: its status, data, rounds, answers and estimates.

    Attributes:
        database: The database, open.
        settings: What was decided when the campaign began.
        history: What was known at any number of its journal.
    """

    def __init__(self, where: str | Path, name: str | None = None) -> None:
        self.database = Database(where)
        try:
            migrate(self.database)
            with self.database.reading() as connection:
                check_kinds(connection, self.database.name)
                self.settings = read_settings(connection, name, self.database.name)
                check_end(connection, self.settings.name, self.database.name)
        except BaseException:
            self.database.close()
            raise
        self.history = History(self.settings, DataSets(self.settings.name))

    @property
    def name(self) -> str:
        """The campaign's name in its database."""
        return self.settings.name

    def questions(self, data: str | None = None, *, at: int | None = None) -> tuple[Question, ...]:
        """Return what nobody has judged yet of all rounds so far, with the texts to show."""
        names = list(self.settings.budgets) if data is None else [self.settings.data_named(data)]
        with self.database.reading() as connection:
            seq, found = checked_seq(at, self.history.last_seq(connection)), []
            for name in names:
                texts = QuestionTexts(self.history.library.at(connection, name, seq))
                asked = questions_at(connection, self.settings, name, seq)
                found += [
                    texts.fill(question) for question in unanswered(connection, self.settings, seq, asked)
                ]
        return tuple(found)

    def status(self, at: int | None = None) -> Status:
        """Return where the campaign stands, now or at a number of its journal."""
        with self.database.reading() as connection:
            return status_at(connection, self.history, at)

    def estimate(self, data: str | None = None, *, at: int | None = None, **asked: Any) -> Estimate:
        """Return the models' scores from what is judged so far; parameters are those of ``estimate``.

        Args:
            data: The data set; the only one unless given.
            at: The number of the journal at which the estimate is made; the last one unless given.
            asked: ``estimator``, ``target``, ``level``, ``interval`` …
        """
        return estimate_of(self.settings, self._known(data, at), **asked)

    def expected(self, data: str | None = None, *, at: int | None = None) -> Expected:
        """Return what judging everything is expected to say, from every answer so far (see ``expect``)."""
        return expected_of(self.settings, self._known(data, at))

    def strengths(self, data: str | None = None, *, at: int | None = None, **asked: Any) -> BradleyTerry:
        """Return the models' strengths where outputs are compared; parameters are those of ``bradley_terry``.

        Args:
            data: The data set; the only one unless given.
            at: The number of the journal at which the estimate is made; the last one unless given.
            asked: ``ties``, ``covariates``, ``level``.
        """
        return strengths_of(self.settings, self._known(data, at), **asked)

    def compares(self, data: str | None = None) -> bool:
        """Say whether people are asked which of two outputs is better, rather than for scores."""
        return compares(self.settings.strategy, self.data(data), self.settings.aspect)

    def rounds(self, data: str | None = None, *, at: int | None = None) -> tuple[Selection, ...]:
        """Return the rounds of a data set, now or at a number of the journal."""
        name = self.settings.data_named(data)
        with self.database.reading() as connection:
            seq = checked_seq(at, self.history.last_seq(connection))
            return tuple(one for one, _ in self.history.rounds(connection, name, seq))

    def data(self, data: str | None = None, *, at: int | None = None, judged: bool = True) -> EvalSet:
        """Return a data set with the answers that count, now or at a number of the journal."""
        name = self.settings.data_named(data)
        with self.database.reading() as connection:
            seq = checked_seq(at, self.history.last_seq(connection))
            if not judged:
                return self.history.library.at(connection, name, seq)
            return self.history.at(connection, name, seq).data

    def why(self) -> dict[str, str]:
        """Say of every data set what the strategy does on it, where it decides that by what there is."""
        strategy = as_strategy(self.settings.strategy)
        told = {name: strategy.why(self.data(name, judged=False)) for name in self.settings.budgets}
        return {name: sentences for name, sentences in told.items() if sentences}

    def ratings(self, *, at: int | None = None) -> list[dict[str, Any]]:
        """Return every answer as it came in, corrected ones too, in the order of the journal."""
        with self.database.reading() as connection:
            seq = checked_seq(at, self.history.last_seq(connection))
            return rating_rows(connection, self.name, seq)

    def disconnect(self) -> None:
        """Let go of the database; the campaign goes on when it is opened again."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} in {self.database.name}; {self.settings.strategy})"

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def _known(self, data: str | None, at: int | None) -> DataSnapshot:
        name = self.settings.data_named(data)
        with self.database.reading() as connection:
            seq = checked_seq(at, self.history.last_seq(connection))
            return self.history.at(connection, name, seq)
