"""What was asked and known at any number of the journal: rounds, questions, answers, models, pauses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, and_, func, select

from sparingly.base.errors import UsageError
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences, Ratings
from sparingly.infer.estimate.rater_effects import HELP_PROBABILITY, HELPED
from sparingly.run.campaign.datasets import DataSets, models_of
from sparingly.run.campaign.journal import events_at
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, PLACEMENTS, RATINGS, ROUNDS, rows_of
from sparingly.run.forms.answer import as_objects, judgement_columns, places_of
from sparingly.run.forms.question import Output, Question
from sparingly.run.rounds.strategy import Finished

PAUSED, RESUMED, SKIPPED, BUDGET = "paused", "resumed", "skipped", "budget"
ADJUDICATED, RATER_WITHDRAWN, RATER_RETURNED = "adjudicated", "rater withdrawn", "rater returned"
_COLUMNS = ("rater", "item", "model", "other", "aspect", "score", "seconds", "comment")
RATING_COLUMNS = (
    "seq", "at", "data", "round", "rater", "item", "model", "first", "second", "aspect", "score", "seconds",
    "comment", "client", "corrects", "probability", "withdrawn",
)  # fmt: skip


@dataclass(frozen=True)
class Ended(Finished):
    """Why nothing more is asked, and how much of the budget a rule to stop has left unspent."""

    unspent: int = 0


@dataclass(frozen=True, eq=False)
class OwnDraw:
    """Models that came with a budget of their own, and the rounds that were drawn for them so far."""

    models: tuple[str, ...]  # the models; each of their rounds is about all of them
    budget: str  # how many items they may be judged on
    anchors: float  # how many judged outputs of earlier models are judged again, as a share of each round
    rounds: tuple[Selection, ...] = ()  # their rounds, in order
    # The number up to which the first of them knew the answers, which all are drawn by.
    first_as_of: int | None = None


@dataclass(frozen=True, eq=False)
class DataSnapshot:
    """A data set of a campaign at a number of the journal."""

    name: str
    seq: int
    drawn_from: EvalSet  # the set with the models of the first round, which all rounds are drawn from
    data: EvalSet  # the set with the models that are in it at that number, which estimates describe
    rounds: tuple[Selection, ...]  # the rounds of the strategy
    # Their numbers in the campaign, which also counts the rounds of models with own draws.
    numbers: tuple[int, ...]
    finished: Ended | None  # why no more is asked; None while it goes on
    budget: Budget  # what may be spent over all rounds
    own_draws: tuple[OwnDraw, ...] = ()  # models that came with a budget of their own
    round_count: int = 0  # how many rounds there are of all kinds

    @property
    def strategy_data(self) -> EvalSet:
        """The set without the models that have draws of their own: what the strategy knows."""
        own_models = {name for draw in self.own_draws for name in draw.models}
        names = [name for name in self.data.models if name not in own_models]
        return self.data if len(names) == len(self.data.models) else self.data.take(models=names)

    def latest_draw(self, names: Sequence[str]) -> OwnDraw | None:
        """Return the own draw of one of some models whose first round came last; None where there is none."""
        draws = [
            draw for draw in self.own_draws if draw.first_as_of is not None and set(names) & set(draw.models)
        ]
        return max(draws, key=lambda draw: draw.first_as_of or 0, default=None)


@dataclass(frozen=True)
class Pause:
    """A pause that has not ended: its entry, when it began, and the organiser's reason."""

    seq: int
    at: str
    reason: str


