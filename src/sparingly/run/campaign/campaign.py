"""A campaign: a live evaluation whose data, rounds and answers are in one database."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.campaign.answers import (
    BATCH,
    Acknowledgement,
    OnError,
    RecordedCounts,
    Recorder,
    check_score,
    read_answers,
)
from sparingly.run.campaign.create import Aspects, BudgetLike, StopRules, create, prepare
from sparingly.run.campaign.database import Database, migrate
from sparingly.run.campaign.history import questions_at, unanswered
from sparingly.run.campaign.journal import Clock, Journal, utc_now
from sparingly.run.campaign.oracle import Caller, CallsSpentError, Claims, Oracle, Patience, Report, reporting
from sparingly.run.campaign.progress import Overview, RaterHours, overview, rater_hours
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.campaign.release import Release, release
from sparingly.run.campaign.results import Findings, findings, rank_so_far
from sparingly.run.campaign.rounds import (
    CampaignOutlook,
    NextStep,
    RoundDrawer,
    add_models,
    outlook,
    pause,
    resume,
    withdraw_model,
)
from sparingly.run.campaign.verify import verify_campaign
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.question import QuestionTexts
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import Verification


class Campaign(CampaignReader):
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
        super().__init__(where, name)
        self._clock = clock
        self._drawer = RoundDrawer(self.database, self.history, clock)
        self._recorder = Recorder(self.database, self.settings, self.history.data_sets, clock)

    @classmethod
    def new(
        cls,
        where: str | Path,
        data: EvalSet | Mapping[str, EvalSet],
        strategy: str | Method | None = None,
        budget: BudgetLike | Mapping[str, BudgetLike] | None = None,
        *,
        name: str = "campaign",
        aspects: Aspects | None = None,
        aspect: str | None = None,
        scale: Ends | None = None,
        stop: StopRules = None,
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
        data_sets = {"data": data} if isinstance(data, EvalSet) else dict(data)
        settings, unjudged_sets = prepare(
            name, data_sets, strategy, budget,
            aspects=aspects, aspect=aspect, scale=scale, stop=stop, size=size, seed=seed,
        )  # fmt: skip
        database = Database(where, create=True)
        try:
            migrate(database, create=True)
            create(database, settings, unjudged_sets, clock)
        finally:
            database.close()
        return cls(where, name, clock=clock)

    # --- the loop ---

    def next(self, data: str | None = None, *, early: bool = False) -> tuple[NextStep, ...]:
        """Return what to judge now, one step per data set.

        While answers are missing this is the last round; when all are there, the next one is drawn. With
        ``early`` it is drawn although answers are missing.
        """
        names = list(self.settings.budgets) if data is None else [self.settings.data_named(data)]
        return tuple(self._drawer.step(name, early=early) for name in names)

    def preview(self, data: str | None = None, *, at: int | None = None) -> Selection | Finished:
        """Return what the next round would ask if it were drawn now, or why none would be; draw nothing."""
        return self._drawer.preview(self.settings.data_named(data), at)

    def record(
        self,
        answers: str | Path | Iterable[Answer | Mapping[str, Any]],
        *,
        on_error: OnError = "keep",
        batch: int = BATCH,
        acknowledge: Callable[[Acknowledgement], None] | None = None,
    ) -> RecordedCounts:
        """Record answers: those of a file (``-`` for standard input), or given one by one.

        Args:
            answers: A CSV or JSON Lines file, answers, or mappings with the columns of such a file.
            on_error: Where an answer is refused, ``keep`` the others, or ``rollback`` all of them.
            batch: How many answers are written together; each batch is stored whole or not at all.
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

        The judge is a callable: it takes a ``Question`` and returns a score, or one for each aspect. An
        answer is saved as soon as it is there; nothing is asked twice, even if two processes run at once or
        one was killed, and never more than the budget allows. Run it again to go on.

        Args:
            oracle: The judge.
            rater: The rater's name of its answers.
            workers: How many questions are asked at a time, each in a thread of its own.
            patience: How often and when a judge that fails is asked again, and how many calls are allowed.
            lease: After how many seconds a question that somebody else was asking is free again.
            progress: Show a bar, or call this with how many answers are there and how many are asked for.
        """
        claims = Claims(
            self.database, self.history, self._clock, rater=rater, holder=uuid.uuid4().hex, lease=lease
        )
        caller = Caller(
            oracle,
            rater,
            claims,
            check=lambda answer: check_score(self.settings, answer.aspect or "", answer),
            record=lambda answers: self.record(answers, on_error="rollback"),
            patience=patience or Patience(),
        )
        total = 0
        with reporting(progress, self.name) as report:
            while any(step.finished is None for step in self.next()):
                count = self._answer_round(caller, workers, report)
                total += count
                if not count:
                    break
        return total

    # --- what came of it ---

    def overview(self) -> Overview:
        """Say how far every round and every rater is, and what it cost; quick, nothing is estimated."""
        return overview(self)

    def rank(self, data: str | None = None, *, at: int | None = None, **options: Any) -> Ranking:
        """Rank the models of a data set from what is judged so far, by the joint errors of all rounds.

        Args:
            data: The data set; the only one unless given.
            at: The number of the journal at which models are ranked; the last one unless given.
            options: ``target``, ``alpha``, ``expect``, ``seed``, ``estimator``, as ``rank`` has them.
        """
        return rank_so_far(self, data, at=at, **options)

    def findings(self, at: int | None = None) -> Findings:
        """Rank the models of every data set and tell how well raters agree, now or at a number."""
        return findings(self, at)

    def outlook(self, data: str | None = None) -> CampaignOutlook:
        """Say what the next round would ask and when it would stop; nothing is drawn."""
        return outlook(self._drawer, self.settings.data_named(data))

    def hours(self, at: int | None = None) -> tuple[RaterHours, ...]:
        """Return how long every rater worked, by the seconds that came with the answers."""
        return rater_hours(self.ratings(at=at))

    def release(
        self,
        path: str | Path,
        *,
        licence: str,
        title: str | None = None,
        comments: bool = False,
        texts: bool = True,
        seed: int | None = None,
    ) -> Release:
        """Write an anonymised release: data card, ratings with raters as numbers, rounds and data.

        Args:
            path: The folder to make, or the ``.zip`` to write.
            licence: The licence, such as ``CC-BY-4.0``; it goes into the data card.
            title: The title of the data card; the campaign's name unless given.
            comments: Include the raters' comments. Read them first: they may contain names.
            texts: Include the data sets; without them there are the ratings, by ids.
            seed: Decides which rater gets which number; a new random one unless given. Keep it to make the
                same numbers again, and do not publish it.
        """
        return release(self, path, licence=licence, title=title, comments=comments, texts=texts, seed=seed)

    def verify(self) -> Verification:
        """Check that no entry was changed, and draw every round again from what was known before it."""
        return verify_campaign(self.database, self._drawer)

    # --- changes ---

    def add_models(self, held: EvalSet, data: str | None = None) -> list[str]:
        """Take models that came late, given as the data set with more models; return their names.

        Nothing is drawn anew: they are judged on what was chosen without them.
        """
        name = self.settings.data_named(data)
        return add_models(self.database, self.history, name, held, self._clock)

    def withdraw(self, model: str, data: str | None = None) -> None:
        """Take a model out: nobody is asked about it any more, and it leaves the estimates."""
        name = self.settings.data_named(data)
        withdraw_model(self.database, self.history, name, model, self._clock)

    def pause(self, reason: str = "") -> int:
        """Hand out no more questions until ``resume``; answers are still taken."""
        return pause(self, reason)

    def resume(self) -> int:
        """Hand out questions again."""
        return resume(self)

    def close(self) -> None:
        """End the campaign: it takes no more answers and draws no more rounds, and can still be read."""
        with self.database.writing() as connection:
            journal = Journal(connection, self.name, self._clock)
            if journal.closed is not None:
                raise UsageError(f'The campaign "{self.name}" is closed already.')
            journal.finish(closed=journal.event("closed"))

    # --- inside ---

    def _answer_round(self, caller: Caller, workers: int, report: Report) -> int:
        """Let a judge answer what is open now; return how many questions it answered."""
        names, count = list(self.settings.budgets), 0
        texts = {name: QuestionTexts(self.data(name, judged=False)) for name in names}
        while claims := caller.claims.take(names, max(4 * workers, 64), caller.patience.most_calls):
            earlier, total = self._question_counts()
            questions = [texts[question.data].fill(question) for question in claims]
            try:
                for answers, _ in enumerate(caller.answer(questions, workers), 1):
                    count += 1
                    report(earlier + answers, total)
            except CallsSpentError:
                # Calls that were counted for other questions and not made may still be left.
                continue
        return count

    def _question_counts(self) -> tuple[int, int]:
        """Return how many questions are answered, and how many were asked."""
        with self.database.reading() as connection:
            seq = self.history.last_seq(connection)
            questions = [
                question
                for name in self.settings.budgets
                for question in questions_at(connection, self.settings, name, seq)
            ]
            missing = unanswered(connection, self.settings, seq, questions)
        return len(questions) - len(missing), len(questions)


def _numbered(answers: Iterable[Answer | Mapping[str, Any]]) -> Iterable[tuple[int, Answer | SparinglyError]]:
    for number, item in enumerate(answers, 1):
        try:
            answer = item if isinstance(item, Answer) else Answer.from_values(item)
        except SparinglyError as error:
            yield number, error
        else:
            if answer is not None:
                yield number, answer
