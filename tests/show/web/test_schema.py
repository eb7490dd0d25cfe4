from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from tests.show.web.visitor import Visitor, served

FEW = 15


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
