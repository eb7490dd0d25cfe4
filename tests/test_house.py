"""The house itself: versions agree, names are documented, and nothing heavy is imported."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import sparingly
from sparingly.base.registry import registered
from tools import reference_pages

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "sparingly").rglob("*.py"))
PYTHON_FILES = [
    *SOURCES,
    *(path for part in ("tests", "tools", "benchmarks") for path in (ROOT / part).rglob("*.py")),
]
HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "polars",
    "narwhals",
    "rich",
    "rapidfuzz",
    "pandas",
    "pyarrow",
    "cyclopts",
    "sqlalchemy",
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- versions ---------------------------------------------------------------------------------------


def test_citation_gives_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [sparingly.__version__]


def test_project_reads_its_version_from_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    written = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert f'__version__ = "{sparingly.__version__}"' in written


def changelog_agrees(text: str, version: str) -> bool:
    """Unreleased is on top; a release has its section, a development version has none yet."""
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    releases = [heading.split()[0].strip("[]") for heading in headings[1:]]
    if not headings or headings[0] != "Unreleased":
        return False
    return version.split(".dev")[0] not in releases if ".dev" in version else releases[:1] == [version]


def test_changelog_agrees_with_the_version() -> None:
    assert changelog_agrees((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), sparingly.__version__)


@pytest.mark.parametrize(
    ("text", "version", "agrees"),
    [
        ("## Unreleased\n## 0.1.0 (2026-01-01)\n", "0.1.0", True),
        ("## Unreleased\n## 0.1.0 (2026-01-01)\n", "0.2.0.dev0", True),
        ("## Unreleased\n## 0.1.0 (2026-01-01)\n", "0.1.0.dev3", False),
        ("## Unreleased\n", "0.1.0", False),
        ("## 0.1.0\n", "0.1.0", False),
    ],
)
def test_changelog_rule(text: str, version: str, agrees: bool) -> None:
    assert changelog_agrees(text, version) is agrees


# --- the public face --------------------------------------------------------------------------------


def test_public_names_are_sorted_and_unique() -> None:
    assert list(sparingly.__all__) == sorted(set(sparingly.__all__))


@pytest.mark.parametrize("name", sparingly.__all__)
def test_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(sparingly, name)
    if callable(thing):
        words = inspect.getdoc(thing)
        assert words
        assert words.strip().splitlines()[0].endswith("."), "the first line is a sentence"


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(path) for path in SOURCES if not ast.get_docstring(parsed(path))]
    assert not silent


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# --- imports ----------------------------------------------------------------------------------------


def test_import_is_light() -> None:
    """``import sparingly`` brings no other library."""
    code = f"import sys, sparingly; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"sparingly"}


def distributions(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[; ]", line)[0] for line in requirements}


def test_dependencies_are_those_that_are_imported() -> None:
    """No dependency without a use, and no use of something that is neither a dependency nor in an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = distributions(project["dependencies"])
    extras = distributions([line for extra in project["optional-dependencies"].values() for line in extra])
    imported = set().union(*map(imported_packages, SOURCES))
    assert declared == {packages_distributions()[name][0].lower() for name in imported} - extras


# --- what is in the repository ----------------------------------------------------------------------


def repository_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    folders = "|".join(
        ("wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers", "fa" + "rm", "op" + "t", "tm" + "p")
    )
    machine = re.compile(rf"(?<![\w.*~)}}\]-])/(?:{folders})/\w".encode())
    assert [name_of(path) for path in repository_files() if machine.search(path.read_bytes())] == []


def test_lock_names_only_the_public_index_and_nothing_heavy() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:registry|url) = "(\w+://[^/"]+|[^"]*)', text)) == {
        "https://pypi.org",
        "https://files.pythonhosted.org",
    }
    packages = {package["name"]: package for package in tomllib.loads(text)["package"]}
    own = packages["sparingly"]
    groups = own.get("dev-dependencies", own.get("metadata", {}).get("requires-dev", {}))
    waiting = [*own["dependencies"], *(part for group in groups.values() for part in group)]
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()["name"]
        if name not in needed:
            needed.add(name)
            waiting += packages[name].get("dependencies", [])
    assert {"numpy", "pytest"} <= needed
    assert needed.isdisjoint({"torch", "jax", "tensorflow", "numba"})


# --- documentation ----------------------------------------------------------------------------------

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every page of the documentation by its path in ``docs/``, the generated ones included."""
    reference = tmp_path_factory.mktemp("docs") / "reference"
    generated = {f"reference/{page.name}": page for page in reference_pages.main(reference)}
    written = {str(page.relative_to(ROOT / "docs")): page for page in (ROOT / "docs").rglob("*.md")}
    return {name: page.read_text(encoding="utf-8") for name, page in (written | generated).items()}


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, spelled as the site spells them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[\s]+", "-", heading) for heading in plain}


def broken_links(site: dict[str, str]) -> Iterator[str]:
    for name, text in site.items():
        for link in LINK.findall(without_code(text)):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = str((Path("/", name).parent / path).resolve().relative_to("/")) if path else name
            if target not in site or (anchor and anchor not in anchors(site[target])):
                yield f"{name}: {link}"


def test_files_named_in_the_design_are_there() -> None:
    names = set(re.findall(r"[\w/]+\.pyi?\b", (ROOT / "docs" / "design.md").read_text(encoding="utf-8")))
    package = ROOT / "src" / "sparingly"
    paths = {str(path.relative_to(package)) for path in (*SOURCES, *package.rglob("*.pyi"))}
    short = {path.rpartition("/")[2] for path in paths}
    assert len(names) > 30
    assert {name for name in names if name not in (paths if "/" in name else short)} == set()


def test_links_between_pages_resolve(site: dict[str, str]) -> None:
    assert list(broken_links(site)) == []


def test_every_page_says_whom_it_is_for(site: dict[str, str]) -> None:
    silent = re.compile(r"^# .+\n\n(?!For )", re.MULTILINE)
    assert [name for name, text in site.items() if silent.search(without_code(text))] == []


def test_a_broken_link_is_found() -> None:
    pages = {
        "a.md": "# One\n[x](sub/b.md#two-words) [y](b.md) [z](#one)",
        "sub/b.md": "## Two words\n[up](../a.md#no)",
    }
    assert list(broken_links(pages)) == ["a.md: b.md", "sub/b.md: ../a.md#no"]


def test_readme_links_resolve() -> None:
    links = LINK.findall(without_code((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [link for link in links if not re.match(r"\w+:|#", link) and not (ROOT / link).exists()] == []


def test_every_page_is_in_the_navigation(site: dict[str, str]) -> None:
    navigation = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    assert sorted(re.findall(r'"([\w/-]+\.md)"', navigation)) == sorted(site)


def test_every_method_is_in_the_reference_and_in_a_page_of_its_family(site: dict[str, str]) -> None:
    prose = "\n".join(text for name, text in site.items() if name != "reference/methods.md")
    assert [name for name in registered() if f"| `{name}` |" not in site["reference/methods.md"]] == []
    assert [name for name in registered() if f"`{name}`" not in prose] == []


def test_every_public_name_is_in_the_reference(site: dict[str, str]) -> None:
    assert [name for name in sparingly.__all__ if f"### `{name}`" not in site["reference/python.md"]] == []
