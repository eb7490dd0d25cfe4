"""A campaign: a live evaluation whose data, rounds and answers are in one database."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from sparingly.base.checks import check_names
from sparingly.base.errors import DataError, SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.data.join import join
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.campaign.answers import (
    BATCH,
    Acknowledgement,
    AnswerBatch,
    Numbered,
    OnError,
    RecordedCounts,
    check_score,
    read_answers,
    with_line,
)
from sparingly.run.campaign.database import Database, back_up, migrate
from sparingly.run.campaign.datasets import check_lengths, check_letters, models_of, to_bytes, unjudged
from sparingly.run.campaign.group_commit import GroupWriter
from sparingly.run.campaign.guidelines import write_guidelines
from sparingly.run.campaign.history import (
    PAUSED,
    RATER_RETURNED,
    RATER_WITHDRAWN,
    RESUMED,
    cells_of_round,
    is_own,
    paused_at,
    questions_at,
    unanswered,
    withdrawn_raters,
)
from sparingly.run.campaign.journal import Clock, Journal, open_journal, utc_now
from sparingly.run.campaign.oracle import Caller, CallsSpentError, Claims, Oracle, Patience, Report, reporting
from sparingly.run.campaign.progress import Overview, RaterHours, overview, rater_hours
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.campaign.release import Release, release
from sparingly.run.campaign.results import Findings, findings, rank_so_far
from sparingly.run.campaign.rounds import CampaignOutlook, NextStep, RoundDrawer, outlook
from sparingly.run.campaign.settings import Aspects, BudgetLike, StopRules, checked_budget, create, prepare
from sparingly.run.campaign.tables import ASKED, DATA_VERSIONS, MODELS, RATERS
from sparingly.run.campaign.verify import verify_campaign
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.guidelines import Guidelines
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import Verification


class Campaign(CampaignReader):
    """A live evaluation: data, strategy, rounds, answers and raters, in one database.

    Open an existing one with ``Campaign(where)``, start one with ``Campaign.new``. ``where`` is a
    SQLite file or the URL of a PostgreSQL database. Everything that is acknowledged is on disk, and several
    processes may work on a campaign at once.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> campaign = sparingly.Campaign.new("demo.db", data, "uniform", 20, aspects="mqm", size=10)
        >>> known = dict(zip(data.items, data.aspects["mqm"]))
        >>> column = {model: place for place, model in enumerate(data.models)}
        >>> campaign.run(lambda question: known[question.item][column[question.model]], rater="table")
        120
        >>> campaign.status().sets[0].finished
        'every chosen item was judged or assigned.'
        >>> campaign.disconnect()
    """

    def __init__(self, where: str | Path, name: str | None = None, *, clock: Clock = utc_now) -> None:
        super().__init__(where, name)
        self._clock = clock
        self._drawer = RoundDrawer(self.database, self.history, clock)
        self._group: GroupWriter[tuple[Sequence[Numbered], bool], list[Acknowledgement]] = GroupWriter(
            self._write_answers
        )

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
            strategy: A strategy, a selector or a utility: ``waves``, ``uniform`` …; default: ``auto``.
            budget: How many items may be judged on all models (or comparisons made), over all rounds: a
                count or a share. One budget is divided over data sets by size; a mapping says who gets what.
            name: The campaign's name in its database.
            aspects: What people are asked for: names, or names with their scales.
            aspect: What the evaluation is about, where there are several: one aspect, or a combination.
            scale: The lowest and the highest score of every aspect.
            stop: When to stop before the budget is spent: ``best_settled`` …, or several such rules.
            size: How many items a round asks for; default: the strategy's own number.
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

    def next(
        self,
        data: str | None = None,
        *,
        early: bool = False,
        models: Sequence[str] = (),
        size: int | None = None,
    ) -> tuple[NextStep, ...]:
        """Return what to judge now, one step per data set.

        While answers are missing this is the last round; when all are there, the next one is drawn. With
        ``early`` it is drawn although answers are missing. With ``models`` it is a round of models that came
        with a budget of their own (``new``: those that came last), of ``size`` items (default: all).
        """
        if size is not None and (size < 1 or not models):
            raise UsageError(
                "The size of a round goes with models that have a budget of their own: leave it out, or "
                "name them."
            )
        if models:
            return (self._drawer.step_of_new_models(self.settings.data_named(data), models, size),)
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
        waiting = iter(read_answers(answers) if isinstance(answers, str | Path) else _numbered(answers))
        counts = RecordedCounts()
        together = on_error == "rollback"
        while part := list(waiting if together else islice(waiting, batch)):
            (acknowledgements,) = self._group.write([(part, together)])
            for acknowledgement in acknowledgements:
                if together and acknowledgement.what == "refused":
                    sentence = with_line(acknowledgement.line, acknowledgement.sentence or "")
                    raise UsageError(f"Nothing was recorded, because of one answer: {sentence}")
                counts.add(acknowledgement)
                if acknowledge is not None:
                    acknowledge(acknowledgement)
        return counts

    def _write_answers(self, calls: Sequence[tuple[Sequence[Numbered], bool]]) -> list[list[Acknowledgement]]:
        with self.database.writing() as connection:
            journal = Journal(connection, self.name, self._clock)
            if journal.closed is not None:
                raise UsageError(f'The campaign "{self.name}" is closed: it takes no more answers.')
            answers = [numbered for part, _ in calls for numbered in part]
            batch = AnswerBatch(connection, journal, self.settings, self.history.data_sets, answers)
            acknowledgements = [batch.take(part, together=together) for part, together in calls]
            batch.write()
        return acknowledgements

    def skip(self, questions: Iterable[Question], rater: str, reason: str) -> int:
        """Record that a rater cannot judge some questions; return how many of them are new.

        No round waits for them. Pages give each to one more rater, and estimates say how many nobody judged.
        What the rater has judged already is refused: change that answer instead.
        """
        return self.record(
            [
                Answer(
                    rater,
                    question.item,
                    math.nan,
                    question.model if question.other is None else None,
                    None if question.other is None else (question.model, question.other),
                    data=question.data,
                    skip=reason,
                )
                for question in questions
            ],
            on_error="rollback",
        ).new

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
            data: The data set; default: the only one.
            at: The number of the journal at which models are ranked; default: the last one.
            options: ``target``, ``alpha``, ``expect``, ``seed``, ``estimator``, as ``rank`` has them.
        """
        ranking = rank_so_far(self, data, at=at, **options)
        notes = dict.fromkeys((*ranking.notes, *self._notes(self._snapshot(data, at))))
        return replace(ranking, notes=tuple(notes))

    def findings(self, at: int | None = None) -> Findings:
        """Rank the models of every data set and say how well raters agree, now or at a number."""
        return findings(self, at)

    def outlook(self, data: str | None = None) -> CampaignOutlook:
        """Say what the next round would ask and when it would stop; nothing is drawn."""
        return outlook(self._drawer, self.settings.data_named(data))

    def hours(self, at: int | None = None) -> tuple[RaterHours, ...]:
        """Return how long every rater worked, by the seconds that came with the answers."""
        return rater_hours(self, at)

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
            title: The title of the data card; default: the campaign's name.
            comments: Include the raters' comments. Read them first: they may contain names.
            texts: Include the data sets; without them there are the ratings, by ids.
            seed: Decides which rater gets which number; default: a new random one. Keep it to make the
                same numbers again, and do not publish it.
        """
        return release(self, path, licence=licence, title=title, comments=comments, texts=texts, seed=seed)

    def back_up(self, path: str | Path) -> int:
        """Copy the campaign into a new file while people answer; return the number of its last entry.

        A campaign on a server becomes a file, too. Links open the copy as well; it is a campaign like any.
        """
        return back_up(self.database, self.name, Path(path))

    def set_guidelines(self, text: str) -> Guidelines:
        """Give raters new guidelines, in Markdown; the same text again changes nothing.

        Raters who are at work read them before they go on, and every answer knows its version: the last one
        before it in the journal.
        """
        return write_guidelines(self.database, self.settings, text, self._clock)

    def verify(self) -> Verification:
        """Check that no entry was changed, and draw every round again from what was known before it."""
        return verify_campaign(self._drawer)

    # --- changes ---

    def add_models(
        self,
        held: EvalSet,
        data: str | None = None,
        *,
        budget: int | float | str | Budget | None = None,
        anchors: float = 0.1,
    ) -> list[str]:
        """Take models that came late; return their names.

        Without a budget nothing is drawn anew: they are judged on what was chosen without them. With one,
        they get a draw of their own (``next(models=…)``), and people's scores of the earlier models predict
        them. The items and what is known of the other models must be the same.

        Args:
            held: The data set with more models, or the new models alone on the same items.
            data: The data set; default: the only one.
            budget: How many items the new models are judged on: a count, or a share of all items.
            anchors: How many judged outputs of earlier models are judged again in each round of the new ones,
                as a share of its outputs: that shows whether raters have become more severe.
        """
        settings, history, larger = self.settings, self.history, unjudged(held)
        name = settings.data_named(data)
        own_draw: dict[str, Any] = {}
        if budget is not None:
            if not 0.0 <= anchors <= 1.0:
                raise UsageError(f"The share of outputs to judge again is from 0 to 1, not {anchors:g}.")
            own_draw = {"budget": str(checked_budget(budget, len(larger))), "anchors": float(anchors)}
        with self.database.reading() as connection:
            current = history.data_sets.at(connection, name, history.last_seq(connection))
        if not set(current.models) & set(larger.models):
            larger = unjudged(join([current, larger], ["the campaign", "the new models"]))
        check_letters(settings.name, name, larger, settings.aspects)
        if not self.database.is_sqlite:
            check_lengths(settings.name, name, larger, settings.aspects)
        with self.database.writing() as connection:
            journal = open_journal(connection, settings.name, self._clock)
            presence = models_of(connection, settings.name, name)
            new = [model for model in larger.models if model not in presence]
            if not new:
                raise UsageError(
                    f"The set has no model that is not in the data set {name}: {', '.join(presence)}."
                )
            current = history.data_sets.at(connection, name, journal.last_seq)
            if missing := [model for model in current.models if model not in larger.models]:
                raise DataError(
                    f'The set has no model "{missing[0]}", which is in the campaign. Give all of them.'
                )
            if unjudged(larger.take(models=current.models)).digest() != unjudged(current).digest():
                raise DataError(
                    "The set is not the one of the campaign with more models: items, metrics or texts of the "
                    "other models differ."
                )
            rounds = [
                (number, selection)
                for number, (selection, _) in enumerate(history.rounds(connection, name, journal.last_seq), 1)
                if not is_own(selection)
            ]
            if any(selection.pairs is not None for _, selection in rounds) or (
                not own_draw and any(selection.models is not None for _, selection in rounds)
            ):
                raise UsageError(
                    f"The strategy {settings.strategy} chooses the models for each item, so none can join "
                    "what it chose. Give new models a draw of their own: --budget 60."
                )
            if own_draw and any(selection.probability is None for _, selection in rounds):
                raise UsageError(
                    f"The items of {settings.strategy} were not drawn with known probabilities, so scores of "
                    "new models cannot be compared with the earlier ones. Leave out the budget."
                )
            # Models that were withdrawn stay out, and the set is stored as it is now.
            present = [model for model in larger.models if model in new or model in current.models]
            stored = unjudged(larger.take(models=present))
            key, digest = {"campaign": settings.name, "data": name}, stored.digest()
            seq = journal.event("arrived", data=name, models=new, digest=digest, **own_draw)
            version = {**key, "seq": seq, "digest": digest, "content": to_bytes(stored)}
            connection.execute(insert(DATA_VERSIONS), version)
            connection.execute(insert(MODELS), [{**key, "model": model, "arrived": seq} for model in new])
            late = stored.take(models=new).models
            rows = [
                {**key, **cell, "round": number, "seq": seq}
                for number, selection in (() if own_draw else rounds)
                for cell in cells_of_round(selection, late)
            ]
            if rows:
                connection.execute(insert(ASKED), rows)
            journal.finish()
        return new

    def withdraw(self, model: str, data: str | None = None) -> None:
        """Take a model out: no more questions about it, and it leaves the estimates."""
        name, table = self.settings.data_named(data), MODELS.c
        with self.database.writing() as connection:
            journal = open_journal(connection, self.name, self._clock)
            presence = models_of(connection, self.name, name)
            present = sorted(key for key in presence if presence[key].withdrawn is None)
            check_names("model", [model], present)
            if len(present) < 3:
                raise UsageError(
                    f"Without {model} there would be nothing left to compare in the data set {name}. To "
                    "end it: sparingly campaign close."
                )
            seq = journal.event("withdrawn", data=name, model=model)
            connection.execute(
                update(MODELS)
                .where(table.campaign == self.name, table.data == name, table.model == model)
                .values(withdrawn=seq)
            )
            journal.finish()

    def withdraw_rater(self, rater: str, reason: str = "") -> None:
        """Leave a rater's answers out of everything that is estimated; they stay, marked as withdrawn.

        What nobody else has judged is asked again.
        """
        self._set_rater(rater, RATER_WITHDRAWN, reason=reason)

    def return_rater(self, rater: str) -> None:
        """Take back that a rater's answers were withdrawn."""
        self._set_rater(rater, RATER_RETURNED)

    def _set_rater(self, rater: str, kind: str, **detail: str) -> None:
        with self.database.writing() as connection:
            journal = open_journal(connection, self.name, self._clock)
            query = select(RATERS.c.rater).where(RATERS.c.campaign == self.name).order_by(RATERS.c.rater)
            raters = list(connection.execute(query).scalars())
            check_names("rater", [rater], raters)
            is_out = rater in withdrawn_raters(connection, self.name, journal.last_seq)
            if is_out == (kind == RATER_WITHDRAWN):
                state = "withdrawn already" if is_out else "not withdrawn"
                raise UsageError(f'The answers of "{rater}" are {state}.')
            journal.event(kind, rater=rater, **detail)
            journal.finish()

    def set_budget(self, budget: BudgetLike, data: str | None = None) -> int:
        """Change what may be spent over all rounds; what is asked for already stays spent.

        Rules to stop that test (``best_settled`` …) allow it before the first round only. A data set that was
        finished goes on. A strategy that chose its items at once (``uniform``, ``top`` …) can have more only
        where these are the first that the new budget chooses.
        """
        return self._drawer.set_budget(self.settings.data_named(data), budget)

    def pause(self, reason: str = "") -> int:
        """Hand out no more questions until ``resume``; return the number of the entry.

        Answers that come in are taken: nobody who is in the middle of something loses it.
        """
        return self._write_pause(PAUSED, reason=reason)

    def resume(self) -> int:
        """Give out questions again; return the number of the entry."""
        return self._write_pause(RESUMED)

    def _write_pause(self, kind: str, **detail: str) -> int:
        with self.database.writing() as connection:
            journal = open_journal(connection, self.name, self._clock)
            is_paused = paused_at(connection, self.name) is not None
            if is_paused == (kind == PAUSED):
                state = "paused already" if is_paused else "not paused"
                raise UsageError(f'The campaign "{self.name}" is {state}.')
            seq = journal.event(kind, **detail)
            journal.finish()
        return seq

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
            with self.database.reading() as connection:
                seq = self.history.last_seq(connection)
                questions_of = [questions_at(connection, self.settings, name, seq) for name in names]
                total = sum(map(len, questions_of))
                earlier = total - len(unanswered(connection, self.settings, seq, chain(*questions_of)))
            questions = [texts[question.data].fill(question) for question in claims]
            try:
                for answers, _ in enumerate(caller.answer(questions, workers), 1):
                    count += 1
                    report(earlier + answers, total)
            except CallsSpentError:
                # Calls that were counted for other questions and not made may still be left.
                continue
        return count


def _numbered(answers: Iterable[Answer | Mapping[str, Any]]) -> Iterable[Numbered]:
    for number, item in enumerate(answers, 1):
        try:
            answer = item if isinstance(item, Answer) else Answer.from_values(item)
        except SparinglyError as error:
            yield number, error
        else:
            if answer is not None:
                yield number, answer
