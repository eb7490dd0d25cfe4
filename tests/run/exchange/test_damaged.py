"""Files that somebody changed: importers take or leave every answer, or say in a sentence what is wrong."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import SparinglyError
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.tasks import Kind
from tests.run.exchange import appraise_fake, pearmut_fake
from tests.run.exchange.asked import adds_up, asked_set, everything
from tests.run.exchange.fakes import Answers
from tests.run.exchange.test_round_trip import DATA, TOOLS, exported, whole_score

TRIES = 12
ODD: tuple[Any, ...] = (
    None, "", 0, -1, 1e308, True, [], {}, "x", [1], {"a": 1}, 10**30, "2024-13-45", "NaN", "=1", -0.5, 5.5,
)  # fmt: skip
CASES = [(name, kind) for name, (_, _, kinds) in TOOLS.items() for kind in kinds]


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*before, key)
        yield from _places(value[key], (*before, key))


def _changed(values: Any, draw: random.Random) -> Any:
    """Return a copy in which something is gone, doubled, or something else."""
    held = copy.deepcopy(values)
    for _ in range(draw.choice((1, 1, 2))):
        *way, last = draw.choice(list(_places(held)))
        inside = held
        for key in way:
            inside = inside[key]
        what = draw.random()
        if what < 0.3:
            inside.pop(last)
        elif what < 0.8 or isinstance(inside, dict):
            inside[last] = copy.deepcopy(draw.choice(ODD))
        else:
            inside.append(copy.deepcopy(inside[last]))
        if not held:
            return held
    return held


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(text, newline="")))
    return (
        json.loads(text)
        if path.suffix == ".json"
        else [json.loads(line) for line in text.split("\n") if line]
    )


def _write(path: Path, values: Any) -> None:
    if path.suffix == ".csv":
        target = io.StringIO(newline="")
        csv.writer(target).writerows(row if isinstance(row, list) else [row] for row in values)
        path.write_text(target.getvalue(), encoding="utf-8")
        return
    lines = values if path.suffix == ".jsonl" else [values]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")


def _damage(files: Sequence[Path], key: Path, name: str) -> None:
    draw, whole = random.Random(name), {path: _read(path) for path in files}  # noqa: S311 - no secret
    read = 0
    for _ in range(TRIES):
        path = draw.choice(files)
        _write(path, _changed(whole[path], draw))
        try:
            taken = sparingly.import_answers(files, key=key, raters={"7": "Ada"})
        except SparinglyError:
            pass
        else:
            assert adds_up(taken)
            assert len(taken.rows()) >= len(taken)
            read += 1
        _write(path, whole[path])
    # Else every file would have been refused, and nothing added up.
    assert read


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_answers_still_add_up(tmp_path: Path, name: str, kind: Kind) -> None:
    tool, fake, _ = TOOLS[name]
    aspects = None if kind == "spans" else ["overall"]
    tasks = exported(tmp_path, DATA, tool, kind, aspects=aspects, scale=Scale(0, 10))
    back = fake(sorted((tmp_path / "out").iterdir()), Answers(tasks, whole_score))
    _damage(list(back), tmp_path / "out.key.json", f"{name} {kind}")


@pytest.mark.parametrize(
    ("tool", "fake", "options"),
    [
        ("pearmut", pearmut_fake.answering(), {}),
        ("appraise", appraise_fake.answering(appraise_fake.documents), appraise_fake.LANGUAGES),
    ],
)
def test_logs_still_add_up(
    tmp_path: Path, tool: str, fake: Callable[[Path], list[Path]], options: dict[str, str]
) -> None:
    data, out = asked_set(), tmp_path / "out"
    sparingly.export_tasks(data, everything(data), to=tool, folder=out, options=options)
    _damage(fake(out), tmp_path / "out.key.json", tool)


WORDS = ("status", "answer", "user_id", "value", "choices", "selected", "rank", "validations", "label")


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if not case[0].startswith("csv")])
@pytest.mark.parametrize("odd", [[1], {"a": 1}, 5.5], ids=str)
def test_what_should_be_a_word_is_none(tmp_path: Path, name: str, kind: Kind, odd: Any) -> None:
    tool, fake, _ = TOOLS[name]
    aspects = None if kind == "spans" else ["overall"]
    tasks = exported(tmp_path, DATA, tool, kind, aspects=aspects, scale=Scale(0, 10))
    files = list(fake(sorted((tmp_path / "out").iterdir()), Answers(tasks, whole_score)))
    _replace(files, odd)
    taken = sparingly.import_answers(files, key=tmp_path / "out.key.json", raters={"7": "Ada"})
    assert adds_up(taken)


def test_a_user_of_pearmut_without_a_name(tmp_path: Path) -> None:
    data, out = asked_set(), tmp_path / "out"
    sparingly.export_tasks(data, everything(data), to="pearmut", folder=out)
    for odd in ([1], {"a": 1}, 5.5):
        files = pearmut_fake.answering()(out)
        _replace(files, odd)
        assert adds_up(sparingly.import_answers(files, key=tmp_path / "out.key.json"))


def _replace(files: Sequence[Path], odd: Any) -> None:
    """Put something odd where words of the tool stand, one file after the other."""
    for path in files:
        held = _read(path)
        for *way, last in list(_places(held)):
            inside = held
            for key in way:
                inside = inside[key] if isinstance(inside, list | dict) and _has(inside, key) else None
            if isinstance(inside, dict) and str(last).rpartition(".")[2] in WORDS and last in inside:
                inside[last] = [odd] * len(inside[last]) if isinstance(inside[last], list) else odd
        _write(path, held)


def _has(inside: Any, key: Any) -> bool:
    return key in inside if isinstance(inside, dict) else isinstance(key, int) and key < len(inside)
