from __future__ import annotations

import json
from pathlib import Path

from sparingly.run.campaign.guidelines import Acceptances
from sparingly.run.campaign.release import bundle_files
from tests.show.web.visitor import TestClient, Visitor, action_of, fields_of, ratings, served, web_of

TEXT = """# How good is each translation?

Read <script>alert(1)</script> [this](https://example.org) and [that](javascript:alert(2)).

## Bad example
<img src=x onerror=alert(3)>

## Scale
- 0: no meaning
- 100: perfect

## Consent
My answers may be published.

## About you
- Native language
"""


def begin_judging(visitor: Visitor, version: int = 1, consent: str = "", detail: str = "") -> str:
    """Accept the guidelines, and return the page that follows."""
    csrf = visitor.csrf["X-CSRF-Token"]
    sent = {"csrf": csrf, "guidelines": str(version), "consent": consent, "detail:0": detail}
    return str(visitor.client.post("/rate/begin", data=sent).text)


def test_guidelines_are_read_and_accepted_once(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        web_of(app).campaign.set_guidelines(TEXT)
        anna = Visitor(app, "anna")
        page = anna.page()
        assert "How good is each translation?</h1>" in page
        assert '<form id="judge"' not in page
        # Nothing is asked of a program either.
        question = anna.question()
        assert question["page"] is None
        assert "guidelines" in question["why"]
        assert "Accept the conditions" in begin_judging(anna, detail="German")
        assert "Fill in every detail" in begin_judging(anna, consent="yes")
        page = begin_judging(anna, consent="yes", detail="German")
        assert '<form id="judge"' in page
        assert "<b>0</b> no meaning</button>" in page
        assert "How good is each translation?</h1>" in page
        with web_of(app).campaign.database.reading() as connection:
            (row,) = Acceptances(web_of(app).campaign.database, "campaign").rows(connection)
        assert (row["rater"], row["version"], row["details"]) == ("anna", 1, {"Native language": "German"})
        # Elsewhere, in another process: it is not asked again.
        again = Visitor(app, "anna")
        assert '<form id="judge"' in again.page()


def test_scripts_in_guidelines_are_harmless(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        web_of(app).campaign.set_guidelines(TEXT)
        page = Visitor(app, "anna").page()
        assert "<script>alert" not in page
        assert "<img" not in page
        assert 'href="javascript' not in page
        assert '<a href="https://example.org" target="_blank" rel="noopener noreferrer">this</a>' in page


def test_a_new_version_is_read_before_anything_more_is_answered(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        campaign = web_of(app).campaign
        assert campaign.set_guidelines(TEXT).version == 1
        assert campaign.set_guidelines(TEXT).version == 1
        anna = Visitor(app, "anna")
        page = begin_judging(anna, consent="yes", detail="German")
        fields = fields_of(page)
        scores = {name: "50" for name in fields if name.startswith("score:")}
        assert campaign.set_guidelines(TEXT.replace("Read", "Read twice")).version == 2
        refused = anna.client.post(action_of(page), data={**fields, **scores})
        assert refused.status_code == 422
        assert "The guidelines have changed" in refused.text
        assert ratings(anna) == []
        page = anna.page()
        assert "have changed since you read them" in page
        # The consent and the details are those of before: they are not asked for again.
        assert 'name="consent"' not in page
        assert "Native language" not in page
        page = begin_judging(anna, 2)
        assert 'value="50"' in page, "the draft is still there"
        anna.client.post(action_of(page), data={**fields_of(page), **scores})
        assert len(ratings(anna)) == 3
        seqs = [row["seq"] for row in ratings(anna)]
        guidelines = [campaign.guidelines(at=seq) for seq in (*seqs, seqs[0] - 2)]
        assert [one and one.version for one in guidelines] == [2, 2, 2, 1]
        assert campaign.verify().ok
        assert json.loads(bundle_files(campaign)["accepted.jsonl"].splitlines()[1])["version"] == 2


def test_what_was_opened_before_the_guidelines_is_sent_after_they_are_read(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        fields = fields_of(page) | {name: "50" for name in fields_of(page) if name.startswith("score:")}
        web_of(app).campaign.set_guidelines(TEXT)
        # The page knows no version, and neither does a program that leaves it out.
        refused = anna.client.post(action_of(page), data=fields)
        assert refused.status_code == 422
        assert '<form id="judge"' not in refused.text, "the guidelines come, not the page"
        assert "I agree" in refused.text
        assert "I agree" in anna.client.get(action_of(page)).text, "an earlier page is not shown either"
        assert anna.client.post(action_of(page), data={**fields, "guidelines": "1"}).status_code == 422
        assert ratings(anna) == []
        page = begin_judging(anna, consent="yes", detail="German")
        assert 'value="50"' in page, "the draft is still there"
        anna.client.post(action_of(page), data={**fields_of(page), **fields, "guidelines": "1"})
        assert len(ratings(anna)) == 3


def test_the_organiser_writes_guidelines_on_a_page(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        web = web_of(app)
        with TestClient(app) as client:
            client.get(f"/o/{web.access.invite('organiser')}")
            page = client.get("/organiser/guidelines").text
            assert "Not written yet" in page
            csrf = page.split('name="csrf" value="')[1].split('"')[0]
            sent = {"csrf": csrf, "text": TEXT}
            assert "Version 1" in client.post("/organiser/guidelines", data=sent).text
            wrong = client.post("/organiser/guidelines", data={**sent, "text": "# Q\n## Scale\n- 101: no\n"})
            assert wrong.status_code == 422
            assert "goes from 0 to 100, and has no 101" in wrong.text
            assert "- 101: no" in wrong.text, "what was typed is still there"
            assert client.post("/organiser/guidelines", data={"text": TEXT}).status_code == 403
