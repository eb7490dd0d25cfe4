"""The organiser's pages, forms and downloads, and the service behind them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from threading import Condition, Lock, Thread
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.run.campaign.access import REVIEWER, Role
from sparingly.run.campaign.history import rating_rows
from sparingly.run.campaign.progress import Overview, hours_table
from sparingly.run.campaign.release import bundle_files, csv_bytes, file_stem, release_files, zip_bytes
from sparingly.run.campaign.results import Findings
from sparingly.run.campaign.rounds import CampaignOutlook
from sparingly.run.forms.guidelines import Guidelines
from sparingly.show.report.report import report
from sparingly.show.web.entry import (
    CurrentWeb,
    Fields,
    NotAllowedError,
    OrganiserAlone,
    OrganiserForm,
    OrganiserSession,
    checked,
    end_session,
    enter,
    text_of,
)
from sparingly.show.web.organiser_views import (
    agreement_views,
    answer_views,
    domains_of,
    duration,
    log_rows,
    moment,
    money_rows,
    rater_rows,
)
from sparingly.show.web.sessions import Session
from sparingly.show.web.texts import guide_view, storable
from sparingly.show.web.web import Web

Result = TypeVar("Result")
# Where answers come in all the time, at most this part of the time is spent on computing.
_SHARE = 0.2
# For so long a page waits for numbers that are not there yet; then it comes without them and asks again.
_WAIT = 1.0


@dataclass(frozen=True)
class ComputedResult(Generic[Result]):
    """A result (None where ``problem`` says why), the journal's entry it describes, and when it was ready."""

    value: Result | None
    seq: int
    at: datetime
    problem: str = ""


@dataclass(frozen=True)
class ResultAge:
    """When a result was computed, at which entry, and whether nothing has come in since."""

    computed_at: str
    seq: int
    fresh: bool
    problem: str = ""

    @property
    def mark(self) -> int:
        """What tells two states of a page apart: the entry, and whether more has come in since."""
        return 2 * self.seq + self.fresh


class BackgroundResult(Generic[Result]):
    """Computes a result once for every state of the journal, in a thread; the last one is shown meanwhile."""

    def __init__(self, compute: Callable[[int], Result], last_seq: Callable[[], int]) -> None:
        self._compute, self._last_seq = compute, last_seq
        self._changed = Condition()
        self._result: ComputedResult[Result] | None = None
        self._busy = False
        self._not_before = 0.0

    def look(self, wait: float = 0.0) -> tuple[ComputedResult[Result] | None, bool]:
        """Return the last result, and whether it is of the journal as it is now; begin anew where it is not.

        Args:
            wait: For how many seconds to wait where there is no result for this state yet.
        """
        seq, end = self._last_seq(), time.monotonic() + wait
        with self._changed:
            while not self._is_fresh(seq):
                if not self._busy and time.monotonic() >= self._not_before:
                    self._busy = True
                    Thread(target=self._work, args=(seq,), daemon=True).start()
                remaining = end - time.monotonic()
                if not self._busy or remaining <= 0 or not self._changed.wait(remaining):
                    break
            return self._result, self._is_fresh(seq)

    def for_page(self) -> tuple[Result | None, ResultAge]:
        """Return the last result, where there is one, and what a page says of its age."""
        result, fresh = self.look(_WAIT)
        if result is None:
            return None, ResultAge("", 0, False)
        return result.value, ResultAge(moment(result.at), result.seq, fresh, result.problem)

    def _is_fresh(self, seq: int) -> bool:
        return self._result is not None and self._result.seq >= seq

    def _work(self, seq: int) -> None:
        start = time.monotonic()
        value, problem = None, ""
        try:
            value = self._compute(seq)
        except SparinglyError as error:
            problem = str(error)
        except Exception as error:
            # An error in a thread would be lost: the page says that it went wrong.
            problem = f"It could not be computed ({type(error).__name__})."
        end = time.monotonic()
        with self._changed:
            self._result = ComputedResult(value, seq, datetime.now(UTC), problem)
            self._busy, self._not_before = False, end + (end - start) * (1 / _SHARE - 1)
            self._changed.notify_all()


