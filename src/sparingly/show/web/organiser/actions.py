"""What the organiser does: every form that changes something, each noted in the log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.run.campaign.draw import Step
from sparingly.run.campaign.pause import pause, resume
from sparingly.show.web.access.doors import OrganiserForm
from sparingly.show.web.organiser.pages import Kept, Served, raters_page

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form(max_length=500)]


@router.post("/organiser/pause")
def pause_it(session: OrganiserForm, office: Kept, reason: Text = "") -> Response:
    """Hand out no more questions."""
    pause(office.campaign, reason.strip())
    office.audit.write(session.who, "paused", reason=reason.strip())
    return _to("/organiser", "paused")


@router.post("/organiser/resume")
def resume_it(session: OrganiserForm, office: Kept) -> Response:
    """Hand out questions again."""
    resume(office.campaign)
    office.audit.write(session.who, "resumed")
    return _to("/organiser", "resumed")


@router.post("/organiser/raters/invite")
def invite(session: OrganiserForm, web: Served, office: Kept, request: Request, rater: Text) -> Response:
    """Make a link for a rater, and show it this once."""
    token = office.access.invite("rater", rater.strip(), by=session.who)
    link = f"{web.public or str(request.base_url).rstrip('/')}/r/{token}"
    return raters_page(session, web, office, invited=rater.strip(), link=link)


@router.post("/organiser/raters/retire")
def retire(session: OrganiserForm, office: Kept, rater: Text) -> Response:
    """Take back all links of a rater."""
    office.access.retire(rater, by=session.who)
    return _to("/organiser/raters", "retired")


@router.post("/organiser/next")
def draw(session: OrganiserForm, office: Kept, data: Text, early: Text = "") -> Response:
    """Draw the next round of a data set."""
    (step,) = office.campaign.next(data, early=early == "yes")
    became = _became(step)
    if step.new:
        office.audit.write(session.who, "round drawn", data=data, round=step.number, early=early == "yes")
    return _to("/organiser/next", became)


def _became(step: Step) -> str:
    if step.new:
        return "drawn"
    if step.finished is not None:
        return "finished"
    return "waiting" if step.outstanding else "held"


@router.post("/organiser/leave")
def leave(_: OrganiserForm, web: Served) -> Response:
    """End the organiser's session on this device."""
    response = RedirectResponse("/", 303)
    response.delete_cookie(web.sessions.cookies["organiser"], path="/")
    return response


def _to(page: str, done: str) -> Response:
    return RedirectResponse(f"{page}?done={done}", 303)
