"""What it takes to judge 50 items here, in Pearmut and in Potato: clicks, key presses and seconds.

``python -m benchmarks.actions [--tool ours …] [--form pass_fail …]`` installs Pearmut and Potato into
environments of their own (``tools/compat.py``), starts each tool on this machine as its users do, and judges
the same outputs of the demo in Chromium, with a mouse and a keyboard that count. The judgements are given, so
reading and thinking are the same everywhere and left out. In the end what each tool saved is read back and
compared with what was judged.

Seconds follow the keystroke-level model (Card, Moran and Newell 1983): .28 s for a key, .2 for a click, 1.1
for pointing at something, .4 for a hand that changes between mouse and keyboard; a drag points twice. Waiting
is measured apart, from the last action on an item to the first moment at which the next can be judged.
Each tool is set up so that it asks for the fewest actions: Potato with its review mode, our pages with
``--advance``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.run.exchange.export_import import export_tasks, import_answers
from tests.compat.live import browsing, free_port, serving
from tools.compat import prepare, python_of

ITEMS, LEAST_WORDS = 50, 8
FORMS = ("pass_fail", "score", "pairs", "esa")
KEY, CLICK, POINT, CHANGE = 0.28, 0.2, 1.1, 0.4
MODELS = ("first", "second")


@dataclass
class Hand:
    """A hand at mouse and keyboard of a page, which counts what it does."""

    page: Page
    clicks: int = 0
    drags: int = 0
    keys: int = 0
    changes: int = 0
    waits: list[float] = field(default_factory=list)
    _at: str = ""

    def key(self, *names: str) -> None:
        """Press keys, one after the other; one that is held down with another counts as well."""
        self._use("keyboard")
        for name in names:
            self.page.keyboard.press(name)
            self.keys += len(name.split("+"))

    def click(self, target: Locator, share: float = 0.5) -> None:
        """Click something, at a share of its width."""
        self._use("mouse")
        x, y = _place(target, share)
        self.page.mouse.click(x, y)
        self.clicks += 1

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at one place and let go at another."""
        self._use("mouse")
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=4)
        self.page.mouse.up()
        self.drags += 1

    def wait_for(self, ready: str, argument: object) -> None:
        """Wait until a script says that the next item can be judged."""
        start = time.perf_counter()
        self.page.wait_for_function(ready, arg=argument)
        self.waits.append(time.perf_counter() - start)

    @property
    def actions(self) -> int:
        """Clicks, drags and key presses."""
        return self.clicks + self.drags + self.keys

    @property
    def seconds(self) -> float:
        """The seconds by the model."""
        pointed = (POINT + CLICK) * self.clicks + (2 * POINT + CLICK) * self.drags
        return pointed + KEY * self.keys + CHANGE * self.changes

    def _use(self, what: str) -> None:
        self.changes += self._at not in ("", what)
        self._at = what


def _place(target: Locator, share: float = 0.5) -> tuple[float, float]:
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def on_slider(score: float, thumb: float = 16.0, width: float = 1.0) -> float:
    """Return where a slider is clicked for a score, as a share of its width: its thumb stays inside."""
    return (thumb / 2 + score / 100 * (width - thumb)) / width


def slide(hand: Hand, slider: Locator, score: float) -> None:
    """Click a slider from 0 to 100 where a score is."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    hand.click(slider, on_slider(score, width=box["width"]))


# --- what is judged ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """What is said of one item: a score, which of two outputs is better, and words that are errors."""

    score: int
    better: int
    errors: tuple[tuple[int, str], ...]


def judgements(data: EvalSet) -> dict[str, Judgement]:
    """Return what is said of every item by its source, the same for every tool."""
    assert data.sources is not None
    assert data.outputs is not None
    found = {}
    for place, (source, texts) in enumerate(zip(data.sources, data.outputs, strict=True)):
        words = len(texts[0].split())
        errors = [((3 * place + 1) % (words // 2), "minor"), (words // 2 + place % (words // 2), "major")]
        score = 5 + (37 * place) % 90
        # Potato's slider stands at 50, and a click there is no answer.
        score += 10 * (45 <= score < 55)
        found[flat(source)] = Judgement(score, (1, -1, 0, 1, -1)[place % 5], tuple(errors[: place % 3]))
    return found


def items() -> EvalSet:
    """Return the 50 shortest items of the demo with eight words or more on which two systems differ."""
    demo = sparingly.load_demo()
    assert demo.sources is not None
    assert demo.outputs is not None
    outputs = demo.outputs
    differ = [
        place
        for place, texts in enumerate(outputs)
        if flat(texts[0]) != flat(texts[3]) and len(texts[0].split()) >= LEAST_WORDS
    ]
    shortest = sorted(differ, key=lambda place: len(outputs[place][0]))[:ITEMS]
    return EvalSet.from_arrays(
        [f"item-{number:02d}" for number in range(ITEMS)],
        list(MODELS),
        sources=[flat(demo.sources[place]) for place in shortest],
        outputs=[[flat(outputs[place][column]) for column in (0, 3)] for place in shortest],
    )


def flat(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.replace("\u2060", "").split())


def asked(form: str) -> EvalSet:
    """Return what a form asks about: both outputs of an item, or the first."""
    data = items()
    return data if form == "pairs" else data.take(models=[MODELS[0]])


# The place of a word on the screen: its first and its last letter.
_WORD = """([block, number]) => {
    const spans = [...block.querySelectorAll("[data-i]")];
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const letters = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let at = 0; at < node.data.length; at += 1) letters.push([node, at]);
    }
    const text = letters.map(([node, at]) => node.data[at]).join("");
    const word = [...text.matchAll(/\\S+/g)][number];
    const place = ([node, at]) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        return {x: box.x, y: box.y + box.height / 2, width: box.width};
    };
    return [place(letters[word.index]), place(letters[word.index + word[0].length - 1])];
}"""


def word_ends(block: Locator, number: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where a word of a text begins and ends on the screen."""
    block.scroll_into_view_if_needed()
    first, last = block.evaluate(f"(block, number) => ({_WORD})([block, number])", number)
    return (first["x"] + 0.25 * first["width"], first["y"]), (last["x"] + 0.75 * last["width"], last["y"])


