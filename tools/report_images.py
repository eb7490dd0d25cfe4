"""Take the pictures of a report that the documentation shows: desktop, phone, dark and print.

``python tools/report_images.py REPORT.html docs/images`` writes report.png, report-phone.png,
report-dark.png, and a page of the print as report-print.png.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

# Width, height, and whether it is dark.
SCREENS: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "report": (1100, 900, "light"),
    "report-phone": (390, 844, "light"),
    "report-dark": (1100, 900, "dark"),
}


def take(report: Path, folder: Path, *, whole: bool = False) -> None:
    """Write the pictures of a report into a folder; ``whole`` takes the page to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for name, (width, height, scheme) in SCREENS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(report.resolve().as_uri())
            page.screenshot(path=folder / f"{name}.png", full_page=whole)
        page.pdf(path=folder / "report.pdf", format="A4", prefer_css_page_size=True)
        browser.close()
    pages = [] if whole else ["-f", "1", "-l", "1", "-singlefile"]
    command = [
        "pdftoppm",
        "-r",
        "70",
        "-png",
        *pages,
        str(folder / "report.pdf"),
        str(folder / "report-print"),
    ]
    subprocess.run(command, check=True)
    (folder / "report.pdf").unlink()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]), whole="--whole" in sys.argv[3:])
