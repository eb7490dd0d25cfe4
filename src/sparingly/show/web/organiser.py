"""The organiser's pages, forms and downloads, and the service behind them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition, Lock, Thread
from typing import Annotated, Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.run.campaign.progress import Overview, hours, last_entry, overview, sheet
from sparingly.run.campaign.release import bundle_files, csv_bytes, release_files, zip_bytes
from sparingly.run.campaign.results import Findings, findings
from sparingly.run.campaign.rounds import CampaignOutlook, NextStep, pause, resume
from sparingly.show.web.entry import Fields, OrganiserForm, OrganiserSession, text_of, web_of
from sparingly.show.web.organiser_views import (
    agreement_views,
    duration,
    log_rows,
    moment,
    ranking_views,
    rater_rows,
)
from sparingly.show.web.sessions import Session
from sparingly.show.web.web import Web

# --- Results that take long ---


Result = TypeVar("Result")
# Where answers come in all the time, at most this part of the time is spent on computing.
_SHARE = 0.2


@dataclass(frozen=True)
class ComputedResult(Generic[Result]):
    """What was computed.

    Attributes:
        value: The result; None where it could not be computed.
        seq: The entry of the journal that it speaks of.
        at: When it was ready.
        problem: Why it could not be computed; empty where it could.
    """

    value: Result | None
    seq: int
    at: datetime
    problem: str = ""


class BackgroundResult(Generic[Result]):
    """Computes in a thread, one at a time, and shows the last result meanwhile."""

    def __init__(self, compute: Callable[[int], Result], number: Callable[[], int]) -> None:
        self._compute, self._number = compute, number
        self._changed = Condition()
        self._kept: ComputedResult[Result] | None = None
        self._busy = False
        self._not_before = 0.0

    def look(self, wait: float = 0.0) -> tuple[ComputedResult[Result] | None, bool]:
        """Return the last result, and whether it is of the journal as it is now; begin anew where it is not.

        Args:
            wait: For how many seconds to wait where there is no result for this state yet.
        """
        seq, end = self._number(), time.monotonic() + wait
        with self._changed:
            while not self._is_fresh(seq):
                self._begin(seq)
                left = end - time.monotonic()
                if not self._busy or left <= 0 or not self._changed.wait(left):
                    break
            return self._kept, self._is_fresh(seq)

    def _is_fresh(self, seq: int) -> bool:
        return self._kept is not None and self._kept.seq >= seq

    def _begin(self, seq: int) -> None:
        if not self._busy and time.monotonic() >= self._not_before:
            self._busy = True
            Thread(target=self._work, args=(seq,), daemon=True).start()

    def _work(self, seq: int) -> None:
        begun = time.monotonic()
        value, problem = None, ""
        try:
            value = self._compute(seq)
        except SparinglyError as error:
            problem = str(error)
        except Exception as error:
            # A thread has nobody to complain to: the page says that it went wrong.
            problem = f"It could not be computed ({type(error).__name__})."
        now = time.monotonic()
        with self._changed:
            self._kept = ComputedResult(value, seq, datetime.now(UTC), problem)
            self._busy, self._not_before = False, now + (now - begun) * (1 / _SHARE - 1)
            self._changed.notify_all()


# --- The service ---


class OrganiserService:
    """Looks after a campaign for its organiser."""

    _open: ClassVar[WeakKeyDictionary[Web, OrganiserService]] = WeakKeyDictionary()
    _opening = Lock()

    def __init__(self, web: Web) -> None:
        campaign = web.campaign
        self.campaign, self.access, self.audit = campaign, web.access, web.audit
        # Whoever knows the names cannot find out the numbers without the secret, and they stay the same.
        self.release_seed = int(web.sessions.handle("release")[:15], 16)

        self.compares = campaign.compares(next(iter(campaign.settings.budgets)))

        def number() -> int:
            return last_entry(campaign)

        self.findings: BackgroundResult[Findings] = BackgroundResult(
            lambda seq: findings(campaign, seq), number
        )
        self.outlooks: BackgroundResult[tuple[CampaignOutlook, ...]] = BackgroundResult(
            lambda _: tuple(campaign.outlook(name) for name in campaign.settings.budgets), number
        )

    @classmethod
    def of(cls, web: Web) -> OrganiserService:
        """Return the one office of an application."""
        with cls._opening:
            return cls._open.setdefault(web, cls(web))

    def overview(self) -> Overview:
        """Say how far the campaign is."""
        return overview(self.campaign)


# --- Pages ---


# For so long a page waits for numbers that are not there yet; then it comes without them and asks again.
_WAIT = 1.0
_MOST_LINES = 500
_MOST_ITEMS = 50
DONE = {
    "paused": "The campaign is paused: nobody is handed a new question.",
    "resumed": "The campaign goes on.",
    "retired": "The rater's links open nothing any more. What was answered stays.",
    "drawn": "The next round is drawn: raters are asked for it now.",
    "waiting": "No round was drawn: answers to the last one are still to come.",
    "finished": "No round was drawn: there is nothing more to ask.",
    "held": "No round was drawn: the campaign is paused or closed.",
}
router = APIRouter(include_in_schema=False)


def service_of(web: Annotated[Web, Depends(web_of)]) -> OrganiserService:
    """Return what the organiser's pages work with."""
    return OrganiserService.of(web)


