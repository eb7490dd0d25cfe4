"""Files that somebody changed: importers take or leave every answer, or say in a sentence what is wrong."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import SparinglyError
from sparingly.data.scale import Scale
from sparingly.run.forms.form import FormKind
from tests.run.exchange import appraise_fake, pearmut_fake
from tests.run.exchange.asked import Fake, adds_up, asked_set, everything
from tests.run.exchange.fakes import Answers
from tests.run.exchange.test_potato import answering as potato_answering
from tests.run.exchange.test_potato import slide
from tests.run.exchange.test_round_trip import DATA, TOOLS, exported, whole_score

TRIES = 12
# Of all nasty values in all kinds of places, continuous integration tries one of so many.
SHARE = 11
ODD: tuple[Any, ...] = (
    None, "", 0, -1, 1e308, True, [], {}, "x", [1], {"a": 1}, 10**30, "2024-13-45", "NaN", "=1", -0.5, 5.5,
)  # fmt: skip
# Put into the files as they stand: numbers that are too large, and values that are nested too deeply.
RAW = {
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "NaN": "NaN",
    "1e400": "1e400",
    "400 digits": "9" * 400,
    "-400 digits": f"-{'9' * 400}",
    "5000 digits": "9" * 5000,
    "900 levels": "[" * 900 + "]" * 900,
    "90000 levels": "[" * 90_000 + "]" * 90_000,
    "objects": '{"a":' * 300 + "1" + "}" * 300,
    "null": "null",
    "true": "true",
    "-1": "-1",
    "text": '"x\\u0000\\ud800"',
    "list": "[[null]]",
    "largest": "1.7976931348623157e308",
}
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
    """Write rows or values; a text that is the name of a raw value becomes that value."""
    if path.suffix == ".csv":
        target = io.StringIO(newline="")
        rows = [row if isinstance(row, list) else [row] for row in values]
        csv.writer(target).writerows(
            [RAW.get(str(cell).removeprefix("raw "), cell) for cell in row] for row in rows
        )
        path.write_text(target.getvalue(), encoding="utf-8")
        return
    lines = values if path.suffix == ".jsonl" else [values]
    text = "\n".join(json.dumps(line) for line in lines)
    for name, raw in RAW.items():
        text = text.replace(f'"raw {name}"', raw)
    path.write_text(text, encoding="utf-8")


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
def test_answers_still_add_up(tmp_path: Path, name: str, kind: FormKind) -> None:
    tool, fake, _ = TOOLS[name]
    aspects = None if kind == "spans" else ["overall"]
    tasks = exported(tmp_path, DATA, tool, kind, aspects=aspects, scale=Scale(0, 10))
    back = fake(sorted((tmp_path / "out").iterdir()), Answers(tasks, whole_score))
    _damage(list(back), tmp_path / "out.key.json", f"{name} {kind}")


def _pearmut_marks(entries: list[Any]) -> list[Any]:
    """Mark the first letter of every output, and move a slider."""
    for entry in entries:
        for answer in entry["annotation"]:
            for said in answer.values():
                said["error_spans"] = [{"start_i": 0, "end_i": 0, "severity": "minor", "category": "a"}]
                said["sliders"] = {"overall": 1}
    return entries


def _potato_marks(item: Any) -> list[Any]:
    mark = {"start": 0, "end": 1, "text": "a", "type": "style", "severity": "minor"}
    held = {"errors": [mark] if item["output"] else [], "score": 99}
    return [[{"schema": "error_spans", "name": "error_spans"}, held], slide(item)]


def _potato(answer: Any) -> Fake:
    def fake(folder: Path) -> list[Path]:
        made, items = potato_answering(answer)(folder)
        return [*sorted(made.rglob("user_state.json")), items]

    return fake


LOGS: list[tuple[str, Fake, dict[str, Any]]] = [
    ("pearmut", pearmut_fake.answering(), {}),
    ("pearmut", pearmut_fake.answering(_pearmut_marks), {"kind": "spans", "aspects": "overall"}),
    ("appraise", appraise_fake.answering(appraise_fake.documents), {"options": appraise_fake.LANGUAGES}),
    ("potato", _potato(lambda item: [slide(item)]), {}),
    ("potato", _potato(_potato_marks), {"kind": "spans", "aspects": "overall"}),
]
LOG_NAMES = ["pearmut", "pearmut spans", "appraise", "potato", "potato spans"]


@pytest.mark.parametrize(("tool", "fake", "settings"), LOGS, ids=LOG_NAMES)
def test_logs_still_add_up(tmp_path: Path, tool: str, fake: Fake, settings: dict[str, Any]) -> None:
    data, out = asked_set(), tmp_path / "out"
    sparingly.export_tasks(data, everything(data), to=tool, folder=out, **settings)
    _damage(list(fake(out)), tmp_path / "out.key.json", tool)


def _shapes(values: Any) -> list[tuple[Any, ...]]:
    """Return one place of every kind: places that differ in numbers only are alike, but for columns."""
    if values and isinstance(values[0] if isinstance(values, list) else None, list):
        return [(1, column) for column in range(len(values[1]))]
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for place in _places(values):
        found.setdefault(tuple("#" if isinstance(key, int) else key for key in place), place)
    return list(found.values())


def _all_nasty(files: Sequence[Path], key: Path, share: int) -> int:
    """Put every nasty value into every kind of place, or into one of so many; return how often."""
    done = 0
    for path in files:
        whole = _read(path)
        for turn, (place, name) in enumerate((place, name) for place in _shapes(whole) for name in RAW):
            if turn % share:
                continue
            held = copy.deepcopy(whole)
            inside = held
            for step in place[:-1]:
                inside = inside[step]
            inside[place[-1]] = f"raw {name}"
            _write(path, held)
            try:
                taken = sparingly.import_answers(files, key=key, raters={"7": "Ada"})
            except SparinglyError:
                pass
            else:
                assert adds_up(taken), (place, name)
                numbers = [row[field] for row in taken.rows() for field in ("score", "seconds")]
                assert all(number is None or math.isfinite(number) for number in numbers), (place, name)
            done += 1
        _write(path, whole)
    return done


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_nasty_values_are_left_out_or_one_sentence(tmp_path: Path, name: str, kind: FormKind) -> None:
    tool, fake, _ = TOOLS[name]
    aspects = None if kind == "spans" else ["overall"]
    tasks = exported(tmp_path, DATA, tool, kind, aspects=aspects, scale=Scale(0, 10))
    back = fake(sorted((tmp_path / "out").iterdir()), Answers(tasks, whole_score))
    assert _all_nasty(list(back), tmp_path / "out.key.json", SHARE) > 8


@pytest.mark.parametrize(("tool", "fake", "settings"), LOGS, ids=LOG_NAMES)
def test_nasty_values_in_logs_are_left_out_or_one_sentence(
    tmp_path: Path, tool: str, fake: Fake, settings: dict[str, Any]
) -> None:
    data, out = asked_set(), tmp_path / "out"
    sparingly.export_tasks(data, everything(data), to=tool, folder=out, **settings)
    assert _all_nasty(list(fake(out)), tmp_path / "out.key.json", SHARE) > 8


WORDS = ("status", "answer", "user_id", "value", "choices", "selected", "rank", "validations", "label")


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if not case[0].startswith("csv")])
@pytest.mark.parametrize("odd", [[1], {"a": 1}, 5.5], ids=str)
def test_what_should_be_a_word_is_none(tmp_path: Path, name: str, kind: FormKind, odd: Any) -> None:
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
