"""Write the reference pages from the code: methods, Python names, commands and file formats.

``python tools/reference_pages.py [FOLDER]`` writes ``methods.md``, ``python.md``, ``commands.md`` and
``formats.md`` into ``docs/reference``, or into the folder given. They are not kept in git: the code is
their source.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
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
KIND_TITLES = {
    "utility": (
        "Utilities",
        "A utility is a number per item: how much judging it teaches. Higher is better.",
    ),
    "selector": ("Selectors", "A selector turns data and a budget into a selection directly."),
    "design": ("Designs", "A design turns a utility and a budget into a selection."),
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
        "formats.md": formats_page(),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]


# --- methods ----------------------------------------------------------------------------------------


def methods_page() -> str:
    """Return the page of every registered method, by kind."""
    kinds = dict.fromkeys([*KIND_TITLES, *sorted(method.kind for method in registered().values())])
    parts = [
        "# Methods\n\n"
        "For readers who look up a method and its parameters. Every method that is registered, "
        "read from the registry, as `sparingly methods` lists them. "
        "A method is written `name:key=value,key=value`; a method inside a method goes into parentheses."
    ]
    for kind in kinds:
        methods = [method for method in registered().values() if method.kind == kind]
        if methods:
            title, sentence = KIND_TITLES.get(kind, (f"{kind.capitalize()}s", ""))
            parts += [f"## {title}", sentence, *(_method_section(method) for method in methods)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _method_section(method: type[Method]) -> str:
    facts = describe_method(method)
    parts = [f"### `{facts['name']}`", _markdown(inspect.getdoc(method) or "")]
    parts.append(f"**Needs**: {', '.join(facts['needs']) or 'nothing but item ids'}.")
    if facts["reference"]:
        parts.append(f"**Follows**: {facts['reference']}")
    if facts["parameters"]:
        parts.append(_parameter_table(facts["parameters"]))
    return "\n\n".join(parts)


def _parameter_table(parameters: list[dict[str, Any]]) -> str:
    rows = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    for parameter in parameters:
        kind = " or ".join(f"`{choice}`" for choice in parameter["choices"] or []) or parameter["type"]
        default = "required" if parameter["required"] else f"`{_spelled(parameter['default'])}`"
        rows.append(f"| `{parameter['name']}` | {kind} | {default} | {_cell(parameter['help'])} |")
    return "\n".join(rows)


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


# --- commands ---------------------------------------------------------------------------------------


def commands_page() -> str:
    """Return the page of every command, with what its ``--help`` prints."""
    parts = ["# Commands", "For people in a terminal: what `sparingly COMMAND --help` prints.", _help_block()]
    for name in (name for name in build() if not name.startswith("-")):
        parts += [f"## `sparingly {name}`", _help_block(name)]
        for inner in _inner_commands(name):
            parts += [f"### `sparingly {name} {inner}`", _help_block(name, inner)]
    return "\n\n".join(parts) + "\n"


def _inner_commands(name: str) -> list[str]:
    """Return the commands inside a command; most have none."""
    inside = build()[name]
    return [inner for inner in inside if not inner.startswith("-")] if inside.default_command is None else []


def _help_block(*command: str) -> str:
    environment = os.environ | {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", "from sparingly.cli import main; main()", *command, "--help"],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    lines = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
    return f"```text\n{lines}\n```"


# --- formats ----------------------------------------------------------------------------------------


def formats_page() -> str:
    """Return the page of every file format that is read, with its options."""
    parts = [
        "# Formats",
        "For people whose file is read wrongly. Formats are tried in this order; `--format NAME` names one.",
    ]
    for each in formats():
        facts = [f"{each.summary[:1].upper()}{each.summary[1:]}."]
        if each.extensions:
            facts.append(f"Extensions: {', '.join(f'`{name}`' for name in each.extensions)}.")
        facts.append("Read and written." if each.writes else "Read only.")
        parts += [f"## `{each.name}`", " ".join(facts)]
        if each.options:
            rows = [f"| `{name}` | {_cell(meaning)} |" for name, meaning in each.options.items()]
            parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


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
