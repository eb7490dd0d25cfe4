"""Who is there: links that begin a session, and what pages ask of a request (a session, a form of ours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sparingly.base.errors import UsageError
from sparingly.show.web.guard import SESSION
from sparingly.show.web.panel import PREFIX, person_of
from sparingly.show.web.sessions import MOST_SECONDS, Door, Session
from sparingly.show.web.web import Web

# A page with fifty outputs, ten aspects and a comment on each has fewer.
MOST_FIELDS = 2000
HOMES: dict[Door, str] = {"rater": "/rate", "organiser": "/organiser"}
router = APIRouter(include_in_schema=False)


class NoEntryError(Exception):
    """Somebody who has no link, or whose link was retired."""


class ForeignFormError(Exception):
    """A form that does not come from a page of ours."""


class NotAllowedError(Exception):
    """Somebody who reads the organiser's pages wants to change something."""


def web_of(request: Request) -> Web:
    """Return everything that the pages work with."""
    web: Web = request.app.state.web
    return web


def rater_session(request: Request) -> Session:
    """Return the session of a rater."""
    return _session(request, "rater")


def organiser_session(request: Request) -> Session:
    """Return the session of the organiser, or of somebody who reads the organiser's pages."""
    return _session(request, "organiser")


async def sent_fields(request: Request) -> Mapping[str, str]:
    """Return the fields of a form; the last one counts where several have the same name.

    They are read beside the event loop: others are served meanwhile.
    """
    return await run_in_threadpool(fields_of, await request.body())


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields that a form consists of, or say why it cannot be read."""
    try:
        text = body.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except UnicodeError:
        raise UsageError("The form cannot be read: its text is not UTF-8. Load the page again.") from None
    except ValueError:
        raise UsageError(f"The form has more than {MOST_FIELDS} fields. Load the page again.") from None


def text_of(fields: Mapping[str, str], name: str, *, longest: int = 500) -> str:
    """Return a field without blanks at its ends, empty where it is not there, or say that it is too long."""
    text = fields.get(name, "").strip()
    if len(text) > longest:
        raise UsageError(f"The field {name} has more than {longest} letters.")
    return text


CurrentWeb = Annotated[Web, Depends(web_of)]
RaterSession = Annotated[Session, Depends(rater_session)]
OrganiserSession = Annotated[Session, Depends(organiser_session)]
Fields = Annotated[Mapping[str, str], Depends(sent_fields)]


def rater_form(request: Request, session: RaterSession, fields: Fields) -> Session:
    """Return the session of a rater who sends a form of ours."""
    return checked(request, session, fields.get("csrf"))


def rater_program(request: Request, session: RaterSession) -> Session:
    """Return the session of a rater whose program sends the token as a header."""
    return checked(request, session)


def organiser_only(session: OrganiserSession) -> Session:
    """Return the session of the organiser, and of nobody else."""
    if session.role != "organiser":
        raise NotAllowedError
    return session


OrganiserAlone = Annotated[Session, Depends(organiser_only)]


def organiser_form(request: Request, session: OrganiserAlone, fields: Fields) -> Session:
    """Return the session of the organiser who sends a form of ours."""
    return checked(request, session, fields.get("csrf"))


def _session(request: Request, door: Door) -> Session:
    session: Session | None = request.scope.get(SESSION)
    if session is None or session.door != door:
        sessions = web_of(request).sessions
        session = sessions.read(request.cookies.get(sessions.cookies[door]), door)
    if session is None:
        raise NoEntryError
    return session


def checked(request: Request, session: Session, field: str | None = None) -> Session:
    """Return a session whose form or program sends its token; anything else is not from a page of ours."""
    if not web_of(request).sessions.csrf_fits(session, request.headers.get("x-csrf-token", field)):
        raise ForeignFormError
    return session


RaterForm = Annotated[Session, Depends(rater_form)]
RaterProgram = Annotated[Session, Depends(rater_program)]
OrganiserForm = Annotated[Session, Depends(organiser_form)]


@router.get("/r/{token}")
def enter_as_rater(token: str, request: Request, web: CurrentWeb) -> Response:
    """Let a rater in."""
    return enter(token, request, web, "rater")


@router.get("/o/{token}")
def enter_as_organiser(token: str, request: Request, web: CurrentWeb) -> Response:
    """Let the organiser in, or who reads the organiser's pages."""
    return enter(token, request, web, "organiser")


@router.get("/join")
def join(request: Request, web: CurrentWeb) -> Response:
    """Let somebody of a panel in: the same person is the same rater, however often they come."""
    if web.panel is None:
        return stranger(web)
    rater, place = person_of(request.query_params)
    if web.access.is_retired(rater):
        web.board.refresh()
        if web.panel.screened is not None and not web.board.done_by(rater):
            return web.page("rater/screened.html", panel=web.panel)
        return web.page("error.html", status=403, sentence="You have taken part already. Thank you.")
    web.audit.write(f"rater {rater}", "came from the panel", **place)
    return enter(web.access.invite("rater", rater, by="panel"), request, web, "rater")


@router.get("/")
def home(request: Request, web: CurrentWeb) -> Response:
    """Redirect to the pages of the session."""
    for door, cookie in web.sessions.cookies.items():
        if web.sessions.read(request.cookies.get(cookie), door) is not None:
            return RedirectResponse(HOMES[door], 303)
    return stranger(web)


@router.post("/leave")
def leave(session: RaterForm, web: CurrentWeb) -> Response:
    """End the session of a rater, wherever its cookie is; who leaves a panel gives the work back."""
    if session.rater.startswith(PREFIX):
        with web.campaign.database.writing() as connection:
            web.access.give_back(connection, session.rater)
    return end_session(session, web)


def end_session(session: Session, web: Web) -> Response:
    """End a session, forget its cookie, and lead away."""
    web.sessions.end(session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(web.sessions.cookies[session.door], path="/")
    return response


def stranger(web: Web, *, form_refused: bool = False) -> HTMLResponse:
    """Return the page for somebody who has no link, or whose form came after the end of the session."""
    return web.page("no_entry.html", status=401, form_refused=form_refused)


def enter(token: str, request: Request, web: Web, door: Door) -> Response:
    """Begin a session where a link opens the door, and lead to its first page."""
    response = RedirectResponse(HOMES[door], 303)
    return response if begin_session(token, request, response, web, door) else stranger(web)


def begin_session(token: str, request: Request, response: Response, web: Web, door: Door) -> bool:
    """Begin a session where a link opens the door, and put its cookie on the response."""
    name = web.sessions.cookies[door]
    new_session = web.sessions.begin(token, door, request.cookies.get(name))
    if new_session is None:
        return False
    session, cookie = new_session
    web.audit.write(session.actor, "came in")
    response.set_cookie(
        name,
        cookie,
        max_age=MOST_SECONDS,
        path="/",
        httponly=True,
        samesite="lax",
        secure=(web.public or str(request.url)).startswith("https:"),
    )
    return True
