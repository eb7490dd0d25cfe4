from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import InputError, UsageError
from sparingly.data import io

ODD = "vicuna-13b + tools (beta)"


def talk(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def battle(**changes: Any) -> dict[str, Any]:
    """A row as the published conversations of Chatbot Arena have it."""
    return {
        "question_id": "q1",
        "model_a": "koala",
        "model_b": ODD,
        "winner": "model_a",
        "judge": "arena_user_973",
        "conversation_a": talk("Hi", "Hello"),
        "conversation_b": talk("Hi", ""),
        "turn": 1,
        "anony": True,
        "language": "English",
        "tstamp": 1682351591.1,
    } | changes


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_battle_is_read_with_everything_it_holds(tmp_path: Path) -> None:
    rows = [
        battle(),
        battle(winner="model_b", judge="u2", turn=2),
        battle(question_id="q2", language="German"),
    ]
    data = io.load(lines(tmp_path / "b.jsonl", *rows))
    assert list(data.items) == ["q1", "q2"]
    assert data.models == ("koala", ODD)
    assert data.sources is not None
    assert data.sources.tolist() == ["Hi", "Hi"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["Hello", ""]] * 2
    assert data.columns["language"].tolist() == ["English", "German"]
    table = data.preferences
    assert table.value.tolist() == [1, -1, 1]
    assert [table.raters[code] for code in table.rater] == ["arena_user_973", "u2", "arena_user_973"]
    assert table.extra["turn"].tolist() == [1, 2, 1]
    assert table.extra["anony"].tolist() == [True] * 3
    assert set(table.extra) == {"turn", "anony", "tstamp"}


@pytest.mark.parametrize(
    ("winner", "value", "kept"),
    [
        ("tie", 0, None),
        ("tie (bothbad)", 0, "tie (bothbad)"),
        ("both_bad", 0, "both_bad"),
        ("model_b", -1, None),
    ],
)
def test_outcomes(tmp_path: Path, winner: str, value: float, kept: str | None) -> None:
    table = io.load(lines(tmp_path / "b.jsonl", battle(winner=winner))).preferences
    assert table.value.tolist() == [value]
    assert table.extra.get("winner", [None])[0] == kept


def test_an_unknown_outcome_is_never_a_tie(tmp_path: Path) -> None:
    path = lines(tmp_path / "b.jsonl", battle(), battle(winner="error"))
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, line 2, field winner: "error" is not an outcome. '
        "Write one of model_a, model_b, tie, tie (bothbad), or leave it empty."
    )
    with pytest.raises(InputError, match=r"field winner: 0\.5 is not an outcome"):
        io.load(lines(path, battle(winner=0.5)))


def test_an_empty_outcome_is_counted(tmp_path: Path) -> None:
    rows = [battle(winner=None), battle(), battle(question_id="q2", winner=float("nan"))]
    data = io.load(lines(tmp_path / "b.jsonl", *rows))
    assert data.preferences.value.tolist() == [1]
    assert data.columns["missing_preferences"].tolist() == [1, 1]


def test_an_array_and_a_table_say_the_same(tmp_path: Path) -> None:
    rows = [
        {
            "question_id": "81",
            "model_a": "a",
            "model_b": ODD,
            "winner": "tie",
            "judge": "x",
            "prompt": "P, Q",
        },
        {
            "question_id": "82",
            "model_a": ODD,
            "model_b": "a",
            "winner": "model_a",
            "judge": "y",
            "prompt": 'a "b"',
        },
    ]
    array = tmp_path / "b.json"
    array.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    table = tmp_path / "b.csv"
    table.write_text(
        "question_id,model_a,model_b,winner,judge,prompt\n"
        f'81,a,{ODD},tie,x,"P, Q"\n82,{ODD},a,model_a,y,"a ""b"""\n',
        encoding="utf-8",
    )
    tabs = tmp_path / "b.tsv"
    tabs.write_text(
        "question_id\tmodel_a\tmodel_b\twinner\tjudge\tprompt\n"
        f'81\ta\t{ODD}\ttie\tx\tP, Q\n82\t{ODD}\ta\tmodel_a\ty\t"a ""b"""\n',
        encoding="utf-8",
    )
    data = io.load(array)
    assert data.preferences.value.tolist() == [0, 1]
    assert io.load(table).digest() == data.digest() == io.load(tabs).digest()


