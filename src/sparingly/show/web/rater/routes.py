"""The pages of raters as they are asked for by a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response

from sparingly.base.errors import UsageError
from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.answers import RefusedError
from sparingly.show.web.entry import Fields, RaterForm, RaterProgram, RaterSession
from sparingly.show.web.images import KINDS
from sparingly.show.web.panel import PREFIX
from sparingly.show.web.rater.service import RaterService
from sparingly.show.web.rater.submission import SentPage, from_form, from_json, json_schema
from sparingly.show.web.sessions import Session
from sparingly.show.web.texts import DisplayText, GuideView

router = APIRouter(include_in_schema=False)


def service_of(request: Request) -> RaterService:
    """Return where pages are handed out and answers taken."""
    service: RaterService = request.app.state.rater_service
    return service


Served = Annotated[RaterService, Depends(service_of)]


@router.get("/rate")
def show_current(session: RaterSession, service: Served) -> Response:
    """Show what a rater is to judge now, or the guidelines that they have not read."""
    if (guide := service.guide(session.rater)) is not None:
        return _guidelines_page(session, service, guide)
    web, view = service.web, service.view(session)
    if view is not None:
        response = web.page("rater/rate.html", session, view=view, problem="")
        # The page is put into the one that sent the answer before: its address comes along.
        response.headers["HX-Replace-Url"] = "/rate"
        return response
    previous = service.queue.before(session.rater, None)
    return web.page(
        "rater/rest.html",
        session,
        why=service.why_nothing(session.rater),
        progress=service.queue.progress(session.rater),
        previous=None if previous is None else service.views.handle(previous),
        reviews=is_reviewer(session.rater),
        panel=web.panel if service.queue.may_complete(session.rater) else None,
    )


def _guidelines_page(
    session: Session, service: RaterService, guide: GuideView, *, status: int = 200, problem: str = ""
) -> Response:
    panel = service.web.panel
    screens = panel is not None and panel.screened is not None and session.rater.startswith(PREFIX)
    title = guide.title or "Before you begin"
    values = {"guide": guide, "title": title, "problem": problem, "screens": screens}
    return service.web.page("rater/guidelines.html", session, status=status, **values)


@router.post("/rate/begin")
def begin(session: RaterForm, service: Served, fields: Fields) -> Response:
    """Take that a rater accepted the guidelines."""
    try:
        service.accept(session.rater, fields)
    except UsageError as error:
        guide = service.guide(session.rater)
        if guide is not None:
            return _guidelines_page(session, service, guide, status=422, problem=str(error))
    return RedirectResponse("/rate", 303)


@router.post("/rate/decline")
def decline(session: RaterForm, service: Served) -> Response:
    """Let somebody of a panel go who does not agree: they get the code for that, and cannot come again."""
    web = service.web
    if web.panel is None or web.panel.screened is None or not session.rater.startswith(PREFIX):
        return RedirectResponse("/rate", 303)
    guide = service.guide(session.rater)
    if guide is None or not guide.consent:
        return RedirectResponse("/rate", 303)
    web.access.retire(session.rater, by="panel")
    return web.page("rater/screened.html", panel=web.panel)


@router.get("/rate/image/{name}")
def show_image(name: str, session: RaterSession, service: Served) -> Response:
    """Send an image that a text names."""
    images = service.web.image_files
    file = None if images is None else images.files.get(name)
    if file is None:
        return service.web.page("error.html", session, status=404, sentence="There is no such page.")
    # What it is called says nothing of who made it.
    return FileResponse(file, media_type=f"image/{KINDS[file.suffix.lower()]}")


@router.get("/rate/{handle}")
def show_again(handle: str, session: RaterSession, service: Served) -> Response:
    """Show a page that a rater has judged, to look at it again or to change it."""
    if service.guide(session.rater) is not None:
        return RedirectResponse("/rate", 303)
    page = service.own_page(session, handle)
    if page is None:
        return service.web.page("error.html", session, status=404, sentence="There is no such page.")
    view = service.views.view(session, page)
    return service.web.page("rater/rate.html", session, view=view, problem="")


@router.post("/rate/{handle}")
def take_answer(handle: str, session: RaterForm, service: Served, fields: Fields) -> Response:
    """Take what a rater says of a page, and lead to the next one."""
    page_sent = None
    try:
        page_sent = from_form(handle, fields, service.aspects)
        service.take(session, page_sent)
    except (UsageError, RefusedError) as error:
        known, again = service.known(handle), service.judged_again(session.rater, handle)
        page = None if known or again is not None else service.answerable(session, handle, page_sent)
        if page is not None and page_sent is not None:
            service.keep_draft(session, page, page_sent)
        if (guide := service.guide(session.rater)) is not None:
            return _guidelines_page(session, service, guide, status=422, problem=str(error))
        if known is not None:
            spent = 0.0 if page_sent is None else page_sent.seconds or 0.0
            view = service.views.known_view(session, *known, spent)
        elif again is not None:
            view = service.views.view(session, *again)
        elif page is not None:
            view = service.views.view(session, page)
        else:
            raise
        return service.web.page("rater/rate.html", session, status=422, view=view, problem=str(error))
    return RedirectResponse("/rate", 303)


@router.post("/rate/{handle}/draft")
def keep_draft(handle: str, session: RaterForm, service: Served, fields: Fields) -> Response:
    """Keep what a rater has typed so far."""
    submission = from_form(handle, fields, service.aspects)
    if service.known(handle) is not None or service.judged_again(session.rater, handle) is not None:
        return Response(status_code=204)
    page = service.answerable(session, handle, submission)
    if page is None:
        return service.web.page("error.html", session, status=404, sentence="There is no such page.")
    service.keep_draft(session, page, submission)
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
    503: {"description": "The answer could not be saved. Submit it again."},
}
api_router = APIRouter(
    prefix="/api", tags=["rater"], responses={status: _REFUSED[status] for status in (401, 429)}
)


@dataclass
class ProgressResponse:
    """How far a rater and the campaign are, and the token that forms send back."""

    rater: str
    mine: int
    judged: int
    asked: int
    csrf: str


@dataclass
class OutputResponse:
    """An output to judge, or two to compare, each as its turns (one where it is no chat).

    Where an AI's suggestion is filled in, ``suggested`` has its scores by aspect, and ``marks`` its errors.
    """

    output: str
    label: str
    texts: list[list[str]]
    suggested: dict[str, float] = field(default_factory=dict)
    marks: list[dict[str, str | int]] = field(default_factory=list)


@dataclass
class PageResponse:
    """What to judge now; ``page`` is None where there is nothing, and ``why`` says why."""

    page: str | None
    why: str = ""
    form: str = ""
    title: str = ""
    client: str = ""
    guidelines: int | None = None
    aspects: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    outputs: list[OutputResponse] = field(default_factory=list)


@dataclass
class AnswerCounts:
    """How many answers were new, corrections, or the same as before."""

    new: int
    correction: int
    same: int


@api_router.get("/progress")
def progress(session: RaterSession, service: Served) -> ProgressResponse:
    """Return how far a rater is."""
    service.web.board.refresh()
    progress_of_rater = service.queue.progress(session.rater)
    return ProgressResponse(session.rater, **vars(progress_of_rater), csrf=service.web.sessions.csrf(session))


@api_router.get("/question")
def question(session: RaterSession, service: Served) -> PageResponse:
    """Return what a rater is to judge now."""
    view = None if service.guide(session.rater) is not None else service.view(session)
    if view is None:
        return PageResponse(None, service.why_nothing(session.rater))

    def plain(texts: list[DisplayText]) -> list[str]:
        return [text.plain for text in texts]

    return PageResponse(
        page=view.page,
        form=view.form,
        title=view.title,
        guidelines=None if view.guide is None else view.guide.version,
        client=view.client,
        aspects=list(service.aspects),
        source=plain(view.source),
        before=plain(view.before),
        after=plain(view.after),
        outputs=[
            OutputResponse(
                output.handle,
                output.label,
                [plain(text) for text in output.texts],
                {one.aspect: float(one.value) for one in output.fields if output.helped and one.value},
                json.loads(output.marks) if output.helped else [],
            )
            for output in view.outputs
        ],
    )


async def sent_page(request: Request, _: RaterProgram) -> SentPage:
    """Return what a program says of a page; it is read beside the event loop."""
    return await run_in_threadpool(from_json, await request.body())


@api_router.post(
    "/answer",
    responses={status: reason for status, reason in _REFUSED.items() if status not in (401, 429)},
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": json_schema()}}}
    },
)
def answer(
    page: Annotated[SentPage, Depends(sent_page)], session: RaterProgram, service: Served
) -> AnswerCounts:
    """Take what a rater says of a page; sending it again changes nothing."""
    kinds = [acknowledgement.what for acknowledgement in service.take(session, page)]
    return AnswerCounts(kinds.count("new"), kinds.count("correction"), kinds.count("same"))
