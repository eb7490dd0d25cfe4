"""What the organiser takes home: everything, the hours, and a release without names."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from sparingly.base.errors import UsageError
from sparingly.run.campaign.bundle import everything
from sparingly.run.campaign.hours import hours, sheet
from sparingly.run.campaign.packing import csv_bytes, zip_bytes
from sparingly.run.campaign.release import contents
from sparingly.show.web.access.doors import Fields, OrganiserForm, OrganiserSession, text_of
from sparingly.show.web.organiser.pages import Kept

router = APIRouter(include_in_schema=False)


@router.get("/organiser/downloads/everything.zip")
def whole(session: OrganiserSession, office: Kept) -> Response:
    """Give everything that the campaign holds, names and times included."""
    name = _stem(office.campaign.name)
    office.audit.write(session.who, "downloaded everything")
    return _file(zip_bytes(everything(office.campaign), name), f"{name}.zip", "application/zip")


@router.get("/organiser/downloads/hours.csv")
def worked(
    session: OrganiserSession, office: Kept, rate: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    """Give the sheet of hours, with what is due at a rate per hour."""
    columns, rows = sheet(hours(office.campaign), _rate(rate))
    office.audit.write(session.who, "downloaded hours")
    name = f"{_stem(office.campaign.name)}-hours.csv"
    return _file(csv_bytes(rows, columns), name, "text/csv; charset=utf-8")


@router.post("/organiser/downloads/release.zip")
def released(session: OrganiserForm, office: Kept, fields: Fields) -> Response:
    """Give an anonymised release; raters have the same numbers every time."""
    licence, comments = text_of(fields, "licence", most=200), fields.get("comments") == "yes"
    if not licence:
        raise UsageError("Say under which licence it is released, such as CC-BY-4.0.")
    found, _, _ = contents(
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
