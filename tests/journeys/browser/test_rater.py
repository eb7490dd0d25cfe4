"""A rater's way through the pages, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sparingly.data.evalset import EvalSet
from tests.journeys.browser.conftest import Sites, Windows
from tests.run.campaign.made import MODELS

pytestmark = pytest.mark.journey
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31m \u202eright to left"


def small_set(outputs: list[list[str]], sources: list[str] | None = None) -> EvalSet:
    items = [f"item-{place}" for place in range(len(outputs))]
    return EvalSet.from_arrays(
        items, MODELS, outputs=outputs, sources=sources or [f"source of {item}" for item in items]
    )


def two_items() -> EvalSet:
    return small_set([[f"{word} {place}" for word in ("first", "second", "third")] for place in range(2)])


def texts(page: Page) -> list[str]:
    return page.locator(".output .text").all_inner_texts()


def next_field(page: Page, kind: str) -> None:
    """Press Tab until a field of a kind has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("kind => document.activeElement.matches(kind)", kind):
            return
    raise AssertionError(f"no {kind} can be reached with the keyboard")


def test_a_whole_round_by_keyboard_only(serve: Sites, window: Windows) -> None:
    site, page = serve(two_items(), budget=2, size=2), window()
    page.goto(site.link("anna"))
    expected: dict[str, int] = {}
    for place in range(2):
        expect(page.locator(".progress")).to_contain_text(f"{place} of 2 items judged")
        expect(page.locator("input[type=number]").first).to_be_focused()
        for at, text in enumerate(texts(page)):
            if at:
                next_field(page, "input[type=number]")
            score = 10 * at + 7 * place
            page.keyboard.type(str(score))
            expected[text] = score
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    data = two_items()
    assert data.outputs is not None
    found = {
        data.outputs[data.positions([row["item"]])[0], MODELS.index(row["model"])]: row["score"]
        for row in site.ratings
    }
    assert found == expected
    assert all(row["seconds"] is not None for row in site.ratings)


def test_the_slider_and_the_number_are_one(serve: Sites, window: Windows) -> None:
    site, page = serve(), window()
    page.goto(site.link("anna"))
    number, slider = page.locator("input[type=number]").first, page.locator("input[type=range]").first
    number.fill("80")
    assert slider.input_value() == "80"
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert number.input_value() == "81"
    assert slider.get_attribute("aria-valuetext") == "81"
    page.locator("#send").click()
    # The other outputs are not judged: nothing was sent.
    assert site.ratings == []


def test_errors_are_marked_by_keyboard(serve: Sites, window: Windows) -> None:
    text = "Das 👍 Wort שלום ist 你好."
    site = serve(small_set([[text] * 3]), budget=1, size=1, options={"form": "esa"})
    page = window()
    page.goto(site.link("anna"))
    block = page.locator(".markable:not([data-source])")
    expect(block).to_be_focused()
    page.keyboard.press("Control+Home")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("Control+End")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("1")
    assert block.inner_text() == text
    page.keyboard.type("the text does not change")
    assert block.inner_text() == text
    expect(page.locator(".marks li")).to_have_count(2)
    page.keyboard.press("Delete")
    expect(page.locator(".marks li")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator(".marks li")).to_have_count(2)
    next_field(page, "input[type=number]")
    page.keyboard.type("64")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    page.goto(f"{site.address}/rate")
    page.get_by_role("link", name="Change your last answer").click()
    marks = json.loads(page.locator("input[name^=marks]").input_value())
    assert [(text[mark["start"] : mark["end"]], mark["severity"]) for mark in marks] == [
        ("Das 👍", "major"), ("你好.", "minor"),
    ]  # fmt: skip
    assert [row["score"] for row in site.ratings] == [64] * 3


def test_errors_are_marked_with_the_mouse(serve: Sites, window: Windows) -> None:
    site = serve(small_set([["one two three"] * 3]), budget=1, size=1, options={"form": "mqm"})
    page = window()
    page.goto(site.link("anna"))
    # A double click selects a word, with the blank behind it on some systems.
    page.locator(".markable:not([data-source])").dblclick(position={"x": 20, "y": 20})
    page.get_by_role("button", name="3 critical").click()
    expect(page.locator("mark.critical")).to_have_text("one")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert [row["score"] for row in site.ratings] == [75] * 3