# --- our pages --------------------------------------------------------------------------------------------


@contextmanager
def ours(form: str, folder: Path) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Serve a campaign; yield the link of a rater, and what reads the answers."""
    data, where = asked(form), folder / "eval.db"
    scale = (0, 1) if form == "pass_fail" else (0, 100)
    method = "best_pairs" if form == "pairs" else "uniform"
    if form == "pairs":
        from sparingly.cli.subject import strategy_to_ask

        sparingly.Campaign.new(where, data, strategy_to_ask("pairs"), ITEMS).disconnect()
    else:
        sparingly.Campaign.new(where, data, method, ITEMS, aspects="overall", scale=scale).disconnect()
    port, links = free_port(), folder / "links.txt"
    command = [sys.executable, "-m", "sparingly", "serve", str(where), "--port", str(port)]
    command += ["--raters", "anna", "--once-links", str(links), "--advance"]
    if form == "esa":
        command += ["--form", "esa"]
    with serving(command, f"http://127.0.0.1:{port}/", folder, os.environ):
        link = dict(line.split("\t") for line in links.read_text("utf-8").splitlines())["rater anna"]

        def read() -> dict[str, float]:
            with sparingly.Campaign(where) as campaign:
                return {
                    row["item"]: row["score"] * (-1 if row["first"] == MODELS[1] else 1)
                    for row in campaign.ratings()
                }

        yield link, read


def judge_ours(hand: Hand, form: str, known: dict[str, Judgement]) -> None:
    """Judge everything on our pages."""
    page, texts = hand.page, dict(zip(*_pair_texts(), strict=True))
    for number in range(ITEMS):
        hand.wait_for(_OURS_READY, number)
        said = known[flat(page.locator(".source .text").last.inner_text())]
        if form == "pass_fail":
            hand.key("2" if said.score < 50 else "1")
        elif form == "pairs":
            left = flat(page.locator(".side .text").first.inner_text())
            better = said.better if texts[left] == MODELS[0] else -said.better
            hand.key({1: "ArrowLeft", 0: "ArrowDown", -1: "ArrowRight"}[better])
        else:
            for word, severity in said.errors if form == "esa" else ():
                hand.drag(*word_ends(page.locator(".markable"), word))
                hand.key({"minor": "1", "major": "2"}[severity])
            slide(hand, page.locator("input[type=range]"), said.score)
    page.wait_for_selector("form#judge", state="detached")


# The page has the focus when its keys are listened to.
_OURS_READY = """number => document.querySelector(`.progress progress[value="${number}"]`)
    && document.activeElement.closest("form#judge")"""


def _pair_texts() -> tuple[list[str], list[str]]:
    outputs = items().outputs
    assert outputs is not None
    return [text for row in outputs for text in row], list(MODELS) * len(outputs)


# --- Pearmut ----------------------------------------------------------------------------------------------


@contextmanager
def pearmut(form: str, folder: Path) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Serve a campaign of Pearmut; it has no pairs, and pass or fail is a slider from 0 to 1."""
    prepare("pearmut")
    tasks = folder / "tasks"
    selection = sparingly.select(asked(form), "uniform", ITEMS, seed=1)
    export_tasks(
        asked(form),
        selection,
        to="pearmut",
        folder=tasks,
        kind="spans" if form == "esa" else "score",
        aspects="overall",
        scale="0-100",
        assignment=sparingly.assign(selection, ("ann",), data=asked(form), overlap=0.0, seed=1),
    )
    file = tasks / "campaign.json"
    campaign = json.loads(file.read_text("utf-8"))
    if form == "pass_fail":
        campaign["info"]["sliders"] = [{"name": "pass", "min": 0, "max": 1, "step": 1}]
    file.write_text(json.dumps(campaign), "utf-8")
    python, environment = python_of("pearmut"), {**os.environ, "PEARMUT_ROOT": str(folder)}
    subprocess.run(
        [str(python.with_name("pearmut")), "add", str(file)],
        check=True,
        env=environment,
        cwd=folder,
        capture_output=True,
    )
    port = free_port()
    command = [str(python), "-m", "uvicorn", "pearmut.app:app", "--host", "127.0.0.1", "--port", str(port)]
    with serving(command, f"http://127.0.0.1:{port}/", folder, environment):

        def read() -> dict[str, float]:
            (log,) = (folder / "data" / "annotations").iterdir()
            if form == "pass_fail":
                lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
                sources = _by_source()
                found = {}
                for line in lines:
                    for item, answers in zip(line["item"], line["annotation"], strict=True):
                        (answer,) = answers.values()
                        found[sources[flat(item["src"])]] = answer["sliders"]["pass"]
                return found
            taken = import_answers(log, key=folder / "tasks.key.json")
            return {row["item"]: row["score"] for row in taken.rows()}

        yield f"http://127.0.0.1:{port}/annotate?campaign_id=sparingly-1&user_id=ann", read