class OrganiserService:
    """What the organiser's pages read: one for an application, which reads again only what has changed."""

    def __init__(self, web: Web) -> None:
        campaign = web.campaign
        self.campaign, self.access, self.audit = campaign, web.access, web.audit
        # Whoever knows the names cannot find out the numbers without the secret, and they stay the same.
        self.release_seed = int(web.sessions.handle("release")[:15], 16)
        self.findings: BackgroundResult[Findings] = BackgroundResult(campaign.findings, campaign.last_seq)
        self.outlooks: BackgroundResult[tuple[CampaignOutlook, ...]] = BackgroundResult(
            lambda _: tuple(campaign.outlook(name) for name in campaign.settings.budgets), campaign.last_seq
        )
        self._overview: Overview | None = None
        self._ratings: list[dict[str, Any]] = []
        self._reading = Lock()

    @cached_property
    def compares(self) -> bool:
        """Whether people compare outputs; the strategy decides that, and it never changes."""
        return self.campaign.compares(next(iter(self.campaign.settings.budgets)))

    def overview(self) -> Overview:
        """Return how far the campaign is; counted again only where the journal has a new entry."""
        with self._reading:
            if self._overview is None or self._overview.seq != self.campaign.last_seq():
                self._overview = self.campaign.overview()
            return self._overview

    def ratings(self) -> list[dict[str, Any]]:
        """Return every answer so far; only those that are new are read."""
        with self._reading, self.campaign.database.reading() as connection:
            since = self._ratings[-1]["seq"] if self._ratings else 0
            new = rating_rows(connection, self.campaign.name, self.campaign.last_seq(), since)
            # A new list: another thread may be reading the old one.
            self._ratings = [*self._ratings, *new]
            return self._ratings


_MOST_LINES = 500
_MOST_ITEMS = 50
# How many answers are drawn to look at somebody's work.
_SAMPLE = 20
MESSAGES = {
    "paused": "The campaign is paused: nobody is handed a new question.",
    "resumed": "The campaign goes on.",
    "written": "The guidelines are saved. Raters read the new version before they go on.",
    "retired": "These links no longer work. The answers stay.",
    "withdrawn": "The rater's answers stay stored but count in no result. Missing items are asked again.",
    "returned": "The rater's answers count again.",
    "drawn": "The next round is drawn: raters are asked for it now.",
    "budget": "The budget is changed.",
    "waiting": "No round was drawn: answers to the last one are still to come.",
    "finished": "No round was drawn: there is nothing more to ask.",
    "held": "No round was drawn: the campaign is paused or closed.",
}
# What the answers are filtered by.
Filter = Annotated[str, Query(max_length=500)]
# Tells an open page to stay as it is: what is folded out or has the focus is not disturbed.
_UNCHANGED = 204
# What the organiser starts from.
EMPTY_GUIDELINES = """# How good is each output?

Say here what raters should look at, in Markdown.

## Good example

## Bad example

## Scale
- 0: useless
- 33: has large problems
- 66: has small problems
- 100: perfect

## Consent
My answers may be published without my name.
"""
router = APIRouter(include_in_schema=False)


def service_of(request: Request) -> OrganiserService:
    """Return what the organiser's pages work with."""
    service: OrganiserService = request.app.state.organiser_service
    return service


CurrentService = Annotated[OrganiserService, Depends(service_of)]
# The key of a message, after a form was sent.
MessageKey = Annotated[str, Query(alias="done")]


@router.get("/organiser")
def overview_page(
    session: OrganiserSession, web: CurrentWeb, service: CurrentService, message: MessageKey = ""
) -> Response:
    """Show how far the campaign is."""
    values = _progress_values(service, web)
    return web.page("organiser/overview.html", session, message=MESSAGES.get(message, ""), **values)


@router.get("/organiser/progress")
def progress(
    session: OrganiserSession, web: CurrentWeb, service: CurrentService, since: int = -1
) -> Response:
    """Show the part of it that changes, for a page that is open."""
    if service.campaign.last_seq() == since:
        return Response(status_code=_UNCHANGED)
    return web.page("organiser/progress.html", session, **_progress_values(service, web))


def _progress_values(service: OrganiserService, web: Web) -> dict[str, Any]:
    overview = service.overview()
    web.board.refresh()
    mean = overview.cost.seconds_per_answer
    return {
        "overview": overview,
        "overlap": web.board.overlap_counts,
        "disputed": web.board.disputed_count,
        "several": len(service.campaign.settings.budgets) > 1,
        "time": duration(overview.cost.seconds),
        "mean_time": duration(mean),
        "time_left": "-" if mean is None else duration(mean * overview.left),
        "end": overview.left
        and overview.per_hour
        and moment(datetime.now(UTC) + timedelta(hours=overview.left / overview.per_hour)),
        "money": money_rows(overview, web.rate, web.panel, web.has_judged_enough),
        "moment": moment,
        "settings": service.campaign.settings,
    }


