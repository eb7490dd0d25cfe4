"""Draw the pictures that README and the docs show: ``python tools/screenshots.py``.

It runs the demo and the campaign of the tutorial on ranking, and looks at their pages with Chromium, and at
the site that ``make docs`` builds.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import sparingly

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
TUTORIAL = IMAGES.parent / "tutorials" / "data"
COMMAND = str(Path(sys.executable).parent / "sparingly")
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
TERMINAL = "<pre style='margin:0;padding:16px;width:max-content;font:14px/1.35 monospace'>{}</pre>"


def main() -> None:
    """Run the demo, and draw its answer, its report, its figure and a page of a rater."""
    program = next(found for name in ("chromium", "google-chrome") if (found := shutil.which(name)))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        typed = [COMMAND, "demo"]
        shown = subprocess.run(
            typed, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
        ).stdout
        _terminal(browser, f"$ sparingly demo\n{shown}", IMAGES / "demo-terminal.png")
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.goto((folder / "sparingly-demo" / "report.html").as_uri())
        page.screenshot(path=IMAGES / "report.png")
        sample = sparingly.Selection.load(folder / "sparingly-demo" / "sample.json")
        scores = sparingly.estimate(sparingly.load_demo(), sample)
        sparingly.save_figure(sparingly.figure(scores), IMAGES / "demo-scores.png")
        _rater(browser, folder)
        _walkthrough(browser, folder)
        # The site is there after ``make docs``.
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto((IMAGES.parent.parent / "site" / "index.html").as_uri())
        page.screenshot(path=IMAGES / "docs-home.png")
        browser.close()


def _terminal(browser: Browser, text: str, out: Path) -> None:
    page = browser.new_page(device_scale_factor=2)
    page.set_content(TERMINAL.format(html.escape(text)))
    page.locator("pre").screenshot(path=out)


@contextmanager
def _served(folder: Path, *words: str) -> Iterator[tuple[str, str]]:
    """Serve pages, and give the links of the organiser and of the first rater."""
    typed = [COMMAND, *words, "--port", "0"]
    with subprocess.Popen(typed, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as server:
        try:
            links = dict[str, str]()
            for line in server.stdout or ():
                links |= {found[1]: found[0] for found in re.finditer(r"http://\S+/([or])/\S+", line)}
                if "r" in links:
                    break
            yield links.get("o", ""), links["r"]
        finally:
            server.terminate()


def _rater(browser: Browser, folder: Path) -> None:
    """Open the first item of the demo as a rater sees it."""
    with _served(folder, "demo", "--serve") as (_, link):
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(link)
        page.get_by_text("Begin", exact=True).click()
        page.get_by_role("heading", name="Reference", exact=True).wait_for()
        page.screenshot(path=IMAGES / "annotation.png")


def _walkthrough(browser: Browser, folder: Path) -> None:
    """Run the campaign of the tutorial on ranking; look at the rater's page, the ranking and the report."""
    folder = Path(shutil.copytree(TUTORIAL, folder / "tutorial"))

    def run(*words: str) -> None:
        subprocess.run([COMMAND, *words], cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)

    new = "--budget 60 --size 20 --aspect quality --scale 0,100"
    stop = ("--stop", "best_settled:spending=even", "--name", "Which model answers best?")
    run("campaign", "new", "eval.db", "responses.csv", *new.split(), *stop)
    for _ in range(2):
        run("campaign", "next", "eval.db", "--out", "form.csv")
        subprocess.run([sys.executable, "stand_in.py", "form.csv", "filled.csv"], cwd=folder, check=True)
        run("campaign", "record", "eval.db", "filled.csv")
    run("campaign", "next", "eval.db")
    run("report", "eval.db", "--out", "report.html")
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto((folder / "report.html").as_uri())
    page.screenshot(path=IMAGES / "walkthrough-report.png")
    with _served(folder, "serve", "eval.db", "--raters", "Anna,Ben") as (organiser, rater):
        # The ranking is found while the page is open.
        for link, name, heading in ((rater, "rater", "Output A"), (organiser, "organiser", "Overview")):
            page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
            page.goto(link)
            page.get_by_role("heading", name=heading).first.wait_for()
            if name == "organiser":
                page.screenshot(path=IMAGES / "organiser-overview.png")
                page.get_by_role("link", name="Ranking").click()
                page.locator("table").first.wait_for()
            page.screenshot(path=IMAGES / f"walkthrough-{name}.png")


if __name__ == "__main__":
    main()
