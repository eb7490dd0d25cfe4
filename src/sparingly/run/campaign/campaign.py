"""A campaign: a live evaluation whose data, rounds and answers are kept in one database."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected
from sparingly.run.campaign.answer_files import read_answers
from sparingly.run.campaign.answers import Answer
from sparingly.run.campaign.claims import Claims
from sparingly.run.campaign.create import AspectsAsked, BudgetAsked, StopAsked, create, prepare
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.draw import Drawer, Step
from sparingly.run.campaign.estimates import estimate_of, expected_of, strengths_of
from sparingly.run.campaign.export import rating_rows
from sparingly.run.campaign.history import History, Known
from sparingly.run.campaign.journal import Clock, Journal, check_end, utc_now
from sparingly.run.campaign.library import Library
from sparingly.run.campaign.migrate import migrate
from sparingly.run.campaign.models import add_models, withdraw_model
from sparingly.run.campaign.oracle import Caller, CallsSpentError, Oracle, Patience, Report, reporting
from sparingly.run.campaign.organising import Organising
from sparingly.run.campaign.questions import Question, question_of
from sparingly.run.campaign.record import BATCH, Acknowledgement, OnError, Recorded, Recorder
from sparingly.run.campaign.refusal import check_score
from sparingly.run.campaign.settings import read_settings
from sparingly.run.campaign.soundness import check_kinds
from sparingly.run.campaign.spending import compares
from sparingly.run.campaign.status import Status, checked_seq, status_at
from sparingly.run.campaign.todo import asked_at
from sparingly.run.campaign.verify import verify_campaign
from sparingly.run.rounds.strategy import Finished, as_strategy
from sparingly.run.verification import Verification


class Campaign(Organising):
    """A live evaluation: data, strategy, rounds, answers and raters, in one database.

    Open one that was begun before with ``Campaign(where)``, begin one with ``Campaign.new``. ``where`` is a
    SQLite file or the URL of a PostgreSQL database. Everything that is acknowledged is on disk, and several
    processes may work on a campaign at once.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> campaign = sparingly.Campaign.new("demo.db", data, "uniform", 20, aspects="overall", size=10)
        >>> known = dict(zip(data.items, data.aspects["overall"]))
        >>> column = {model: place for place, model in enumerate(data.models)}
        >>> campaign.run(lambda question: known[question.item][column[question.model]], rater="table")
        160
        >>> campaign.status().sets[0].finished
        'every chosen item was asked for.'
        >>> campaign.disconnect()
    """

    def __init__(self, where: str | Path, name: str | None = None, *, clock: Clock = utc_now) -> None:
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
        self._clock = clock
        self._history = History(self.settings, Library(self.settings.name))
        self._drawer = Drawer(self.database, self._history, clock)
        self._recorder = Recorder(self.database, self.settings, self._history.library, clock)

    @classmethod
    def new(
        cls,
        where: str | Path,
        data: EvalSet | Mapping[str, EvalSet],
        strategy: str | Method | None = None,
        budget: BudgetAsked | Mapping[str, BudgetAsked] | None = None,
        *,
        name: str = "campaign",
        aspects: AspectsAsked | None = None,
        aspect: str | None = None,
        scale: Ends | None = None,
        stop: StopAsked = None,
        size: int | None = None,
        seed: int = 0,
        clock: Clock = utc_now,
    ) -> Campaign:
        """Begin a campaign.

        Args:
            where: A file to make (or one that holds other campaigns), or the URL of a PostgreSQL database.
            data: The evaluation set, or several by name (language pairs, say). What people said in it is left
                out: a campaign knows only the answers that it asked for.
            strategy: A strategy, a selector or a utility: ``waves``, ``uniform`` …; ``auto`` unless given.
            budget: How many items may be judged on all models (or comparisons made), over all rounds: a
                count or a share. One budget is divided over data sets by size; a mapping says who gets what.
            name: The campaign's name in its database.
            aspects: What people are asked for: names, or names with their scales.
            aspect: What the evaluation is about, where there are several: one aspect, or a combination.
            scale: The lowest and the highest score of every aspect.
            stop: When to stop before the budget is spent: ``best_settled`` …, or several such rules.
            size: How many items a round asks for; the strategy's own number unless given.
            seed: Settles ties and draws.
            clock: What tells the time; only for what is written beside the entries, never for their order.
        """
        sets = {"data": data} if isinstance(data, EvalSet) else dict(data)
        beginning = prepare(
            name, sets, strategy, budget,
            aspects=aspects, aspect=aspect, scale=scale, stop=stop, size=size, seed=seed,
        )  # fmt: skip
        database = Database(where, create=True)
        try:
            migrate(database, create=True)
            create(database, beginning, clock)
        finally:
            database.close()
        return cls(where, name, clock=clock)

    @property
    def name(self) -> str:
        """The campaign's name in its database."""
        return self.settings.name

    # --- the loop ------------------------------------------------------------------------------------

    def next(self, data: str | None = None, *, early: bool = False) -> tuple[Step, ...]:
        """Return what to judge now, one step per data set.

        While answers are missing this is the last round; when all are there, the next one is drawn. With
        ``early`` it is drawn although answers are missing.
        """
        names = list(self.settings.budgets) if data is None else [self.settings.data_named(data)]
        return tuple(self._drawer.step(name, early=early) for name in names)

    def preview(self, data: str | None = None, *, at: int | None = None) -> Selection | Finished:
        """Return what the next round would ask if it were drawn now, or why none would be; draw nothing."""
        return self._drawer.preview(self.settings.data_named(data), at)

    def questions(self, data: str | None = None, *, at: int | None = None) -> tuple[Question, ...]:
        """Return what nobody has judged yet of all rounds so far, with the texts to show."""
        names = list(self.settings.budgets) if data is None else [self.settings.data_named(data)]
        with self.database.reading() as connection:
            seq, found = checked_seq(at, self._history.last_seq(connection)), []
            for name in names:
                held = self._history.library.at(connection, name, seq)
                missing = asked_at(connection, self.settings, name, seq).missing
                found += [question_of(held, cell, aspects) for cell, aspects in missing.items()]
        return tuple(found)

    def record(
        self,
        answers: str | Path | Iterable[Answer | Mapping[str, Any]],
        *,
        on_error: OnError = "keep",
        batch: int = BATCH,
        acknowledge: Callable[[Acknowledgement], None] | None = None,
    ) -> Recorded:
        """Record answers: those of a file (``-`` for standard input), or given one by one.

        Args:
            answers: A CSV or JSON Lines file, answers, or mappings with the columns of such a file.
            on_error: Where an answer is refused, ``keep`` the others, or ``rollback`` all of them.
            batch: How many answers are written together; each batch is kept whole or not at all.
            acknowledge: Called for every answer when it is safely there, or refused.
        """
        numbered = read_answers(answers) if isinstance(answers, str | Path) else _numbered(answers)
        return self._recorder.record(numbered, on_error=on_error, batch=batch, acknowledge=acknowledge)

    def run(
        self,
        oracle: Oracle,
        *,
        rater: str = "judge",
        workers: int = 1,
        patience: Patience | None = None,
        lease: float = 600.0,
        progress: bool | Report = False,
    ) -> int:
        """Let a judge answer everything, round after round, and return how many questions it answered.

        The judge is a callable: it is given a ``Question`` and returns a score, or one for each aspect. An
        answer is kept as soon as it is there; nothing is asked twice, also where two processes run at once or
        one was killed, and never more than the budget allows. Run it again to go on.

        Args:
            oracle: The judge.
            rater: The name under which its answers are kept.
            workers: How many questions are asked at a time, each in a thread of its own.
            patience: How often and when a judge that fails is asked again, and how many calls are allowed.
            lease: After how many seconds a question that somebody else was asking is free again.
            progress: Show a bar, or call this with how many answers are there and how many are asked for.
        """
        tries = patience or Patience()
        claims = Claims(
            self.database, self._history, self._clock, rater=rater, holder=uuid.uuid4().hex, lease=lease
        )
        caller = Caller(oracle, rater, claims, self._check, self._keep, tries)
        total = 0
        with reporting(progress, self.name) as report:
            while any(step.finished is None for step in self.next()):
                answered = self._answer_round(caller, max(4 * workers, 64), workers, report)
                total += answered
                if not answered:
                    break
        return total

    # --- what came of it -----------------------------------------------------------------------------

    def status(self, at: int | None = None) -> Status:
        """Return where the campaign stands, now or at a number of its journal."""
        with self.database.reading() as connection:
            return status_at(connection, self._history, at)

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
            seq = checked_seq(at, self._history.last_seq(connection))
            return tuple(one for one, _ in self._history.rounds(connection, name, seq))

    def data(self, data: str | None = None, *, at: int | None = None, judged: bool = True) -> EvalSet:
        """Return a data set with the answers that count, now or at a number of the journal."""
        name = self.settings.data_named(data)
        with self.database.reading() as connection:
            seq = checked_seq(at, self._history.last_seq(connection))
            if not judged:
                return self._history.library.at(connection, name, seq)
            return self._history.at(connection, name, seq).data

    def why(self) -> dict[str, str]:
        """Say of every data set what the strategy does on it, where it decides that by what there is."""
        strategy = as_strategy(self.settings.strategy)
        told = {name: strategy.why(self.data(name, judged=False)) for name in self.settings.budgets}
        return {name: sentences for name, sentences in told.items() if sentences}

    def ratings(self, *, at: int | None = None) -> list[dict[str, Any]]:
        """Return every answer as it came in, corrected ones too, in the order of the journal."""
        with self.database.reading() as connection:
            seq = checked_seq(at, self._history.last_seq(connection))
            return rating_rows(connection, self.name, seq)

    def verify(self) -> Verification:
        """Check that no entry was changed, and draw every round again from what was known before it."""
        return verify_campaign(self.database, self._drawer)

    # --- changes -------------------------------------------------------------------------------------

    def add_models(self, held: EvalSet, data: str | None = None) -> list[str]:
        """Take models that came late, given as the data set with more models; return their names.

        Nothing is drawn anew: they are judged on what was chosen without them.
        """
        name = self.settings.data_named(data)
        return add_models(self.database, self._history, name, held, self._clock)

    def withdraw(self, model: str, data: str | None = None) -> None:
        """Take a model out: nobody is asked about it any more, and it leaves the estimates."""
        name = self.settings.data_named(data)
        withdraw_model(self.database, self._history, name, model, self._clock)

    def close(self) -> None:
        """End the campaign: it takes no more answers and draws no more rounds, and can still be read."""
        with self.database.writing() as connection:
            journal = Journal(connection, self.name, self._clock)
            if journal.closed is not None:
                raise UsageError(f'The campaign "{self.name}" is closed already.')
            journal.finish(closed=journal.event("closed"))

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

    # --- inside --------------------------------------------------------------------------------------

    def _known(self, data: str | None, at: int | None) -> Known:
        name = self.settings.data_named(data)
        with self.database.reading() as connection:
            seq = checked_seq(at, self._history.last_seq(connection))
            return self._history.at(connection, name, seq)

    def _keep(self, answers: Sequence[Answer]) -> list[Acknowledgement]:
        kept: list[Acknowledgement] = []
        self.record(answers, on_error="rollback", acknowledge=kept.append)
        return kept

    def _check(self, answer: Answer) -> None:
        check_score(self.settings, answer.aspect or "", answer)

    def _answer_round(self, caller: Caller, most: int, workers: int, report: Report) -> int:
        """Let a judge answer what is open now; return how many questions it answered."""
        names, answered = list(self.settings.budgets), 0
        held = {name: self.data(name, judged=False) for name in names}
        while taken := caller.claims.take(names, most, caller.patience.most_calls):
            done, total = self._done()
            asked = [(cell, question_of(held[cell.data], cell, aspects)) for cell, aspects in taken]
            try:
                for count, _ in enumerate(caller.answer(asked, workers), 1):
                    answered += 1
                    report(done + count, total)
            except CallsSpentError:
                # Calls that were counted for other questions and not made may still be left.
                continue
        return answered

    def _done(self) -> tuple[int, int]:
        with self.database.reading() as connection:
            seq = self._history.last_seq(connection)
            asked = [asked_at(connection, self.settings, name, seq) for name in self.settings.budgets]
        total = sum(len(one.cells) for one in asked)
        return total - sum(len(one.missing) for one in asked), total


def _numbered(answers: Iterable[Answer | Mapping[str, Any]]) -> Iterable[tuple[int, Answer | SparinglyError]]:
    for number, given in enumerate(answers, 1):
        try:
            answer = given if isinstance(given, Answer) else Answer.from_values(given)
        except SparinglyError as error:
            yield number, error
        else:
            if answer is not None:
                yield number, answer