@router.get("/organiser/raters")
def raters(
    session: OrganiserSession, web: CurrentWeb, service: CurrentService, message: MessageKey = ""
) -> Response:
    """Show who was invited, who did what, and how well they agree."""
    return raters_page(session, web, service, message=MESSAGES.get(message, ""))


def raters_page(
    session: Session,
    web: Web,
    service: OrganiserService,
    *,
    message: str = "",
    invited: str = "",
    link: str = "",
) -> Response:
    """Return the page of the raters, with a link that is shown this once."""
    values = {"message": message, "invited": invited, "link": link, **_agreement_values(service)}
    entries = service.access.entries()
    rows = rater_rows(entries, service.overview(), web.known_answers.counts())
    staff = sorted(
        {(one.rater, one.role) for one in entries if one.rater and one.role != "rater" and not one.retired_at}
    )
    values["controls"] = any(row.controls != "-" for row in rows)
    values["repeats"] = any(row.repeats != "-" for row in rows)
    # With one round the number of answers says it already.
    values["rounds"] = any(len(row.rounds) > 1 for row in rows)
    return web.page("organiser/raters.html", session, rows=rows, staff=staff, **values)


def _agreement_values(service: OrganiserService) -> dict[str, Any]:
    findings, age = service.findings.for_page()
    return {"result_age": age, "agreements": [] if findings is None else agreement_views(findings)}


@router.get("/organiser/guidelines")
def guidelines(
    session: OrganiserSession, web: CurrentWeb, service: CurrentService, message: MessageKey = ""
) -> Response:
    """Show what raters are told, to read and to change."""
    current = service.campaign.guidelines()
    text = EMPTY_GUIDELINES if current is None else current.text
    return _guidelines_page(session, web, current, text, message=MESSAGES.get(message, ""))


@router.post("/organiser/guidelines")
def write_guidelines(
    session: OrganiserForm, web: CurrentWeb, service: CurrentService, fields: Fields
) -> Response:
    """Write a new version of the guidelines."""
    text = storable(fields.get("text", ""))
    try:
        written = service.campaign.set_guidelines(text)
    except SparinglyError as error:
        current = service.campaign.guidelines()
        return _guidelines_page(session, web, current, text, status=422, problem=str(error))
    service.audit.write(session.actor, "guidelines written", version=written.version)
    return _redirect("/organiser/guidelines", "written")


def _guidelines_page(
    session: Session, web: Web, current: Guidelines | None, text: str, *, status: int = 200, **values: str
) -> Response:
    view = None if current is None else guide_view(current, consent=True, details=current.details)
    words = {} if current is None else current.anchors
    shared = {"message": "", "problem": "", **values}
    categories = () if current is None else current.categories
    return web.page(
        "organiser/guidelines.html",
        session,
        status=status,
        guide=view,
        words=words,
        categories=categories,
        text=text,
        **shared,
    )


@router.get("/organiser/answers")
def answers(
    session: OrganiserSession,
    web: CurrentWeb,
    service: CurrentService,
    rater: Filter = "",
    model: Filter = "",
    item: Filter = "",
    domain: Filter = "",
    order: Filter = "",
) -> Response:
    """Show what was said of every output that fits: in order, by disagreement, or a random sample."""
    web.board.refresh()
    rows = service.ratings()
    domains = domains_of(web.board.texts, service.campaign.settings.budgets)
    views, count = answer_views(
        rows,
        web.board.texts,
        rater=rater,
        model=model,
        item=item,
        items=None if not domain else {cell for cell, name in domains.items() if name == domain},
        order=order,
        withdrawn=web.board.withdrawn,
        limit=_SAMPLE if order == "sample" else _MOST_ITEMS,
    )
    models = {str(row[side]) for row in rows for side in ("model", "first", "second") if row[side]}
    names = {"rater": sorted({str(row["rater"]) for row in rows}), "model": sorted(models)}
    names["domain"] = sorted(set(domains.values()))
    return web.page(
        "organiser/answers.html",
        session,
        views=views,
        count=count,
        names=names,
        chosen={"rater": rater, "model": model, "item": item, "domain": domain, "order": order},
        orders={"": "as they came in", "gap": "largest disagreement first", "sample": "a random sample"},
    )


