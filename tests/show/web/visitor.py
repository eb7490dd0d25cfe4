"""Campaigns with pages, and people who visit them without a browser."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI

from sparingly.data.evalset import EvalSet
from sparingly.show.web.app import create_app
from sparingly.show.web.web import Web
from tests.run.campaign.made import MODELS, begin

with warnings.catch_warnings():
    # The test client says that it will use another library one day.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

__all__ = [
    "SECRET",
    "TestClient",
    "Visitor",
    "action_of",
    "fields_of",
    "ratings",
    "served",
    "small_set",
    "web_of",
]
SECRET = "known to tests alone " * 2


@contextmanager
def served(
    folder: Path,
    data: EvalSet | dict[str, EvalSet] | None = None,
    *,
    options: dict[str, Any] | None = None,
    **changed: Any,
) -> Iterator[FastAPI]:
    """The application of a small campaign whose first round is drawn."""
    where = folder / "campaign.db"
    with begin(str(where), data, **changed) as campaign:
        campaign.next()
    app = create_app(where, secret=SECRET, **{"hosts": None, "overlap": 0.0, **(options or {})})
    try:
        yield app
    finally:
        web_of(app).campaign.disconnect()


def web_of(app: FastAPI) -> Web:
    """What the pages work with."""
    web: Web = app.state.web
    return web


class Visitor:
    """A rater with an own cookie jar."""

    def __init__(self, app: FastAPI, name: str | None = None) -> None:
        self.web = web_of(app)
        self.client = TestClient(app, follow_redirects=True, raise_server_exceptions=True)
        if name is not None:
            self.enter(self.web.access.invite("rater", name))

    def enter(self, token: str) -> None:
        """Open a link."""
        assert self.client.get(f"/r/{token}").status_code == 200

    @property
    def csrf(self) -> dict[str, str]:
        """The header that programs send."""
        return {"X-CSRF-Token": self.client.get("/api/progress").json()["csrf"]}

    def question(self) -> dict[str, Any]:
        """What is asked now."""
        found: dict[str, Any] = self.client.get("/api/question").json()
        return found

    def answer(self, question: dict[str, Any], *scores: float, **changed: Any) -> Any:
        """Send scores of all outputs (the last one for those that have none), and return the response."""
        cards = [
            {
                "output": output["output"],
                "scores": dict.fromkeys(question["aspects"], scores[min(at, len(scores) - 1)]),
            }
            for at, output in enumerate(question["outputs"])
        ]
        body = {"page": question["page"], "client": question["client"], "cards": cards, **changed}
        return self.client.post("/api/answer", json=body, headers=self.csrf)

    def page(self, path: str = "/rate") -> str:
        """The text of a page."""
        return str(self.client.get(path).text)


def fields_of(page: str) -> dict[str, str]:
    """The fields of the form that judges, as a browser would send them."""
    form = page[page.index('<form id="judge"') :]
    found = re.findall(
        r'<input type="(?:hidden|number)"[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"', form, re.DOTALL
    )
    return {name: unescape(value) for name, value in found}


def action_of(page: str) -> str:
    """Where that form is sent."""
    found = re.search(r'<form id="judge"[^>]*action="([^"]+)"', page)
    assert found is not None
    return found[1]


def small_set(outputs: list[list[str]], **parts: Any) -> EvalSet:
    """Items × three models with these outputs."""
    items = parts.pop("items", [f"item-{place:02d}" for place in range(len(outputs))])
    metric = {"chrF": np.arange(len(outputs) * 3, dtype=float).reshape(-1, 3)}
    sources = parts.pop("sources", [f"source of {item}" for item in items])
    return EvalSet.from_arrays(items, MODELS, metrics=metric, outputs=outputs, sources=sources, **parts)


def ratings(visitor: Visitor) -> list[dict[str, Any]]:
    """Every answer so far."""
    return visitor.web.campaign.ratings()
