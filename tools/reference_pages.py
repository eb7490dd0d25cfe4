"""Write the reference pages from the code: methods, Python names, commands and file formats.

``python tools/reference_pages.py [FOLDER]`` writes ``methods.md``, ``python.md`` and ``commands.md`` into
``docs/reference``, or into the folder given. They are not in git: the code is their source.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sparingly
from sparingly.base.registry import Method, describe_method, registered
from sparingly.cli.app import build
from sparingly.data.io import formats

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
KINDS = {
    "selector": ("Selectors", "Turn data and a budget into a selection."),
    "design": ("Probability designs", "Draw a random sample; a utility may make items more likely."),
    "utility": ("Utilities", "A number per item: how much judging it would teach."),
    "strategy": ("Strategies", "Choose the next round of a campaign."),
    "stop": ("Stops", "Say when a campaign is finished."),
    "estimator": ("Estimators", "Turn judged items into scores of the whole set."),
}
STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
TITLES = {"Args": "Parameters"}
SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Example|Examples|Note|Notes):$")
ENTRY = re.compile(r"^(\*{0,2}\w[\w.]*)(?: \([^)]*\))?: (.*)$")


def main(folder: Path = FOLDER) -> list[Path]:
    """Write every page and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "methods.md": methods_page(),
        "python.md": python_page(),
        "commands.md": commands_page(),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]


# --- methods ----------------------------------------------------------------------------------------


def methods_page() -> str:
    """Return the page of every registered method: a table for each kind."""
    parts = [
        "# Methods\n\n"
        "For readers who look up a method or the name of a parameter. `sparingly methods NAME` explains one: "
        "its formula, its paper and what each parameter means. A method is written "
        "`name:key=value,key=value`; a method inside a method goes into parentheses."
    ]
    every = registered().values()
    for kind in dict.fromkeys([*KINDS, *sorted(method.kind for method in every)]):
        title, sentence = KINDS.get(kind, (f"{kind.capitalize()}s", ""))
        rows = [_method_row(method) for method in every if method.kind == kind]
        table = ["| name | what it does | needs | parameters |", "|---|---|---|---|", *rows]
        parts += [f"## {title}", sentence, "\n".join(table)] if rows else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _method_row(method: type[Method]) -> str:
    facts = describe_method(method)
    parameters = (
        f"`{one['name']}`" if one["required"] else f"`{one['name']}={_spelled(one['default'])}`"
        for one in facts["parameters"]
    )
    cells = (f"`{facts['name']}`", facts["summary"], ", ".join(facts["needs"]) or "–", ", ".join(parameters))
    return f"| {' | '.join(_cell(cell.replace('``', '`')) for cell in cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _spelled(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


# --- Python -----------------------------------------------------------------------------------------


def python_page() -> str:
    """Return the page of every public name of the package, from its docstring."""
    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Methods": [], "Errors": [], "Values": []}
    for name in sparingly.__all__:
        groups[_group(getattr(sparingly, name))].append(_entry(name, getattr(sparingly, name)))
    parts = ["# Python", "For people who use Python. Everything here is imported from `sparingly` itself."]
    for title, entries in groups.items():
        if entries:
            parts += [f"## {title}", *entries]
    return "\n\n".join(parts) + "\n"


def _group(thing: object) -> str:
    if isinstance(thing, type):
        if issubclass(thing, Method):
            return "Methods"
        return "Errors" if issubclass(thing, BaseException) else "Classes"
    return "Functions" if callable(thing) else "Values"


def _entry(name: str, thing: object) -> str:
    if not callable(thing):
        return f"### `{name}`\n\n`{thing!r}`"
    parts = [f"### `{name}`"]
    if not (isinstance(thing, type) and issubclass(thing, BaseException)):
        parts.append(_signature(name, thing))
    parts.append(_markdown(inspect.getdoc(thing) or ""))
    if isinstance(thing, type) and not issubclass(thing, Method | BaseException):
        parts += _members(thing)
    return "\n\n".join(part for part in parts if part)


