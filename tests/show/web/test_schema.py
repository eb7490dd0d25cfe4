from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import Visitor, served

FEW, MORE = 15, 40


@pytest.mark.parametrize(
    ("path", "method"), [("/api/progress", "GET"), ("/api/question", "GET"), ("/api/answer", "POST")]
)
def test_whatever_is_sent_the_answer_fits_the_schema(tmp_path: Path, path: str, method: str) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        cookies = "; ".join(f"{name}={value}" for name, value in anna.client.cookies.items())
        headers = {**anna.csrf, "cookie": cookies}
        operation = schemathesis.openapi.from_asgi("/openapi.json", app)[path][method]

        @settings(max_examples=FEW, deadline=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def fits(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(headers=headers)

        fits()
        assert anna.web.campaign.ratings() == []


SCORES = st.one_of(st.sampled_from([0, 50, 100]), st.floats(), st.integers())


@st.composite
def about_the_page(draw: st.DrawFn, body: Any, question: dict[str, Any]) -> dict[str, Any]:
    """What the schema allows, about the very page that is asked."""
    drawn = body if isinstance(body, dict) else {}
    odd = drawn.get("cards")
    held = [card for card in odd if isinstance(card, dict)] if isinstance(odd, list) else []
    cards = [
        {**(held[at] if at < len(held) else {}), "output": one["output"], "scores": {"overall": draw(SCORES)}}
        for at, one in enumerate(question["outputs"])
    ]
    client = draw(st.sampled_from([question["client"], question["client"], "short"]))
    count = draw(st.sampled_from([len(cards), len(cards), len(cards) - 1]))
    return {**drawn, "page": question["page"], "client": client, "cards": cards[:count]}


def test_of_a_page_that_is_asked_all_is_kept_or_nothing(tmp_path: Path) -> None:
    with served(tmp_path, made_set(2 * MORE), budget=2 * MORE, size=2 * MORE) as app:
        anna, seen = Visitor(app, "anna"), set[int]()
        operation = schemathesis.openapi.from_asgi("/openapi.json", app)["/api/answer"]["POST"]
        headers = {**anna.csrf, "content-type": "application/json"}

        @settings(max_examples=MORE, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.data(), operation.as_strategy())
        def kept_or_not(data: st.DataObject, case: schemathesis.Case[Any]) -> None:
            before = len(anna.web.campaign.ratings())
            body = json.dumps(data.draw(about_the_page(case.body, anna.question())))
            answer = anna.client.post("/api/answer", content=body, headers=headers)
            rows = anna.web.campaign.ratings()[before:]
            assert answer.status_code in (200, 409, 422), answer.text
            assert len(rows) == (3 if answer.status_code == 200 else 0)
            assert all(0 <= row["score"] <= 100 for row in rows)
            assert not any(model in answer.text for model in MODELS)
            seen.add(answer.status_code)

        kept_or_not()
        assert {200, 409} <= seen
