"""Draw the pictures of the demo that README and the docs show: ``python tools/screenshots.py``.

It runs the demo and its pages, and looks at them with the system's Chromium.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import sparingly

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
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
        browser.close()


def _terminal(browser: Browser, text: str, out: Path) -> None:
    page = browser.new_page(device_scale_factor=2)
    page.set_content(TERMINAL.format(html.escape(text)))
    page.locator("pre").screenshot(path=out)


def _rater(browser: Browser, folder: Path) -> None:
    """Open the first item as a rater sees it."""
    typed = [COMMAND, "demo", "--serve", "--port", "0"]
    with subprocess.Popen(typed, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as server:
        try:
            lines = iter(server.stdout or ())
            link = next(found[0] for line in lines if (found := re.search(r"http://\S+/r/\S+", line)))
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(link)
            page.get_by_text("Begin", exact=True).click()
            page.get_by_role("heading", name="Reference", exact=True).wait_for()
            page.screenshot(path=IMAGES / "annotation.png")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
