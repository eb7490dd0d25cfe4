"""The pages of the organiser: how far a campaign is, what came of it, and what to do next."""

from fastapi import APIRouter

from sparingly.show.web.organiser import actions, downloads, pages

router = APIRouter()
for _part in (pages, actions, downloads):
    router.include_router(_part.router)

__all__ = ["router"]
