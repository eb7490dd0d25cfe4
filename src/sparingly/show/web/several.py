"""Several campaigns on one server, each below a path of its own, with a list of those that a link opens."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from sparingly.show.web.app import hosts_of
from sparingly.show.web.entry import begin_session, stranger
from sparingly.show.web.guard import LOOPBACK, Guard, Message, Receive, RequestLimits, Send
from sparingly.show.web.web import Web, place_of


def path_names(names: Sequence[str]) -> list[str]:
    """Return a name for the path of every campaign: plain letters, and none twice."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.") or "campaign"
        count = 1
        while (path := plain if count == 1 else f"{plain}-{count}") in (*found, "static", "health", "o"):
            count += 1
        found.append(path)
    return found


class Several:
    """Leads a request to the campaign whose path it names, and the others to the list."""

    def __init__(self, home: FastAPI, apps: Mapping[str, FastAPI], below: str = "") -> None:
        self._home, self._apps, self._below = home, apps, below

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = str(scope.get("path", ""))
        if scope["type"] == "http" and not f"{path}/".startswith(f"{self._below}/"):
            # The proxy took the path away.
            path = self._below + path
            scope = {**scope, "path": path}
        below = (app for base, app in self._apps.items() if f"{path}/".startswith(f"{base}/"))
        await next(below, self._home)(scope, receive, send)


def create_several(
    apps: Mapping[str, FastAPI], *, hosts: Sequence[str] | None = LOOPBACK, public: str | None = None
) -> Several:
    """Return the application of several campaigns; it lets go of their databases when it ends.

    Args:
        apps: The application of every campaign by its path, each made with this path as its ``base``.
        hosts: The names that the server goes by; None takes any.
        public: What links begin with, where a proxy stands in front.
    """
    start, below = place_of(public)
    webs: dict[str, Web] = {path: app.state.web for path, app in apps.items()}
    first = next(iter(webs.values()))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        for web in webs.values():
            web.campaign.disconnect()

    home = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)

    async def no_entry(scope: Message, receive: Receive, send: Send) -> None:
        await stranger(first)(scope, receive, send)

    def health() -> None:
        for web in webs.values():
            web.campaign.last_seq()

    home.add_middleware(
        Guard,
        sessions=first.sessions,
        hosts=hosts_of(hosts, start),
        limits=RequestLimits(),
        no_entry=no_entry,
        health=health,
        base=below,
    )

    @home.get("/o/{token}")
    def enter(token: str, request: Request) -> Response:
        """Let somebody into every campaign that the link opens."""
        response = RedirectResponse("/", 303)
        entered = [begin_session(token, request, response, web, "organiser") for web in webs.values()]
        return response if any(entered) else stranger(first)

    @home.get("/")
    def campaigns(request: Request) -> Response:
        """List the campaigns whose organiser's pages are open to this browser."""
        rows = []
        for path, web in webs.items():
            cookie = request.cookies.get(web.sessions.cookies["organiser"])
            if web.sessions.read(cookie, "organiser") is not None:
                rows.append((path, web.campaign.overview()))
        if not rows:
            return stranger(first)
        return first.page("campaigns.html", rows=rows, root=below)

    return Several(home, {below + path: app for path, app in apps.items()}, below)
