"""A real browser, and pages served to it over a socket."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, expect, sync_playwright

from sparingly.data.evalset import EvalSet
from sparingly.show.web.web import Web
from tests.show.web.visitor import served, web_of

# A busy machine is no failure.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium; a test without it is skipped, but fails under CI=true."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        reason = "there is no Chromium on this machine"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"{reason}, and under CI=true there must be", pytrace=False)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Site:
    """A campaign's pages at an address."""

    def __init__(self, web: Web, address: str) -> None:
        self.web, self.address = web, address

    def link(self, rater: str) -> str:
        """A new link of a rater."""
        return f"{self.address}/r/{self.web.access.invite('rater', rater)}"

    def organiser_link(self) -> str:
        """A new link of the organiser."""
        return f"{self.address}/o/{self.web.access.invite('organiser')}"

    @property
    def ratings(self) -> list[dict[str, Any]]:
        """Every answer so far."""
        return self.web.campaign.ratings()


class Sites:
    """Serves campaigns until the test ends."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack, self._count = folder, stack, 0

    def __call__(
        self, data: EvalSet | None = None, *, options: dict[str, Any] | None = None, **changed: Any
    ) -> Site:
        """Begin a small campaign (see ``tests.run.campaign.made.begin``) and serve it."""
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        app = self._stack.enter_context(served(folder, data, options=options, **changed))
        return Site(web_of(app), self.address_of(app))

    def address_of(self, app: Any) -> str:
        """Serve an application, and return where it is."""
        listener = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join()

        self._stack.callback(stop)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Sites]:
    """Serve campaigns on sockets of this machine."""
    with ExitStack() as stack:
        yield Sites(tmp_path, stack)


class Windows:
    """Opens windows, each with cookies of its own, and remembers what went wrong in them."""

    def __init__(self, browser: Browser, stack: ExitStack) -> None:
        self._browser, self._stack = browser, stack
        self.complaints: list[str] = []
        # Answers that are wanted although a browser reports them as errors.
        self.wanted_status: set[int] = set()

    def __call__(self, **options: Any) -> Page:
        """Open a window; options are those of a browser context (viewport, color_scheme …)."""
        context = self._browser.new_context(**options)
        self._stack.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)
        page.on("dialog", self._stopped)
        return page

    def _heard(self, said: ConsoleMessage) -> None:
        wanted = any(f"status of {status}" in said.text for status in self.wanted_status)
        if said.type == "error" and not wanted:
            self.complaints.append(said.text)

    def _stopped(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def window(browser: Browser) -> Iterator[Windows]:
    """Windows of the browser; the test fails where a page complains (scripts, policies, missing files)."""
    with ExitStack() as stack:
        windows = Windows(browser, stack)
        yield windows
        assert windows.complaints == []


@pytest.fixture(scope="session")
def accessible() -> Any:
    """Check a page with axe: nothing that it finds wrong is left."""
    axe = Axe()

    def check(page: Page) -> None:
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()

    return check