def test_marked_errors_have_a_category(serve: Sites, window: Windows, accessible: Any) -> None:
    site = serve(small_set([["one two three"] * 3]), budget=1, size=1, options={"form": "mqm"})
    site.web.campaign.set_guidelines("# Mark it\n\n## Categories\n- Accuracy\n  - Omission\n- Style\n")
    page = window()
    page.goto(site.link("anna"))
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".markable:not([data-source])")).to_be_focused()
    page.locator(".markable:not([data-source])").dblclick(position={"x": 20, "y": 20})
    page.get_by_role("button", name="2 major").click()
    expect(page.locator("mark.major")).to_have_text("one")
    accessible(page)
    page.locator("#send").click()
    assert site.ratings == [], "the browser asks for the category"
    page.get_by_label("Category").select_option("Accuracy / Omission")
    page.locator("#send").click()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    page.get_by_role("link", name="Change your last answer").click()
    assert page.get_by_label("Category").input_value() == "Accuracy / Omission"
    assert [row["score"] for row in site.ratings] == [95] * 3


def test_what_is_left_out_is_marked_in_the_source(serve: Sites, window: Windows, accessible: Any) -> None:
    site = serve(small_set([["one two"] * 3]), budget=1, size=1, options={"form": "mqm"})
    site.web.campaign.set_guidelines("# Mark it\n\n## Severities\n- slight: 2\n- grave: 40\n")
    page = window()
    page.goto(site.link("anna"))
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".markable:not([data-source])")).to_be_focused()
    # The source is opened, walked through and marked by keyboard alone.
    next_field(page, "details.omitted summary")
    page.keyboard.press("Enter")
    next_field(page, "[data-source]")
    page.keyboard.press("Control+Home")
    for _ in range(6):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    line = page.locator(".marks li")
    expect(line).to_contain_text("grave · left out")
    next_field(page, "input.remark")
    page.keyboard.type("the beginning")
    accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    page.get_by_role("link", name="Change your last answer").click()
    expect(page.locator("details.omitted mark")).to_have_text("source")
    (mark,) = json.loads(page.locator("input[name^=marks]").input_value())
    assert mark == {"start": 0, "end": 6, "severity": "grave", "in_source": True, "comment": "the beginning"}
    assert [row["score"] for row in site.ratings] == [60] * 3


def test_outputs_side_by_side_scroll_together_and_are_put_in_order(
    serve: Sites, window: Windows, accessible: Any
) -> None:
    long = [[f"{name}\n" + "line\n" * 200 for name in ("first", "second", "third")]]
    site = serve(small_set(long), budget=1, size=1, options={"form": "contrastive"})
    page = window()
    page.goto(site.link("anna"))
    boxes = page.locator(".output .said > .text")
    boxes.nth(0).evaluate("box => { box.scrollTop = (box.scrollHeight - box.clientHeight) / 2; }")
    half = "box => Math.abs(box.scrollTop / (box.scrollHeight - box.clientHeight) - 0.5) < 0.02"
    for at in range(3):
        handle = boxes.nth(at).element_handle()
        page.wait_for_function(half, arg=handle)
    expected: dict[str, int] = {}
    for score in (20, 90, 60):
        next_field(page, "input[type=number]") if expected else None
        card = page.locator(".output:focus-within")
        expected[card.locator(".said").inner_text().split("\n")[0]] = score
        page.keyboard.type(str(score))
    next_field(page, "[data-order]")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Best first")
    order = [text.split("\n")[0] for text in page.locator(".output .said").all_inner_texts()]
    assert order == sorted(expected, key=lambda name: -expected[name])
    accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    data = small_set(long)
    assert data.outputs is not None
    found = {
        str(data.outputs[0, MODELS.index(row["model"])]).split("\n")[0]: row["score"] for row in site.ratings
    }
    assert found == expected