def judge_pearmut(hand: Hand, form: str, known: dict[str, Judgement]) -> None:
    """Judge everything in Pearmut: a click on the slider, a click on Next."""
    page, last = hand.page, ""
    for _ in range(ITEMS):
        hand.wait_for(_NEW_SOURCE, last)
        last = page.locator(".output_src").first.inner_text()
        said = known[flat(last)]
        for word, severity in said.errors if form == "esa" else ():
            first, end = word_ends(page.locator(".output_tgt"), word)
            for x, y in (first, end):
                hand._use("mouse")
                page.mouse.click(x, y)
                hand.clicks += 1
            # The toolbox moves to the error; this waits until it rests.
            page.locator(f".span_toolbox_parent:visible .error_{severity}").last.click()
            hand.clicks += 1
        slider = page.locator("input[type=range]")
        if form == "pass_fail":
            hand.click(slider, 0.95 if said.score >= 50 else 0.05)
        else:
            slide(hand, slider, said.score)
        hand.click(page.locator("#button_next"))
    page.wait_for_function("document.querySelector('#button_next').value === 'Finished'")


_NEW_SOURCE = """last => {
    const shown = document.querySelector(".output_src");
    return shown && shown.innerText !== last && document.querySelector("input[type=range]");
}"""


def _by_source() -> dict[str, str]:
    data = items()
    assert data.sources is not None
    return {flat(source): item for source, item in zip(data.sources, data.items, strict=True)}


# --- Potato -----------------------------------------------------------------------------------------------