def test_a_table_with_marks_and_responses(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        '7,a,b,"two\nlines",[1] yes,"",1,0,0\n8,a,b,Why,so,,0,0,1\n',
        encoding="utf-8",
    )
    data = io.load(path, item="id")
    assert list(data.items) == ["7", "8"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["[1] yes", ""], ["so", None]]
    assert data.sources is not None
    assert data.sources.tolist() == ["two\nlines", "Why"]
    assert data.preferences.value.tolist() == [1, 0]
    bad = tmp_path / "bad.csv"
    bad.write_text(path.read_text(encoding="utf-8").replace("0,0,1\n", "0,1,1\n"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        io.load(bad)
    assert str(caught.value) == (
        f"{bad}, line 4, field winner_model_a, winner_model_b, winner_tie: 2 outcomes are marked. "
        "Mark exactly one of them with 1."
    )


def test_without_a_question_the_prompt_is_the_item(tmp_path: Path) -> None:
    rows = [
        battle(question_id=None, id="1"),
        battle(question_id=None, id="2"),
        battle(question_id=None, id="3"),
    ]
    rows[2] |= {"conversation_a": talk("Why", "So"), "conversation_b": talk("Why", "Thus")}
    data = io.load(lines(tmp_path / "b.jsonl", *rows))
    assert len(data) == 2
    assert all(name.startswith("prompt-") and len(name) == 23 for name in data.items)
    assert data.sources is not None
    assert sorted(data.sources) == ["Hi", "Why"]
    assert data.preferences.extra["id"].tolist() == ["1", "2", "3"]


def test_without_a_prompt_the_conversation_is_the_item(tmp_path: Path) -> None:
    bare = {"model_a": "a", "model_b": "b", "winner": "tie"}
    data = io.load(
        lines(tmp_path / "b.jsonl", bare | {"conversation_id": "c1"}, bare | {"conversation_id": "c2"})
    )
    assert list(data.items) == ["c1", "c2"]
    assert data.outputs is None
    path = lines(tmp_path / "bare.jsonl", bare, bare)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, line 1, field question_id: nothing says which item was compared. "
        "Add question_id or prompt, name the field with item=…, or load with ids=order."
    )
    assert list(io.load(path, ids="order").items) == ["row-000001", "row-000002"]
    with pytest.raises(UsageError, match='"order" or absent, not "rows"'):
        io.load(path, ids="rows")
    with pytest.raises(InputError, match="line 1, field topic: the row does not name its item"):
        io.load(path, item="topic")


def test_turns_are_joined_and_kept(tmp_path: Path) -> None:
    first, second = talk("Hi", "Hello", "More", "Sure"), talk("Hi", "Hey")
    parts = [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": "Ok"},
    ]
    rows = [
        battle(conversation_a=first, conversation_b=second),
        battle(question_id="q2", conversation_a=parts),
    ]
    data = io.load(lines(tmp_path / "b.jsonl", *rows))
    assert data.outputs is not None
    assert data.outputs[0].tolist() == ["Hello\n\nSure", "Hey"]
    assert data.sources is not None
    assert data.sources.tolist() == ["Hi\n\nMore", "Hi"]
    assert data.cells["conversation"].tolist() == [[first, None], [None, None]]
    assert data.outputs[1, 0] == "Ok"


def test_a_second_answer_to_the_same_question_is_kept_with_its_row(tmp_path: Path) -> None:
    other = talk("Hi", "Hello again")
    data = io.load(lines(tmp_path / "b.jsonl", battle(), battle(conversation_a=other, language="French")))
    assert data.outputs is not None
    assert data.outputs.tolist() == [["Hello", ""]]
    assert data.preferences.extra["conversation_a"].tolist() == [None, other]
    assert data.columns["language"].tolist() == ["English"]
    assert data.preferences.extra["language"].tolist() == [None, "French"]
    longer = io.load(lines(tmp_path / "c.jsonl", battle(prompt="Hi"), battle(prompt="Hi there", turn=2)))
    assert longer.sources is not None
    assert longer.sources.tolist() == ["Hi"]
    assert longer.preferences.extra["prompt"].tolist() == [None, "Hi there"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"model_b": None}, "field model_b: the row has no model_b. Name both models of every row."),
        ({"model_b": "koala"}, 'the model "koala" is compared with itself'),
        ({"conversation_a": "Hello"}, 'field conversation_a: "Hello" is not a conversation'),
        ({"question_id": 1.5}, "field question_id: 1.5 is not an id"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, change: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        io.load(lines(tmp_path / "b.jsonl", battle(), battle(**change)))
    assert "line 2" in str(caught.value)
    assert wrong in str(caught.value)


def test_the_judge_may_be_a_list(tmp_path: Path) -> None:
    data = io.load(lines(tmp_path / "b.jsonl", battle(judge=["gpt-4", "pair-v2"])))
    assert data.preferences.raters == ("gpt-4, pair-v2",)
