"""The pages of raters as they are asked for by a browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.base.errors import UsageError
from sparingly.run.campaign.refusal import RefusedError
from sparingly.show.web.access.doors import Fields, RaterForm, RaterSession
from sparingly.show.web.rater.counter import Counter
from sparingly.show.web.rater.given import from_form

router = APIRouter(include_in_schema=False)


def counter_of(request: Request) -> Counter:
    """Return where pages are handed out and answers taken."""
    found: Counter = request.app.state.counter
    return found


Served = Annotated[Counter, Depends(counter_of)]


@router.get("/rate")
def current(session: RaterSession, counter: Served) -> Response:
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
def again(handle: str, session: RaterSession, counter: Served) -> Response:
    """Show a page that a rater has judged, to look at it again or to change it."""
    page = counter.own_page(session, handle)
    if page is None:
        return counter.web.page("error.html", session, status=404, sentence="There is no such page.")
    sheet = counter.sheets.sheet(session, page)
    return counter.web.page("rater/rate.html", session, sheet=sheet, problem="")


@router.post("/rate/{handle}")
def answer(handle: str, session: RaterForm, counter: Served, sent: Fields) -> Response:
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
def draft(handle: str, session: RaterForm, counter: Served, sent: Fields) -> Response:
    """Keep what a rater has typed so far."""
    given = from_form(handle, sent, counter.aspects)
    page = counter.answerable(session, handle, given)
    if page is None:
        return counter.web.page("error.html", session, status=404, sentence="There is no such page.")
    counter.keep_draft(session, page, given)
    return Response(status_code=204)