@contextmanager
def potato(form: str, folder: Path) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Serve a task of Potato in its review mode, in which a page that is complete moves on by itself."""
    prepare("potato")
    tasks, data = folder / "tasks", asked(form)
    selection = sparingly.select(data, "uniform", ITEMS, seed=1)
    kind = {"pairs": "pair", "esa": "spans"}.get(form, "score")
    if form == "pairs":
        from dataclasses import replace

        import numpy as np

        pairs = np.empty(len(selection), object)
        pairs[:] = [MODELS] * len(selection)
        selection = replace(selection, pairs=pairs)
    export_tasks(data, selection, to="potato", folder=tasks, kind=kind, aspects="overall", scale="0-100")
    file = tasks / "config.yaml"
    config = json.loads(file.read_text("utf-8"))
    config |= {"host": "127.0.0.1", "review_mode": {"enabled": True, "advance_on": "required", "delay_ms": 0}}
    if form == "pass_fail":
        config["annotation_schemes"] = [
            {
                "annotation_type": "radio",
                "name": "overall",
                "description": "Is it good?",
                "labels": ["pass", "fail"],
                "sequential_key_binding": True,
                "label_requirement": {"required": True},
            }
        ]
    file.write_text(json.dumps(config), "utf-8")
    port = free_port()
    command = [str(python_of("potato").with_name("potato")), "start", "config.yaml", "-p", str(port)]
    address = f"http://127.0.0.1:{port}/"
    with serving(command, address, tasks, os.environ):

        def read() -> dict[str, float]:
            if form != "pass_fail":
                saved = [tasks / "annotation_output", tasks / "items.jsonl"]
                taken = import_answers(saved, key=folder / "tasks.key.json")
                return {row["item"]: row["score"] for row in taken.rows()}
            (state,) = (tasks / "annotation_output").rglob("user_state.json")
            labels = json.loads(state.read_text("utf-8"))["instance_id_to_label_to_value"]
            lines = [json.loads(line) for line in (tasks / "items.jsonl").read_text("utf-8").splitlines()]
            sources, by_source = {line["id"]: line["source"] for line in lines}, _by_source()
            return {
                by_source[flat(sources[name])]: float("pass" in json.dumps(value))
                for name, value in labels.items()
            }

        yield address, read


def judge_potato(hand: Hand, form: str, known: dict[str, Judgement]) -> None:
    """Judge everything in Potato; signing in is not counted."""
    page, last = hand.page, ""
    page.fill("#login-email", "ann")
    page.click("form button[type=submit]")
    for _ in range(ITEMS):
        hand.wait_for(_OTHER_INSTANCE, last)
        last = page.input_value("#instance_id")
        page.wait_for_load_state("networkidle")
        said = known[flat(_potato_source(page))]
        if form == "pass_fail":
            hand.key("1" if said.score >= 50 else "2")
        elif form == "pairs":
            hand.key({1: "1", -1: "2", 0: "0"}[said.better])
        else:
            for word, severity in said.errors if form == "esa" else ():
                hand.drag(*word_ends(page.locator(".error-span-text-container"), word))
                hand.click(page.locator(f".error-span-severity-option input[value={severity}]"))
                hand.click(page.locator(".error-span-popup-save"))
            slide(hand, page.locator("input[type=range]"), said.score)
    page.wait_for_function("document.body.innerText.includes('Thank You')")


_OTHER_INSTANCE = """last => {
    const shown = document.querySelector("#instance_id");
    return shown && shown.value && shown.value !== last;
}"""


def _potato_source(page: Page) -> str:
    sources = list(_by_source())
    shown = flat(page.locator("body").inner_text())
    return next(source for source in sources if source in shown)


# --- side by side -----------------------------------------------------------------------------------------

TOOLS: dict[str, tuple[Any, Any]] = {
    "ours": (ours, judge_ours),
    "Pearmut": (pearmut, judge_pearmut),
    "Potato": (potato, judge_potato),
}
# What a tool does not ask.
MISSING = {("Pearmut", "pairs"): "Pearmut has no question about pairs"}


@dataclass(frozen=True)
class Effort:
    """What one form took in one tool, for all items together."""

    tool: str
    form: str
    clicks: int
    drags: int
    keys: int
    actions: int
    seconds: float
    wait: float
    wrong: int


def measure(tool: str, form: str) -> Effort:
    """Judge everything once, and check what was saved."""
    serve, judge = TOOLS[tool]
    known = judgements(items())
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        address, read = stack.enter_context(serve(form, Path(folder)))
        page = stack.enter_context(browsing())
        page.set_default_timeout(60_000)
        page.goto(address)
        hand = Hand(page)
        judge(hand, form, known)
        page.wait_for_timeout(1_500)
        saved = read()
    by_source = _by_source()
    wrong = sum(not _fits(form, saved.get(by_source[source]), said) for source, said in known.items())
    wait = statistics.median(hand.waits[1:])
    return Effort(
        tool,
        form,
        hand.clicks,
        hand.drags,
        hand.keys,
        hand.actions,
        round(hand.seconds, 1),
        round(wait, 2),
        wrong,
    )


def _fits(form: str, saved: float | None, said: Judgement) -> bool:
    if saved is None:
        return False
    if form == "pass_fail":
        return saved == float(said.score >= 50)
    # A slider is as exact as its pixels.
    return saved == said.better if form == "pairs" else abs(saved - said.score) <= 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", action="append", choices=tuple(TOOLS))
    parser.add_argument("--form", action="append", choices=FORMS)
    args = parser.parse_args()
    found = []
    for form in args.form or FORMS:
        for tool in args.tool or TOOLS:
            if (tool, form) in MISSING:
                print(MISSING[tool, form])
                continue
            found.append(measure(tool, form))
            print(found[-1], file=sys.stderr, flush=True)
    print(f"{datetime.now(UTC):%-d %B %Y}, {ITEMS} items\n")
    print("| form | tool | clicks | drags | keys | actions | seconds by the model | wait, median | wrong |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for one in found:
        counts = (one.clicks, one.drags, one.keys, one.actions, one.seconds, one.wait, one.wrong)
        cells = (one.form, one.tool, *counts)
        print(f"| {' | '.join(map(str, cells))} |")
    least: dict[str, int] = {}
    for one in found:
        least[one.form] = min(one.actions, least.get(one.form, one.actions))
    if more := [one.form for one in found if one.tool == "ours" and one.actions > least[one.form]]:
        raise SystemExit(f"another tool needs fewer actions: {', '.join(more)}")


if __name__ == "__main__":
    main()
