"""Campaigns go through Pearmut itself: its loader, its application, its log and its page."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from playwright.sync_api import Page

import sparingly
from sparingly.run.exchange.export_import import export_tasks, import_answers
from sparingly.run.exchange.pearmut import GUARD
from sparingly.run.exchange.reading import ANSWERED_AGAIN, RESET
from tests.compat.live import browsing, free_port, serving
from tests.run.exchange.asked import TEXTS, adds_up, asked_set, everything, spans_of

pytestmark = pytest.mark.compat
Python = Callable[[str], Path]
SESSION = Path(__file__).with_name("pearmut_session.py")


def _export(folder: Path, raters: tuple[str, ...] = (), **asked: Any) -> Path:
    data = asked_set()
    chosen = everything(data)
    if raters:
        asked["assignment"] = sparingly.assign(chosen, raters, data=data, seed=3)
    export_tasks(data, chosen, to="pearmut", folder=folder, seed=7, **asked)
    return folder / "campaign.json"


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PEARMUT_ROOT": str(folder)}


def _add(python: Path, campaign: Path, folder: Path) -> None:
    command = [str(python.with_name("pearmut")), "add", str(campaign)]
    subprocess.run(command, check=True, env=_environment(folder), cwd=folder)


def _score(text: str) -> int:
    return sum(map(ord, text)) % 101


@pytest.mark.parametrize("raters", [(), ("ann", "böb & co")], ids=["stream", "lists"])
def test_a_campaign_is_judged_and_comes_back(
    raters: tuple[str, ...], tool_python: Python, tmp_path: Path
) -> None:
    campaign = _export(tmp_path / "tasks", raters)
    command = [str(tool_python("pearmut")), str(SESSION), str(campaign), str(tmp_path)]
    subprocess.run(command, check=True, env=_environment(tmp_path), cwd=tmp_path)
    downloaded = tmp_path / "annotations.json"
    (log,) = (tmp_path / "data" / "annotations").iterdir()
    for answers in (downloaded, log):
        taken = import_answers(answers, key=tmp_path / "tasks.key.json")
        assert taken.missing == 0
        assert adds_up(taken)
        assert set(taken.left_out) == ({RESET, ANSWERED_AGAIN} if raters else {RESET})
        shown = {
            (item, model): _score(f"{GUARD}{text}" if text.startswith("<img ") else text)
            for item, row in zip(asked_set().items, _texts_by_id(), strict=True)
            for model, text in row.items()
        }
        assert {(row["item"], row["model"]): row["score"] for row in taken.rows()} == shown
        if raters:
            assert {row["rater"] for row in taken.rows()} == set(raters)
    _same_means_as_pearmut(tmp_path)


def _texts_by_id() -> list[dict[str, str]]:
    data = asked_set()
    assert data.outputs is not None
    return [dict(zip(data.models, row, strict=True)) for row in data.outputs]


def _same_means_as_pearmut(folder: Path) -> None:
    """Compare the mean of every token with Pearmut's own results."""
    taken = import_answers(folder / "annotations.json", key=folder / "tasks.key.json")
    models = json.loads((folder / "tasks.key.json").read_text(encoding="utf-8"))["models"]
    ours: dict[str, dict[str, float]] = {}
    for one in taken.answers:
        assert one.question is not None
        token = next(token for token, names in one.question.models_by_token.items() if names == one.models)
        ours.setdefault(token, {})[one.item] = one.score
    theirs = {row["model"]: row for row in json.loads((folder / "results.json").read_bytes())}
    assert set(theirs) == set(ours) <= set(models)
    for token, scores in ours.items():
        assert theirs[token]["score"] == pytest.approx(fmean(scores.values()))
        assert theirs[token]["count"] == len(scores)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "spans"},
        {"kind": "spans", "aspects": "overall"},
        {"aspects": ("fluency", "how true?"), "scale": "1-5"},
        {"options": {"protocol": "cESA"}, "kind": "spans", "aspects": "overall", "context_before": 1},
    ],
    ids=["MQM", "ESA", "sliders", "cESA"],
)
def test_every_protocol_is_loaded(asked: dict[str, Any], tool_python: Python, tmp_path: Path) -> None:
    campaign = _export(tmp_path / "tasks", **asked)
    _add(tool_python("pearmut"), campaign, tmp_path)
    assert list((tmp_path / "data" / "campaigns").iterdir())


def test_a_mark_in_the_page_comes_back_as_the_letters_that_were_clicked(
    tool_python: Python, tmp_path: Path
) -> None:
    campaign = _export(tmp_path / "tasks", ("ann",), kind="spans", aspects="overall")
    python, environment = str(tool_python("pearmut")), _environment(tmp_path)
    _add(Path(python), campaign, tmp_path)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [python, "-m", "uvicorn", "pearmut.app:app", "--host", "127.0.0.1", "--port", str(port)]
    alerts: list[str] = []
    with serving(command, f"{address}/", tmp_path, environment), browsing() as page:
        page.on("dialog", lambda dialog: alerts.append(dialog.message))
        page.goto(f"{address}/annotate?campaign_id=sparingly-1&user_id=ann")
        for _ in range(2):
            page.wait_for_selector(".output_tgt .tgt_char")
            _mark_emoji(page)
            for slider in page.query_selector_all("input[type=range]"):
                slider.evaluate(
                    "one => { one.value = 88; one.dispatchEvent(new Event('input', {bubbles: true}));"
                    " one.dispatchEvent(new Event('change', {bubbles: true})); }"
                )
            page.click("#button_next")
            page.wait_for_timeout(1000)
    taken = import_answers(
        tmp_path / "data" / "annotations" / "sparingly-1.jsonl", key=tmp_path / "tasks.key.json"
    )
    assert {row["score"] for row in taken.rows()} == {88.0}
    assert taken.missing == 0
    assert TEXTS[0][0][4] == "😀"
    assert {(item, start, end) for item, _, start, end, _ in spans_of(taken.answers)} == {("seg 1", 4, 5)}
    assert not alerts


def _mark_emoji(page: Page) -> None:
    """Click the two halves of the emoji, as the page shows them, and say how bad it is.

    The halves have no width of their own, so they are clicked by script.
    """
    page.evaluate(
        """() => {
            for (const one of document.querySelectorAll(".output_candidate")) {
                if (!one.querySelector(".output_tgt").textContent.startsWith("Ein")) continue;
                for (const place of [4, 5]) one.querySelector(`.tgt_char[data-i="${place}"]`).click();
                document.querySelector(".span_toolbox_parent .error_minor").click();
            }
        }"""
    )
