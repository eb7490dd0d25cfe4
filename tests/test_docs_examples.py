"""Every example in README.md and docs/ prints what the page says it prints."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import sparingly
from tools.doc_examples import PYTHON_FLAGS, Block, blocks, commands, run_page, updated

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [
    page for page in PAGES if any(block.runs for block in blocks(page.read_text(encoding="utf-8")))
]
SOURCES = ROOT / "src"
WITH_DOCSTRING_EXAMPLES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.journey
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_page_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    wrong = [
        f"{page.name}, line {outcome.line + 1}: {outcome.what}\n--- the page says\n{outcome.expected}"
        f"--- it prints\n{outcome.printed}"
        for outcome in run_page(page.read_text(encoding="utf-8"), tmp_path)
        if not outcome.agrees
    ]
    assert not wrong, "\n".join(wrong)


def test_the_readme_and_the_first_pages_have_examples() -> None:
    assert {"README", "index", "rank-models", "ab-test", "audit-judge"} <= {
        page.stem for page in WITH_EXAMPLES
    }


@pytest.mark.parametrize("module", WITH_DOCSTRING_EXAMPLES)
def test_docstring_examples_hold(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(verbose=False, optionflags=PYTHON_FLAGS)
    home = import_module(module)
    for test in doctest.DocTestFinder().find(home, extraglobs={"sparingly": sparingly}):
        runner.run(test)
    results = runner.summarize(verbose=False)
    assert results.failed == 0
    assert results.attempted > 0


PAGE = """\
```python
>>> x = 1
>>> x + 1
2
```
text
```python
>>> x + 2
4
```
```console
$ echo one two
one ...
$ echo a \\
    b
c
```
```bash
exit 3
```
"""


def test_a_wrong_page_is_found_and_mended(tmp_path: Path) -> None:
    outcomes = list(run_page(PAGE, tmp_path))
    assert [outcome.agrees for outcome in outcomes] == [True, True, False, True, False]
    mended = updated(PAGE, outcomes)
    assert mended == PAGE.replace("\n4\n", "\n3\n").replace("\nc\n", "\na b\n")
    assert all(outcome.agrees for outcome in run_page(mended, tmp_path))


def test_what_a_page_leaves_out_stays_out(tmp_path: Path) -> None:
    page = "```console\n$ printf '1\\n2\\n3\\nseed 7\\n5\\n'\n0\n...\nseed ...\n5\n```\n"
    mended = updated(page, list(run_page(page, tmp_path)))
    assert mended == page.replace("\n0\n", "\n1\n")


def test_a_failing_command_and_an_exception_do_not_agree(tmp_path: Path) -> None:
    page = "```console\n$ false\n```\n```python\n>>> 1 / 0\n```\n"
    command, statement = run_page(page, tmp_path)
    assert not command.agrees
    assert "exit code 1" in command.printed
    assert not statement.agrees
    assert "ZeroDivisionError" in statement.printed


def test_commands_of_a_block() -> None:
    block = Block("console", 4, ("$ one", "out", "", "more", "$ two"))
    assert list(commands(block)) == [(4, "one", "out\n\nmore"), (8, "two", "")]
