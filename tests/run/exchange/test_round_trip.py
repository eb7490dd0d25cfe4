"""What is exported, answered and imported gives the answers back, with everything that was known."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.data.scale import Scale
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.tasks import Tasks, make_tasks
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.spans import penalty
from sparingly.run.raters.controls import control_report
from tests.run.exchange import fakes
from tests.run.exchange.fakes import Answers
from tests.run.exchange.helpers import MODELS, all_of, awkward, pairs_of, slots, texts_in

DATA = awkward()
Fake = Callable[[list[Path], Answers], list[Path]]
TOOLS: dict[str, tuple[str, Fake, tuple[FormKind, ...]]] = {
    "label-studio": ("label-studio", fakes.label_studio, ("score", "pair", "ranking", "spans")),
    "label-studio JSON_MIN": ("label-studio", fakes.label_studio_min, ("score", "pair", "ranking", "spans")),
    "argilla": ("argilla", fakes.argilla, ("score", "pair", "ranking", "spans")),
    "argilla flat": ("argilla", fakes.argilla_flat, ("score", "pair", "ranking", "spans")),
    "prodigy": ("prodigy", fakes.prodigy, ("score", "pair", "spans")),
    "csv": ("csv", fakes.csv_table, ("score", "pair", "ranking", "spans")),
}
CASES = [(name, kind) for name, (_, _, kinds) in TOOLS.items() for kind in kinds]
PAIRS = [("a,b", "7", "a+b"), ("1", "模型", 'say "hi"'), ("日本", "نموذج", "GPT-4 (beam = 4)")]


def whole_score(task: str, token: str, aspect: str) -> float:
    """Return a whole number from 0 to 10 that depends on everything."""
    return float(sum(map(ord, f"{task}{token}{aspect}")) % 11)


def exported(folder: Path, data: sparingly.EvalSet, tool: str, kind: FormKind, **asked: Any) -> Tasks:
    """Export, and return the tasks as the key knows them."""
    chosen = pairs_of(data, PAIRS) if kind == "pair" else all_of(data)
    done = sparingly.export_tasks(data, chosen, to=tool, folder=folder / "out", kind=kind, **asked)
    assert done.tasks > 0
    options = {name: value for name, value in asked.items() if name not in ("options", "scale")}
    return make_tasks(data, chosen, kind=kind, scale=asked.get("scale"), **options)


def wanted_rows(tasks: Tasks, answers: Answers, rater: str) -> list[dict[str, Any]]:
    """Return the ratings that answers stand for, worked out from the data and not by the importer."""
    rows = []
    for task in tasks:
        question = tasks.key.questions[task.id]
        common = {"item": question.item, "rater": rater, "round": 1, "probability": question.probability}
        for aspect in tasks.key.asked_aspects:
            held = {**common, "aspect": aspect}
            if tasks.kind == "pair":
                (left,), (right,) = question.models_by_token.values()
                rows.append({**held, "first": left, "second": right, "score": answers.side(task.id, aspect)})
            elif tasks.kind == "ranking":
                rows += [{**held, **row} for row in _comparisons(tasks.key, task.id, answers, aspect)]
            else:
                for token, models in question.models_by_token.items():
                    score = (
                        -penalty(answers.spans(task.id, token))
                        if aspect == "mqm"
                        else answers.score(task.id, token, aspect)
                    )
                    rows += [{**held, "model": model, "score": score} for model in models]
    return rows


def _comparisons(key: Key, task: str, answers: Answers, aspect: str) -> list[dict[str, Any]]:
    outputs, ranks = key.questions[task].models_by_token, answers.ranks(task, aspect)
    placed = [(model, ranks[token]) for token, models in outputs.items() for model in models]
    return [
        {"first": one, "second": other, "score": float(np.sign(theirs - mine))}
        for (one, mine), (other, theirs) in itertools.combinations(placed, 2)
    ]


def comparable(rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Return rows in a form that can be compared: sorted, pairs in the order of their names."""
    found = []
    for row in rows:
        one = {name: row.get(name) for name in names}
        if row.get("first") is not None:
            first, second = sorted((row["first"], row["second"]))
            turned = (first, second) != (row["first"], row["second"])
            one |= {"pair": (first, second), "score": -row["score"] + 0.0 if turned else row["score"]}
        found.append(repr(sorted(one.items(), key=str)))
    return sorted(found)


