"""Tasks: no model's name in them, equal outputs once, drawn sides, documents together and in order."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.tasks import Tasks, make_tasks
from tests.run.exchange.helpers import ITEMS, MODELS, all_of, awkward, pairs_of

DATA = awkward()


def test_a_task_shows_the_texts_and_the_key_knows_the_models() -> None:
    tasks = make_tasks(DATA, all_of(DATA))
    by_item = {task.item: task for task in tasks}
    assert set(by_item) == set(all_of(DATA).items)
    row = {name: place for place, name in enumerate(DATA.items)}
    column = {name: place for place, name in enumerate(DATA.models)}
    assert DATA.outputs is not None
    for item, task in by_item.items():
        question = tasks.key.questions[task.id]
        assert question.item == item
        assert question.probability == pytest.approx(5 / 6)
        for output in task.outputs:
            for model in question.models_by_token[output.token]:
                assert DATA.outputs[row[item], column[model]] == output.text
        assert sorted(name for names in question.models_by_token.values() for name in names) == sorted(MODELS)


def test_labels_of_0_and_1_are_asked_for_on_that_scale() -> None:
    labels = np.full((len(DATA), len(MODELS)), np.nan)
    labels[0, :2] = 0.0, 1.0
    data = DATA.with_parts(aspects={"passed": labels})
    assert make_tasks(data, all_of(data), aspects="passed").scales == {"passed": Scale(0, 1)}
    assert make_tasks(data, all_of(data), aspects="other").scales == {"other": Scale(0, 100)}
    stars = make_tasks(data, all_of(data), aspects="passed", scale=Scale(1, 5))
    assert stars.scales == {"passed": Scale(1, 5)}


def test_equal_outputs_are_asked_once_and_credited_to_all() -> None:
    tasks = make_tasks(DATA, pairs_of(DATA, [("doc#0", "7", "a+b")]))
    assert len(tasks.questions[0].outputs) == 2
    scored = make_tasks(DATA, sparingly.select(DATA, "uniform", 6))
    first = next(task for task in scored if task.item == "a,b")
    assert len(first.outputs) == 5
    assert ("7", 'say "hi"') in scored.key.questions[first.id].models_by_token.values()
    assert "1 output equals another one of its item" in scored.notes[0]
    apart = make_tasks(DATA, sparingly.select(DATA, "uniform", 6), merge=False)
    assert all(len(task.outputs) == 6 for task in apart)


def test_a_pair_of_equal_outputs_is_a_tie_that_nobody_is_asked_about() -> None:
    tasks = make_tasks(DATA, pairs_of(DATA, [("a,b", "7", 'say "hi"'), ("1", "7", "a+b")]))
    assert [task.item for task in tasks] == ["1"]
    assert [(one.item, one.models, one.probability) for one in tasks.key.same] == [
        ("a,b", ("7", 'say "hi"'), 0.25)
    ]


def test_missing_outputs_are_left_out_and_told() -> None:
    texts = np.array(DATA.outputs, object)
    texts[0, 0] = None
    data = awkward(texts)
    tasks = make_tasks(data, sparingly.select(data, "uniform", 6))
    assert "1 output is missing and left out." in " ".join(tasks.notes)


def test_documents_stay_together_and_in_order() -> None:
    tasks = make_tasks(DATA, sparingly.select(DATA, "uniform", 6, seed=3))
    runs = [[task.item for task in run] for run in tasks.by_document() if run[0].document is not None]
    assert sorted(runs) == [["1", "x/y", "a,b"], ["日本", "doc#0"]]


def test_context_comes_from_the_document_or_from_the_row() -> None:
    tasks = {task.item: task for task in make_tasks(
        DATA, sparingly.select(DATA, "uniform", 6), context_before=1, context_after=2
    )}  # fmt: skip
    assert [one.item for one in tasks["x/y"].before] == ["1"]
    assert [one.item for one in tasks["x/y"].after] == ["a,b"]
    assert [one.item for one in tasks["1"].after] == ["x/y", "a,b"]
    assert tasks["plain"].before == ()
    inside, contexts = DATA.take([item for item in ITEMS if item != "plain"]), []
    for seed in range(4):
        snippets = sparingly.select(inside, "snippets:kind=fixed,length=1,context=1", 2, seed=seed)
        shown = {task.item: [one.item for one in task.before] for task in make_tasks(DATA, snippets)}
        assert shown == {row.item: list(row.context) for row in snippets}
        contexts += list(shown.values())
    assert any(contexts)


def test_sides_are_drawn_and_about_even() -> None:
    pairs = [(item, *two) for item in ITEMS[1:] for two in combinations(sorted(MODELS), 2)]
    lefts = 0
    for seed in range(4):
        tasks = make_tasks(DATA, pairs_of(DATA, pairs), seed=seed)
        for task in tasks:
            (left,), (right,) = tasks.key.questions[task.id].models_by_token.values()
            lefts += left < right
    # 300 fair coins: 150 within four standard deviations of 8.7.
    assert 115 < lefts < 185


@given(st.integers(0, 10**6), st.permutations(range(6)), st.permutations(range(6)))
@settings(max_examples=15)
def test_nothing_depends_on_the_order_of_the_file(seed: int, rows: list[int], columns: list[int]) -> None:
    assert DATA.outputs is not None
    assert DATA.sources is not None
    other = sparingly.EvalSet.from_arrays(
        items=[str(DATA.items[at]) for at in rows],
        models=[DATA.models[at] for at in columns],
        sources=[DATA.sources[at] for at in rows],
        outputs=DATA.outputs[np.ix_(rows, columns)],
        columns={name: [DATA.columns[name][at] for at in rows] for name in DATA.columns},
    )
    mine = make_tasks(DATA, all_of(DATA, seed), seed=seed)
    theirs = make_tasks(other, all_of(DATA, seed), seed=seed)
    assert [(task.id, task.outputs) for task in mine] == [(task.id, task.outputs) for task in theirs]
    assert mine.key.models == theirs.key.models


def test_an_assignment_gives_every_rater_their_list_and_hides_controls() -> None:
    chosen = all_of(DATA)
    controls = sparingly.control_items(DATA, chosen, kinds=["repeat"], share=0.2)
    handed = sparingly.assign(
        chosen, ["Ada", "Bo"], data=DATA, overlap=0.4, unit="document", controls=controls
    )
    tasks = make_tasks(DATA, chosen, handed, controls)
    assert tasks.raters == ("Ada", "Bo")
    assert len(tasks) == len(handed)
    for rater in tasks.raters:
        mine = [task for task in tasks if task.rater == rater and task.control is None]
        assert {task.item for task in mine} == {task.item for task in handed.of(rater) if not task.control}
        orders = {task.item: task.models for task in handed.of(rater)}
        for task in mine:
            first = [names[0] for names in tasks.key.questions[task.id].models_by_token.values()]
            shown = [name for name in orders[task.item] if name in first]
            assert len(shown) == len(first)
    hidden = [task for task in tasks if task.control is not None]
    assert [task.shown_item for task in hidden] == [str(controls.columns["control_of"][0])]
    assert tasks.key.questions[hidden[0].id].item == str(controls.items[0])
    with pytest.raises(MissingDataError, match="give the control items"):
        make_tasks(DATA, chosen, handed)


def test_models_with_chances_of_their_own_keep_them() -> None:
    drawn = all_of(DATA)
    models = np.empty(2, object)
    models[:] = [("7",), ("a+b", "模型")]
    chosen = sparingly.Selection(
        items=np.array(["1", "1"], object),
        signature=drawn.signature,
        models=models,
        probability=np.array([0.5, 0.25]),
    )
    tasks = make_tasks(DATA, chosen)
    assert len(tasks) == 1
    (question,) = tasks.key.questions.values()
    assert question.probabilities == {"7": 0.5, "a+b": 0.25, "模型": 0.25}


@pytest.mark.parametrize(
    ("kind", "sentence"), [("pair", "a pair has two"), ("score", "names pairs of models")]
)
def test_a_kind_that_does_not_fit_is_refused(kind: str, sentence: str) -> None:
    chosen = all_of(DATA) if kind == "pair" else pairs_of(DATA, [("1", "7", "a+b")])
    with pytest.raises(UsageError, match=sentence):
        make_tasks(DATA, chosen, kind=kind)


def test_a_set_without_outputs_has_nothing_to_show() -> None:
    data = DATA.only(["sources"])
    with pytest.raises(MissingDataError, match="no outputs"):
        make_tasks(data, all_of(DATA))


def test_aspects_have_scales() -> None:
    def scales(tasks: Tasks) -> dict[str, Scale]:
        return dict(tasks.scales)

    assert scales(make_tasks(DATA, all_of(DATA))) == {"overall": Scale(0, 100)}
    assert scales(make_tasks(DATA, all_of(DATA), kind="spans")) == {}
    asked = make_tasks(DATA, all_of(DATA), aspects={"a": Scale(1, 5), "b": None}, scale=Scale(0, 1))
    assert scales(asked) == {"a": Scale(1, 5), "b": Scale(0, 1)}
