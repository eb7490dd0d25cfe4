"""Measure the house: files, lines, importers, names, what is loaded, and how long commands take.

    .venv/bin/python tools/house.py                 # the figures of the working tree, as a table
    .venv/bin/python tools/house.py --names src/sparingly/infer/rank    # where the empty names are
    .venv/bin/python tools/house.py --importers src/sparingly/infer     # modules with one importer, and which
    .venv/bin/python tools/house.py --fast          # without starting commands
    .venv/bin/python tools/house.py --json FILE     # for a comparison later

A name is empty when it says nothing of what it holds: a participle or pronoun alone (``kept``, ``told``).
Names are those that are bound: functions, classes, parameters, variables, fields.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sparingly"
EMPTY = frozenset(
    """
    about added again all_of alone already among answered apart around asked at_all away before began
    begun beside both bought brought built called came carried chosen_by come counted cut drawn done
    each earned ended every everything few filled first_of fitted fitting for_all found from_here full
    gained gave given gone got had heard held here him it its joined judged_by kept kind_of known laid
    learned least left let likely made many marked meant met missing_of most much named needed none
    nothing now of of_all on_it one ones only other others own part_of placed played put read_of
    ready reached rest said same seen sent settled shown side_of small some such taken that the_one
    the_rest their them there these they thing things this those told took turned used wanted was
    weighed well went what when where which who whole whose with_it within without word_of worked
    written wrong yet
    """.split()
)
COMMANDS = {
    "--version": ["--version"],
    "info": ["info", "{demo}"],
    "select": ["select", "{demo}", "-b", "60", "-o", "{out}"],
}


# The made-up set of 240 items, saved.
_SAVE = "import sparingly, sparingly.data.synthetic as made; sparingly.save(made.load_invented(), {})"
# What people do with it, as commands in a row; FILL stands for a person who answers.
FILL = ["fill"]
WAYS = {
    "select": [["select", "demo.jsonl", "-b", "60", "-o", "chosen.json"]],
    "CSV to report": [["report", "demo.csv", "-a", "overall", "-o", "report.html"]],
    "campaign, answers, next round": [
        [
            "campaign",
            "new",
            "c.db",
            "demo.jsonl",
            "-b",
            "20",
            "-a",
            "overall",
            "--scale",
            "0,100",
            "--size",
            "10",
        ],
        ["campaign", "next", "c.db", "-o", "questions.csv"],
        FILL,
        ["campaign", "record", "c.db", "answers.csv"],
        ["campaign", "next", "c.db"],
    ],
    "bench": [
        ["bench", "--sets", "demo", "--methods", "random;metric_var:metric={metric}", "-o", "t.parquet"]
    ],
}
_FOLLOW = """
import csv, json, sys
from sparingly.cli import main
for command in json.loads(sys.argv[1]):
    if command == ["fill"]:
        with open("questions.csv", newline="") as file:
            rows = [{**row, "score": "50", "rater": "anna"} for row in csv.DictReader(file)]
        with open("answers.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        continue
    try:
        main(command)
    except SystemExit as leaving:
        if leaving.code:
            raise
print("LOADED", sum(name.split(".")[0] == "sparingly" for name in sys.modules))
"""


def sources(folder: Path = PACKAGE) -> list[Path]:
    """Return the modules below a folder."""
    return sorted(folder.rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the dotted name of a module of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(tree: ast.Module, modules: set[str]) -> set[str]:
    """Return the modules of the package that a module imports when it runs, inside functions too."""
    names: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in modules else node.module)
        waiting += ast.iter_child_nodes(node)
    return names & modules


def import_graph(folder: Path = PACKAGE) -> dict[str, set[str]]:
    """Return what each module of the package imports."""
    trees = {module_name(path): parsed(path) for path in sources(folder)}
    return {name: imported_modules(tree, set(trees)) - {name} for name, tree in trees.items()}


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, or nothing where none do."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def importers() -> dict[str, set[str]]:
    """Return for each module those that import it; packages' own ``__init__`` files are not counted."""
    graph = import_graph()
    by_module: dict[str, set[str]] = defaultdict(set)
    for name, imported in graph.items():
        for other in imported:
            by_module[other].add(name)
    packages = {module_name(path) for path in sources() if path.name == "__init__.py"}
    return {name: by_module[name] for name in graph if name not in packages}


def bound_names(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Yield each bound name once a scope, with the function or class it is bound in and its line."""

    def visit(node: ast.AST, scope: str, seen: set[str]) -> Iterator[tuple[str, str, int]]:
        for child in ast.iter_child_nodes(node):
            name = _bound(child)
            if name is not None and name not in seen:
                seen.add(name)
                yield name, scope, getattr(child, "lineno", 0)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from visit(child, f"{scope}.{child.name}".lstrip("."), set())
            else:
                yield from visit(child, scope, seen)

    yield from visit(tree, "", set())


def _bound(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    if isinstance(node, ast.arg):
        return node.arg if node.arg not in ("self", "cls") else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return None


def is_empty(name: str) -> bool:
    """Say whether a name says nothing of what it holds."""
    return name.strip("_").lower() in EMPTY


def names_below(folder: Path) -> Iterator[tuple[Path, str, str, int]]:
    """Yield the empty names below a folder: file, function, name, line."""
    for path in sources(folder) if folder.is_dir() else [folder]:
        for name, scope, line in bound_names(parsed(path)):
            if is_empty(name):
                yield path, scope, name, line


def class_names() -> Counter[str]:
    """Return how often each class name is defined in the package."""
    return Counter(
        node.name for path in sources() for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)
    )


def run_command(arguments: list[str]) -> tuple[float, int]:
    """Return the processor seconds of a command, and how many modules of ours it loads (two runs of it)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE.parent)}
    code = "import sys; from sparingly.cli import main; sys.argv[0] = 'sparingly'; main()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    counting = (
        "import atexit, sys; atexit.register(lambda: print('\\nLOADED', "
        "sum(name.split('.')[0] == 'sparingly' for name in sys.modules)));" + code
    )
    done = subprocess.run(
        [sys.executable, "-c", counting, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return seconds, int(re.findall(r"LOADED (\d+)", done.stdout)[-1])


def command_figures(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield processor seconds (best of three) and modules loaded, command by command."""
    demo, out = folder / "demo.jsonl", folder / "chosen.json"
    code = _SAVE.format(repr(str(demo)))
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    for name, arguments in COMMANDS.items():
        filled = [part.format(demo=demo, out=out) for part in arguments]
        runs = []
        for _ in range(3):
            out.unlink(missing_ok=True)
            runs.append(run_command(filled))
        yield f"`{name}`: processor seconds", f"{min(seconds for seconds, _ in runs):.2f}"
        yield f"`{name}`: modules of ours loaded", str(runs[0][1])


def way_figures(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield how many of our modules each way of working touches."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE.parent)}
    code = f"{_SAVE.format(repr('demo.jsonl'))}; {_SAVE.format(repr('demo.csv'))}"
    for name, commands in WAYS.items():
        place = folder / name.replace(" ", "-")
        place.mkdir()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=place)
        done = subprocess.run(
            [sys.executable, "-c", _FOLLOW, json.dumps(commands)],
            env=environment,
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        )
        yield f"{name}: modules of ours", re.findall(r"LOADED (\d+)", done.stdout)[-1]


def docs_words(folder: Path = ROOT / "docs") -> Counter[str]:
    """Return the words of the documentation by kind of page: its folder, or its name."""
    words: Counter[str] = Counter()
    for page in folder.rglob("*.md"):
        inner = page.relative_to(folder).parts
        words[inner[0] if len(inner) > 1 else page.stem] += len(page.read_text(encoding="utf-8").split())
    return words


def figures() -> Iterator[tuple[str, str]]:
    """Yield what is counted without starting anything."""
    files = sources()
    by_module = importers()
    total = empty = 0
    for path in files:
        for name, _, _ in bound_names(parsed(path)):
            total, empty = total + 1, empty + is_empty(name)
    yield "files", str(len(files))
    yield "lines", f"{sum(len(path.read_text(encoding='utf-8').splitlines()) for path in files):,}"
    yield "modules with one importer", str(sum(len(users) == 1 for users in by_module.values()))
    yield "names that are empty words", f"{empty:,} of {total:,} ({empty / total:.1%})"
    yield "class names defined more than once", str(sum(count > 1 for count in class_names().values()))
    yield "public names", str(_public_names())
    for kind, words in sorted(docs_words().items()):
        yield f"docs, {kind}: words", f"{words:,}"


def _public_names() -> int:
    code = "import sparingly; print(len(sparingly.__all__))"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def main(arguments: list[str] | None = None) -> None:
    """Print the figures of the working tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--names", type=Path, help="list the empty names below a folder")
    parser.add_argument("--importers", type=Path, help="list the modules below a folder with one importer")
    parser.add_argument("--fast", action="store_true", help="start no commands")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    if options.names:
        print_names(options.names.resolve())
    elif options.importers:
        print_importers(options.importers.resolve())
    else:
        print_figures(options.fast, options.json)


def print_names(folder: Path) -> None:
    """Print the empty names below a folder: file, function, name, line."""
    for path, scope, name, line in names_below(folder):
        print(f"{path.relative_to(ROOT)} {scope or '*'} {name} {line}")


def print_importers(folder: Path) -> None:
    """Print the modules below a folder that one module alone imports."""
    room = module_name(folder / "__init__.py")
    for name, users in sorted(importers().items()):
        if name.startswith(f"{room}.") and len(users) == 1:
            print(f"{name} <- {next(iter(users))}")


def print_figures(fast: bool, file: Path | None) -> None:
    """Print the figures of the working tree, and write them to a file if there is one."""
    rows = dict(figures())
    if not fast:
        with tempfile.TemporaryDirectory() as folder:
            rows |= dict(command_figures(Path(folder)))
            rows |= dict(way_figures(Path(folder)))
    for name, value in rows.items():
        print(f"{name:40} {value}")
    if file is not None:
        file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
