"""What a rater sends, from a form or as JSON, and the answers that it stands for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.forms.answer import Answer, Placement
from sparingly.run.forms.form import REASONS
from sparingly.run.forms.question import Output, Question
from sparingly.run.forms.ranking import RankingForm
from sparingly.run.forms.spans import SpansForm, checked_spans
from sparingly.show.web.texts import storable
from sparingly.show.web.web import Web

# Nobody looks at one page for longer without a break.
MOST_SECONDS = 3600.0
MOST_COMMENT = 10_000
_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,64}")
_FIELD = re.compile(r"(score|marks|comment|skip):([0-9a-f]{32})(?::(\d{1,3}))?")
_LONGEST_NUMBER, _LONGEST_PLACE = 40, 100
# What is sent is bounded everywhere, far above what a page can ask: reading it must not take long.
_MOST_CARDS, _MOST_SCORES, _MOST_MARKS = 1000, 100, 1000
_Name = Annotated[str, Field(max_length=500)]
_Place = Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]


@dataclass
class SentSpan:
    """An error: from which letter (code point) to before which, and how bad it is."""

    start: _Place
    end: _Place
    severity: Annotated[str, Field(max_length=40)]
    category: Annotated[str, Field(max_length=500)] = ""
    in_source: bool = False
    comment: Annotated[str, Field(max_length=500)] = ""


_Marks = Annotated[list[SentSpan], FailFast(), Field(max_length=_MOST_MARKS)]


@dataclass
class SentAnswer:
    """What is said of an output; of two, 1 where the first is better, -1 where the second is, 0 for a tie."""

    output: Annotated[str, Field(max_length=64)]
    scores: Annotated[dict[_Name, float], Field(max_length=_MOST_SCORES)] = field(default_factory=dict)
    marks: _Marks = field(default_factory=list)
    # Browsers send two letters for the end of a line.
    comment: Annotated[str, Field(max_length=2 * MOST_COMMENT)] | None = None
    # Why the output cannot be judged; its scores do not count then.
    skip: Annotated[str, Field(max_length=40)] = ""


@dataclass
class SentPage:
    """What is said of a page; ``client`` names this answer, so that sending it again changes nothing.

    ``guidelines`` is the version that the page showed; None is not compared.
    """

    page: Annotated[str, Field(max_length=64)]
    client: Annotated[str, Field(max_length=64)]
    cards: Annotated[list[SentAnswer], FailFast(), Field(max_length=_MOST_CARDS)]
    seconds: float | None = None
    guidelines: int | None = None

    @property
    def handles(self) -> set[str]:
        """The handles of what is answered."""
        return {card.output for card in self.cards}


@dataclass
class Draft:
    """What a rater has typed, by names of outputs that outlive the session."""

    cards: Annotated[dict[str, SentAnswer], Field(max_length=_MOST_CARDS)] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def read(cls, text: str) -> Draft | None:
        """Read a draft; None where it is none, such as one that an earlier version took with odd letters."""
        try:
            return _READ_DRAFT.validate_json(text)
        except ValidationError:
            return None

    def to_json(self) -> str:
        """Return the draft as text, in letters that any database keeps."""
        return json.dumps(asdict(self), ensure_ascii=True)


_READ_DRAFT: TypeAdapter[Draft] = TypeAdapter(Draft)
_READ_PAGE: TypeAdapter[SentPage] = TypeAdapter(SentPage)
_READ_MARKS: TypeAdapter[list[SentSpan]] = TypeAdapter(_Marks)


def from_json(body: bytes) -> SentPage:
    """Read what a program sends: UTF-8, within the bounds of the schema."""
    try:
        return _READ_PAGE.validate_json(body)
    except ValidationError as error:
        raise UnreadableError(problem_of(error.errors(include_url=False, include_input=False))) from None


def json_schema() -> dict[str, Any]:
    """Return the schema of what a program sends, in one piece."""
    schema = _READ_PAGE.json_schema()
    parts = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, list):
            return [inline(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return inline(parts[value["$ref"].rsplit("/", 1)[1]])
        return {name: inline(part) for name, part in value.items()}

    inlined: dict[str, Any] = inline(schema)
    return inlined


class UnreadableError(UsageError):
    """What was sent does not have the form that is asked for."""


def problem_of(errors: Sequence[Mapping[str, Any]]) -> str:
    """Say in one sentence what is wrong: where the first problem is, and how many more there are."""
    first, more = errors[0], len(errors) - 1
    place = ".".join(str(part) for part in first["loc"])[:_LONGEST_PLACE]
    also = f" ({more} more {'problem' if more == 1 else 'problems'})" if more else ""
    at = f" at {place}" if place else ""
    return f"This cannot be read{at}: {str(first['msg'])[:_LONGEST_PLACE]}{also}."


def from_form(page: str, values: Mapping[str, str], aspects: Sequence[str]) -> SentPage:
    """Read what a form sends; fields that were left empty are not there."""
    cards: dict[str, SentAnswer] = {}
    for name, value in values.items():
        match = _FIELD.fullmatch(name)
        if match is None or not value.strip():
            continue
        kind, handle, place = match.groups()
        card = cards.setdefault(handle, SentAnswer(handle))
        if kind == "score" and place is not None and int(place) < len(aspects):
            card.scores[aspects[int(place)]] = number_of(value)
        elif kind == "marks":
            try:
                card.marks = _READ_MARKS.validate_json(value)
            except ValidationError:
                raise UsageError("The marked errors cannot be read. Load the page again.") from None
        elif kind == "comment":
            card.comment = storable(value)[: 2 * MOST_COMMENT]
        elif kind == "skip":
            card.skip = value.strip()[:40]
    seconds = number_of(values["seconds"]) if values.get("seconds") else None
    version = values.get("guidelines", "")
    shown = int(version) if version.isdecimal() and len(version) < 9 else None
    return SentPage(page, values.get("client", ""), list(cards.values()), seconds, shown)


def answers_to(questions: Sequence[Question], submission: SentPage, rater: str, web: Web) -> list[Answer]:
    """Return the answers of a page that was filled in, or say what is missing or wrong.

    What the rater cannot judge comes last, once for each model.
    """
    if not questions:
        raise UsageError("There is nothing to judge on this page any more. Load the page again.")
    if not _CLIENT.fullmatch(submission.client):
        raise UsageError("The answer needs a client: an id of 8 to 64 letters, digits, - and _.")
    by_handle = {card.output: card for card in submission.cards}
    handles = {question.id for question in questions}
    if set(by_handle) - handles:
        raise UsageError("The questions on this page have changed. Check your answers, then submit.")
    if set(by_handle) != handles or len(by_handle) != len(submission.cards):
        raise UsageError("Judge every output on the page.")
    by_handle = _ordered(questions, by_handle, web)
    answers: list[Answer] = []
    skips: list[Answer] = []
    guidelines = web.board.guidelines
    version, categories = (0, ()) if guidelines is None else (guidelines.version, guidelines.categories)
    for place, question in enumerate(questions, 1):
        card = by_handle[question.id]
        if card.skip:
            if card.skip not in REASONS:
                raise UsageError(f"The reasons are {', '.join(REASONS)}, not {card.skip}.")
            skips += [
                Answer(
                    rater,
                    question.item,
                    math.nan,
                    models[0] if len(models) == 1 else None,
                    (models[0], models[1]) if len(models) == 2 else None,
                    data=question.data,
                    client=submission.client,
                    skip=card.skip,
                    guidelines=version,
                )
                for models in zip(*(output.models for output in question.outputs), strict=True)
            ]
            continue
        form = web.form_of(question)
        marks = [vars(mark) for mark in card.marks]
        spans = None
        if isinstance(form, SpansForm):
            spans = checked_spans(
                marks, question.output, categories, source=question.source, severities=form.severities
            )
        decides = web.board.adjudicates(rater, asked_as(question))
        suggestion = None if web.help is None else web.help.suggestion(rater, question)
        comment = storable(card.comment or "").strip()[:MOST_COMMENT] or None
        for number, (aspect, ends) in enumerate(web.campaign.settings.aspects.items()):
            scale = None if ends is None else Scale(*ends)
            score = form.score(card.scores, aspect, scale, spans or ())
            for models in zip(*(output.models for output in question.outputs), strict=True):
                pair = (models[0], models[1]) if len(models) == 2 else None
                answers.append(
                    Answer(
                        rater=rater,
                        item=question.item,
                        score=score + 0.0,
                        model=models[0] if pair is None else None,
                        pair=pair,
                        aspect=aspect,
                        data=question.data,
                        comment=None if number else comment,
                        client=submission.client,
                        guidelines=version,
                        adjudicates=decides,
                        marks=None if number else spans,
                        placement=Placement(
                            place,
                            len(questions),
                            turned=list(models) != sorted(models),
                            helped=None if suggestion is None else suggestion.shown,
                            help_probability=None
                            if suggestion is None or web.help is None
                            else web.help.share,
                        ),
                    )
                )
    seconds = submission.seconds
    if seconds is None or not math.isfinite(seconds):
        return [*answers, *skips]
    # The time spent on a page is divided over its answers: their sum is what is paid for.
    timed = answers or skips
    seconds_each = round(min(max(seconds, 0.0), MOST_SECONDS) / len(timed), 3)
    timed = [replace(answer, seconds=seconds_each) for answer in timed]
    return [*timed, *skips] if answers else timed


def _ordered(questions: Sequence[Question], cards: dict[str, SentAnswer], web: Web) -> dict[str, SentAnswer]:
    """Return the cards of a page; where raters give an order, with the scores that it stands for."""
    form, ((aspect, ends), *_) = web.single_form, web.campaign.settings.aspects.items()
    if not isinstance(form, RankingForm):
        return cards
    judged = [question for question in questions if not cards[question.id].skip]
    places = [cards[question.id].scores.get(aspect, math.nan) for question in judged]
    if any(not math.isfinite(place) for place in places):
        raise UsageError("Judge every output on the page.")
    counts = [len(question.models) for question in judged]
    scores = form.scores(places, counts, Scale() if ends is None else Scale(*ends))
    placed = zip(judged, scores, strict=True)
    return {**cards, **{one.id: replace(cards[one.id], scores={aspect: score}) for one, score in placed}}


def asked_as(question: Question) -> Question:
    """Return a shown question as it was asked: of outputs with the same text the first, a pair in order."""
    first = sorted(min(output.models) for output in question.outputs)
    return replace(question, outputs=tuple(Output((name,)) for name in first))


def number_of(value: str) -> float:
    """Return a number from a form; a comma may stand for the point."""
    try:
        number = float(value.strip()[: _LONGEST_NUMBER + 1].replace(",", "."))
    except ValueError:
        raise UsageError(f'"{value[:_LONGEST_NUMBER]}" is not a number.') from None
    if len(value.strip()) > _LONGEST_NUMBER:
        raise UsageError(f"A number has at most {_LONGEST_NUMBER} letters.")
    if not math.isfinite(number):
        raise UsageError("A score is a finite number.")
    return number
