"""A run of a judge: what is asked, what is saved, and what the data are then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError, MissingDataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.verdicts import PAIRS, read_verdicts, verdict_file
from sparingly.data.scale import Scale
from sparingly.run.judging.endpoint import Endpoint
from sparingly.run.judging.judge_run import JudgeRun, run_judge
from sparingly.run.judging.prompt import JudgePrompt
from tests.run.judging.chat_server import Reply, chat_server, shown

PROMPT = JudgePrompt("Be kind.")
PASS, FAIL = '{"score": "pass", "reason": "kind"}', '{"score": "fail", "reason": "rude"}'


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("SPARINGLY_API_KEY", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Eight outputs of two models on four items; on d they are equal."""
    rows = ["item,prompt,model,output"]
    for item in "abcd":
        rows += [
            f"{item},ask {item},{model},{'same' if item == 'd' else model} {item}" for model in ("new", "old")
        ]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def kind_is_new(body: dict[str, Any]) -> str:
    return PASS if "new" in shown(body).split("<output>")[1] else FAIL


def judged(
    file: Path, answer: Callable[[dict[str, Any]], Reply | str], prompt: JudgePrompt = PROMPT, **options: Any
) -> tuple[JudgeRun, list[dict[str, Any]]]:
    data = sparingly.load(file)
    with chat_server(answer) as server:
        endpoint = Endpoint(server.url, first_wait=0.001)
        options = {"model": "m", "name": "judge-m", **options}
        result = run_judge(data, verdict_file(file, options["name"]), prompt, endpoint, **options)
    return result, server.bodies


