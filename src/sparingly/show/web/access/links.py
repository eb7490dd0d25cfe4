"""The links: each is exchanged for a session, and leads on to an address without the token."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sparingly.run.campaign.access import Role
from sparingly.show.web.access.doors import RaterForm, web_of
from sparingly.show.web.access.sessions import MOST_SECONDS
from sparingly.show.web.web import Web

HOMES: dict[Role, str] = {"rater": "/rate", "organiser": "/organiser"}
router = APIRouter(include_in_schema=False)


@router.get("/r/{token}")
def enter_as_rater(token: str, request: Request, web: Annotated[Web, Depends(web_of)]) -> Response:
    """Let a rater in."""
    return _enter(token, request, web, "rater")


@router.get("/o/{token}")
def enter_as_organiser(token: str, request: Request, web: Annotated[Web, Depends(web_of)]) -> Response:
    """Let the organiser in."""
    return _enter(token, request, web, "organiser")


@router.get("/")
def home(request: Request, web: Annotated[Web, Depends(web_of)]) -> Response:
    """Lead to the pages of whoever is there."""
    for role, cookie in web.sessions.cookies.items():
        if web.sessions.read(request.cookies.get(cookie), role) is not None:
            return RedirectResponse(HOMES[role], 303)
    return stranger(web)


@router.post("/leave")
def leave(session: RaterForm, web: Annotated[Web, Depends(web_of)]) -> Response:
    """End the session of a rater, for this device and whoever else has its cookie."""
    web.sessions.end(session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(web.sessions.cookies["rater"], path="/")
    return response


def stranger(web: Web, *, form_refused: bool = False) -> HTMLResponse:
    """Return the page for somebody who has no link, or whose form came after the end of the session."""
    return web.page("no_entry.html", status=401, form_refused=form_refused)


def _enter(token: str, request: Request, web: Web, role: Role) -> Response:
    name = web.sessions.cookies[role]
    begun = web.sessions.begin(token, role, request.cookies.get(name))
    if begun is None:
        return stranger(web)
    session, cookie = begun
    web.audit.write(session.who, "came in")
    response = RedirectResponse(HOMES[role], 303)
    response.set_cookie(
        name,
        cookie,
        max_age=MOST_SECONDS,
        path="/",
        httponly=True,
        samesite="lax",
        secure=(web.public or str(request.url)).startswith("https:"),
    )
    return response
