"""What holds of all commands: one meaning for each flag, hints in the syntax of where one is."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

import sparingly
from sparingly.cli.app import COMMANDS, build

PACKAGE = Path(sparingly.__file__).parent
# Several names, or several files of one kind, where others take one; bench's are shares for all methods.
SEVERAL = {
    "--aspect",
    "--judge",
    "--budget",
    "--method",
    "--out",
    "--never",
    "--language",
    "--covariate",
    "--at",
}
# Flags of other programs.
FOREIGN = re.compile(r"--(to_json|sample-id|samples|log_samples)")


def commands(app: App, name: str = "") -> Iterator[tuple[str, App]]:
    yield name, app
    for part in app:
        if not part.startswith("-"):
            yield from commands(app[part], f"{name} {part}".strip())


@pytest.fixture(scope="module")
def flags() -> dict[str, dict[str, Any]]:
    """The options by flag, then by command."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, app in commands(build()):
        for argument in app.assemble_argument_collection() if app.default_command else ():
            if names := [one for one in argument.names if one.startswith("--")]:
                found[names[0]][name] = argument
    return found


def test_a_flag_takes_the_same_kind_of_value_everywhere(flags: dict[str, dict[str, Any]]) -> None:
    for flag, uses in flags.items():
        kinds = defaultdict(list)
        for name, argument in uses.items():
            text = str(argument.hint)
            kind = "switch" if argument.hint is bool else "file" if "Path" in text else "value"
            several = "tuple" in text and flag not in SEVERAL
            kinds[kind, several].append(name)
        assert len(kinds) <= 1, f"{flag}: {dict(kinds)}"


def test_research_has_words_of_its_own(flags: dict[str, dict[str, Any]]) -> None:
    """What means another thing to another command has another name there."""
    elsewhere = {
        "--rate": {"distil train", "run-judge"},
        "--scale": {"distil train", "run-judge"},
        "--near": {"pool score"},
        "--against": {"pool score"},
        "--overlap": {"pool select"},
    }
    assert {
        flag: uses & set(flags[flag]) for flag, uses in elsewhere.items() if uses & set(flags[flag])
    } == {}


def test_a_short_flag_stands_for_one_long_one(flags: dict[str, dict[str, Any]]) -> None:
    long = defaultdict(set)
    for flag, uses in flags.items():
        for argument in uses.values():
            for name in argument.names:
                if re.fullmatch(r"-\w", name):
                    long[name].add(flag)
    assert {name: whole for name, whole in long.items() if len(whole) > 1} == {}


@pytest.mark.parametrize(
    "flag", ["--json", "--seed", "--role", "--labels", "--target", "--level", "--option"]
)
def test_what_every_command_has_is_explained_in_the_same_words(
    flag: str, flags: dict[str, dict[str, Any]]
) -> None:
    special = {"campaign record", "campaign release"}
    helps = {argument.parameter.help for name, argument in flags[flag].items() if name not in special}
    assert len(helps) == 1


def test_the_first_two_groups_say_where_to_start() -> None:
    start, ask, *_ = COMMANDS.values()
    assert len(start) + len(ask) <= 8


def test_help_begins_with_a_sentence_and_an_example() -> None:
    for name, app in commands(build()):
        if not name:
            continue
        first, _, rest = (app.help or (app.default_command.__doc__ or "")).partition("\n\n")
        assert len(first.strip()) <= 85, name
        example, _, _ = rest.partition("\n\n")
        assert example.strip().startswith("```\n"), name
        assert f"sparingly {name}" in example, name


def sentences(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield texts of the code that are neither docstrings nor written by `either`, of files with hints."""
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not re.search(r"(?<![\w-])--[a-z]|=…", source):
            continue
        tree = ast.parse(source)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "either":
                docs.update(map(id, node.args))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node.value


def test_sentences_of_the_package_name_no_flags() -> None:
    """They are read in Python, too: `argument`, `either` and `role_argument` write what fits."""
    for room in sorted(PACKAGE.iterdir()):
        if room.name in ("cli", "__pycache__") or not room.is_dir():
            continue
        for place, text in sentences(room):
            if place.startswith(("show/terminal", "base/syntax.py")) or " " not in text:
                continue
            hints = re.findall(r"(?<![\w-])--[a-z][a-z_-]+", FOREIGN.sub("", text))
            # Parts of commands to type begin with the flag, or begin or end with a blank.
            command = "sparingly " in text or text.startswith("--") or text != text.strip()
            assert command or not hints, f"{place}: {text}"


def test_sentences_of_commands_name_no_arguments() -> None:
    for place, text in sentences(PACKAGE / "cli"):
        assert not re.search(r"(?<![:\w,(\[-])[a-z_]+=…", text), f"{place}: {text}"