def _signature(name: str, thing: Callable[..., object]) -> str:
    """Return the call as Python writes it; nothing where its parameters are private."""
    signature = inspect.signature(thing)
    if any(parameter.startswith("_") for parameter in signature.parameters):
        return ""
    arguments = list(_arguments(signature))
    returns = "" if isinstance(thing, type) else f" -> {_type(signature.return_annotation)}"
    call = f"{name}({', '.join(arguments)}){returns}"
    if len(call) > 90:
        call = f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){returns}"
    return f"```python\n{call}\n```"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    star = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            yield "*"
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        marks = STARS.get(parameter.kind, "")
        default = parameter.default
        # A dataclass field that is filled by a function has a default that cannot be written down.
        written = "..." if repr(default) == "<factory>" else repr(default)
        ending = "" if default is parameter.empty else f" = {written}"
        yield f"{marks}{parameter.name}: {_type(parameter.annotation)}{ending}"


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _members(thing: type) -> list[str]:
    """Return a line for every documented public attribute and method of a class."""
    rows = []
    for name, member in sorted(vars(thing).items()):
        inner = (
            getattr(member, "func", None)
            or getattr(member, "fget", None)
            or getattr(member, "__func__", member)
        )
        words = inspect.getdoc(inner)
        if name.startswith("_") or not words or not (callable(inner) or isinstance(member, property)):
            continue
        call = "" if inner is not member and not isinstance(member, classmethod | staticmethod) else "()"
        rows.append(f"- `{name}{call}`: {_first_paragraph(words)}")
    return ["\n".join(rows)] if rows else []


def _first_paragraph(words: str) -> str:
    return " ".join(words.strip().split("\n\n")[0].split())


# --- commands and formats -----------------------------------------------------------------------------


def commands_page() -> str:
    """Return the page of every command, with its first example, and of every file format."""
    parts = [
        "# Commands and formats\n\n"
        "For people in a terminal. `sparingly COMMAND --help` explains a command with its options and "
        "examples. Every command takes `--json`. Exit codes: 0 done, 1 answered no, 2 wrong use or input."
    ]
    groups: dict[str, list[str]] = {}
    for name in (name for name in build() if not name.startswith("-")):
        command = build()[name]
        group = command.group[0] if isinstance(command.group, tuple) else command.group
        rows = groups.setdefault(group if isinstance(group, str) else group.name, [])
        rows.append(_command_row(name, command.help))
        if command.default_command is None:
            inner = (inner for inner in command if not inner.startswith("-"))
            rows += [_command_row(f"{name} {one}", command[one].help) for one in inner]
    for title, rows in groups.items():
        parts += [f"## {title}", "\n".join(["| command | what it does | example |", "|---|---|---|", *rows])]
    table = [
        "| format | what it is | options (`-S name=value`) |",
        "|---|---|---|",
        *map(_format_row, formats()),
    ]
    sentence = "Formats are tried in this order; `--from NAME` names one."
    return "\n\n".join([*parts, "## File formats", sentence, "\n".join(table)]) + "\n"


def _command_row(name: str, words: str) -> str:
    example = re.search(r"```\n\s*(.+)", words)
    return f"| `{name}` | {_cell(_first_paragraph(words))} | {f'`{_cell(example[1])}`' if example else ''} |"


def _format_row(one: Any) -> str:
    endings = ", ".join(f"`{ending}`" for ending in one.extensions)
    what = f"{one.summary}{f' ({endings})' if endings else ''}{'' if one.writes else '; read only'}"
    options = "; ".join(f"`{name}`: {meaning}" for name, meaning in one.options.items())
    return f"| `{one.name}` | {_cell(what)} | {_cell(options)} |"


# --- docstrings -------------------------------------------------------------------------------------


def _markdown(docstring: str) -> str:
    """Turn a Google docstring into Markdown: sections become headings, their entries bullets."""
    out: list[str] = []
    for title, body in _sections(docstring):
        if not title:
            out.append(body)
        elif title in ("Example", "Examples"):
            out.append(f"```python\n{body}\n```" if body.startswith(">>>") else body)
        elif title in ("Args", "Attributes", "Raises"):
            out.append(f"**{TITLES.get(title, title)}**\n\n{_entries(body)}")
        else:
            out.append(f"**{title}**: {' '.join(body.split())}")
    return "\n\n".join(out)


def _sections(docstring: str) -> Iterator[tuple[str, str]]:
    title, lines = "", list[str]()
    for line in [*docstring.splitlines(), "\0"]:
        heading = SECTION.match(line)
        ends = line == "\0" or heading or (title and line and not line.startswith(" "))
        if ends:
            body = textwrap.dedent("\n".join(lines)).strip("\n")
            if body:
                yield title, body
            title, lines = (heading.group(1) if heading else ""), ([] if heading else [line])
        else:
            lines.append(line)


def _entries(body: str) -> str:
    rows: list[str] = []
    for line in body.splitlines():
        entry = None if line.startswith(" ") else ENTRY.match(line)
        if entry:
            rows.append(f"- `{entry.group(1)}`: {entry.group(2)}")
        elif rows and line.strip():
            rows[-1] += f" {line.strip()}"
        elif line.strip():
            rows.append(f"- {line.strip()}")
    return "\n".join(rows)


if __name__ == "__main__":
    for path in main(*map(Path, sys.argv[1:2])):
        sys.stdout.write(f"wrote {path.name}\n")
