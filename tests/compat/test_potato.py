"""Tasks go through Potato itself: its validator, its server and pages, its states and its exporter."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import sparingly
from sparingly.run.exchange.export_import import export_tasks, import_answers
from tests.compat.live import browsing, free_port, serving
from tests.run.exchange.asked import adds_up, asked_set, everything, paired, scores_by_cell, spans_of

pytestmark = pytest.mark.compat
Python = Callable[[str], Path]
# Another instance is there, or none is left.
_MOVED_ON = """last => {
    const shown = document.querySelector("#instance_id");
    return shown ? shown.value && shown.value !== last : document.body?.innerText.includes("Thank You");
}"""
RATERS = ("ann", "böb & co")


def _export(folder: Path, raters: tuple[str, ...] = (), **asked: Any) -> Path:
    data = asked_set()
    chosen = paired(data) if asked.get("kind") == "pair" else everything(data)
    if raters:
        asked["assignment"] = sparingly.assign(chosen, raters, data=data, overlap=0.0, seed=3)
    export_tasks(data, chosen, to="potato", folder=folder, seed=7, **asked)
    return folder


def _run(python: Path, folder: Path, *arguments: str) -> str:
    command = [str(python), "-m", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"raters": RATERS, "context_before": 1, "context_after": 1},
        {"aspects": ("is it\x85 good? 😀", "<b>"), "scale": "1-5"},
        {"kind": "pair"},
        {"kind": "pair", "options": {"mode": "scale"}},
        {"kind": "spans"},
        {"kind": "spans", "aspects": "overall", "raters": RATERS},
        {"options": {"annotators": "3", "reference": "yes", "name": "a: b # c"}},
    ],
    ids=["scores", "lists", "sliders", "pairs", "scales", "points", "spans", "options"],
)
def test_potato_accepts_what_is_written(asked: dict[str, Any], tool_python: Python, tmp_path: Path) -> None:
    folder = _export(tmp_path / "tasks", **asked)
    said = _run(tool_python("potato"), folder, "potato.validate_cli", "config.yaml", "--strict")
    assert "no issues found" in said


def _served(python: Path, folder: Path) -> Any:
    """Serve the task on this machine only."""
    path = folder / "config.yaml"
    config = json.loads(path.read_text(encoding="utf-8"))
    port = free_port()
    path.write_text(json.dumps({**config, "host": "127.0.0.1"}, ensure_ascii=False), encoding="utf-8")
    command = [str(python.with_name("potato")), "start", "config.yaml", "-p", str(port)]
    return f"http://127.0.0.1:{port}/", serving(command, f"http://127.0.0.1:{port}/", folder, os.environ)


def _judge(page: Page, address: str, user: str, answer: Callable[[Page, str], None]) -> int:
    """Sign in, and answer until Potato says thank you; return how many instances there were."""
    page.goto(address)
    page.fill("#login-email", user)
    page.click("form button[type=submit]")
    seen: list[str] = []
    while True:
        page.wait_for_function(_MOVED_ON, arg=seen[-1] if seen else "")
        page.wait_for_load_state("networkidle")
        shown = page.query_selector("#instance_id")
        if shown is None:
            break
        seen.append(str(shown.input_value()))
        answer(page, seen[-1])
        # Potato saves a moment after the answer.
        page.wait_for_timeout(600)
        page.click("#next-btn")
    page.context.clear_cookies()
    return len(seen)


def _slide(page: Page, score: int) -> None:
    page.evaluate(
        """score => {
            const slider = document.querySelector("input[type=range]");
            slider.value = score;
            for (const name of ["input", "change"]) slider.dispatchEvent(new Event(name, {bubbles: true}));
            slider.click();
        }""",
        score,
    )


def _mark(page: Page, start: int, end: int) -> None:
    """Select some UTF-16 units of the output, and call them a major error."""
    page.evaluate(
        """([start, end]) => {
            const shown = document.querySelector(".error-span-text-container");
            const range = document.createRange();
            range.setStart(shown.firstChild, start);
            range.setEnd(shown.firstChild, end);
            window.getSelection().removeAllRanges();
            window.getSelection().addRange(range);
            shown.dispatchEvent(new MouseEvent("mouseup", {bubbles: true}));
        }""",
        [start, end],
    )
    page.check(".error-span-severity-option input[value=major]")
    page.click(".error-span-popup-save")


def test_scores_and_marks_come_back_from_states_and_exports(tool_python: Python, tmp_path: Path) -> None:
    python = tool_python("potato")
    folder = _export(tmp_path / "tasks", RATERS, kind="spans", aspects="overall")
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    place = {item["id"]: number for number, item in enumerate(items)}

    def answer(page: Page, instance: str) -> None:
        if "😀" in items[place[instance]]["output"]:
            # With the space before it, which Potato trims away again.
            _mark(page, 3, 6)
        _slide(page, 20 + place[instance])

    address, server = _served(python, folder)
    with server, browsing() as page:
        counts = [_judge(page, address, user, answer) for user in RATERS]
    assert sum(counts) == len(items)
    key = tmp_path / "tasks.key.json"
    taken = import_answers([folder / "annotation_output", folder / "items.jsonl"], key=key)
    assert (taken.missing, taken.left_out) == (0, {})
    assert all(row["rater"] == row["assigned"] and row["seconds"] > 0 for row in taken.rows())
    assert sorted({one.score for one in taken.answers}) == [20.0 + number for number in range(len(items))]
    assert {(item, start, end) for item, _, start, end, _ in spans_of(taken.answers)} == {("seg 1", 4, 5)}
    for form in ("jsonl", "csv", "tsv"):
        _run(python, folder, "potato.export", "-c", "config.yaml", "-f", form, "-o", "out")
        again = import_answers([folder / "out" / f"annotations.{form}", folder / "items.jsonl"], key=key)
        assert scores_by_cell(again) == scores_by_cell(taken)
        assert spans_of(again.answers) == spans_of(taken.answers)
        assert adds_up(again)


def test_pairs_come_back(tool_python: Python, tmp_path: Path) -> None:
    folder = _export(tmp_path / "tasks", kind="pair")
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    choices = {item["id"]: choice for item, choice in zip(items, ("A", "B", "tie"), strict=True)}

    def answer(page: Page, instance: str) -> None:
        page.click(_button(choices[instance]))

    address, server = _served(tool_python("potato"), folder)
    with server, browsing() as page:
        assert _judge(page, address, "ann", answer) == len(items)
    taken = import_answers(folder / "annotation_output", key=tmp_path / "tasks.key.json")
    assert (taken.missing, taken.left_out) == (0, {})
    scores = {one.client: one.score for one in taken.answers}
    assert scores == {one: {"A": 1.0, "B": -1.0, "tie": 0.0}[choice] for one, choice in choices.items()}


def _button(choice: str) -> str:
    return ".pairwise-tie-btn" if choice == "tie" else f'.pairwise-tile[data-value="{choice}"]'