NAMES = ["item", "model", "aspect", "rater", "score", "round", "probability"]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_answers_come_back(tmp_path: Path, name: str, kind: FormKind) -> None:
    tool, fake, _ = TOOLS[name]
    aspects = None if kind == "spans" else ["overall", 'a "very" odd: <aspect>']
    scale = Scale(0, 10)
    tasks = exported(tmp_path, DATA, tool, kind, aspects=aspects, scale=scale, context_before=1)
    answers = Answers(tasks, whole_score)
    text = texts_in(tmp_path / "out")
    quoted = json.dumps(MODELS[2])
    assert quoted not in text
    assert not any(model in text for model in ("GPT-4", "a+b", "模型", "نموذج"))
    back = fake(sorted((tmp_path / "out").iterdir()), answers)
    taken = sparingly.import_answers(back, key=tmp_path / "out.key.json", raters={"7": "Ada"})
    who = {"label-studio": "Ada", "argilla": "user-1", "prodigy": "session-1", "csv": "Zoë"}[tool]
    assert taken.left_out == {}
    assert taken.read == len(taken) == slots(tasks)
    assert taken.missing == 0
    assert comparable(taken.rows(), NAMES) == comparable(wanted_rows(tasks, answers, who), NAMES)
    contexts = {row["item"]: row["context"] for row in taken.rows()}
    for task in tasks:
        before = [one.item for one in task.before]
        assert contexts[task.item] == (json.dumps(before, ensure_ascii=False) if before else None)
    if kind == "spans":
        marks = {(one.client, one.models): list(one.marks or ()) for one in taken.answers}
        for task in tasks:
            for token, models in tasks.key.questions[task.id].models_by_token.items():
                assert marks[task.id, models] == answers.spans(task.id, token)


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "prodigy"])
def test_scores_beside_spans_come_back(tmp_path: Path, name: str) -> None:
    tool, fake, _ = TOOLS[name]
    tasks = exported(tmp_path, DATA, tool, "spans", aspects=["esa"], scale=Scale(0, 10))
    answers = Answers(tasks, whole_score)
    back = fake(sorted((tmp_path / "out").iterdir()), answers)
    taken = sparingly.import_answers(back, key=tmp_path / "out.key.json")
    assert len(taken) == slots(tasks)
    assert all(one.marks for one in taken.answers)


@pytest.mark.parametrize("name", TOOLS)
def test_raters_and_controls_travel_along(tmp_path: Path, name: str) -> None:
    tool, fake, _ = TOOLS[name]
    chosen = all_of(DATA)
    controls = sparingly.control_items(DATA, chosen, kinds=["degraded", "repeat"], share=0.4)
    handed = sparingly.assign(chosen, ["Ada", "B. o/"], data=DATA, overlap=0.5, controls=controls)
    sparingly.export_tasks(
        DATA, chosen, to=tool, folder=tmp_path / "out", assignment=handed, controls=controls, scale=(0, 10)
    )
    text = texts_in(tmp_path / "out")
    assert not any(word in text for word in ("degraded", "repeat", "control"))
    key = Key.load(tmp_path / "out.key.json")
    tasks = make_tasks(DATA, chosen, handed, controls, scale=Scale(0, 10))
    back = fake(sorted((tmp_path / "out").iterdir()), Answers(tasks, whole_score))
    taken = sparingly.import_answers(back, key=key, assigned=True)
    assert taken.left_out == {"a control item (stored separately)": 2}
    assert taken.read == len(taken) + 2 == slots(tasks)
    assert {(row["item"], row["rater"]) for row in taken.rows()} == {
        (task.item, task.rater) for task in handed if task.control is None
    }
    assert all(row["rater"] == row["assigned"] for row in taken.rows())
    report = control_report(taken.into(DATA), taken.controls_into(controls), "overall")
    assert {one.kind for one in report.scores} == {"degraded", "repeat"}
    assert report.unmatched == 0


names = st.lists(st.text(min_size=1, max_size=8).filter(str.strip), min_size=2, max_size=4, unique=True)
texts = st.text(max_size=12)


@pytest.mark.parametrize("name", TOOLS)
@given(models=names, items=names, words=st.data(), seed=st.integers(0, 99))
@settings(max_examples=8)
def test_any_names_and_texts_come_back(
    name: str, models: list[str], items: list[str], words: st.DataObject, seed: int
) -> None:
    tool, fake, _ = TOOLS[name]
    held = [[words.draw(texts) for _ in models] for _ in items]
    data = sparingly.EvalSet.from_arrays(
        items=items, models=models, sources=[words.draw(texts) for _ in items], outputs=np.array(held, object)
    )
    chosen = sparingly.select(data, "uniform", len(items), seed=seed)
    tasks = make_tasks(data, chosen, seed=seed, scale=Scale(0, 10))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        sparingly.export_tasks(data, chosen, to=tool, folder=out, seed=seed, scale="0-10")
        answers = Answers(tasks, whole_score)
        back = fake(sorted(out.iterdir()), answers)
        taken = sparingly.import_answers(back, key=Path(folder) / "out.key.json")
    who = {"label-studio": "7", "argilla": "user-1", "prodigy": "session-1", "csv": "Zoë"}[tool]
    assert comparable(taken.rows(), NAMES) == comparable(wanted_rows(tasks, answers, who), NAMES)
    assert taken.missing == 0
    judged = taken.into(data)
    assert not np.isnan(judged.aspects["overall"]).any()