class History:
    """Reads the past of a campaign."""

    def __init__(self, settings: Settings, data_sets: DataSets) -> None:
        self.settings, self.data_sets = settings, data_sets

    def last_seq(self, connection: Connection) -> int:
        """Return the number of the last entry."""
        query = select(CAMPAIGNS.c.last_seq).where(CAMPAIGNS.c.name == self.settings.name)
        return int(connection.execute(query).scalar_one())

    def at(self, connection: Connection, data: str, seq: int) -> DataSnapshot:
        """Return what was known of a data set at a number."""
        answers = self.answers(connection, data, seq)
        all_rounds = list(enumerate(self.rounds(connection, data, seq), 1))
        rounds = [(number, *pair) for number, pair in all_rounds if not is_own(pair[0])]
        own_draws = self._own_draws(
            connection, data, seq, [pair for _, pair in all_rounds if is_own(pair[0])]
        )
        # Rounds are drawn from the models that were there when the first was drawn, however many come later.
        first = self.data_sets.at(connection, data, rounds[0][2] if rounds else seq)
        own_models = {name for draw in own_draws for name in draw.models}
        first = first.take(models=[name for name in first.models if name not in own_models])
        latest = self.data_sets.at(connection, data, seq)
        return DataSnapshot(
            name=data,
            seq=seq,
            drawn_from=with_answers(first, answers, self.settings.aspects),
            data=with_answers(latest, answers, self.settings.aspects),
            rounds=tuple(selection for _, selection, _ in rounds),
            numbers=tuple(number for number, _, _ in rounds),
            finished=self.finished(connection, data, seq),
            budget=self.budget(connection, data, seq),
            own_draws=own_draws,
            round_count=len(all_rounds),
        )

    def own_models(self, connection: Connection, data: str, seq: int) -> set[str]:
        """Return the models that came with a budget of their own: no round of the strategy is about them."""
        return {name for draw in self._own_draws(connection, data, seq, ()) for name in draw.models}

    def _own_draws(
        self, connection: Connection, data: str, seq: int, rounds: Sequence[tuple[Selection, int]]
    ) -> tuple[OwnDraw, ...]:
        draws = []
        for event in events_at(connection, self.settings.name, ["arrived"], seq):
            if event["data"] == data and "budget" in event:
                models = tuple(sorted(event["models"]))
                of_draw = [
                    pair for pair in rounds if pair[0].models is not None and pair[0].models[0] == models
                ]
                draws.append(
                    OwnDraw(
                        models,
                        event["budget"],
                        event["anchors"],
                        tuple(selection for selection, _ in of_draw),
                        of_draw[0][1] if of_draw else None,
                    )
                )
        return tuple(draws)

    def answers(
        self, connection: Connection, data: str, seq: int, *, adjudicated: bool = True
    ) -> list[dict[str, Any]]:
        """Return the answers that count at a number: of each rater about each cell the last.

        Those of raters who were withdrawn do not count, and of an adjudicated cell only the adjudicator's
        does; without ``adjudicated``, what raters said before that.
        """
        withdrawn = withdrawn_raters(connection, self.settings.name, seq)
        judges = adjudicators(connection, self.settings.name, data, seq)
        table = RATINGS.c
        rows = connection.execute(
            rows_of(RATINGS, self.settings.name, " ".join((*_COLUMNS, "round", "seq")), data=data)
            .where(table.seq <= seq)
            .order_by(table.seq)
        )
        # What was judged again to see whether raters have changed counts in no score.
        anchor_cells = {
            (cell.item, cell.model, cell.round)
            for cell in anchors_at(connection, self.settings.name, data, seq)
        }
        last = {
            tuple(row[name] for name in _COLUMNS[:5]): row
            for row in rows.mappings()
            if row["rater"] not in withdrawn
            and (row["item"], row["model"], row["round"]) not in anchor_cells
            and (
                judges.get((row["item"], row["model"], row["other"])) in (None, row["rater"])
                if adjudicated
                else judges.get((row["item"], row["model"], row["other"])) != row["rater"]
            )
        }
        places = PLACEMENTS.c
        help_shown = {
            row.seq: {HELPED: row.helped, HELP_PROBABILITY: row.help_probability}
            for row in connection.execute(
                select(places.seq, places.helped, places.help_probability).where(
                    places.campaign == self.settings.name, places.seq <= seq, places.helped.is_not(None)
                )
            )
        }
        # In the order of what they are about, not of their arrival: the same answers give the same set.
        return [{**last[key], **help_shown.get(last[key]["seq"], {})} for key in sorted(last)]

    def round_count(self, connection: Connection, data: str) -> int:
        """Return how many rounds a data set has now."""
        table = ROUNDS.c
        query = select(func.count()).where(table.campaign == self.settings.name, table.data == data)
        return int(connection.execute(query).scalar_one())

    def rounds(self, connection: Connection, data: str, seq: int) -> list[tuple[Selection, int]]:
        """Return the rounds up to a number, each with the number up to which it knew the answers."""
        table = ROUNDS.c
        rows = connection.execute(
            rows_of(ROUNDS, self.settings.name, "selection as_of", data=data)
            .where(table.seq <= seq)
            .order_by(table.number)
        )
        return [(Selection.from_dict(json.loads(row.selection)), row.as_of) for row in rows]

    def finished(self, connection: Connection, data: str, seq: int) -> Ended | None:
        """Return why a data set asks no more, where it was finished by a number and has no new budget."""
        events = events_at(connection, self.settings.name, ["finished", BUDGET], seq)
        last = [event for event in events if event["data"] == data][-1:]
        ended = [event for event in last if event["event"] != BUDGET]
        if not ended:
            return None
        return Ended(ended[0]["reason"], ended[0]["answer"], ended[0].get("unspent", 0))

    def budget(self, connection: Connection, data: str, seq: int) -> Budget:
        """Return what a data set may spend over all rounds, at a number."""
        events = events_at(connection, self.settings.name, [BUDGET], seq)
        changes = [event["budget"] for event in events if event["data"] == data]
        return Budget.parse(changes[-1]) if changes else self.settings.budgets[data]


