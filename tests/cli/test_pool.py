"""``sparingly pool`` on the command line: score, select and verify."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from sparingly import distil, make_evalset
from sparingly.base.errors import EXIT_DONE, EXIT_NO, EXIT_WRONG
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.select import select_pool
from sparingly.cli.app import run
from sparingly.data.selection import Selection
from tests.choose.pool.pool_data import some_records, write_pool

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in a folder with a pool in two files, one of them with bad lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    first, _ = write_pool(Path("pool"), [("jsonl", some_records(60)), ("csv.gz", some_records(40, seed=1))])
    first.write_bytes(first.read_bytes() + b"{broken\n\xff\n")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_from_files_to_a_verified_selection(command: Command) -> None:
    code, out, err = command("pool score pool --by hard --near-duplicates --out scored")
    assert (code, err) == (EXIT_DONE, "")
    assert out.startswith("100 of 102 records are sources, scored by hard\n")
    assert "broken: pool/shard-0.jsonl, line 61: not JSON: {broken\n" in out
    assert "encoding: pool/shard-0.jsonl, line 62: byte 0xff is not UTF-8" in out
    line = "pool select scored -m pivotal -b 12 --groups domain --near 0.8 -o a.json -o a.jsonl"
    code, out, err = command(line)
    assert (code, err) == (EXIT_DONE, "")
    assert "12 of " in out
    assert out.endswith("written to a.json\nwritten to a.jsonl\n")
    expected = select_pool("scored", 12, design="pivotal", groups="domain", near=0.8)
    assert Selection.load("a.json").to_dict() == expected.selection.to_dict()
    assert len(Path("a.jsonl").read_text(encoding="utf-8").splitlines()) == 12
    code, out, _ = command("pool verify scored a.json")
    assert (code, out.split(":")[0]) == (EXIT_DONE, "verified")
    score_pool(["pool/shard-0.jsonl"], "less", by="hard", near=True)
    code, out, _ = command("pool verify less a.json --json")
    assert code == EXIT_NO
    assert "different" in json.loads(out)["problems"][0]


def test_machines_get_the_counts(command: Command) -> None:
    told = json.loads(command("pool score pool --out scored --json")[1])
    assert (told["read"], told["good"], told["bad"]) == (102, 100, {"broken": 1, "encoding": 1})
    told = json.loads(command("pool select scored -m uniform -b 5% --seed 3 --json")[1])
    assert told["scored"] == 100 == sum(told["removed"].values()) + told["signature"]["of"]
    assert len(told["rows"]) == told["signature"]["n"]


def test_lists_of_ids_come_from_selections_and_texts(command: Command) -> None:
    command("pool score pool/shard-0.jsonl --out scored")
    command("pool select scored -m top -b 10 -o last.json")
    last = [str(name) for name in Selection.load("last.json").items]
    Path("anchors.txt").write_text("\n".join(last[:3]), encoding="utf-8")
    assert (
        command("pool select scored -m top -b 10 --anchors anchors.txt --never last.json -o new.json")[0] == 0
    )
    new = {str(name) for name in Selection.load("new.json").items}
    assert new & set(last) == set(last[:3])
    quota = "pool select scored -m uniform --groups domain --quota news=2,law=1 -o few.json"
    assert command(quota)[0] == EXIT_DONE
    assert sorted(row.stratum or "" for row in Selection.load("few.json")) == ["law", "news", "news"]


def test_a_model_scores_and_languages_are_told(command: Command) -> None:
    distil(make_evalset(items=60, models=3, seed=1), "hard=metric_avg:metric=source_length").save("m.skops")
    line = "pool score pool --by distilled:model=m.skops --identify --languages de,ja,ru --out scored"
    code, out, err = command(line)
    assert (code, err) == (EXIT_DONE, "")
    assert "records are sources, scored by distilled:utility=hard,digest=" in out
    assert "sources are unlike the texts that the model was trained on" in out
    told = json.loads(command("pool select scored -m top -b 4 --languages ja,de --json")[1])
    assert told["removed"]["language"] > 0
    code, _, err = command("pool select scored -m top -b 4 --languages xx")
    assert (code, err.count("\n")) == (EXIT_WRONG, 1)
    assert "xx" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "pool score pool --out scored --bad refuse",
            "pool/shard-0.jsonl, line 61: not JSON: {broken. Fix it, or add --bad skip.",
        ),
        ("pool score nothing.jsonl --out scored", "nothing.jsonl: there is no such file."),
        ("pool score pool --by json:nothing --out scored", "The function json:nothing cannot be imported"),
        ("pool score pool --by distilled:model=no.skops --out scored", "no.skops: there is no such file."),
        ("pool score pool --languages de --out scored", "add --identify"),
        ("pool select pool -m top -b 5", "pool: this is not a scored pool. Score it first with"),
        ("pool select pool -b 5", "--method"),
        ("pool select pool -m top --groups domain --quota news", '"news" is not a quota'),
    ],
)
def test_errors_are_one_sentence(command: Command, line: str, words: str) -> None:
    code, out, err = command(line)
    assert (code, out) == (EXIT_WRONG, "")
    assert words in err
    assert err.count("\n") == 1