@router.get("/organiser/ranking")
def ranking(session: OrganiserSession, web: CurrentWeb, service: CurrentService) -> Response:
    """Show the current ranking."""
    return web.page("organiser/ranking.html", session, **_ranking_values(service))


def _ranking_values(service: OrganiserService) -> dict[str, Any]:
    findings, age = service.findings.for_page()
    views = () if findings is None else findings.standings
    return {"result_age": age, "rankings": views, "several": len(views) > 1}


@router.get("/organiser/next")
def next_round(
    session: OrganiserSession, web: CurrentWeb, service: CurrentService, message: MessageKey = ""
) -> Response:
    """Show what the next round would ask."""
    values = {**_outlook_values(service), "budgets": service.campaign.budgets()}
    return web.page("organiser/next.html", session, message=MESSAGES.get(message, ""), **values)


def _outlook_values(service: OrganiserService) -> dict[str, Any]:
    computed, age = service.outlooks.for_page()
    outlooks = computed or ()
    overview = service.overview()
    return {
        "result_age": age,
        "outlooks": outlooks,
        "stopped": "closed" if overview.closed else "paused" if overview.pause is not None else "",
        "limit": _MOST_ITEMS,
        "several": len(outlooks) > 1,
        "compares": service.compares,
    }


def _show_when_changed(
    address: str, template: str, values_of: Callable[[OrganiserService], dict[str, Any]]
) -> None:
    """Serve the part of a page that is computed, for a page that is open, where it shows another state."""

    @router.get(address)
    def part(
        session: OrganiserSession, web: CurrentWeb, service: CurrentService, since: int = -1
    ) -> Response:
        values = values_of(service)
        if values["result_age"].mark == since:
            return Response(status_code=_UNCHANGED)
        return web.page(template, session, **values)


_show_when_changed("/organiser/raters/agreement", "organiser/agreement.html", _agreement_values)
_show_when_changed("/organiser/ranking/now", "organiser/standings.html", _ranking_values)
_show_when_changed("/organiser/next/now", "organiser/outlook.html", _outlook_values)


@router.get("/organiser/downloads")
def downloads(session: OrganiserSession, web: CurrentWeb) -> Response:
    """Show what can be taken home."""
    return web.page("organiser/downloads.html", session)


@router.get("/organiser/log")
def log(session: OrganiserSession, web: CurrentWeb, service: CurrentService) -> Response:
    """Show who did what."""
    rows = log_rows(service.audit.entries(_MOST_LINES))
    return web.page("organiser/log.html", session, rows=rows, limit=_MOST_LINES)


