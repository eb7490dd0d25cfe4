"""The command line inside one process: options of every command, and errors as sentences."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_NO, EXIT_WRONG, AnswerIsNo, InputError
from sparingly.cli import app, main
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """The demo's data, a selection and a never-select list, as files."""
    data = load_invented()
    with TemporaryDirectory() as folder:
        sparingly.save(data, Path(folder, "data.jsonl"))
        sparingly.select(data, "metric_var:metric=learned", "20%").save(Path(folder, "selection.json"))
        Path(folder, "never.txt").write_text("item-000\n\n item-001 \n", encoding="utf-8")
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture
def command(
    files: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Run a command line in a folder with those files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


SELECT = "select data.jsonl -m random -b 5"
AGREE = "agree data.jsonl selection.json -a overall"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("infp", 'Unknown command "infp"'),
        ("info", 'Command "info" parameter SOURCES requires an argument.'),
        ("info absent.jsonl", "absent.jsonl: there is no such file."),
        ("info data.jsonl --from jsnl", 'There is no format "jsnl". Did you mean jsonl'),
        ("info data.jsonl -S column", 'The option "column" is not of the form key=value: -S sheet=2.'),
        ("info data.jsonl -S =x", 'The option "" is not of the form key=value: -S sheet=2.'),
        ("info data.jsonl -S a=b", 'There is no option of the format jsonl "a".'),
        ("info data.jsonl --lower-is-better TER", 'There is no metric or aspect "TER".'),
        (
            "estimate selection.json selection.json",
            "There are two selections, selection.json and",
        ),
        ("methods metric_vra", 'There is no method "metric_vra". Did you mean metric_var'),
        ("methods --kind verb", '"verb" is not a kind of method.'),
        ("select data.jsonl -b 5 -m random --question best", "A question goes without a method"),
        ("select data.jsonl -m random", "--budget"),
        ("select data.jsonl -m random -b 0", "The budget must be a finite number above zero, not 0."),
        ("select data.jsonl -m random -b 241", "The budget of 241 items is larger than the 240"),
        ("select data.jsonl -m random -b 101%", "is more than everything"),
        ("select data.jsonl -m random -b lots", '"lots" is not a budget.'),
        ("select data.jsonl -m metric_var -b 5", "There are 4 metrics: "),
        ("select data.jsonl -m rndom -b 5", 'There is no method "rndom". Did you mean random'),
        ("select data.jsonl -m random: -b 5", "cannot be read"),
        (f"{SELECT} --unit word", 'Invalid value "word" for --unit.'),
        (f"{SELECT} --quota some", 'Invalid value "some" for --quota.'),
        (f"{SELECT} --seed x", 'unable to convert "x" into int'),
        (f"{SELECT} --balance genre", 'There is no column "genre".'),
        (f"{SELECT} --cost price", 'There is no column of costs "price".'),
        ("select data.jsonl absent.json -m random -b 5", "absent.json: there is no such file."),
        ("select data.jsonl -m random", "Name a budget: sparingly select data.jsonl -m random --budget 100"),
        (f"{SELECT} --never absent.txt", "absent.txt: there is no such file."),
        (f"{SELECT} -o absent/x.json", "absent/x.json: the folder to write to does not exist."),
        (f"{SELECT} --bolance domain", "--bolance"),
        ("verify data.jsonl", "Name the selection, estimate or ranking, too: sparingly verify RESULT.json"),
        ("verify selection.json selection.json", "There are two results to verify"),
        ("writeup selection.json --format word", 'Invalid value "word" for --format.'),
        ("agree data.jsonl selection.json", "--aspect"),
        ("agree data.jsonl selection.json -a overal", 'no aspect or metric "overal". Did you mean overall'),
        (f"{AGREE} --runs 0", 'Invalid value "0" for --runs.'),
        (f"{AGREE} --draws -1", 'Invalid value "-1" for --draws.'),
        (f"{AGREE} --flips 0", 'Invalid value "0" for --flips.'),
        (f"{AGREE} --tie -1", 'Invalid value "-1.0" for --tie.'),
        (f"{AGREE} --test fast", 'Invalid value "fast" for --test.'),
        (f"{AGREE} --curve --measure kendal", 'There is no measure "kendal".'),
        (
            "convert data.jsonl data.xyz",
            'The extension ".xyz" of data.xyz is not of a format that can be written.',
        ),
        ("convert data.jsonl out.jsonl --to wrod", 'There is no format "wrod".'),
        ("convert data.jsonl data.jsonl", "data.jsonl is the file to read from: name another one"),
        ("convert data.jsonl ../{folder}/data.jsonl --to subset2evaluate", "is the file to read from"),
        ("demo --out data.jsonl", "data.jsonl: File exists."),
    ],
)
def test_an_error_is_one_line(command: Command, tmp_path: Path, line: str, sentence: str) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = command(line.replace("{folder}", tmp_path.name))
    assert (code, out) == (EXIT_WRONG, "")
    assert err.startswith("sparingly: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing is left behind"


@pytest.mark.parametrize(
    "options",
    [
        "-m random -b 20 --balance domain",
        "-m random -b 20 --balance domain --quota share",
        "-m metric_var:metric=learned -b 30 --unit document",
        "-m metric_var:metric=learned -b 2h --cost length",
        "-m 'mix:of=(metric_avg:metric=judge)+(2*metric_var:metric=judge)' -b 12",
        "-m 'top:utility=(metric_var:metric=learned),balance=domain' -b 12",
        "selection.json -m metric_var:metric=learned -b 5",
        "-m metric_var:metric=learned -b 238 --never never.txt",
    ],
)
def test_what_select_writes_is_verified(command: Command, options: str) -> None:
    code, out, err = command(f"select data.jsonl {options} -o chosen.json --json --seed 3")
    assert (code, err) == (EXIT_DONE, "")
    assert json.loads(out) == json.loads(Path("chosen.json").read_text(encoding="utf-8"))
    assert command("verify chosen.json data.jsonl --json")[0] == EXIT_DONE
    assert "of 240 items" in command("writeup chosen.json")[1]
    if "never" in options:
        assert {"item-000", "item-001"}.isdisjoint(row["item"] for row in json.loads(out)["rows"])


def test_methods_by_name_and_kind(command: Command) -> None:
    assert "pairwise" in command("methods metric_cons")[1]
    assert json.loads(command("methods metric_cons --json")[1])["name"] == "metric_cons"
    kinds = json.loads(command("methods --kind utility --json")[1])
    assert {method["kind"] for method in kinds} == {"utility"}
    strategies = json.loads(command("methods --kind strategy --json")[1])
    assert {"waves", "auto", "casf"} <= {method["name"] for method in strategies}


def test_a_link_to_the_source_is_not_written_over(command: Command, tmp_path: Path) -> None:
    held = (tmp_path / "data.jsonl").read_bytes()
    (tmp_path / "link.jsonl").symlink_to("data.jsonl")
    assert command("convert data.jsonl link.jsonl")[0] == EXIT_WRONG
    assert (tmp_path / "data.jsonl").read_bytes() == held
    assert command("convert data.jsonl other.jsonl")[0] == EXIT_DONE
    assert command("convert data.jsonl other.jsonl")[0] == EXIT_DONE, "any other file may be written over"


def test_roles_are_shown_and_can_be_changed(command: Command, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("item,model,COMET,human\n1,a,0.5,3\n1,b,0.6,4\n", encoding="utf-8")
    described = json.loads(command("info u.csv --json")[1])
    assert [one["name"] for one in described["metrics"]] == ["COMET"]
    assert [one["role"] for one in described["roles"]] == ["item", "model", "metric", "human"]
    shown = command("info u.csv --role COMET=column -v")[1]
    assert "cell columns (1) COMET" in " ".join(shown.split())
    assert "COMET  column" in command("info u.csv")[1], "what was said is saved"


def test_info_of_a_selection(command: Command) -> None:
    assert json.loads(command("info data.jsonl selection.json --json")[1])["n"] == 48


def test_citations_for_machines(command: Command) -> None:
    text = command("--cite")[1]
    code, out, err = command("--json --cite")
    assert (code, err) == (EXIT_DONE, "")
    cited = json.loads(out)
    assert text.startswith(cited["bibtex"])
    assert cited["bibtex"].startswith("@software{sparingly,")
    assert [paper["year"] for paper in cited["papers"]] == [2025, 2024, 2024, 2022, 2023, 2024]
    for paper in cited["papers"]:
        listed = f"  {', '.join(paper['used_for'])}: {paper['authors']} ({paper['year']}),\n"
        assert f"{listed}    {paper['title']}\n" in text


def test_every_answer_is_the_same_twice(command: Command) -> None:
    for line in ("info data.jsonl --json", f"{SELECT} --json", f"{AGREE} --json", "methods"):
        assert command(line) == command(line)


def test_no_is_one_and_yes_is_none(command: Command) -> None:
    held = json.loads(Path("selection.json").read_text(encoding="utf-8"))
    assert command("verify selection.json data.jsonl")[0] == EXIT_DONE
    held["signature"]["seed"] = 99
    held["rows"] = held["rows"][::-1]
    Path("selection.json").write_text(json.dumps(held), encoding="utf-8")
    code, out, err = command("verify selection.json data.jsonl")
    assert (code, err) == (EXIT_NO, "")
    assert out.startswith("NOT verified")


# --- the one place for errors -----------------------------------------------------------------------


class Failing:
    """An application that raises what it is told."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, arguments: list[str]) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (AnswerIsNo("no is the answer."), EXIT_NO, "sparingly: no is the answer.\n"),
        (
            PermissionError(13, "Permission denied", "x.json"),
            EXIT_WRONG,
            "sparingly: x.json: Permission denied.\n",
        ),
        (OSError(28, "No space left on device"), EXIT_WRONG, "sparingly: No space left on device.\n"),
        (sparingly.UsageError("two\nlines \x1b[1m"), EXIT_WRONG, "sparingly: two lines \\x1b[1m\n"),
    ],
)
def test_errors_become_codes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr(app, "build", lambda **_: Failing(error))
    assert run([]) == code
    assert capsys.readouterr() == ("", sentence)


def test_an_interruption_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(app, "build", lambda **_: Failing(KeyboardInterrupt()))
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == 130
    assert capsys.readouterr().err == "sparingly: interrupted; nothing was half-written.\n"


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "build", lambda **_: Failing(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        run([])


FILE_COMMANDS = [
    "info",
    "agree",
    "estimate",
    "rank",
    "strengths",
    "report",
    "convert",
    "select",
    "plan",
    "verify",
    "writeup",
    "diff",
    "raters",
    "assign",
    "export",
    "import",
]


@pytest.mark.parametrize(
    "command", [*FILE_COMMANDS, "pool score", "pool select", "campaign status", "figure curve"]
)
def test_a_nul_in_an_argument_is_one_sentence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "a\0b.jsonl"]) == 2
    assert capsys.readouterr().err == (
        'sparingly: The argument "a\\x00b.jsonl" holds a NUL character, and no name or value may.\n'
    )


def test_a_nul_in_a_path_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file name cannot hold a NUL character"):
        sparingly.load(tmp_path / "a\0b.jsonl")
    with pytest.raises(InputError, match="a file name cannot hold a NUL character"):
        sparingly.Selection.load(tmp_path / "a\0b.json")
    with pytest.raises(InputError, match="a file name cannot hold a NUL character"):
        sparingly.save(load_invented(), tmp_path / "a\0b.jsonl")