def is_own(selection: Selection) -> bool:
    """Say whether a round is of models with a draw of their own: a strategy's rounds have numbers."""
    return selection.signature.round is None


class Anchor(NamedTuple):
    """An output that a round asks to judge again."""

    item: str
    model: str
    round: int
    probability: float


def anchors_at(connection: Connection, campaign: str, data: str, seq: int) -> list[Anchor]:
    """Return which judged outputs were asked for again up to a number, to see whether raters have changed."""
    return [
        Anchor(item, model, event["number"], event["anchor_probability"])
        for event in events_at(connection, campaign, ["round"], seq)
        if event["data"] == data
        for item, model in event.get("anchors", ())
    ]


def withdrawn_raters(connection: Connection, campaign: str, seq: int) -> set[str]:
    """Return whose answers were withdrawn at a number of the journal."""
    events = events_at(connection, campaign, [RATER_WITHDRAWN, RATER_RETURNED], seq)
    last = {event["rater"]: event["event"] for event in events}
    return {rater for rater, kind in last.items() if kind == RATER_WITHDRAWN}


def adjudicators(
    connection: Connection, campaign: str, data: str, seq: int
) -> dict[tuple[str, str, str], str]:
    """Return by item and models whose answer decided where two raters disagreed, at a number."""
    events = events_at(connection, campaign, [ADJUDICATED], seq)
    withdrawn = withdrawn_raters(connection, campaign, seq) if events else set()
    return {
        (event["item"], event["model"], event["other"]): event["rater"]
        for event in events
        if event["data"] == data and event["rater"] not in withdrawn
    }


class Skip(NamedTuple):
    """A question that a rater said cannot be judged."""

    rater: str
    data: str
    item: str
    model: str
    other: str
    round: int
    reason: str
    seq: int

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """What it is about."""
        return self.data, self.item, self.model, self.other


def skips_at(connection: Connection, campaign: str, seq: int, after: int = 0) -> list[Skip]:
    """Return the questions that raters said cannot be judged, up to a number and after another one."""
    events = events_at(connection, campaign, [SKIPPED], seq, after)
    skips = [Skip(**{name: event[name] for name in Skip._fields}) for event in events]
    withdrawn = withdrawn_raters(connection, campaign, seq) if skips else set()
    return [skip for skip in skips if skip.rater not in withdrawn]