@router.post("/organiser/pause")
def pause(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Hand out no more questions."""
    reason = text_of(fields, "reason")
    service.campaign.pause(reason)
    service.audit.write(session.actor, "paused", reason=reason)
    return _redirect("/organiser", "paused")


@router.post("/organiser/resume")
def resume(session: OrganiserForm, service: CurrentService) -> Response:
    """Give out questions again."""
    service.campaign.resume()
    service.audit.write(session.actor, "resumed")
    return _redirect("/organiser", "resumed")


@router.post("/organiser/raters/invite")
def invite(
    session: OrganiserForm, web: CurrentWeb, service: CurrentService, request: Request, fields: Fields
) -> Response:
    """Make a link for a rater, and show it this once."""
    rater = text_of(fields, "rater")
    role = _role_of(fields)
    token = service.access.invite(role, rater, by=session.actor)
    start = f"{web.public or str(request.base_url).rstrip('/')}{web.base}"
    link = f"{start}/{'r' if role == 'rater' else 'o'}/{token}"
    return raters_page(session, web, service, invited=rater, link=link)


@router.post("/organiser/decide")
def decide(session: OrganiserSession, web: CurrentWeb, request: Request, fields: Fields) -> Response:
    """Lead to what two raters disagree about; who reviews decides it as a rater of their own."""
    if session.role == "viewer":
        raise NotAllowedError
    checked(request, session, fields.get("csrf"))
    name = f"{REVIEWER}{session.rater or session.role}"
    return enter(web.access.invite("rater", name, by=session.actor), request, web, "rater")


@router.post("/organiser/raters/retire")
def retire(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Take back all links of a rater, or of somebody who reads these pages."""
    role = _role_of(fields)
    service.access.retire(text_of(fields, "rater"), role, by=session.actor)
    return _redirect("/organiser/raters", "retired")


@router.post("/organiser/raters/withdraw")
def withdraw(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Leave a rater's answers out of the results, or take them in again."""
    rater, is_back = text_of(fields, "rater"), fields.get("back") == "yes"
    if is_back:
        service.campaign.return_rater(rater)
    else:
        service.campaign.withdraw_rater(rater)
    service.audit.write(
        session.actor, "answers taken in again" if is_back else "answers withdrawn", rater=rater
    )
    return _redirect("/organiser/raters", "returned" if is_back else "withdrawn")


@router.post("/organiser/next")
def draw(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Draw the next round of a data set."""
    data, early = fields.get("data", ""), fields.get("early") == "yes"
    (step,) = service.campaign.next(data, early=early)
    message = "waiting" if step.outstanding else "held"
    if step.new:
        service.audit.write(session.actor, "round drawn", data=data, round=step.number, early=early)
        message = "drawn"
    elif step.finished is not None:
        message = "finished"
    return _redirect("/organiser/next", message)


@router.post("/organiser/budget")
def set_budget(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Change what a data set may spend."""
    data, budget = fields.get("data", ""), text_of(fields, "budget", longest=20)
    service.campaign.set_budget(budget, data)
    service.audit.write(session.actor, "budget changed", data=data, budget=budget)
    return _redirect("/organiser/next", "budget")


@router.post("/organiser/leave")
def leave(session: OrganiserSession, request: Request, web: CurrentWeb, fields: Fields) -> Response:
    """End a session of these pages, for everybody who has its cookie."""
    return end_session(checked(request, session, fields.get("csrf")), web)


def _role_of(fields: Fields) -> Role:
    """Return what a link opens: a rater's pages, unless the form says that somebody reads these."""
    given = text_of(fields, "role")
    return "reviewer" if given == "reviewer" else "viewer" if given == "viewer" else "rater"


def _redirect(page: str, message: str) -> Response:
    return RedirectResponse(f"{page}?done={message}", 303)


@router.get("/organiser/downloads/everything.zip")
def download_bundle(session: OrganiserAlone, service: CurrentService) -> Response:
    """Give everything that the campaign holds, names and times included."""
    name = file_stem(service.campaign.name, "campaign")
    service.audit.write(session.actor, "downloaded everything")
    return _file(zip_bytes(bundle_files(service.campaign), name), f"{name}.zip", "application/zip")


@router.get("/organiser/downloads/report.html")
def download_report(session: OrganiserSession, service: CurrentService) -> Response:
    """Give a report of every data set; raters are numbers in it."""
    campaign = service.campaign
    name = file_stem(campaign.name, "campaign")
    pages = {
        f"{file_stem(data, 'data')}.html": report(campaign, data=data).html().encode()
        for data in campaign.settings.budgets
    }
    service.audit.write(session.actor, "downloaded report")
    if len(pages) == 1:
        (page,) = pages.values()
        return _file(page, f"{name}-report.html", "text/html; charset=utf-8")
    return _file(zip_bytes(pages, f"{name}-report"), f"{name}-report.zip", "application/zip")


@router.get("/organiser/downloads/hours.csv")
def download_hours(
    session: OrganiserAlone,
    service: CurrentService,
    rate: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Give the hours, with the amount due at a rate per hour."""
    try:
        hourly = float(rate.strip().replace(",", ".")) if rate.strip() else None
    except ValueError:
        raise UsageError("The rate per hour is a number, such as 18.50.") from None
    columns, rows = hours_table(service.campaign.hours(), hourly)
    service.audit.write(session.actor, "downloaded hours")
    name = f"{file_stem(service.campaign.name, 'campaign')}-hours.csv"
    return _file(csv_bytes(rows, columns), name, "text/csv; charset=utf-8")


@router.post("/organiser/downloads/release.zip")
def download_release(session: OrganiserForm, service: CurrentService, fields: Fields) -> Response:
    """Give an anonymised release; raters have the same numbers every time."""
    licence, comments = text_of(fields, "licence", longest=200), fields.get("comments") == "yes"
    if not licence:
        raise UsageError("Say under which licence it is released, such as CC-BY-4.0.")
    content, _, _ = release_files(
        service.campaign,
        licence=licence,
        title=text_of(fields, "title", longest=200) or None,
        comments=comments,
        texts=fields.get("texts") == "yes",
        seed=service.release_seed,
    )
    name = f"{file_stem(service.campaign.name, 'campaign')}-release"
    service.audit.write(session.actor, "downloaded release", licence=licence, comments=comments)
    return _file(zip_bytes(content, name), f"{name}.zip", "application/zip")


def _file(content: bytes, name: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