CurrentWeb = Annotated[Web, Depends(web_of)]
CurrentService = Annotated[OrganiserService, Depends(service_of)]


@router.get("/organiser")
def overview_page(
    session: OrganiserSession, web: CurrentWeb, office: CurrentService, done: str = ""
) -> Response:
    """Show how far the campaign is."""
    return web.page("organiser/overview.html", session, said=DONE.get(done, ""), **_progress(office))


@router.get("/organiser/progress")
def progress(session: OrganiserSession, web: CurrentWeb, office: CurrentService, since: int = -1) -> Response:
    """Show the part of it that changes, for a page that is open."""
    if last_entry(office.campaign) == since:
        return _unchanged()
    return web.page("organiser/progress.html", session, **_progress(office))


def _unchanged() -> Response:
    """Tell an open page to stay as it is: what is folded out or has the focus is not disturbed."""
    return Response(status_code=204)


def _anew(web: Web, session: Session, template: str, values: dict[str, Any], since: int) -> Response:
    """Return the part of a page that was computed, where it is not the one that is shown."""
    now: ResultAge = values["seen"]
    return _unchanged() if now.mark == since else web.page(template, session, **values)


def _progress(office: OrganiserService) -> dict[str, Any]:
    found = office.overview()
    cost = found.cost
    each = cost.seconds_per_answer
    return {
        "found": found,
        "several": len(office.campaign.settings.budgets) > 1,
        "time": duration(cost.seconds),
        "each": duration(each),
        "left": "-" if each is None else duration(each * (found.asked - found.answered)),
        "moment": moment,
        "settings": office.campaign.settings,
    }


@router.get("/organiser/raters")
def raters(session: OrganiserSession, web: CurrentWeb, office: CurrentService, done: str = "") -> Response:
    """Show who was invited, who did what, and how well they agree."""
    return raters_page(session, web, office, said=DONE.get(done, ""))


def raters_page(
    session: Session, web: Web, office: OrganiserService, *, said: str = "", invited: str = "", link: str = ""
) -> Response:
    """Return the page of the raters, with a link that is shown this once."""
    rows = rater_rows(office.access.entries(), office.overview())
    return web.page(
        "organiser/raters.html", session, rows=rows, said=said, invited=invited, link=link, **_agreed(office)
    )


@router.get("/organiser/raters/agreement")
def agreement(
    session: OrganiserSession, web: CurrentWeb, office: CurrentService, since: int = -1
) -> Response:
    """Show how well raters agree, for a page that is open."""
    return _anew(web, session, "organiser/agreement.html", _agreed(office), since)


def _agreed(office: OrganiserService) -> dict[str, Any]:
    kept, fresh = office.findings.look(_WAIT)
    views = [] if kept is None or kept.value is None else agreement_views(kept.value)
    return {"seen": age_of(kept, fresh), "agreements": views}


@router.get("/organiser/ranking")
def ranking(session: OrganiserSession, web: CurrentWeb, office: CurrentService) -> Response:
    """Show the current ranking."""
    return web.page("organiser/ranking.html", session, **_ranked(office))


@router.get("/organiser/ranking/now")
def ranking_now(
    session: OrganiserSession, web: CurrentWeb, office: CurrentService, since: int = -1
) -> Response:
    """Show the part of it that changes, for a page that is open."""
    return _anew(web, session, "organiser/standings.html", _ranked(office), since)


def _ranked(office: OrganiserService) -> dict[str, Any]:
    kept, fresh = office.findings.look(_WAIT)
    views = [] if kept is None or kept.value is None else ranking_views(kept.value)
    return {"seen": age_of(kept, fresh), "rankings": views, "several": len(views) > 1}


@router.get("/organiser/next")
def next_round(
    session: OrganiserSession, web: CurrentWeb, office: CurrentService, done: str = ""
) -> Response:
    """Show what the next round would ask."""
    return web.page("organiser/next.html", session, said=DONE.get(done, ""), **_outlook(office))


@router.get("/organiser/next/now")
def next_round_now(
    session: OrganiserSession, web: CurrentWeb, office: CurrentService, since: int = -1
) -> Response:
    """Show the part of it that changes, for a page that is open."""
    return _anew(web, session, "organiser/outlook.html", _outlook(office), since)


def _outlook(office: OrganiserService) -> dict[str, Any]:
    kept, fresh = office.outlooks.look(_WAIT)
    views = () if kept is None or kept.value is None else kept.value
    found = office.overview()
    held = "closed" if found.closed else "paused" if found.pause is not None else ""
    return {
        "seen": age_of(kept, fresh),
        "outlooks": views,
        "held": held,
        "most": _MOST_ITEMS,
        "several": len(views) > 1,
        "compares": office.compares,
    }


@router.get("/organiser/downloads")
def downloads(session: OrganiserSession, web: CurrentWeb) -> Response:
    """Show what can be taken home."""
    return web.page("organiser/downloads.html", session)