@pytest.fixture(autouse=True)
def one_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every server has a port of its own, and would be another endpoint."""
    monkeypatch.setattr(Endpoint, "host", "fake")


def test_every_output_is_judged_once_and_becomes_a_metric(file: Path) -> None:
    result, bodies = judged(file, kind_is_new)
    assert len(bodies) == 7, "equal outputs of an item are one question"
    assert bodies[0]["temperature"] == 0
    assert result.sentences() == ["The judge scored 7 of 7 outputs: 43 % pass."]
    data = sparingly.load(file)
    assert data.models == ("new", "old")
    np.testing.assert_array_equal(data.metrics["judge-m"], [[1, 0], [1, 0], [1, 0], [0, 0]])
    assert data.scales["metric:judge-m"] == Scale(0, 1)
    assert data.roles is not None
    assert "judge-m → judge (m, from answers.csv.judge-m.jsonl)" in data.roles.lines()


def test_head_and_records_say_how_the_judge_was_asked(file: Path) -> None:
    result, _ = judged(file, kind_is_new, temperature=0.5)
    head, first = map(json.loads, result.file.read_text().splitlines()[:2])
    assert (head["format"], head["version"]) == ("sparingly/judge-verdicts", 1)
    assert head["signature"] == str(result.head)
    assert f"judge:m|endpoint:fake|ask:outputs|scale:0-1|temperature:0.5|prompt:{PROMPT.digest}|date:" in str(
        result.head
    )
    assert {"item", "models", "texts", "score", "reason", "at"} == set(first)


def test_the_same_call_goes_on_and_a_line_that_was_cut_off_is_asked_again(file: Path) -> None:
    result, _ = judged(file, kind_is_new, limit=3)
    assert (len(result.verdicts), result.questions) == (3, 7)
    whole = result.file.read_bytes()
    result.file.write_bytes(whole[:-20])
    assert np.isfinite(sparingly.load(file).metrics["judge-m"]).sum() == 2
    result, bodies = judged(file, kind_is_new)
    assert len(bodies) == 5
    assert len(result.verdicts) == 7
    assert len(read_verdicts(result.file)[1]) == 7
    assert judged(file, kind_is_new)[1] == []


def test_another_prompt_model_or_temperature_does_not_mix(file: Path) -> None:
    result, _ = judged(file, kind_is_new)
    for options, what in (
        ({"prompt": JudgePrompt("Be rude.")}, "another rubric"),
        ({"temperature": 1.0}, "another temperature"),
        ({"model": "n"}, "another model"),
        ({"prompt": JudgePrompt("Be kind.", "1-5")}, "another scale, rubric"),
    ):
        with pytest.raises(UsageError, match=what) as raised:
            judged(file, kind_is_new, **options)
        assert f"{result.file} holds 7 verdicts" in str(raised.value)
    judged(file, kind_is_new, prompt=JudgePrompt("Be rude."), name="judge-rude")
    assert set(sparingly.load(file).metrics) == {"judge-m", "judge-rude"}


def test_what_cannot_be_read_is_asked_twice_and_recorded(file: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        return "No idea." if "new b" in shown(body) else kind_is_new(body)

    result, bodies = judged(file, answer)
    assert len(bodies) == 8
    assert result.sentences()[1] == "1 answer could not be read."
    records = [json.loads(line) for line in result.file.read_text().splitlines()]
    assert [record["raw"] for record in records if "raw" in record] == ["No idea."]
    assert np.isnan(sparingly.load(file).metrics["judge-m"]).sum() == 1
    assert judged(file, answer)[1] == [], "it is not paid for again"


def test_a_judge_that_never_gives_a_verdict_is_not_asked_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("item,model,output\n" + "".join(f"i{n},m,text {n}\n" for n in range(60)))

    def answer(_: dict[str, Any]) -> str:
        time.sleep(0.01)
        return "Nice."

    result, bodies = judged(path, answer)
    assert "None of" in result.stopped
    assert len(bodies) < 2 * 40


def test_a_refusal_of_everything_ends_the_run_and_saves_nothing(file: Path) -> None:
    refusal = Reply(status=400, content=b'{"error": {"message": "temperature is not supported"}}')
    result, bodies = judged(file, lambda _: refusal)
    assert "refuses the request: status 400: temperature is not supported" in result.stopped
    assert len(bodies) <= 7
    assert judged(file, kind_is_new, temperature=None)[0].questions == 7, "another try does not mix with it"


def test_a_refusal_of_one_is_recorded(file: Path) -> None:
    result, _ = judged(file, lambda body: Reply(status=400) if "new a" in shown(body) else kind_is_new(body))
    assert (result.stopped, len(result.verdicts), result.failed) == ("", 7, 1)


def test_an_endpoint_that_dies_keeps_what_it_gave(file: Path) -> None:
    answers = iter([PASS, FAIL])
    result, _ = judged(file, lambda _: next(answers, Reply(status=500)), workers=1)
    assert "status 500" in result.stopped
    assert len(read_verdicts(result.file)[1]) == 2


def test_pairs_are_judged_in_both_orders(file: Path) -> None:
    def first_unless_c(body: dict[str, Any]) -> str:
        better = (
            "second"
            if "ask c" in shown(body) and shown(body).index("old") < shown(body).index("new")
            else "first"
        )
        return json.dumps({"score": better, "reason": ""})

    result, bodies = judged(file, first_unless_c, JudgePrompt("Be kind.", ask=PAIRS))
    assert len(bodies) == 6, "equal texts are no question"
    assert result.sentences() == [
        "The judge made 6 of 6 comparisons (two for each pair): new won 62 %, old won 38 %.",
        "Its verdict was the same in both orders on 33 % of 3 pairs.",
    ]
    values = sparingly.load(file).metrics["judge-m"]
    np.testing.assert_array_equal(values, [[0.5, 0.5], [0.5, 0.5], [1, 0], [0.5, 0.5]])


def test_a_text_that_was_rewritten_has_no_verdict(file: Path) -> None:
    judged(file, kind_is_new)
    file.write_text(file.read_text().replace("old a", "improved a").replace(",new,", ",newest,"))
    data = sparingly.load(file)
    values = data.metrics["judge-m"]
    assert data.models == ("newest", "old")
    assert np.argwhere(np.isnan(values)).tolist() == [[0, 1]]
    assert len(judged(file, kind_is_new)[1]) == 1


def test_epochs_are_judged_one_by_one(tmp_path: Path) -> None:
    rows = [
        {"item": "a", "model": "m", "epoch": n, "output": f"{word} text"}
        for n, word in ((1, "new"), (2, "old"))
    ]
    path = tmp_path / "epochs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {**rows[0], "item": "b", "epoch": 1}]))
    assert len(judged(path, kind_is_new)[1]) == 3
    data = sparingly.load(path)
    assert data.metrics["judge-m"].tolist() == [[0.5], [1.0]]
    assert data.repeats.scores["metric:judge-m"].tolist() == [1.0, 0.0]


def test_verdicts_from_elsewhere_are_given_with_the_data(file: Path, tmp_path: Path) -> None:
    result, _ = judged(file, kind_is_new)
    place = tmp_path / "elsewhere" / "verdicts.jsonl"
    place.parent.mkdir()
    result.file.rename(place)
    assert not sparingly.load(file).metrics
    assert "judge-m" in sparingly.load([file, place]).metrics
    with pytest.raises(InputError, match="Give the data"):
        sparingly.load(place)


def test_files_that_are_damaged_are_named(file: Path) -> None:
    result, _ = judged(file, kind_is_new)
    text = result.file.read_text()
    for content, reason in (
        (text.replace('"version": 1', '"version": 2', 1), "version 2 is newer"),
        (text.replace('"texts"', '"text"', 1), "line 2: this is not a verdict"),
        ("[]\n", "this is not a sparingly/judge-verdicts file"),
    ):
        result.file.write_text(content)
        with pytest.raises(InputError, match=reason):
            sparingly.load(file)


def test_data_without_outputs() -> None:
    data = EvalSet.from_arrays(["a"], ["m"], metrics={"x": [[1.0]]})
    with pytest.raises(MissingDataError, match="no outputs to judge"):
        run_judge(data, Path("x"), PROMPT, Endpoint("http://localhost/v1"), model="m", name="judge-m")
    one = EvalSet.from_arrays(["a"], ["m"], outputs=[["text"]])
    pairs = JudgePrompt("Be kind.", ask=PAIRS)
    with pytest.raises(MissingDataError, match="no item has two different outputs"):
        run_judge(one, Path("x"), pairs, Endpoint("http://localhost/v1"), model="m", name="judge-m")


def test_stopping_saves_the_answers_under_way(file: Path) -> None:
    stop, under_way = threading.Event(), threading.Barrier(2)

    def answer(body: dict[str, Any]) -> str:
        under_way.wait(5)
        stop.set()
        return kind_is_new(body)

    result, bodies = judged(file, answer, workers=2, stop=stop)
    assert len(bodies) == 2
    assert len(read_verdicts(result.file)[1]) == 2
    assert result.stopped == ""


def test_two_runs_do_not_write_to_one_file(file: Path) -> None:
    raised: list[Exception] = []

    def answer(body: dict[str, Any]) -> str:
        if not raised:
            try:
                judged(file, kind_is_new)
            except UsageError as error:
                raised.append(error)
        return kind_is_new(body)

    judged(file, answer, workers=1)
    assert "Another run-judge is writing" in str(raised[0])


def test_ctrl_c_on_the_command_line_loses_nothing(file: Path, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.md"
    rubric.write_text("Be kind.")
    process: subprocess.Popen[str] | None = None
    started, pressed = threading.Event(), threading.Event()

    def answer(body: dict[str, Any]) -> str:
        started.wait(30)
        assert process is not None
        # Once: a second Ctrl-C ends at once.
        if not pressed.is_set():
            pressed.set()
            process.send_signal(signal.SIGINT)
        return kind_is_new(body)

    with chat_server(answer) as server:
        arguments = ["--endpoint", server.url, "--model", "m", "--rubric", str(rubric), "--workers", "1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "sparingly", "run-judge", str(file), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ},
        )
        started.set()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "saving the answers under way" in err
    done = len(read_verdicts(verdict_file(file, "judge-m"))[1])
    assert done >= 1
    assert f"The judge scored {done} of 7 outputs" in out
    assert f"Next: the same command judges the {7 - done} that are left." in out
