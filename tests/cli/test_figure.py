"""``sparingly figure`` inside one process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented
from sparingly.show.figures import look

Command = Callable[[str], tuple[int, str, str]]
CURVE = "curve data.jsonl -a overall -m metric_var:metric=learned -m diversity --runs 3 --measure kendall_b"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("demo") / "data.jsonl"
    sparingly.save(load_invented(), path)
    return path.read_bytes()


@pytest.fixture
def command(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command line in a folder with the demo's data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.jsonl").write_bytes(content)

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(["figure", *shlex.split(line)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_a_curve_is_written_and_its_data_printed(command: Command) -> None:
    code, out, err = command(f"{CURVE} -o picture.json")
    assert (code, err) == (EXIT_DONE, "")
    assert out.endswith("written to picture.json\n")
    assert "vconcat" in json.loads(Path("picture.json").read_text(encoding="utf-8"))
    code, out, err = command(f"{CURVE} --json")
    assert (code, err) == (EXIT_DONE, "")
    data = load_invented()
    assert json.loads(out) == [
        sparingly.curve(data, method, "overall", runs=3, measure="kendall_b").to_dict()
        for method in ("metric_var:metric=learned", "diversity")
    ]


def test_json_needs_no_drawing_library(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(look, "import_module", absent)
    assert command(f"{CURVE} --json")[0] == EXIT_DONE
    code, out, err = command(f"{CURVE} -o x.svg")
    assert (code, out) == (EXIT_WRONG, "")
    assert 'pip install "sparingly[report]"' in err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("curv data.jsonl -o x.svg", 'Invalid value "curv" for KIND.'),
        (CURVE, "Say where the picture goes: --out FILE"),
        (f"{CURVE} -o x.gif", "x.gif is not a name for a picture"),
        (f"{CURVE} -o x.svg --json", "not both"),
        (f"{CURVE} -o absent/x.svg", "the folder to write to does not exist"),
        (
            "curve data.jsonl -a overall -o x.svg",
            "Name a method to compare with random items: sparingly figure curve data.jsonl",
        ),
        ("curve data.jsonl -m random -o x.svg", "Name one: sparingly figure curve data"),
        (
            "curve data.jsonl -m random -a overal -o x.svg",
            'no aspect or metric "overal". Did you mean overall',
        ),
        (f"{CURVE.replace('--runs 3', '--runs 0')} -o x.svg", 'Invalid value "0" for --runs.'),
    ],
)
def test_an_error_is_one_line(command: Command, tmp_path: Path, line: str, sentence: str) -> None:
    code, out, err = command(line)
    assert (code, out) == (EXIT_WRONG, "")
    assert err.startswith("sparingly: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


@pytest.mark.parametrize("kind", ["scores", "wins", "budget", "judge", "raters"])
def test_every_kind_is_written_with_its_answer(command: Command, kind: str) -> None:
    code, out, err = command(f"{kind} data.jsonl -a overall -o picture.json")
    assert (code, err) == (EXIT_DONE, "")
    answer, written = out.splitlines()
    assert answer.endswith((".", "%"))
    assert written == "written to picture.json"
    assert "vconcat" in Path("picture.json").read_text(encoding="utf-8")
    assert "--runs is for sparingly figure curve" in command(f"{kind} data.jsonl --runs 3 -o x.svg")[2]


def test_a_selection_names_the_method_of_a_curve(command: Command) -> None:
    data = load_invented()
    sparingly.select(data.without_labels(), "diversity", 20).save("chosen.json")
    code, out, _ = command("curve data.jsonl chosen.json -a overall --runs 3 -o picture.json")
    assert code == EXIT_DONE
    assert out.startswith("diversity: ")
