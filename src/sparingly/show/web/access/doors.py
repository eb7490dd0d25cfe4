"""What the pages ask for: who is there, and whether a form was ours. Used with ``Depends``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from sparingly.base.errors import UsageError
from sparingly.run.campaign.access import Role
from sparingly.show.web.access.guard import SESSION
from sparingly.show.web.access.sessions import Session

if TYPE_CHECKING:
    from sparingly.show.web.web import Web


# A page with fifty outputs, ten aspects and a comment on each has fewer.
MOST_FIELDS = 2000


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


def text_of(fields: Mapping[str, str], name: str, *, most: int = 500) -> str:
    """Return a field without blanks at its ends, empty where it is not there, or say that it is too long."""
    text = fields.get(name, "").strip()
    if len(text) > most:
        raise UsageError(f"The field {name} has more than {most} letters.")
    return text


Fields = Annotated[Mapping[str, str], Depends(sent_fields)]


def rater_form(
    request: Request, session: Annotated[Session, Depends(rater_session)], fields: Fields
) -> Session:
    """Return the session of a rater who sends a form of ours."""
    return _checked(request, session, fields.get("csrf"))


def rater_program(request: Request, session: Annotated[Session, Depends(rater_session)]) -> Session:
    """Return the session of a rater whose program sends the token as a header."""
    return _checked(request, session)


def organiser_form(
    request: Request, session: Annotated[Session, Depends(organiser_session)], fields: Fields
) -> Session:
    """Return the session of the organiser who sends a form of ours."""
    return _checked(request, session, fields.get("csrf"))


def _session(request: Request, role: Role) -> Session:
    known: Session | None = request.scope.get(SESSION)
    if known is not None and known.role == role:
        return known
    sessions = web_of(request).sessions
    session = sessions.read(request.cookies.get(sessions.cookies[role]), role)
    if session is None:
        raise NoEntryError(role)
    return session


def _checked(request: Request, session: Session, field: str | None = None) -> Session:
    if not web_of(request).sessions.csrf_fits(session, request.headers.get("x-csrf-token", field)):
        raise ForeignFormError
    return session


RaterSession = Annotated[Session, Depends(rater_session)]
OrganiserSession = Annotated[Session, Depends(organiser_session)]
RaterForm = Annotated[Session, Depends(rater_form)]
RaterProgram = Annotated[Session, Depends(rater_program)]
OrganiserForm = Annotated[Session, Depends(organiser_form)]
