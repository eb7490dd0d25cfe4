"""Servers of tools on a port of their own, and a browser that looks at them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

_PATIENCE = 60.0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def serving(
    command: Sequence[str], address: str, folder: Path, environment: Mapping[str, str]
) -> Iterator[None]:
    """Start a server, wait until it answers, and stop it in the end."""
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait(address, server, folder / "server.log")
            yield
        finally:
            server.terminate()
            server.wait(timeout=_PATIENCE)


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            httpx.get(address, timeout=5.0)
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"{address} does not answer:\n{log.read_text(errors='replace')[-2000:]}")


@contextmanager
def browsing() -> Iterator[Page]:
    """Open a page of the system's Chromium."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            yield browser.new_page(viewport={"width": 1200, "height": 900})
        finally:
            browser.close()
