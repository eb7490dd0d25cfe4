"""Read a campaign, now or at any number of its journal: status, data, rounds, estimates.

Rounds are never drawn anew: a model that came late is judged on what was chosen without it, and one that was
withdrawn leaves the estimates and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sqlalchemy import Connection, func, select

from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.base.summary import Summary
from sparingly.base.syntax import either
from sparingly.choose.select import select as select_items
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.values import PlainFields
from sparingly.infer.compare.compare import compare_scores, compare_votes, pair_of
from sparingly.infer.compare.head_to_head import HeadToHead
from sparingly.infer.compare.strengths import WinMatrix, judged_strengths
from sparingly.infer.compare.votes import SHOWN_FIRST
from sparingly.infer.estimate.assemble import EstimateRequest, Target
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.rater_effects import (
    HELP_UNKNOWN,
    HelpEffects,
    help_effects,
    was_helped,
    with_help_errors,
    without_help,
)
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.scale import values_of
from sparingly.infer.expect.expect import Expected, expect
from sparingly.run.campaign.database import Database, migrate
from sparingly.run.campaign.datasets import DataSets, models_of
from sparingly.run.campaign.guidelines import guidelines_at
from sparingly.run.campaign.history import (
    BUDGET,
    DataSnapshot,
    History,
    checked_seq,
    paused_at,
    questions_at,
    rating_rows,
    shown_first,
    skipped_cells,
    spent_at,
    unanswered,
    with_answers,
)
from sparingly.run.campaign.journal import check_end, events_at
from sparingly.run.campaign.own_draws import answer_over_looks, batched_models, with_own_draws
from sparingly.run.campaign.settings import Settings, compares, limit_of, read_settings, saved_strategy
from sparingly.run.campaign.soundness import check_kinds
from sparingly.run.campaign.tables import CAMPAIGNS, RATINGS
from sparingly.run.forms.guidelines import Guidelines
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.run.rounds.strategy import OneShot, State, Strategy, asked_cells, compared_rows, only_rows


@dataclass(frozen=True)
class SetStatus:
    """Where one data set of a campaign stands."""

    data: str
    items: int
    models: tuple[str, ...]
    late: tuple[str, ...]  # models that came after the first round
    withdrawn: tuple[str, ...]
    rounds: int
    spent: int  # how many outputs (or comparisons) were asked for, of the models of the first round
    limit: int  # how many of these the budget allows
    asked: int  # how many answers were asked for
    outstanding: int  # how many of them nobody has given yet
    answers: int  # how many answers count: of each rater about each cell and aspect the last
    corrections: int  # how many answers were changed
    raters: int
    finished: str | None  # why no more is asked; None while it goes on
    answer: str | None  # what the strategy found by itself, where it gives an answer
    unit: str = "outputs"  # what ``spent`` and ``limit`` count: outputs, or comparisons
    skipped: int = 0  # how many outputs (or comparisons) cannot be judged, as raters said
    unspent: int = 0  # how many of the budget a rule to stop has left

    @property
    def saving(self) -> str:
        """What of the budget a rule to stop has left, in a sentence; empty where it left nothing."""
        return (
            f"Not needed: {self.unspent:,} of {self.limit:,} {self.unit} of the budget."
            if self.unspent
            else ""
        )


@dataclass(frozen=True)
class Status(PlainFields):
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

    def summary(self) -> Summary:
        """Return how far it is, what was asked and answered of every data set, and what to do next."""
        answers, outstanding = (
            sum(getattr(part, name) for part in self.sets) for name in ("answers", "outstanding")
        )
        units = {part.unit for part in self.sets}
        unit = units.pop() if len(units) == 1 else "questions"
        spent, limit = sum(part.spent for part in self.sets), sum(part.limit for part in self.sets)
        at = "" if self.seq == self.last_seq else f", at entry {self.seq} of {self.last_seq}"
        state = ", closed" if self.closed else ", paused" if self.paused else ""
        done = f"{counted(answers, 'answer')} so far, {outstanding:,} to come in this round"
        done = done if answers or spent else "no questions yet"
        sentences = [
            f"{self.campaign} ({self.aspect}{at}{state}): {done}. "
            f"{spent:,} of {limit:,} {unit} of the budget are used."
        ]
        for part in self.sets:
            name = f"{part.data}: " if len(self.sets) > 1 else ""
            if part.finished is not None:
                answer = "" if part.answer is None else f"Answer: {part.answer}."
                ended = filter(None, (f"{name}finished: {part.finished}", answer, part.saving))
                sentences.append(" ".join(ended))
            sentences += [
                f"{name}{what}: {', '.join(models)}."
                for what, models in (("added later", part.late), ("withdrawn", part.withdrawn))
                if models
            ]
        steps = []
        if self.paused:
            steps.append("sparingly campaign resume DATA")
        elif not self.closed and not all(part.finished for part in self.sets):
            steps.append(
                "sparingly serve DATA" if outstanding or not spent else "sparingly campaign next DATA"
            )
        if answers:
            votes = unit == "comparisons" and all(len(part.models) == 2 for part in self.sets)
            steps.append(f"sparingly {'compare' if votes else 'rank'} DATA")
        return Summary(
            tuple(sentences),
            ("data set", "rounds", f"budget used, {unit}", "answers", "to come", "corrections", "raters"),
            tuple(
                (
                    part.data,
                    str(part.rounds),
                    f"{part.spent:,} of {part.limit:,}",
                    *map(str, (part.answers, part.outstanding, part.corrections, part.raters)),
                )
                for part in self.sets
            ),
            next_steps=tuple(steps),
            method=(f"strategy: {self.strategy}", *(f"stop: {rule}" for rule in self.stops)),
        )

    def _repr_html_(self) -> str:
        return self.summary().html()


def set_status(connection: Connection, history: History, data: str, seq: int) -> SetStatus:
    """Return where one data set stands at a number."""
    settings, snapshot = history.settings, history.at(connection, data, seq)
    questions = questions_at(connection, settings, data, seq)
    missing = unanswered(connection, settings, seq, questions)
    first_set, latest_set, finished = snapshot.drawn_from, snapshot.data, snapshot.finished
    pairs = compares(settings.strategy, first_set, settings.aspect)
    presence = models_of(connection, settings.name, data)
    withdrawn = {name: model.withdrawn for name, model in presence.items() if model.withdrawn is not None}
    table = RATINGS.c
    corrections, raters = connection.execute(
        select(func.count(table.corrects), func.count(func.distinct(table.rater))).where(
            table.campaign == settings.name, table.data == data, table.seq <= seq
        )
    ).one()
    return SetStatus(
        data=data,
        items=len(latest_set),
        models=latest_set.models,
        late=tuple(name for name in latest_set.models if name not in first_set.models),
        withdrawn=tuple(name for name in sorted(withdrawn) if withdrawn[name] <= seq),
        rounds=snapshot.round_count,
        spent=spent_at(connection, settings.name, data, first_set.models, seq),
        limit=limit_of(snapshot.budget, first_set, pairs=pairs),
        asked=len(questions) * len(settings.aspects),
        outstanding=sum(len(question.aspects) for question in missing),
        answers=len(history.answers(connection, data, seq)),
        corrections=corrections,
        raters=raters,
        finished=None if finished is None else finished.reason,
        answer=None if finished is None else finished.answer,
        unspent=0 if finished is None else finished.unspent,
        unit="comparisons" if pairs else "outputs",
        skipped=len(skipped_cells(connection, settings.name, data, seq)),
    )


# --- What estimates start from ---

_PICKED = "these comparisons were picked, not drawn: leads are exaggerated, and errors hold only for these."


@dataclass(frozen=True, kw_only=True)
class DrawnBefore(OneShot):
    """One selection, made from the models that were there when it was drawn."""

    drawn_from: EvalSet

    def _selection(self, state: State) -> Selection:
        return select_items(self.drawn_from, self.selector, state.budget, seed=state.seed)


def state_for_estimates(settings: Settings, snapshot: DataSnapshot) -> tuple[State, Strategy]:
    """Return what is known of the present models, and the strategy as it was resolved at the start."""
    budget = snapshot.budget
    unlabelled = snapshot.drawn_from.without_labels()
    strategy: Strategy = saved_strategy(settings.strategy).resolve(unlabelled, settings.aspect, budget)
    if isinstance(strategy, OneShot):
        strategy = DrawnBefore(selector=strategy.selector, rounds=strategy.rounds, drawn_from=unlabelled)
    data = without_help(snapshot.strategy_data)
    rounds = tuple(_without_withdrawn(selection, data) for selection in _answered_rounds(snapshot))
    revealed = data.reveal(asked_cells(data, rounds), compared_rows(data, rounds))
    return State(revealed, settings.aspect, rounds, budget, settings.size, settings.seed), strategy


def _answered_rounds(snapshot: DataSnapshot) -> tuple[Selection, ...]:
    """Return the rounds without the last ones that nobody has answered: these are not missing by chance."""
    rounds, data = list(snapshot.rounds), snapshot.strategy_data
    judged = {data.items[row] for row in (*data.ratings.item, *data.preferences.item)}
    while len(rounds) > 1 and judged.isdisjoint(rounds[-1].items):
        rounds.pop()
    return tuple(rounds)


def _drawn_rounds(snapshot: DataSnapshot) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the rounds that comparisons are weighted by, if all were drawn by chance, and what to mind."""
    rounds = _answered_rounds(snapshot)
    is_sample = all(selection.probability is not None for selection in rounds)
    return {"rounds": rounds if is_sample else (), "sampled": is_sample}, () if is_sample else (_PICKED,)