def test_an_order_by_keys_and_on_a_phone(serve: Sites, window: Windows, accessible: Any) -> None:
    names = ["best", "middle", "last"]
    site = serve(
        small_set([names, [f"{name} too" for name in names]]), budget=2, size=2, options={"form": "ranking"}
    )
    page = window()
    page.goto(site.link("anna"))
    accessible(page)

    def key_of(name: str) -> str:
        card = page.locator(".output", has=page.locator(".text", has_text=name))
        return str(card.locator(".place kbd").inner_text()).lower()

    for name in ("last", "best"):
        page.keyboard.press(key_of(name))
    expect(page.locator("#said")).to_contain_text(": 2")
    for _ in range(2):
        page.keyboard.press("Backspace")
    expect(page.locator(".place[aria-pressed=true]")).to_have_count(0)
    for key in (key_of("best"), "=", key_of("middle"), key_of("last")):
        page.keyboard.press(key)
    # With the last place the page is sent.
    expect(page.locator(".progress")).to_contain_text("1 of 2")
    page.keyboard.press("Backspace")
    expect(page.locator(".place[aria-pressed=true]")).to_have_count(3)
    assert sorted(page.locator(".place b").all_inner_texts()) == ["1", "1", "3"]
    page.get_by_role("link", name="Go on without changing it").click()
    phone = window(**PHONE)
    phone.goto(site.link("anna"))
    for name in ("last too", "middle too", "best too"):
        phone.locator(".output", has=phone.locator(".text", has_text=name)).locator(".place").tap()
    expect(phone.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    found = {(row["item"], row["model"]): row["score"] for row in site.ratings}
    assert [found["item-0", name] for name in MODELS] == [75, 75, 0]
    assert [found["item-1", name] for name in MODELS] == [0, 50, 100]


def test_a_rubric_by_keys(serve: Sites, window: Windows, accessible: Any) -> None:
    criteria = {"names the capital": (0, 1), "is polite": (0, 1)}
    combined = "weighted:of=[names the capital,is polite],weights=[0.75,0.25]"
    site = serve(
        small_set([["one", "two", "three"]]),
        budget=1, size=1, scale=None, aspects=criteria, aspect=combined, options={"form": "rubric"},
    )  # fmt: skip
    page = window()
    page.goto(site.link("anna"))
    page.locator("input[type=radio]").first.focus()
    # Each key answers, and the next question has the keys.
    for key, count in zip("121212", range(1, 7), strict=True):
        page.keyboard.press(key)
        expect(page.locator("input:checked")).to_have_count(count)
    accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert {(row["aspect"], row["score"]) for row in site.ratings} == {
        ("names the capital", 1.0), ("is polite", 0.0),
    }  # fmt: skip
    assert set(site.web.campaign.data().truth(combined)[0]) == {0.75}


def test_stars_by_keyboard(serve: Sites, window: Windows) -> None:
    site, page = serve(two_items(), budget=1, size=1, scale=(1, 5), options={"form": "stars"}), window()
    page.goto(site.link("anna"))
    for at in range(3):
        if at:
            next_field(page, "input[type=radio]")
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert [row["score"] for row in site.ratings] == [2] * 3


def test_pairs_by_keyboard(serve: Sites, window: Windows) -> None:
    site = serve(two_items(), strategy="d_optimal", budget=2, size=None)
    page = window()
    page.goto(site.link("anna"))
    while page.locator("#judge").count():
        # Each page has a token of its own, whatever its texts are and whatever is said above them.
        client = page.locator("input[name=client]").input_value()
        for at in range(page.locator(".pair").count()):
            if at:
                next_field(page, "input[type=radio]")
            page.keyboard.press("Space")
        page.keyboard.press("Control+Enter")
        expect(page.locator(f"input[name=client][value='{client}']")).to_have_count(0)
    data = two_items()
    assert data.outputs is not None
    assert len(site.ratings) == 2
    assert {abs(row["score"]) for row in site.ratings} == {1}


def test_pairs_by_arrows_and_clicks_with_undo(serve: Sites, window: Windows) -> None:
    outputs = [[f"{word} text {place}" for word in ("red", "green", "red")] for place in range(3)]
    site = serve(small_set(outputs), strategy="pairs", budget=6, size=None)
    page = window()
    page.goto(site.link("anna"))
    side, heading = page.locator(".side:visible"), page.get_by_role("heading", name="Nothing to judge now")
    for key in ("ArrowLeft", "ArrowRight"):
        count = len(site.ratings)
        page.keyboard.press(key)
        expect(page.locator("#said")).to_have_text("Saved.")
        expect(page.locator("#judge input:checked")).to_have_count(0)
        assert len(site.ratings) > count
    # One key goes back to the last answer, another changes it.
    page.keyboard.press("Backspace")
    expect(page.get_by_text("You have judged this item")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("You have judged this item")).to_have_count(0)
    assert {row["score"] for row in site.ratings if row["corrects"]} == {0.0}
    # Selecting letters of a text does not choose it; a click does.
    box = side.first.locator(".text").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert page.evaluate("document.getSelection().toString()")
    assert page.locator(".versus :checked").count() == 0
    page.mouse.click(2, 2)
    side.nth(1).click()
    expect(heading).to_be_visible()
    assert site.web.campaign.questions() == ()


def test_pass_or_fail_by_keys_one_after_the_other(serve: Sites, window: Windows, accessible: Any) -> None:
    site = serve(two_items(), budget=2, size=2, scale=(0, 1), options={"one_by_one": True})
    page = window()
    page.goto(site.link("anna"))
    expected: dict[str, int] = {}
    for key, score in zip("121212", (1, 0, 1, 0, 1, 0), strict=True):
        expect(page.locator(".output:visible")).to_have_count(1)
        text = page.locator(".output:visible .text").inner_text()
        expected[text] = score
        page.keyboard.press(key)
        expect(page.locator(".output:visible .text").filter(has_text=text)).to_have_count(0)
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    data = two_items()
    assert data.outputs is not None
    found = {
        data.outputs[data.positions([row["item"]])[0], MODELS.index(row["model"])]: row["score"]
        for row in site.ratings
    }
    assert found == expected
    page.get_by_role("link", name="Change your last answer").click()
    accessible(page)


def test_guidelines_and_what_cannot_be_judged(serve: Sites, window: Windows, accessible: Any) -> None:
    site, page = serve(two_items(), budget=1, size=1), window(**PHONE)
    text = (
        "# How good?\n\nRead.\n\n## Scale\n- 0: bad\n- 100: good\n\n## Consent\nYes.\n\n## About you\n- Age\n"
    )
    site.web.campaign.set_guidelines(text)
    page.goto(site.link("anna"))
    accessible(page)
    page.get_by_label("Age").fill("40")
    page.get_by_role("button", name="Begin").tap()
    assert page.locator("#judge").count() == 0, "the browser asks for the consent"
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Begin").tap()
    page.get_by_text("Guidelines").tap()
    expect(page.get_by_text("Read.")).to_be_visible()
    assert not page.evaluate("document.activeElement.matches('input, textarea')"), (
        "no phone's keyboard opens unasked"
    )
    page.get_by_role("button", name="100 good").first.tap()
    assert page.locator("input[type=number]").first.input_value() == "100"
    for card in page.locator(".output").all()[1:]:
        card.get_by_text("Cannot judge").tap()
        card.locator("select").select_option("broken")
    accessible(page)
    page.locator("#send").tap()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert [row["score"] for row in site.ratings] == [100]
    assert site.web.campaign.status().sets[0].skipped == 2


def test_a_reload_in_the_middle_loses_nothing(serve: Sites, window: Windows) -> None:
    site = serve(options={"form": "esa"})
    page, link = window(), site.link("anna")
    page.goto(link)
    page.locator("input[type=number]").first.fill("35")
    page.get_by_text("Comment").first.click()
    page.locator("textarea").first.fill("half a thought")
    page.locator(".markable:not([data-source])").first.focus()
    page.keyboard.press("Control+Shift+ArrowRight")
    with page.expect_response(lambda answer: answer.url.endswith("/draft")):
        page.keyboard.press("1")
    expect(page.locator("#said")).to_have_text("Draft saved.")
    marks = page.locator("input[name^=marks]").first.input_value()
    elsewhere = window()
    elsewhere.goto(link)
    page.reload()
    for one in (page, elsewhere):
        assert one.locator("input[type=number]").first.input_value() == "35"
        assert one.locator("textarea").first.input_value() == "half a thought"
        assert one.locator("input[name^=marks]").first.input_value() == marks
        assert len(json.loads(marks)) == 1
    assert site.ratings == []


def test_going_back_to_change_an_answer(serve: Sites, window: Windows) -> None:
    site, page = serve(two_items(), budget=2, size=2), window()
    page.goto(site.link("anna"))
    for box in page.locator("input[type=number]").all():
        box.fill("10")
    page.locator("#send").click()
    expect(page.locator(".progress")).to_contain_text("1 of 2")
    page.locator("#previous").click()
    expect(page.get_by_text("You have judged this item")).to_be_visible()
    page.locator("input[type=number]").first.fill("90")
    page.locator("#send").click()
    expect(page.get_by_text("You have judged this item")).to_have_count(0)
    assert page.url == f"{site.address}/rate"
    assert sorted(row["score"] for row in site.ratings if row["corrects"]) == [10, 10, 90]


def test_an_answer_is_sent_again_until_it_arrives(serve: Sites, window: Windows) -> None:
    site, page = serve(two_items(), budget=1, size=1), window()
    page.goto(site.link("anna"))
    for box in page.locator("input[type=number]").all():
        box.fill("10")
    expect(page.locator("#said")).to_have_text("Draft saved.")
    lost = {"count": 0}

    def lose(route: Any) -> None:
        lost["count"] += 1
        if lost["count"] == 1:
            route.abort()
        elif lost["count"] == 2:
            # It arrives, and the answer to it is lost.
            route.fetch(max_redirects=0)
            route.abort()
        else:
            route.continue_()

    page.route(
        "**/rate/*", lambda route: lose(route) if route.request.method == "POST" else route.continue_()
    )
    page.locator("#send").click()
    expect(page.locator("#said")).to_contain_text("not sent yet")
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert lost["count"] == 3
    assert len(site.ratings) == 3
    window.complaints.clear()


def test_a_stranger_without_a_token(serve: Sites, window: Windows) -> None:
    site, page = serve(name="Secret plans"), window()
    for path in ("/", "/rate", "/r/guess", "/organiser"):
        answer = page.goto(f"{site.address}{path}")
        assert answer is not None
        assert answer.status in (401, 404)
        assert "Secret plans" not in page.content()
    window.complaints.clear()


def test_a_phone(serve: Sites, window: Windows) -> None:
    site = serve(
        small_set([["word " * 60, "w" * 300, "كلمة " * 60]]),
        budget=1,
        size=1,
        scale=(1, 5),
        options={"form": "stars"},
    )
    page = window(**PHONE)
    page.goto(site.link("anna"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for group in page.locator(".stars").all():
        label = group.locator("label").nth(3)
        size = label.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 40
        label.tap()
    # With the last one the page is sent.
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert [row["score"] for row in site.ratings] == [4] * 3


def test_hostile_texts_do_nothing(serve: Sites, window: Windows) -> None:
    chat = json.dumps([{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}])
    for options in ({"texts": "markdown"}, {"form": "esa"}):
        site, page = (
            serve(small_set([[HOSTILE, "# " + HOSTILE, "ok"]], [chat]), budget=1, size=1, options=options),
            window(),
        )
        page.goto(site.link("anna"))
        expect(page.locator("#judge")).to_be_visible()
        assert page.locator("main script, main img").count() == 0
        assert (
            "⇄right to left"
            in page.locator(".output").first.inner_text() + page.locator(".output").nth(1).inner_text()
        )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_accessible(
    serve: Sites, window: Windows, accessible: Callable[[Page], None], theme: str
) -> None:
    chat = "User: Hello\nAssistant: Hi\nUser: And?"
    data = small_set([["**one** two", "كلمة", "你好"]], [chat])
    forms: list[dict[str, Any]] = [
        {"options": {"form": "score", "texts": "markdown"}}, {"options": {"form": "stars"}, "scale": (1, 5)},
        {"options": {"form": "esa"}}, {"options": {"form": "mqm"}}, {"strategy": "d_optimal", "size": None},
    ]  # fmt: skip
    page = window(color_scheme=theme)
    for changed in forms:
        site = serve(data, **{"budget": 1, "size": 1, **changed})
        page.goto(site.link("anna"))
        expect(page.locator("#judge")).to_be_visible()
        if page.locator(".markable:not([data-source])").count():
            for key in ("1", "2", "3"):
                page.keyboard.press("Control+Home")
                page.keyboard.press("Shift+ArrowRight")
                page.keyboard.press(key)
        accessible(page)
    site.web.campaign.close()
    page.reload()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    accessible(page)
    for path in ("/nowhere", "/r/guess"):
        page.goto(f"{site.address}{path}")
        accessible(page)
    window.complaints.clear()


def test_who_types_is_told_when_drafts_are_kept_no_more(serve: Sites, window: Windows) -> None:
    site, page = serve(two_items(), budget=1, size=1), window()
    page.goto(site.link("anna"))
    box, said = page.locator("input[type=number]").first, page.locator("#said")
    failing = {"on": True}

    def fail(route: Any) -> None:
        route.fulfill(status=503, body="") if failing["on"] else route.continue_()

    page.route("**/draft", fail)
    box.fill("10")
    expect(said).to_have_text("The server is busy: the draft is not saved yet.")
    failing["on"] = False
    # Nobody needs to type for it to be tried again.
    expect(said).to_have_text("Draft saved.")
    site.web.access.retire("anna")
    box.fill("20")
    expect(said).to_contain_text("Your session has ended, and drafts are not saved")
    page.goto(site.link("anna"))
    expect(box).to_have_value("10")
    window.complaints.clear()
