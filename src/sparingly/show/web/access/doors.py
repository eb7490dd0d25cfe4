"""What the pages ask for: who is there, and whether a form was ours. Used with ``Depends``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from sparingly.run.campaign.access import Role
from sparingly.show.web.access.sessions import Session

if TYPE_CHECKING:
    from sparingly.show.web.web import Web


class NoEntryError(Exception):
    """Somebody who has no link, or whose link was retired."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role
        super().__init__(role)


class ForeignFormError(Exception):
    """A form that does not come from a page of ours."""


def web_of(request: Request) -> Web:
    """Return everything that the pages work with."""
    found: Web = request.app.state.web
    return found


def rater_session(request: Request) -> Session:
    """Return the session of a rater."""
    return _session(request, "rater")


def organiser_session(request: Request) -> Session:
    """Return the session of the organiser."""
    return _session(request, "organiser")


async def rater_form(request: Request, session: Annotated[Session, Depends(rater_session)]) -> Session:
    """Return the session of a rater who sends a form of ours."""
    return await _checked(request, session)


async def organiser_form(
    request: Request, session: Annotated[Session, Depends(organiser_session)]
) -> Session:
    """Return the session of the organiser who sends a form of ours."""
    return await _checked(request, session)


def _session(request: Request, role: Role) -> Session:
    sessions = web_of(request).sessions
    session = sessions.read(request.cookies.get(sessions.cookies[role]), role)
    if session is None:
        raise NoEntryError(role)
    return session


async def _checked(request: Request, session: Session) -> Session:
    given = request.headers.get("x-csrf-token")
    if given is None and not request.headers.get("content-type", "").startswith("application/json"):
        field = (await request.form()).get("csrf")
        given = field if isinstance(field, str) else None
    if not web_of(request).sessions.csrf_fits(session, given):
        raise ForeignFormError
    return session


RaterSession = Annotated[Session, Depends(rater_session)]
OrganiserSession = Annotated[Session, Depends(organiser_session)]
RaterForm = Annotated[Session, Depends(rater_form)]
OrganiserForm = Annotated[Session, Depends(organiser_form)]