def _without_withdrawn(selection: Selection, data: EvalSet) -> Selection:
    """Return a round without comparisons with models that were withdrawn."""
    if selection.pairs is None:
        return selection
    models = set(data.models)
    rows = [place for place, pair in enumerate(selection.pairs) if pair is None or models.issuperset(pair)]
    return selection if len(rows) == len(selection) else only_rows(selection, rows)


# --- The reader ---


class CampaignReader:
    """Reads a campaign that was begun before: its status, data, rounds, answers and estimates."""

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

    def last_seq(self) -> int:
        """Return the number of the last entry of the journal, which tells whether anything has changed."""
        with self.database.reading() as connection:
            return self.history.last_seq(connection)

    def status(self, at: int | None = None) -> Status:
        """Return where the campaign stands, now or at a number of its journal."""
        settings = self.settings
        with self._reading(at) as (connection, seq):
            closed = connection.execute(
                select(CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == settings.name)
            ).scalar_one()
            return Status(
                campaign=settings.name,
                seq=seq,
                last_seq=self.history.last_seq(connection),
                aspect=settings.aspect,
                aspects=tuple(settings.aspects),
                strategy=settings.strategy,
                stops=settings.stops,
                budget=", ".join(dict.fromkeys(self._budgets(connection, seq).values())),
                closed=closed is not None and closed <= seq,
                sets=tuple(set_status(connection, self.history, name, seq) for name in settings.budgets),
                paused=paused_at(connection, settings.name, seq) is not None,
            )

    def budgets(self, at: int | None = None) -> dict[str, str]:
        """Return what each data set may spend over all rounds, now or at a number of the journal."""
        with self._reading(at) as (connection, seq):
            return self._budgets(connection, seq)

    def _budgets(self, connection: Connection, seq: int) -> dict[str, str]:
        return {name: str(self.history.budget(connection, name, seq)) for name in self.settings.budgets}

    def data(self, data: str | None = None, *, at: int | None = None, judged: bool = True) -> EvalSet:
        """Return a data set with the answers that count, now or at a number of the journal."""
        name = self.settings.data_named(data)
        with self._reading(at) as (connection, seq):
            if not judged:
                return self.history.data_sets.at(connection, name, seq)
            return self.history.at(connection, name, seq).data

    def raters_answers(self, data: str | None = None, *, at: int | None = None) -> EvalSet:
        """Return a data set with what raters said before anybody adjudicated: agreement is of these."""
        name = self.settings.data_named(data)
        with self._reading(at) as (connection, seq):
            rows = self.history.answers(connection, name, seq, adjudicated=False)
            return with_answers(self.history.data_sets.at(connection, name, seq), rows, self.settings.aspects)

    def rounds(self, data: str | None = None, *, at: int | None = None) -> tuple[Selection, ...]:
        """Return the rounds of a data set, now or at a number of the journal."""
        name = self.settings.data_named(data)
        with self._reading(at) as (connection, seq):
            return tuple(selection for selection, _ in self.history.rounds(connection, name, seq))

    def ratings(self, *, at: int | None = None) -> list[dict[str, Any]]:
        """Return every answer as it came in, corrected ones too, in the order of the journal."""
        with self._reading(at) as (connection, seq):
            return rating_rows(connection, self.name, seq)

    def guidelines(self, *, at: int | None = None) -> Guidelines | None:
        """Return what raters are told, now or at a number of the journal; None where nothing was written."""
        with self._reading(at) as (connection, seq):
            return guidelines_at(connection, self.name, seq)

    def questions(self, data: str | None = None, *, at: int | None = None) -> tuple[Question, ...]:
        """Return what nobody has judged yet of all rounds so far, with the texts to show."""
        names = list(self.settings.budgets) if data is None else [self.settings.data_named(data)]
        questions: list[Question] = []
        with self._reading(at) as (connection, seq):
            for name in names:
                texts = QuestionTexts(self.history.data_sets.at(connection, name, seq))
                of_rounds = questions_at(connection, self.settings, name, seq)
                missing = unanswered(connection, self.settings, seq, of_rounds)
                questions += [texts.fill(question) for question in missing]
        return tuple(questions)

    def compares(self, data: str | None = None) -> bool:
        """Say whether people are asked which of two outputs is better, rather than for scores."""
        return compares(self.settings.strategy, self.data(data), self.settings.aspect)

    def why(self) -> dict[str, str]:
        """Return what the strategy does on each data set, where it decides that from the data."""
        strategy = saved_strategy(self.settings.strategy)
        reasons = {name: strategy.why(self.data(name, judged=False)) for name in self.settings.budgets}
        return {name: sentences for name, sentences in reasons.items() if sentences}

    def estimate(self, data: str | None = None, *, at: int | None = None, **options: Any) -> Estimate:
        """Return the models' scores from what is judged so far, for the models that are in the data set.

        Args:
            data: The data set; default: the only one.
            at: The number of the journal at which the estimate is made; default: the last one.
            options: Those of ``estimate``: ``estimator``, ``target``, ``level``, ``interval`` …
        """
        snapshot = self._snapshot(data, at)
        state, strategy = state_for_estimates(self.settings, snapshot)
        effects = help_effects(snapshot.data, self.settings.aspect)
        scale = self.settings.aspects.get(self.settings.aspect)
        if effects is not None and options.get("scale") is not None:
            # Scores without help may lie a little beyond the scale that raters keep to: it bounds the result.
            scale = options.pop("scale")
            values_of(snapshot.data.ratings.score, scale)
        estimate = strategy.estimate(state, **options)
        estimate = replace(estimate, notes=(*estimate.notes, *self._notes(snapshot)))
        if snapshot.own_draws:
            unaided = replace(snapshot, data=without_help(snapshot.data))
            with self.database.reading() as connection:
                estimate = with_own_draws(estimate, connection, self.history, unaided, options)
        if effects is not None:
            return with_help_errors(estimate, effects, scale)
        more = (HELP_UNKNOWN,) if was_helped(snapshot.data) else ()
        return replace(estimate, notes=(*estimate.notes, *more))

    def help_effects(self, data: str | None = None, *, at: int | None = None) -> HelpEffects | None:
        """Return what the suggestions on the pages did to scores; None where that cannot be told."""
        return help_effects(self._snapshot(data, at).data, self.settings.aspect)

    def expected(self, data: str | None = None, *, at: int | None = None) -> Expected:
        """Return what judging everything is expected to say, from every answer so far (see ``expect``)."""
        state, _ = state_for_estimates(self.settings, self._snapshot(data, at, "there is nothing to go by"))
        return expect(state.data, state.labels, aspect=state.aspect)

    def strengths(self, data: str | None = None, *, at: int | None = None, **options: Any) -> BradleyTerry:
        """Return the models' strengths where outputs are compared.

        Comparisons that were drawn with known probabilities are weighted by them; those that were picked
        count alike.

        Args:
            data: The data set; default: the only one.
            at: The number of the journal at which the estimate is made; default: the last one.
            options: Those of ``bradley_terry``: ``ties``, ``covariates``, ``level``; and ``judge``.
        """
        settings, snapshot = self.settings, self._snapshot(data, at)
        if any(selection.pairs is None for selection in _answered_rounds(snapshot)):
            raise UsageError(
                f"The strategy {settings.strategy} asks for scores: "
                f"{either('sparingly estimate CAMPAIGN', 'campaign.estimate()')}."
            )
        weighting, picked = _drawn_rounds(snapshot)
        aspect = settings.aspect if settings.aspect in settings.aspects else None
        strengths = judged_strengths(snapshot.data, aspect, **{**weighting, **options}).strengths
        return replace(strengths, notes=(*strengths.notes, *picked, *self._notes(snapshot)))

    def compare(
        self,
        data: str | None = None,
        first: str | None = None,
        second: str | None = None,
        *,
        at: int | None = None,
        target: Target = "population",
        margin: float | str | None = None,
        judge: str | None = None,
        alpha: float = 0.05,
        **options: Any,
    ) -> HeadToHead | WinMatrix:
        """Compare two models by what is judged so far; see ``sparingly.compare``.

        Where outputs are compared and no models are named, all of them are. ``options`` are those of
        ``estimate``, where outputs are scored.
        """
        snapshot = self._snapshot(data, at)
        if self.compares(data):
            weighting, picked = _drawn_rounds(snapshot)
            comparison = compare_votes(
                self._with_sides(snapshot),
                first,
                second,
                aspect=self.settings.aspect if self.settings.aspect in self.settings.aspects else None,
                target=target,
                margin=margin,
                judge=judge,
                alpha=alpha,
                **weighting,
            )
            return replace(comparison, notes=(*comparison.notes, *picked, *self._notes(snapshot)))
        names = pair_of(snapshot.data, first, second)
        estimate = self.estimate(data, at=at, target=target, level=round(1 - alpha, 12), **options)
        result = compare_scores(estimate, *names, alpha=alpha, margin=margin)
        draw = snapshot.latest_draw(names)
        if result.margin is None or draw is None or draw.first_as_of is None:
            return result
        request = EstimateRequest(target=target, scale=snapshot.data.truth_scale(self.settings.aspect))
        with self.database.reading() as connection:
            batched = batched_models(connection, self.history, snapshot, draw)
        if not set(names) <= set(draw.models):
            early = self.estimate(data, at=draw.first_as_of, target=target, **options)
            batched = replace(batched, estimate=early)
        answer = answer_over_looks(batched, result.margin, self.settings.aspect, request, alpha)
        return replace(result, margin=answer)

    def _notes(self, snapshot: DataSnapshot) -> list[str]:
        """Return what the reader should know of models, of what cannot be judged, and of the budget."""
        with self.database.reading() as connection:
            cells = skipped_cells(connection, self.name, snapshot.name, snapshot.seq)
            of_data = (RATINGS.c.campaign == self.name, RATINGS.c.data == snapshot.name)
            first = connection.execute(select(func.min(RATINGS.c.seq)).where(*of_data)).scalar()
            budgets = first and events_at(connection, self.name, [BUDGET], snapshot.seq, first)
        notes = []
        if any(event["data"] == snapshot.name for event in budgets or ()):
            notes.append(
                "the budget was changed after answers were seen: if it depended on them, scores may be biased"
            )
        first_models, models = set(snapshot.drawn_from.models), set(snapshot.strategy_data.models)
        if late := sorted(models - first_models):
            notes.append(f"judged on what was chosen without them: {', '.join(late)}")
        if withdrawn := sorted(first_models - models):
            notes.append(f"withdrawn: {', '.join(withdrawn)}")
        if cells:
            noun = "comparison" if next(iter(cells))[3] else "output"
            notes.append(f"raters could not judge {counted(len(cells), noun)}: no score counts for them")
        return notes

    def _with_sides(self, snapshot: DataSnapshot) -> EvalSet:
        """Return the answers with the side on which each output was shown, where that was saved."""
        with self.database.reading() as connection:
            sides = shown_first(connection, self.name, snapshot.name, snapshot.seq)
        table, items = snapshot.data.preferences, snapshot.data.items
        keys = zip(
            (table.raters[code] for code in table.rater),
            (items[row] for row in table.item),
            (snapshot.data.models[place] for place in table.first),
            (snapshot.data.models[place] for place in table.second),
            (table.aspects[code] for code in table.aspect),
            strict=True,
        )
        column = np.array([sides.get(key) for key in keys], object)
        return snapshot.data.with_parts(
            preferences=replace(table, extra={**table.extra, SHOWN_FIRST: column})
        )

    def disconnect(self) -> None:
        """Let go of the database; the campaign goes on when it is opened again."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} in {self.database.name}; {self.settings.strategy})"

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    @contextmanager
    def _reading(self, at: int | None) -> Iterator[tuple[Connection, int]]:
        """Yield a connection and a number of the journal, the last one unless given."""
        with self.database.reading() as connection:
            yield connection, checked_seq(at, self.history.last_seq(connection))

    def _snapshot(
        self, data: str | None, at: int | None, lack: str = "there is nothing to estimate from"
    ) -> DataSnapshot:
        """Return a data set that has at least one round."""
        name = self.settings.data_named(data)
        with self._reading(at) as (connection, seq):
            snapshot = self.history.at(connection, name, seq)
        if not snapshot.rounds:
            raise UsageError(f"The data set {name} has no round yet: {lack}.")
        return snapshot
