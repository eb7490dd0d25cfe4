"""What the organiser does: every form that changes something, each noted in the log."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.run.campaign.draw import Step
from sparingly.run.campaign.pause import pause, resume
from sparingly.show.web.access.doors import Fields, OrganiserForm, text_of
from sparingly.show.web.organiser.pages import Kept, Served, raters_page

router = APIRouter(include_in_schema=False)


@router.post("/organiser/pause")
def pause_it(session: OrganiserForm, office: Kept, fields: Fields) -> Response:
    """Hand out no more questions."""
    reason = text_of(fields, "reason")
    pause(office.campaign, reason)
    office.audit.write(session.who, "paused", reason=reason)
    return _to("/organiser", "paused")


@router.post("/organiser/resume")
def resume_it(session: OrganiserForm, office: Kept) -> Response:
    """Hand out questions again."""
    resume(office.campaign)
    office.audit.write(session.who, "resumed")
    return _to("/organiser", "resumed")


@router.post("/organiser/raters/invite")
def invite(session: OrganiserForm, web: Served, office: Kept, request: Request, fields: Fields) -> Response:
    """Make a link for a rater, and show it this once."""
    rater = text_of(fields, "rater")
    token = office.access.invite("rater", rater, by=session.who)
    link = f"{web.public or str(request.base_url).rstrip('/')}/r/{token}"
    return raters_page(session, web, office, invited=rater, link=link)


@router.post("/organiser/raters/retire")
def retire(session: OrganiserForm, office: Kept, fields: Fields) -> Response:
    """Take back all links of a rater."""
    office.access.retire(text_of(fields, "rater"), by=session.who)
    return _to("/organiser/raters", "retired")


@router.post("/organiser/next")
def draw(session: OrganiserForm, office: Kept, fields: Fields) -> Response:
    """Draw the next round of a data set."""
    data, early = fields.get("data", ""), fields.get("early") == "yes"
    (step,) = office.campaign.next(data, early=early)
    became = _became(step)
    if step.new:
        office.audit.write(session.who, "round drawn", data=data, round=step.number, early=early)
    return _to("/organiser/next", became)


def _became(step: Step) -> str:
    if step.new:
        return "drawn"
    if step.finished is not None:
        return "finished"
    return "waiting" if step.outstanding else "held"


@router.post("/organiser/leave")
def leave(session: OrganiserForm, web: Served) -> Response:
    """End the organiser's session, for this device and whoever else has its cookie."""
    web.sessions.end(session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(web.sessions.cookies["organiser"], path="/")
    return response


def _to(page: str, done: str) -> Response:
    return RedirectResponse(f"{page}?done={done}", 303)
