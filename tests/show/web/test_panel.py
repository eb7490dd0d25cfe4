"""People of a panel come in by URL parameters, judge their share, and go back with a code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import UsageError
from sparingly.show.web.panel import Panel
from tests.run.campaign.made import made_set
from tests.show.web.visitor import TestClient, Visitor, ratings, served, small_set, web_of

JOIN = "/join?PROLIFIC_PID={}&STUDY_ID=study1&SESSION_ID=session1"


def joined(app: object, person: str) -> Visitor:
    """Somebody of the panel, on their first page."""
    visitor = Visitor(app)  # type: ignore[arg-type]
    assert visitor.client.get(JOIN.format(person)).status_code == 200
    return visitor


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_who_only_reads_cannot_come_in_as_a_person_of_the_panel(tmp_path: Path, role: Any) -> None:
    with served(tmp_path, made_set(8), budget=8, size=8, options={"panel": Panel("C0DE", 3)}) as app:
        person = joined(app, "secretperson")
        person.answer(person.question(), 5)
        reader = TestClient(app)
        reader.get(f"/o/{web_of(app).access.invite(role, 'Eva')}")
        for name in ("", "/raters", "/answers", "/log"):
            page = reader.get(f"/organiser{name}")
            assert page.status_code == 200
            assert "secretperson" not in page.text


def test_a_panel_judges_and_completes(tmp_path: Path) -> None:
    options = {"panel": Panel("C0DE", 3)}
    with served(tmp_path, made_set(8), budget=8, size=8, options=options) as app:
        people = [joined(app, f"person{place}") for place in range(3)]
        for place, person in enumerate(people):
            count = 0
            while (question := person.question())["page"] is not None:
                assert person.answer(question, 50, seconds=30).status_code == 200
                count += 1
            assert count == (3, 3, 2)[place]
            page = person.page()
            assert "<strong>C0DE</strong>" in page
            assert 'href="https://app.prolific.com/submissions/complete?cc=C0DE"' in page
        rows = ratings(people[0])
        assert len(rows) == len({(row["item"], row["model"]) for row in rows}) == 24
        hours = {worker.rater: worker.seconds for worker in web_of(app).campaign.hours()}
        assert hours == {"panel:person0": 90.0, "panel:person1": 90.0, "panel:person2": 60.0}
        # The same person again is the same rater, done as before.
        assert "C0DE" in joined(app, "person0").page()
        assert len(ratings(people[0])) == 24


def test_only_work_completes_and_a_pause_is_no_end(tmp_path: Path) -> None:
    with served(tmp_path, made_set(8), budget=8, size=8, options={"panel": Panel("C0DE", 2)}) as app:
        person, campaign = joined(app, "person"), web_of(app).campaign
        for _ in range(3):
            question = person.question()
            skips = [{"output": output["output"], "skip": "other"} for output in question["outputs"]]
            assert person.answer(question, 0, cards=skips).status_code == 200
        assert person.answer(person.question(), 50).status_code == 200
        campaign.pause()
        assert "The campaign is paused" in person.page()
        assert "C0DE" not in person.page()
        campaign.resume()
        assert person.answer(person.question(), 50).status_code == 200
        assert "C0DE" in person.page()


def test_who_comes_too_late_gets_no_code(tmp_path: Path) -> None:
    with served(tmp_path, made_set(2), budget=1, size=1, options={"panel": Panel("C0DE")}) as app:
        first, late = joined(app, "first"), joined(app, "late0")
        assert late.question()["page"] is None
        assert "C0DE" not in late.page()
        # What somebody leaves lying is given to others.
        web_of(app).access.retire("panel:first")
        assert late.question()["page"] is not None
        assert first.client.get("/rate").status_code == 401
        again = first.client.get(JOIN.format("first"))
        assert again.status_code == 403
        assert "You have taken part already" in again.text


@pytest.mark.parametrize(
    "query",
    ["", "PROLIFIC_PID=", "PROLIFIC_PID=a/../b", "PROLIFIC_PID=abcd&PROLIFIC_PID=efgh", "STUDY_ID=abcd",
     "PROLIFIC_PID=abcd&workerId=efgh", f"PROLIFIC_PID={'a' * 65}", "PROLIFIC_PID=abcd&STUDY_ID=%00"],
)  # fmt: skip
def test_parameters_that_are_no_panels_are_refused(tmp_path: Path, query: str) -> None:
    with served(tmp_path, options={"panel": Panel("C0DE")}) as app:
        found = Visitor(app).client.get(f"/join?{query}")
        assert found.status_code == 422
        assert "your panel" in found.text
        assert web_of(app).access.entries() == []


def test_nobody_joins_without_a_panel_or_in_the_name_of_a_rater(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        assert Visitor(app).client.get(JOIN.format("anna")).status_code == 401
    (tmp_path / "two").mkdir()
    with served(tmp_path / "two", options={"panel": Panel("https://example.org/done")}) as app:
        anna = Visitor(app, "anna")
        anna.answer(anna.question(), 50)
        other = joined(app, "anna")
        assert other.client.get("/api/progress").json()["rater"] == "panel:anna"
        assert other.client.get("/api/progress").json()["mine"] == 0


def test_a_panel_has_a_code_and_pages() -> None:
    assert Panel("C1").address("https://example.org/done") == "https://example.org/done"
    assert Panel("C1").address("a b&c").endswith("?cc=a%20b%26c")
    with pytest.raises(UsageError, match="needs a completion code"):
        Panel(" ")
    with pytest.raises(UsageError, match="at least one page"):
        Panel("C0DE", 0)


def test_who_does_not_agree_is_screened_out_with_a_code(tmp_path: Path) -> None:
    options = {"panel": Panel("D0NE", screened="5CREEN")}
    with served(tmp_path, options=options) as app:
        web_of(app).campaign.set_guidelines("# Judge\n\n## Consent\nAll is public.\n")
        client = TestClient(app)
        page = client.get("/join?PROLIFIC_PID=abcd1234").text
        (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', page))
        gone = client.post("/rate/decline", data={"csrf": csrf}).text
        assert "5CREEN" in gone
        assert "D0NE" not in gone
        assert client.get("/rate").status_code == 401
        # The code is there again for who closed the page, and nothing to judge is.
        assert "5CREEN" in client.get("/join?PROLIFIC_PID=abcd1234").text
        # An invited rater cannot be screened out.
        rater = TestClient(app)
        page = rater.get(f"/r/{web_of(app).access.invite('rater', 'anna')}").text
        assert "/rate/decline" not in page


def test_who_leaves_gives_the_work_back(tmp_path: Path) -> None:
    with served(
        tmp_path, small_set([["a", "b", "c"]]), budget=1, size=1, options={"panel": Panel("D0NE")}
    ) as app:
        first, second = TestClient(app), TestClient(app)
        page = first.get("/join?PROLIFIC_PID=abcd1234").text
        (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', page))
        assert 'id="judge"' not in second.get("/join?PROLIFIC_PID=efgh5678").text
        first.post("/leave", data={"csrf": csrf})
        assert 'id="judge"' in second.get("/rate").text
