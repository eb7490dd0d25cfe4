"""The pages of raters as they are asked for by a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from sparingly.base.errors import UsageError
from sparingly.run.campaign.record import RefusedError
from sparingly.show.web.entry import Fields, RaterForm, RaterProgram, RaterSession
from sparingly.show.web.rater.page import Sheet
from sparingly.show.web.rater.service import Counter
from sparingly.show.web.rater.submission import GivenPage, from_form, from_json, json_schema
from sparingly.show.web.texts import DisplayText

router = APIRouter(include_in_schema=False)


def counter_of(request: Request) -> Counter:
    """Return where pages are handed out and answers taken."""
    found: Counter = request.app.state.counter
    return found


Served = Annotated[Counter, Depends(counter_of)]


@router.get("/rate")
def show_current(session: RaterSession, counter: Served) -> Response:
    """Show what a rater is to judge now."""
    web, page = counter.web, counter.desk.current(session.rater)
    if page is not None:
        found = web.page("rater/rate.html", session, sheet=counter.sheets.sheet(session, page), problem="")
        # The page is put into the one that sent the answer before: its address comes along.
        found.headers["HX-Replace-Url"] = "/rate"
        return found
    previous = counter.desk.before(session.rater, None)
    return web.page(
        "rater/rest.html",
        session,
        why=counter.why_nothing(session.rater),
        progress=counter.desk.progress(session.rater),
        previous=None if previous is None else counter.sheets.handle(previous),
    )


@router.get("/rate/{handle}")
def show_again(handle: str, session: RaterSession, counter: Served) -> Response:
    """Show a page that a rater has judged, to look at it again or to change it."""
    page = counter.own_page(session, handle)
    if page is None:
        return counter.web.page("error.html", session, status=404, sentence="There is no such page.")
    sheet = counter.sheets.sheet(session, page)
    return counter.web.page("rater/rate.html", session, sheet=sheet, problem="")


@router.post("/rate/{handle}")
def take_answer(handle: str, session: RaterForm, counter: Served, sent: Fields) -> Response:
    """Take what a rater says of a page, and lead to the next one."""
    given = None
    try:
        given = from_form(handle, sent, counter.aspects)
        counter.take(session, given)
    except (UsageError, RefusedError) as error:
        page = counter.answerable(session, handle, given)
        if page is None:
            raise
        if given is not None:
            counter.keep_draft(session, page, given)
        sheet = counter.sheets.sheet(session, page)
        return counter.web.page("rater/rate.html", session, status=422, sheet=sheet, problem=str(error))
    return RedirectResponse("/rate", 303)


@router.post("/rate/{handle}/draft")
def keep_draft(handle: str, session: RaterForm, counter: Served, sent: Fields) -> Response:
    """Keep what a rater has typed so far."""
    given = from_form(handle, sent, counter.aspects)
    page = counter.answerable(session, handle, given)
    if page is None:
        return counter.web.page("error.html", session, status=404, sentence="There is no such page.")
    counter.keep_draft(session, page, given)
    return Response(status_code=204)


_REFUSED = {
    401: {"description": "No session: open the link first."},
    403: {"description": "The header X-CSRF-Token is missing or wrong."},
    408: {"description": "The answer took too long to arrive."},
    409: {"description": "The answer is not complete, a value is out of range, or the page is gone."},
    413: {"description": "The answer is too large."},
    415: {"description": "The answer is not JSON in UTF-8."},
    422: {"description": "The answer does not have the form that is asked for; the sentence says where."},
    429: {"description": "Too many requests, or too many bytes, in a short time."},
    503: {"description": "The answer could not be kept. Send it again."},
}
api_router = APIRouter(
    prefix="/api", tags=["rater"], responses={status: _REFUSED[status] for status in (401, 429)}
)


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


@api_router.get("/progress")
def progress(session: RaterSession, counter: Served) -> ProgressShown:
    """Return how far a rater is."""
    counter.web.board.refresh()
    found = counter.desk.progress(session.rater)
    return ProgressShown(session.rater, **vars(found), csrf=counter.web.sessions.csrf(session))


@api_router.get("/question")
def question(session: RaterSession, counter: Served) -> QuestionShown:
    """Return what a rater is to judge now."""
    page = counter.desk.current(session.rater)
    if page is None:
        return QuestionShown(None, counter.why_nothing(session.rater))
    return _shown(counter.sheets.sheet(session, page), counter.aspects)


async def given_page(request: Request, _: RaterProgram) -> GivenPage:
    """Return what a program says of a page; it is read beside the event loop."""
    return await run_in_threadpool(from_json, await request.body())


@api_router.post(
    "/answer",
    responses={status: one for status, one in _REFUSED.items() if status not in (401, 429)},
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": json_schema()}}}
    },
)
def answer(given: Annotated[GivenPage, Depends(given_page)], session: RaterProgram, counter: Served) -> Taken:
    """Take what a rater says of a page; sending it again changes nothing."""
    kinds = [one.what for one in counter.take(session, given)]
    return Taken(kinds.count("new"), kinds.count("correction"), kinds.count("same"))


def _shown(sheet: Sheet, aspects: tuple[str, ...]) -> QuestionShown:
    def plain(texts: list[DisplayText]) -> list[str]:
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