def skipped_cells(
    connection: Connection, campaign: str, data: str, seq: int
) -> set[tuple[str, str, str, str]]:
    """Return what raters of a data set said cannot be judged, and nobody has judged up to a number."""
    cells = {skip.cell for skip in skips_at(connection, campaign, seq) if skip.data == data}
    if cells:
        table = RATINGS.c
        query = select(table.data, table.item, table.model, table.other).where(
            table.campaign == campaign,
            table.data == data,
            table.seq <= seq,
            table.item.in_({cell[1] for cell in cells}),
            table.rater.not_in(withdrawn_raters(connection, campaign, seq)),
        )
        cells -= {tuple(row) for row in connection.execute(query)}
    return cells


def checked_seq(seq: int | None, last: int) -> int:
    """Return a number of the journal, the last one unless given."""
    if seq is None:
        return last
    if not 1 <= seq <= last:
        raise UsageError(f"There is no entry {seq} in the journal: it goes from 1 to {last}.")
    return seq


def paused_at(connection: Connection, campaign: str, seq: int | None = None) -> Pause | None:
    """Return the pause at a number of the journal, or now; None while questions are handed out."""
    events = events_at(connection, campaign, [PAUSED, RESUMED], seq)
    if not events or events[-1]["event"] == RESUMED:
        return None
    return Pause(events[-1]["seq"], events[-1]["at"], events[-1].get("reason", ""))


def spent_at(connection: Connection, campaign: str, data: str, models: Sequence[str], seq: int) -> int:
    """Return how many outputs, or comparisons, of the first models were asked for up to a number.

    Models that came late are free, and what was asked about one that was withdrawn stays spent.
    """
    table = ASKED.c
    query = select(func.count()).where(
        table.campaign == campaign, table.data == data, table.model.in_(models), table.seq <= seq
    )
    return int(connection.execute(query).scalar_one())


def rating_rows(connection: Connection, campaign: str, seq: int, since: int = 0) -> list[dict[str, Any]]:
    """Return every answer of some entries as it came in, with the columns that ``record`` reads and more."""
    table, asked_cells = RATINGS.c, ASKED.c
    cell = [table[name] == asked_cells[name] for name in ("campaign", "data", "item", "model", "other")]
    query = (
        select(RATINGS, asked_cells.probability)
        .join(ASKED, and_(*cell))
        .where(table.campaign == campaign, table.seq > since, table.seq <= seq)
        .order_by(table.seq)
    )
    rows = []
    withdrawn = withdrawn_raters(connection, campaign, seq)
    for row in connection.execute(query).mappings():
        values = {**row, "first": None, "second": None, "withdrawn": row["rater"] in withdrawn}
        if row["other"]:
            values |= {"model": None, "first": row["model"], "second": row["other"]}
        rows.append({name: values[name] for name in RATING_COLUMNS})
    return rows


def shown_first(
    connection: Connection, campaign: str, data: str, seq: int
) -> dict[tuple[str, str, str, str, str], float]:
    """Return by rater, item, both models and aspect which output was shown first: 1 the first, −1 the second.

    Of each rater's answers about a pair the last one counts.
    """
    ratings, places = RATINGS.c, PLACEMENTS.c
    rows = connection.execute(
        select(ratings.rater, ratings.item, ratings.model, ratings.other, ratings.aspect, places.turned)
        .join_from(RATINGS, PLACEMENTS, (ratings.campaign == places.campaign) & (ratings.seq == places.seq))
        .where(ratings.campaign == campaign, ratings.data == data, ratings.seq <= seq, ratings.other != "")
        .order_by(ratings.seq)
    )
    return {
        (row.rater, row.item, row.model, row.other, row.aspect): -1.0 if row.turned else 1.0 for row in rows
    }


# --- Evaluation sets with answers ---


