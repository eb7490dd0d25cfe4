"""``create_app``: the web application of one campaign."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles

from sparingly._version import __version__
from sparingly.base.errors import DataError, SparinglyError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.answers import RefusedError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.raters.assignment import Assignment
from sparingly.show.web import entry, organiser
from sparingly.show.web.entry import ForeignFormError, NoEntryError, NotAllowedError
from sparingly.show.web.guard import LOOPBACK, Guard, Message, Receive, RequestLimits, Send
from sparingly.show.web.panel import Panel
from sparingly.show.web.rater import routes
from sparingly.show.web.rater.service import RaterService
from sparingly.show.web.rater.submission import UnreadableError, problem_of
from sparingly.show.web.web import OVERLAP, Texts, Web, place_of

_LOG = logging.getLogger("sparingly")


def create_app(
    where: str | Path,
    name: str | None = None,
    *,
    secret: str,
    form: str | None = None,
    texts: Texts = "plain",
    assignment: Assignment | None = None,
    overlap: float = OVERLAP,
    one_by_one: bool = False,
    reference: bool = False,
    tutorial: EvalSet | None = None,
    controls: EvalSet | Literal["damaged"] | None = None,
    panel: Panel | None = None,
    language: str = "en",
    hosts: Sequence[str] | None = LOOPBACK,
    limits: RequestLimits | None = None,
    public: str | None = None,
    advance: bool = False,
    base: str = "",
    rate: float | None = None,
    help_from: str | None = None,
    help_share: float = 0.5,
    third_rater: bool = False,
    repeats: float = 0.0,
    images: str | Path | None = None,
) -> FastAPI:
    """Return the web application of a campaign; it lets go of the database when it ends.

    Args:
        where: The campaign's file, or the URL of its database.
        name: The campaign's name, where the database holds several.
        secret: At least 32 random letters that sign sessions; with the same one they outlive a restart.
        form: What raters fill in: ``pass_fail``, ``rubric``, ``score``, ``stars``, ``contrastive``,
            ``ranking``, ``esa``, ``mqm``; unless given ``pass_fail`` on a scale from 0 to 1, and ``score`` on
            others. Where outputs are compared, it is always which one is better.
        texts: How outputs are shown: ``plain``, or as ``markdown``.
        assignment: Who judges what; without one, every rater is given open questions.
        overlap: Without an assignment, the share of outputs that two raters judge (at least 20 outputs), so
            that their agreement is known; 0 for none.
        one_by_one: Whether the outputs of an item are shown one after the other.
        reference: Whether the reference is shown as well.
        tutorial: Items whose labels are known answers: raters judge them first, each until they are right.
        controls: Items whose labels are known answers, hidden among the others: one after every ten pages; or
            ``damaged``: outputs that the rater judged before, with some words replaced.
        panel: Lets people of a panel in at ``/join``, and says how they complete their work.
        language: What the pages speak to raters: ``en``, ``de``, ``es`` or ``fr``.
        hosts: The names that the server goes by; None takes any.
        limits: How much is taken from one link or address.
        public: What links begin with, where a proxy stands in front, such as
            ``https://judge.example.org`` or ``https://example.org/judge``; the server then goes by that name.
        advance: Whether a page is sent as soon as every output on it has a score.
        rate: What an hour of a rater is paid: the organiser's pages then show the cost.
        base: The path of this campaign below the others of its server, such as ``/wmt``.
        images: The folder of images; a text that is the path of one, or has ``![words](path)``, shows it.
        repeats: The share of pages that raters judge a second time, so that the organiser sees how they agree
            with themselves.
        third_rater: Whether a third rater decides where two are further apart than a quarter of the scale (of
            pairs: where they differ), without seeing their answers; otherwise reviewers do.
        help_from: A metric of the data, or a file with ``item``, ``model``, ``score`` and ``spans``, from
            which answers are filled in.
        help_share: The probability with which a rater sees that, drawn for each question; estimates are of
            the scores without it.
    """
    start, below = place_of(public)
    campaign = Campaign(where, name)
    try:
        web = Web(
            campaign,
            secret,
            form,
            texts,
            assignment,
            overlap,
            one_by_one,
            reference,
            tutorial,
            controls,
            panel,
            language,
            public=start,
            advance=advance,
            base=below + base,
            list_at=f"{below}/" if base else None,
            rate=rate,
            help_from=help_from,
            help_share=help_share,
            third_rater=third_rater,
            repeats=repeats,
            images=None if images is None else Path(images),
        )
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
