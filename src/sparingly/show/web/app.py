"""``create_app``: the web application of one campaign."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles

from sparingly._version import __version__
from sparingly.base.errors import DataError, SparinglyError
from sparingly.run.campaign.answers import RefusedError
from sparingly.run.campaign.campaign import Campaign
from sparingly.show.web import entry, organiser
from sparingly.show.web.entry import ForeignFormError, NoEntryError, NotAllowedError
from sparingly.show.web.guard import LOOPBACK, Guard, Message, Receive, RequestLimits, Send
from sparingly.show.web.rater import routes
from sparingly.show.web.rater.service import RaterService
from sparingly.show.web.rater.submission import UnreadableError, problem_of
from sparingly.show.web.web import Web, place_of

_LOG = logging.getLogger("sparingly")


def create_app(
    where: str | Path,
    name: str | None = None,
    *,
    secret: str,
    hosts: Sequence[str] | None = LOOPBACK,
    limits: RequestLimits | None = None,
    public: str | None = None,
    base: str = "",
    **options: Any,
) -> FastAPI:
    """Return the web application of a campaign; it lets go of the database when it ends.

    Args:
        where: The campaign's file, or the URL of its database.
        name: The campaign's name, where the database holds several.
        secret: At least 32 random letters that sign sessions; with the same one they outlive a restart.
        hosts: The names that the server goes by; None takes any.
        limits: How much is taken from one link or address.
        public: What links begin with, where a proxy stands in front, such as
            ``https://judge.example.org`` or ``https://example.org/judge``; the server then goes by that name.
        base: The path of this campaign below the others of its server, such as ``/wmt``.
        options: What raters are asked, and how: the other fields of ``Web``.
    """
    start, below = place_of(public)
    campaign = Campaign(where, name)
    try:
        list_at = f"{below}/" if base else None
        web = Web(campaign, secret, public=start, base=below + base, list_at=list_at, **options)
        # What is outside the folder is said before anybody comes.
        _ = web.image_files
        sessions = web.sessions
        rater_service = RaterService(web)
    except BaseException:
        campaign.disconnect()
        raise

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        campaign.disconnect()

    async def no_entry(scope: Message, receive: Receive, send: Send) -> None:
        await entry.stranger(web, form_refused=True)(scope, receive, send)

    app = FastAPI(title="sparingly", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.web, app.state.rater_service = web, rater_service
    app.state.organiser_service = organiser.OrganiserService(web)
    app.add_middleware(
        Guard,
        sessions=sessions,
        hosts=hosts_of(hosts, start),
        limits=limits or RequestLimits(),
        no_entry=no_entry,
        health=campaign.last_seq,
        base=web.base,
    )
    static = files("sparingly.show.web").joinpath("static")
    app.mount("/static", StaticFiles(directory=str(static)), name="static")
    for router in (entry.router, routes.router, routes.api_router, organiser.router):
        app.include_router(router)
    _add_errors(app, web)
    return app


def hosts_of(hosts: Sequence[str] | None, start: str | None) -> Sequence[str] | None:
    """Return the names that a server goes by, with that of its public address."""
    if hosts is None or start is None:
        return hosts
    # As a request spells it: without the port, an IPv6 address in brackets.
    return (*hosts, re.sub(r":\d+$", "", urlsplit(start).netloc))


def _add_errors(app: FastAPI, web: Web) -> None:
    """Turn what may go wrong into a page, or into JSON for programs."""

    @app.exception_handler(NoEntryError)
    def no_entry(request: Request, _: Exception) -> Response:
        if _is_program(request):
            return _error_response(request, web, 401, "Open the link that you were sent.")
        return entry.stranger(web)

    @app.exception_handler(ForeignFormError)
    def foreign(request: Request, _: Exception) -> Response:
        sentence = "This form is not from an open page. Go back and load the page again."
        return _error_response(request, web, 403, sentence)

    @app.exception_handler(NotAllowedError)
    def not_allowed(request: Request, _: Exception) -> Response:
        return _error_response(request, web, 403, "Your link lets you read these pages; ask the organiser.")

    @app.exception_handler(SparinglyError)
    def refused(request: Request, error: Exception) -> Response:
        # A form is shown again with what is wrong; for programs 409 is well formed and does not fit.
        fits = _is_program(request) and not isinstance(error, UnreadableError)
        return _error_response(request, web, 409 if fits else 422, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: Exception) -> Response:
        # One sentence however much is wrong: what was sent is not sent back.
        return _error_response(request, web, 422, problem_of(cast(RequestValidationError, error).errors()))

    @app.exception_handler(DataError)
    def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, RefusedError) or request.url.path.startswith("/organiser"):
            return refused(request, error)
        # Do not reveal where the data lies; a browser sends its answer again until it is saved.
        _LOG.error("%s", error)
        return _error_response(request, web, 503, "This cannot be done at the moment. Try again.")

    @app.exception_handler(404)
    def missing(request: Request, _: Exception) -> Response:
        return _error_response(request, web, 404, "There is no such page.")


def _is_program(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _error_response(request: Request, web: Web, status: int, sentence: str) -> Response:
    if _is_program(request):
        return JSONResponse({"detail": sentence}, status)
    return web.page("error.html", status=status, sentence=sentence)