def with_answers(
    data: EvalSet, answers: Sequence[Mapping[str, Any]], aspects: Mapping[str, Ends | None]
) -> EvalSet:
    """Return an unjudged set with answers about its models, on the scales of the campaign."""
    models, names = set(data.models), tuple(aspects)
    scored = [row for row in answers if not row["other"] and row["model"] in models]
    compared = [row for row in answers if row["other"] and models.issuperset((row["model"], row["other"]))]
    extra = (HELPED, HELP_PROBABILITY) if any(HELPED in row for row in scored) else ()
    ratings = Ratings(
        model=places_of(scored, "model", data.models),
        score=np.array([row["score"] for row in scored], np.float64),
        comment=as_objects([row["comment"] for row in scored]),
        **judgement_columns(data, data.ratings, scored, names, extra),
    )
    preferences = Preferences(
        first=places_of(compared, "model", data.models),
        second=places_of(compared, "other", data.models),
        value=np.array([row["score"] for row in compared], np.float64),
        **judgement_columns(data, data.preferences, compared, names),
    )
    scales = {fields.aspect(name): ends for name, ends in aspects.items() if ends is not None}
    return data.with_parts(
        aspects={name: ratings.means(name, *data.shape) for name in aspects},
        ratings=ratings,
        preferences=preferences,
        scales={**data.scales, **scales},
    )


# --- Questions: what was asked for, and what of it is still to be judged ---


# Anchors come after the rows of their round.
LAST_PLACE = 1_000_000


def questions_at(connection: Connection, settings: Settings, data: str, seq: int) -> list[Question]:
    """Return what was asked for at a number, of models that are in the campaign then, without texts.

    The questions are in the order in which people are asked.
    """
    table = ASKED.c
    query = rows_of(ASKED, settings.name, "round place item model other", data=data)
    rows = connection.execute(query.where(table.seq <= seq))
    present = models_of(connection, settings.name, data)
    requests = [tuple(row) for row in rows]
    anchors = anchors_at(connection, settings.name, data, seq)
    requests += [
        (cell.round, LAST_PLACE + place, cell.item, cell.model, "") for place, cell in enumerate(anchors)
    ]
    cells = sorted(row for row in requests if all(present[name].is_present(seq) for name in row[3:] if name))
    aspects = tuple(settings.aspects)
    return [
        Question(
            item,
            tuple(Output((name,)) for name in (model, other) if name),
            aspects,
            "pair" if other else "score",
            data,
            round=number,
            place=place,
        )
        for number, place, item, model, other in cells
    ]


def unanswered(
    connection: Connection, settings: Settings, seq: int, questions: Iterable[Question]
) -> list[Question]:
    """Return the questions that are not fully judged at a number, with the aspects that nobody has judged.

    One that a rater said cannot be judged is not among them.
    """
    questions, table = list(questions), RATINGS.c
    sets = sorted({question.data for question in questions})
    columns = (table.data, table.item, table.model, table.other, table.aspect, table.round)
    rows = connection.execute(
        select(*columns)
        .where(table.campaign == settings.name, table.data.in_(sets), table.seq <= seq)
        .where(table.rater.not_in(withdrawn_raters(connection, settings.name, seq)))
        .distinct()
    )
    # An anchor is judged where it was judged in its own round; anything else in any.
    anchor_cells = {
        (data, cell.item, cell.model, "", cell.round)
        for data in sets
        for cell in anchors_at(connection, settings.name, data, seq)
    }
    judged: set[tuple[Any, ...]] = set()
    for row in rows:
        judged |= {tuple(row)[:5], tuple(row)}
    skipped = {(*skip.cell, skip.round) for skip in skips_at(connection, settings.name, seq)}

    def is_judged(question: Question, aspect: str) -> bool:
        is_anchor = (*question.cell, question.round) in anchor_cells
        return (*question.cell, aspect, *((question.round,) if is_anchor else ())) in judged

    return [
        replace(question, aspects=aspects)
        for question in questions
        if (*question.cell, question.round) not in skipped
        and (aspects := tuple(name for name in question.aspects if not is_judged(question, name)))
    ]


def cells_of_round(selection: Selection, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a round asks about some models: item, model, other, place and probability."""
    cells = []
    for place, row in enumerate(selection):
        if row.pair is None:
            pairs = [(name, "") for name in models if row.models is None or name in row.models]
        else:
            first, second = sorted(row.pair)
            pairs = [(first, second)] if first in models and second in models else []
        shared = {"item": row.item, "place": place, "probability": row.probability}
        cells += [{**shared, "model": model, "other": other} for model, other in pairs]
    return cells
