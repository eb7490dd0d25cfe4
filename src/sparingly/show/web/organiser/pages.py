"""The pages of the organiser as they are looked at."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from sparingly.run.campaign.overview import last_entry
from sparingly.show.web.access.doors import OrganiserSession, web_of
from sparingly.show.web.access.sessions import Session
from sparingly.show.web.organiser.office import Office
from sparingly.show.web.organiser.views import (
    Seen,
    agreement_views,
    duration,
    log_rows,
    moment,
    ranking_views,
    rater_rows,
    seen,
)
from sparingly.show.web.web import Web

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


def office_of(web: Annotated[Web, Depends(web_of)]) -> Office:
    """Return what the organiser's pages work with."""
    return Office.of(web)


Served = Annotated[Web, Depends(web_of)]
Kept = Annotated[Office, Depends(office_of)]


@router.get("/organiser")
def overview(session: OrganiserSession, web: Served, office: Kept, done: str = "") -> Response:
    """Show how far the campaign is."""
    return web.page("organiser/overview.html", session, said=DONE.get(done, ""), **_progress(office))


@router.get("/organiser/progress")
def progress(session: OrganiserSession, web: Served, office: Kept, since: int = -1) -> Response:
    """Show the part of it that changes, for a page that is open."""
    if last_entry(office.campaign) == since:
        return _unchanged()
    return web.page("organiser/progress.html", session, **_progress(office))


def _unchanged() -> Response:
    """Tell an open page to stay as it is: what is folded out or has the focus is not disturbed."""
    return Response(status_code=204)


def _anew(web: Web, session: Session, template: str, values: dict[str, Any], since: int) -> Response:
    """Return the part of a page that was computed, where it is not the one that is shown."""
    now: Seen = values["seen"]
    return _unchanged() if now.mark == since else web.page(template, session, **values)


def _progress(office: Office) -> dict[str, Any]:
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
def raters(session: OrganiserSession, web: Served, office: Kept, done: str = "") -> Response:
    """Show who was invited, who did what, and how well they agree."""
    return raters_page(session, web, office, said=DONE.get(done, ""))


def raters_page(
    session: Session, web: Web, office: Office, *, said: str = "", invited: str = "", link: str = ""
) -> Response:
    """Return the page of the raters, with a link that is shown this once."""
    rows = rater_rows(office.access.entries(), office.overview())
    return web.page(
        "organiser/raters.html", session, rows=rows, said=said, invited=invited, link=link, **_agreed(office)
    )


@router.get("/organiser/raters/agreement")
def agreement(session: OrganiserSession, web: Served, office: Kept, since: int = -1) -> Response:
    """Show how well raters agree, for a page that is open."""
    return _anew(web, session, "organiser/agreement.html", _agreed(office), since)


def _agreed(office: Office) -> dict[str, Any]:
    kept, fresh = office.findings.look(_WAIT)
    views = [] if kept is None or kept.value is None else agreement_views(kept.value)
    return {"seen": seen(kept, fresh), "agreements": views}


@router.get("/organiser/ranking")
def ranking(session: OrganiserSession, web: Served, office: Kept) -> Response:
    """Show the current ranking."""
    return web.page("organiser/ranking.html", session, **_ranked(office))


@router.get("/organiser/ranking/now")
def ranking_now(session: OrganiserSession, web: Served, office: Kept, since: int = -1) -> Response:
    """Show the part of it that changes, for a page that is open."""
    return _anew(web, session, "organiser/standings.html", _ranked(office), since)


def _ranked(office: Office) -> dict[str, Any]:
    kept, fresh = office.findings.look(_WAIT)
    views = [] if kept is None or kept.value is None else ranking_views(kept.value)
    return {"seen": seen(kept, fresh), "rankings": views, "several": len(views) > 1}


@router.get("/organiser/next")
def next_round(session: OrganiserSession, web: Served, office: Kept, done: str = "") -> Response:
    """Show what the next round would ask."""
    return web.page("organiser/next.html", session, said=DONE.get(done, ""), **_outlook(office))


@router.get("/organiser/next/now")
def next_round_now(session: OrganiserSession, web: Served, office: Kept, since: int = -1) -> Response:
    """Show the part of it that changes, for a page that is open."""
    return _anew(web, session, "organiser/outlook.html", _outlook(office), since)


def _outlook(office: Office) -> dict[str, Any]:
    kept, fresh = office.outlooks.look(_WAIT)
    views = () if kept is None or kept.value is None else kept.value
    found = office.overview()
    held = "closed" if found.closed else "paused" if found.pause is not None else ""
    return {
        "seen": seen(kept, fresh),
        "outlooks": views,
        "held": held,
        "most": _MOST_ITEMS,
        "several": len(views) > 1,
        "compares": office.compares,
    }


@router.get("/organiser/downloads")
def downloads(session: OrganiserSession, web: Served) -> Response:
    """Show what can be taken home."""
    return web.page("organiser/downloads.html", session)


@router.get("/organiser/log")
def log(session: OrganiserSession, web: Served, office: Kept) -> Response:
    """Show who did what."""
    rows = log_rows(office.audit.entries(_MOST_LINES))
    return web.page("organiser/log.html", session, rows=rows, most=_MOST_LINES)
