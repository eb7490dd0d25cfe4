from __future__ import annotations

import pytest

from sparingly.base.errors import UsageError
from sparingly.data.io.verdicts import PAIRS
from sparingly.run.judging.prompt import JudgePrompt


@pytest.mark.parametrize(
    ("scale", "answer", "score"),
    [
        ("pass-fail", '{"score": "pass", "reason": "good"}', 1.0),
        ("pass-fail", '{"score": "FAIL"}', 0.0),
        ("pass-fail", '{"score": true}', 1.0),
        ("pass-fail", '```json\n{"score": "fail"}\n```', 0.0),
        ("pass-fail", 'My verdict:\n```\n{"score": "pass"}\n```', 1.0),
        ("pass-fail", '<think>{"score": "fail"}? No.</think>\n{"score": "pass"}', 1.0),
        ("pass-fail", "pass", 1.0),
        ("pass-fail", '{"score": 0.5}', None),
        ("pass-fail", "I would not pass it", None),
        ("1-5", '{"score": 4, "reason": "x"}', 4.0),
        ("1-5", '{"score": "4/5"}', 4.0),
        ("1-5", "4/5", 4.0),
        ("1-5", '{"score": 3.5}', 3.5),
        ("1-5", '{"score": "4/10"}', None),
        ("1-5", '{"score": 6}', None),
        ("1-5", '{"score": true}', None),
        ("1-5", '{"score": NaN}', None),
        ("1-5", '{"score": [4]}', None),
        ("1-5", '{"rating": 4}', None),
        ("1-5", '{"score": 4} or {"score": 5}', None),
        ("1-5", '{"score": 4', None),
        ("1-5", "", None),
        ("1-5", "[" * 100_000, None),
        ("0-100", '{"score": 73}', 73.0),
        ("0-100", '{"score": -1}', None),
    ],
)
def test_answers_are_read_strictly(scale: str, answer: str, score: float | None) -> None:
    verdict = JudgePrompt("Be kind.", scale).read(answer)
    assert (None if verdict is None else verdict[0]) == score


@pytest.mark.parametrize(
    ("word", "score"), [("first", 1.0), ("Second", 0.0), ("tie", 0.5), ("third", None), (1, None)]
)
def test_verdicts_on_pairs(word: object, score: float | None) -> None:
    answer = f'{{"score": "{word}", "reason": "r"}}' if isinstance(word, str) else '{"score": 1}'
    assert JudgePrompt("Be kind.", ask=PAIRS).read(answer) == (None if score is None else (score, "r"))


def test_the_question_shows_what_there_is() -> None:
    system, user = JudgePrompt("Be kind.", "1-5").messages("Hi?", ["Hello."], ["Go away."])
    assert "Be kind." in system["content"]
    assert "from 1 (worst) to 5 (best)" in system["content"]
    assert user["content"] == (
        "<input>\nHi?\n</input>\n<reference>\nHello.\n</reference>\n<output>\nGo away.\n</output>"
    )
    assert "<first>" in JudgePrompt("Be kind.", ask=PAIRS).messages(None, [], ["a", "b"])[1]["content"]


def test_prompts_differ_by_all_that_is_asked() -> None:
    prompts = [JudgePrompt("a"), JudgePrompt("b"), JudgePrompt("a", "1-5"), JudgePrompt("a", ask=PAIRS)]
    assert len({prompt.digest for prompt in prompts}) == 4
    assert JudgePrompt("a {braces}").digest
    with pytest.raises(UsageError, match="rubric is empty"):
        JudgePrompt(" \n")
