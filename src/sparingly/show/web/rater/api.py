"""The pages of raters as JSON, for programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import APIRouter

from sparingly.show.web.access.doors import RaterForm, RaterSession
from sparingly.show.web.rater.given import GivenPage
from sparingly.show.web.rater.router import Served
from sparingly.show.web.rater.sheet import Sheet
from sparingly.show.web.texts import Shown

_REFUSED = {
    401: {"description": "No session: open the link first."},
    403: {"description": "The header X-CSRF-Token is missing or wrong."},
    409: {"description": "The answer is not complete, a value is out of range, or the page is gone."},
    503: {"description": "The answer could not be kept. Send it again."},
}
router = APIRouter(prefix="/api", tags=["rater"], responses={401: _REFUSED[401]})


@dataclass
class ProgressShown:
    """How far a rater and the campaign are, and the token that forms send back."""

    rater: str
    mine: int
    judged: int
    asked: int
    csrf: str


@dataclass
class OutputShown:
    """An output to judge, or two to compare, each as its turns (one where it is no chat)."""

    output: str
    label: str
    texts: list[list[str]]


@dataclass
class QuestionShown:
    """What to judge now; ``page`` is None where there is nothing, and ``why`` says why."""

    page: str | None
    why: str = ""
    form: str = ""
    client: str = ""
    aspects: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    outputs: list[OutputShown] = field(default_factory=list)


@dataclass
class Taken:
    """How many answers were new, corrections, or the same as before."""

    new: int
    correction: int
    same: int


@router.get("/progress")
def progress(session: RaterSession, counter: Served) -> ProgressShown:
    """Return how far a rater is."""
    counter.web.board.refresh()
    found = counter.desk.progress(session.rater)
    return ProgressShown(session.rater, **vars(found), csrf=counter.web.sessions.csrf(session))


@router.get("/question")
def question(session: RaterSession, counter: Served) -> QuestionShown:
    """Return what a rater is to judge now."""
    page = counter.desk.current(session.rater)
    if page is None:
        return QuestionShown(None, counter.why_nothing(session.rater))
    return _shown(counter.sheets.sheet(session, page), counter.aspects)


@router.post("/answer", responses={status: _REFUSED[status] for status in (403, 409, 503)})
def answer(given: GivenPage, session: RaterForm, counter: Served) -> Taken:
    """Take what a rater says of a page; sending it again changes nothing."""
    kinds = [one.what for one in counter.take(session, given)]
    return Taken(kinds.count("new"), kinds.count("correction"), kinds.count("same"))


def _shown(sheet: Sheet, aspects: tuple[str, ...]) -> QuestionShown:
    def plain(texts: list[Shown]) -> list[str]:
        return [text.plain for text in texts]

    return QuestionShown(
        page=sheet.page,
        form=sheet.form,
        client=sheet.client,
        aspects=list(aspects),
        source=plain(sheet.source),
        before=plain(sheet.before),
        after=plain(sheet.after),
        outputs=[
            OutputShown(one.handle, one.label, [plain(text) for text in one.texts]) for one in sheet.outputs
        ],
    )