@router.get("/organiser/log")
def log(session: OrganiserSession, web: CurrentWeb, office: CurrentService) -> Response:
    """Show who did what."""
    rows = log_rows(office.audit.entries(_MOST_LINES))
    return web.page("organiser/log.html", session, rows=rows, most=_MOST_LINES)


@dataclass(frozen=True)
class ResultAge:
    """When something was computed, and whether more has come in since."""

    when: str
    seq: int
    fresh: bool
    problem: str = ""

    @property
    def mark(self) -> int:
        """What tells two states of a page apart: the entry, and whether more has come in since."""
        return 2 * self.seq + self.fresh


def age_of(kept: ComputedResult[Any] | None, fresh: bool) -> ResultAge:
    """Return what to say of the age of a result."""
    return (
        ResultAge("", 0, False) if kept is None else ResultAge(moment(kept.at), kept.seq, fresh, kept.problem)
    )


# --- Forms that change something, each noted in the log ---


@router.post("/organiser/pause")
def pause_it(session: OrganiserForm, office: CurrentService, fields: Fields) -> Response:
    """Hand out no more questions."""
    reason = text_of(fields, "reason")
    pause(office.campaign, reason)
    office.audit.write(session.who, "paused", reason=reason)
    return _to("/organiser", "paused")


@router.post("/organiser/resume")
def resume_it(session: OrganiserForm, office: CurrentService) -> Response:
    """Hand out questions again."""
    resume(office.campaign)
    office.audit.write(session.who, "resumed")
    return _to("/organiser", "resumed")


@router.post("/organiser/raters/invite")
def invite(
    session: OrganiserForm, web: CurrentWeb, office: CurrentService, request: Request, fields: Fields
) -> Response:
    """Make a link for a rater, and show it this once."""
    rater = text_of(fields, "rater")
    token = office.access.invite("rater", rater, by=session.who)
    link = f"{web.public or str(request.base_url).rstrip('/')}/r/{token}"
    return raters_page(session, web, office, invited=rater, link=link)


@router.post("/organiser/raters/retire")
def retire(session: OrganiserForm, office: CurrentService, fields: Fields) -> Response:
    """Take back all links of a rater."""
    office.access.retire(text_of(fields, "rater"), by=session.who)
    return _to("/organiser/raters", "retired")


@router.post("/organiser/next")
def draw(session: OrganiserForm, office: CurrentService, fields: Fields) -> Response:
    """Draw the next round of a data set."""
    data, early = fields.get("data", ""), fields.get("early") == "yes"
    (step,) = office.campaign.next(data, early=early)
    became = _became(step)
    if step.new:
        office.audit.write(session.who, "round drawn", data=data, round=step.number, early=early)
    return _to("/organiser/next", became)


def _became(step: NextStep) -> str:
    if step.new:
        return "drawn"
    if step.finished is not None:
        return "finished"
    return "waiting" if step.outstanding else "held"


@router.post("/organiser/leave")
def leave(session: OrganiserForm, web: CurrentWeb) -> Response:
    """End the organiser's session, for this device and whoever else has its cookie."""
    web.sessions.end(session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(web.sessions.cookies["organiser"], path="/")
    return response


def _to(page: str, done: str) -> Response:
    return RedirectResponse(f"{page}?done={done}", 303)


# --- Downloads ---


@router.get("/organiser/downloads/everything.zip")
def whole(session: OrganiserSession, office: CurrentService) -> Response:
    """Give everything that the campaign holds, names and times included."""
    name = _stem(office.campaign.name)
    office.audit.write(session.who, "downloaded everything")
    return _file(zip_bytes(bundle_files(office.campaign), name), f"{name}.zip", "application/zip")


@router.get("/organiser/downloads/hours.csv")
def worked(
    session: OrganiserSession, office: CurrentService, rate: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    """Give the sheet of hours, with what is due at a rate per hour."""
    columns, rows = sheet(hours(office.campaign), _rate(rate))
    office.audit.write(session.who, "downloaded hours")
    name = f"{_stem(office.campaign.name)}-hours.csv"
    return _file(csv_bytes(rows, columns), name, "text/csv; charset=utf-8")


@router.post("/organiser/downloads/release.zip")
def released(session: OrganiserForm, office: CurrentService, fields: Fields) -> Response:
    """Give an anonymised release; raters have the same numbers every time."""
    licence, comments = text_of(fields, "licence", most=200), fields.get("comments") == "yes"
    if not licence:
        raise UsageError("Say under which licence it is released, such as CC-BY-4.0.")
    found, _, _ = release_files(
        office.campaign,
        licence=licence,
        title=text_of(fields, "title", most=200) or None,
        comments=comments,
        texts=fields.get("texts") == "yes",
        seed=office.release_seed,
    )
    name = f"{_stem(office.campaign.name)}-release"
    office.audit.write(session.who, "downloaded release", licence=licence, comments=comments)
    return _file(zip_bytes(found, name), f"{name}.zip", "application/zip")


def _rate(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise UsageError("The rate per hour is a number, such as 18.50.") from None


def _stem(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "campaign"


def _file(content: bytes, name: str, kind: str) -> Response:
    return Response(
        content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'}
    )
