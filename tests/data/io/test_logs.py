"""Logs that the tools themselves wrote (see ``logs/README.md``), and the rules that all logs share."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.io.inspect_ai import zstd_bound
from sparingly.data.io.log import LoggedOutput, LogScore, assemble, readable, score_number

LOGS = Path(__file__).parent / "logs"
NAN = np.nan


@pytest.fixture(scope="session")
def mlflow_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    store = sqlite3.connect(path)
    store.executescript((LOGS / "mlflow.sql").read_text(encoding="utf-8"))
    store.close()
    return path


# --- inspect_ai -----------------------------------------------------------------------------------


def test_an_inspect_log_with_epochs_and_three_scorers() -> None:
    path = LOGS / "inspect-large.eval"
    assert io.recognise(path).name == "inspect_ai"
    data = io.load(path)
    assert data.items.tolist() == ["q0", "q1", "q2", "q3", "q4"]
    assert data.models == ("mockllm/large",)
    assert list(data.metrics) == ["includes", "style.short", "style.polite", "model_graded_fact"]
    # inspect_ai printed: includes 0.900, polite 1.200, model_graded_fact 0.700.
    means = {name: float(scores.mean()) for name, scores in data.metrics.items()}
    assert means == pytest.approx(
        {"includes": 0.9, "style.short": 1.0, "style.polite": 1.2, "model_graded_fact": 0.7}
    )
    assert len(data.repeats) == 10
    assert data.repeats.epochs == ("1", "2")
    assert data.repeats.output is not None
    assert [data.outputs[4, 0], data.repeats.output[-1]] == ["Oslo.", "Not sure."]  # type: ignore[index]
    assert data.sources is not None
    assert data.sources[0] == "What is the capital of France?"
    assert data.references == ("target",)
    assert data.columns["continent"].tolist() == ["y", "x", "y", "x", "y"]
    assert data.truth_scale("includes") == (0, 1)


def test_an_inspect_log_as_json_reads_as_the_archive_does() -> None:
    data, archive = io.load(LOGS / "inspect-two.json.gz"), io.load(LOGS / "inspect-small.eval")
    assert data.items.tolist() == ["q0", "q1"]
    assert "repeats" not in data.fields
    assert data.sources is not None
    assert archive.sources is not None
    assert data.sources.tolist() == archive.sources[:2].tolist()
    assert list(data.metrics) == list(archive.metrics)


def test_a_score_that_somebody_edited_is_theirs_and_the_scorers_stays() -> None:
    before, data = io.load(LOGS / "inspect-small.eval"), io.load(LOGS / "inspect-edited.eval")
    np.testing.assert_array_equal(
        data.metrics["model_graded_fact"], before.metrics["model_graded_fact"], strict=True
    )
    np.testing.assert_array_equal(data.aspects["model_graded_fact (human)"].ravel(), [NAN, NAN, 1, NAN, NAN])
    assert data.ratings.raters == ("ana",)
    assert data.ratings.comment is not None
    assert data.ratings.comment.tolist() == ["checked by hand | Kyoto was the capital once."]


def test_a_folder_of_inspect_logs(tmp_path: Path) -> None:
    for name in ("inspect-small.eval", "inspect-large.eval"):
        (tmp_path / name).write_bytes((LOGS / name).read_bytes())
    data = io.load(tmp_path)
    assert data.models == ("mockllm/large", "mockllm/small")
    assert len(data.repeats) == 20


def inspect_log(path: Path, *samples: dict[str, Any], **run: Any) -> Path:
    samples = tuple({"epoch": 1, "target": "", "scores": {}, **sample} for sample in samples)
    header = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", **run}}
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


def test_inspect_samples_of_every_shape(tmp_path: Path) -> None:
    data = io.load(
        inspect_log(
            tmp_path / "log.json",
            {
                "id": 1,
                "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi?"}],
                "target": ["hello", "hi"],
                "output": {
                    "choices": [{"message": {"content": [{"type": "text", "text": "attachment://ab12"}]}}]
                },
                "attachments": {"ab12": "A long greeting"},
                "score": {"value": True},
            },
            {"id": 2, "input": "Which?", "choices": ["red", "blue"], "output": {"completion": "B"}},
            {"id": 3, "input": "Fails", "error": {"message": "time out"}, "output": {"completion": "x"}},
        )
    )
    assert data.sources is not None
    assert data.outputs is not None
    assert data.reference_texts is not None
    assert data.sources.tolist() == ["system: Be brief.\n\nuser: Hi?", "Which?\nA) red\nB) blue", "Fails"]
    assert data.outputs.ravel().tolist() == ["A long greeting", "B", None]
    assert data.reference_texts[0].tolist() == ["hello", "hi"]
    assert data.columns["error"].tolist() == [None, None, "time out"]
    np.testing.assert_array_equal(data.metrics["score"].ravel(), [1, NAN, NAN])


def test_a_run_that_did_not_end_says_so(tmp_path: Path) -> None:
    path = inspect_log(tmp_path / "log.json", {"id": 1, "input": "a", "output": {"completion": "b"}})
    assert (roles := io.load(path).roles) is not None
    assert roles.notes == ()
    path.write_text(path.read_text().replace("success", "error"))
    assert (roles := io.load([path]).roles) is not None
    assert roles.notes == ("log.json: the run did not end (status: error); 1 of its outputs are there.",)


def test_scores_named_after_times_and_counts_are_doubted(tmp_path: Path) -> None:
    sample = {"id": 1, "input": "a", "output": {"completion": "b"}, "scores": {"reply_length": {"value": 7}}}
    path = inspect_log(tmp_path / "log.json", sample)
    assert (roles := io.load(path).roles) is not None
    assert roles.lines()[-1] == "reply_length → metric? (7–7, looks like a count)"
    assert (roles := io.load(path, roles={"reply_length": "metric"}).roles) is not None
    assert roles.lines()[-1] == "reply_length → metric (7–7)"


def test_tasks_of_a_folder_and_runs_of_one_model_are_kept_apart(tmp_path: Path) -> None:
    sample = {"id": 1, "input": "a", "output": {"completion": "b"}}
    inspect_log(tmp_path / "one.json", sample, task="sums")
    inspect_log(tmp_path / "two.json", {**sample, "input": "other"}, task="words")
    inspect_log(tmp_path / "three.json", sample, task="sums")
    data = io.load(tmp_path)
    assert data.items.tolist() == ["sums/1", "words/1"]
    assert data.models == ("m (one)", "m (three)", "m (two)")
    assert data.name == str(tmp_path)


def test_logs_of_two_tasks_with_the_same_ids_given_together(tmp_path: Path) -> None:
    sample = {"id": 1, "output": {"completion": "b"}}
    sums = inspect_log(tmp_path / "sums.json", {**sample, "input": "1+1"}, task="sums")
    words = inspect_log(tmp_path / "words.json", {**sample, "input": "hi"}, task="words")
    data = io.load([sums, words])
    assert (data.items.tolist(), data.models) == (["sums/1", "words/1"], ("m",))


def test_a_log_without_its_model(tmp_path: Path) -> None:
    path = inspect_log(tmp_path / "log.json", {"id": 1, "input": "a"})
    with pytest.raises(InputError, match="field eval: the log does not say its eval_id"):
        io.load(path, model="eval_id")


# --- promptfoo and MLflow -------------------------------------------------------------------------


def test_promptfoo_results() -> None:
    path = LOGS / "promptfoo.json"
    assert io.recognise(path).name == "promptfoo"
    data = io.load(path)
    assert data.shape == (3, 4)
    assert "small (In one word: {{question}})" in data.models
    assert data.sources is not None
    assert sorted(data.sources)[0] == "What is the capital of France?"
    assert list(data.metrics) == ["pass", "score", "correct", "brevity", "contains"]
    assert len(data.repeats) == 24
    assert data.columns["continent"].tolist().count("Europe") == 1


def test_results_that_promptfoo_counted_but_did_not_write(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    stats = {"successes": 1, "failures": 2, "errors": 0}
    path.write_text(json.dumps({"results": {"stats": stats, "results": [promptfoo_result()]}}))
    data = io.load(path)
    assert data.roles is not None
    assert data.roles.notes == ("promptfoo counted 3 results, but wrote only 1 of them.",)


def promptfoo_result(**changed: Any) -> dict[str, Any]:
    result = {
        "promptIdx": 0,
        "testIdx": 0,
        "vars": {"question": "Why?", "tone": "kind"},
        "provider": {"id": "openai:gpt"},
        "prompt": {"raw": "Why?", "label": "p"},
        "response": {"output": {"answer": "Because"}},
        "success": True,
        "score": 1,
        "gradingResult": {"componentResults": []},
    }
    return {**result, **changed}


def test_thumbs_in_promptfoos_viewer_are_peoples(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    graded = {
        "comment": "well said",
        "componentResults": [
            {"pass": True, "score": 1, "assertion": {"type": "human"}},
            {"pass": False, "score": 0.25, "assertion": {"type": "llm-rubric", "value": "is short"}},
        ],
    }
    failed = promptfoo_result(
        failureReason=2, error="no key", response=None, vars={"question": "Who?"}, score=0
    )
    lines = [promptfoo_result(gradingResult=graded), failed]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = io.load(path)
    assert data.sources is not None
    assert set(data.sources) == {"question: Why?\n\ntone: kind", "Who?"}
    assert np.nansum(data.aspects["human rating"]) == 1
    assert np.nanmax(data.metrics["llm-rubric"]) == 0.25
    assert np.nanmax(data.metrics["pass"]) == 0
    assert "score" not in data.metrics
    assert set(data.columns["error"]) == {None, "no key"}


def test_promptfoo_results_with_the_least_in_them(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    bare = [
        {
            "provider": name,
            "prompt": "Why?",
            "vars": {"x": "1"},
            "response": {"output": name},
            "success": name == "b",
        }
        for name in ("a", "b")
    ]
    path.write_text(json.dumps({"results": {"version": 3, "results": bare}}))
    assert io.recognise(path).name == "promptfoo"
    assert io.load(path).metrics["pass"].tolist() == [[0, 1]]


def test_traces_listed_by_an_object(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"traces": json.loads((LOGS / "mlflow-traces.json").read_text())}, indent=1))
    assert io.recognise(path).name == "mlflow"
    assert io.load(path).shape == (5, 2)


@pytest.mark.parametrize("name", ["mlflow.db", "mlflow-traces.json", "mlflow-table.csv"])
def test_mlflow_traces(name: str, mlflow_store: Path) -> None:
    path = mlflow_store if name == "mlflow.db" else LOGS / name
    assert io.recognise(path).name == "mlflow"
    data = io.load(path)
    assert data.models == ("large", "small")
    assert data.sources is not None
    assert data.outputs is not None
    assert data.sources[0] == "What is the capital of France?"
    assert data.outputs[0].tolist() == ["It is Paris."] * 2
    judged, said = data.metrics["correctness"], data.aspects["correctness (human)"]
    # The judge was taken in by the small model's answer about Japan; the person was not.
    assert np.nanmean(judged[:, 1]) == pytest.approx(0.8)
    assert np.nansum(said, axis=0).tolist() == [3, 2]
    assert data.ratings.raters == ("ana@example.org",)
    assert data.references == ("expected_response",)
    assert data.truth_scale("correctness (human)") == (0, 1)


def trace(number: int, question: str, *assessments: dict[str, Any], **tags: str) -> dict[str, Any]:
    attributes = {"mlflow.spanInputs": json.dumps({"q": question}), "mlflow.spanOutputs": '"yes"'}
    info = {"trace_id": f"tr-{number}", "tags": tags, "assessments": list(assessments)}
    return {"info": info, "data": {"spans": [{"parent_span_id": None, "attributes": attributes}]}}


def feedback(value: Any, kind: str = "LLM_JUDGE", who: str = "gpt", **more: Any) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": who}
    return {"assessment_name": "ok", "source": source, "feedback": {"value": value}, **more}


def test_traces_of_one_application_are_items_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    corrected = feedback("yes", valid=False), feedback(False, "HUMAN", "ana")
    lines = [
        trace(1, "Same?", *corrected),
        trace(2, "Same?", feedback("yes"), feedback("no", who="claude")),
        trace(3, "Other?", feedback("unknown"), feedback("yes"), feedback("no")),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = io.load(path)
    assert data.items.tolist() == ["tr-1", "tr-2", "tr-3"]
    assert data.models == ("traces",)
    np.testing.assert_array_equal(data.metrics["ok (claude)"].ravel(), [NAN, 0, NAN])
    np.testing.assert_array_equal(data.metrics["ok (gpt)"].ravel()[:2], [1, 1])
    np.testing.assert_array_equal(data.aspects["ok"].ravel(), [0, NAN, NAN])


def test_traces_that_failed_before_they_named_a_model_do_not_merge_the_others(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    failed = trace(3, "Same?")
    failed["data"]["spans"][0]["attributes"].pop("mlflow.spanOutputs")
    lines = [
        trace(1, "Same?", feedback("yes"), model="a"),
        trace(2, "Same?", feedback("no"), model="b"),
        failed,
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = io.load(path)
    assert (data.models, data.metrics["ok"].tolist()) == (("a", "b"), [[1, 0]])
    assert data.roles is not None
    assert data.roles.notes == ("1 of 3 traces failed before they named a model, and are left out.",)
    assert data.roles.lines()[:4] == ["input → item", "inputs → input", "outputs → output", "model → model"]


def test_expectations_that_mlflow_packs_as_json(tmp_path: Path) -> None:
    packed = {"serialized_value": {"serialization_format": "JSON_FORMAT", "value": '["a", "b"]'}}
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(trace(1, "Why?", {"assessment_name": "facts", "expectation": packed})))
    assert io.load(path).columns["facts"].tolist() == [["a", "b"]]


def test_a_store_with_several_experiments(mlflow_store: Path, tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes(mlflow_store.read_bytes())
    with sqlite3.connect(path) as store:
        store.execute("INSERT INTO experiments (experiment_id, name) VALUES (7, 'other')")
        store.execute(
            "UPDATE trace_info SET experiment_id = 7"
            " WHERE request_id = (SELECT max(request_id) FROM trace_info)"
        )
    with pytest.raises(InputError, match=r"experiments capitals, other\. Name one: -S experiment=capitals"):
        io.load(path)
    assert len(io.load(path, experiment="other")) == 1


def test_samples_of_lm_evaluation_harness(tmp_path: Path) -> None:
    data = io.load(LOGS / "lm-eval")
    assert data.models == ("dummy",)
    assert data.items.tolist() == [
        f"{task}#{number}" for task in ("capitals", "choices") for number in range(3)
    ]
    assert data.outputs is not None
    # The dummy model writes "lol", and finds an answer likeliest at random.
    assert data.outputs.ravel().tolist() == ["lol"] * 3 + ["Paris", "Tokyo", "Tokyo"]
    np.testing.assert_array_equal(data.metrics["acc"].ravel(), [NAN] * 3 + [1, 0, 1])
    sample = (LOGS / "lm-eval" / "dummy").glob("samples_capitals_*")
    lines = next(sample).read_text(encoding="utf-8").replace('[["lol"]]', '[["lol", "Paris"]]')
    (tmp_path / "samples_capitals.jsonl").write_text(lines)
    repeated = io.load(tmp_path / "samples_capitals.jsonl")
    assert repeated.repeats.output is not None
    assert repeated.repeats.output.tolist() == ["lol", "Paris"] * 3


# --- archives -------------------------------------------------------------------------------------


def member(name: str = "inspect-small.eval") -> bytes:
    """The packed bytes of the first file in an archive."""
    with zipfile.ZipFile(LOGS / name) as archive:
        info = archive.infolist()[0]
        assert info.compress_type == 93
    content = (LOGS / name).read_bytes()
    return content[30 + len(info.filename) :][: info.compress_size]


def test_how_much_zstd_data_unpack_to_is_bounded_from_their_headers() -> None:
    with zipfile.ZipFile(LOGS / "inspect-small.eval") as archive:
        size = archive.infolist()[0].file_size
    assert size <= zstd_bound(member()) <= size + 2**18
    # A frame with one block that repeats a byte two million times.
    block = (2_000_000 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    assert zstd_bound(b"\x28\xb5\x2f\xfd\x00\x58" + block) == 2_000_000
    for damaged in (member()[:7], b"\x28\xb5\x2f\xfd", b"nonsense"):
        with pytest.raises(ValueError, match="the zstd data are"):
            zstd_bound(damaged)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t", "model": "m"}}')
        archive.writestr("samples/1_epoch_1.json", b" " * 40 * 2**20)
    with pytest.raises(InputError, match="the archive unpacks to far more than its own size"):
        io.load(path)


def test_a_damaged_archive_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes((LOGS / "inspect-small.eval").read_bytes()[:20_000])
    with pytest.raises(InputError, match="the ZIP archive is damaged"):
        io.load(path)


# --- the rules of all logs ------------------------------------------------------------------------


def load(*outputs: LoggedOutput, **options: Any) -> EvalSet:
    return assemble(Path("log.json"), outputs, options)


def output(item: Any = "a", model: str = "m", text: str = "out", **changed: Any) -> LoggedOutput:
    return LoggedOutput(item, model, changed.pop("source", "in"), text, **changed)


def test_outputs_without_epochs_are_repeats_in_the_order_of_the_log() -> None:
    data = load(
        output(text="first", scores=[LogScore("s", 1)]), output(text="second", scores=[LogScore("s", 0)])
    )
    assert data.metrics["s"].item() == 0.5
    assert data.repeats.epochs == ("1", "2")


def test_one_item_with_two_inputs_is_an_error() -> None:
    with pytest.raises(
        InputError, match='the item "a" has two inputs, "in" for the model m and "else" for n'
    ):
        load(output(), output(model="n", source="else", place="row 2"))


def test_an_item_without_id_is_called_after_its_input() -> None:
    ids = {load(output(None, source=text)).items[0] for text in ("one", "two", "one")}
    assert len(ids) == 2


def test_a_text_among_numbers_is_named_and_texts_alone_are_kept() -> None:
    scored = [
        output(name, scores=[LogScore("s", value)]) for name, value in zip("abc", (1, 2, "odd"), strict=True)
    ]
    with pytest.raises(InputError, match=r'"odd" is not a score of s\. .* choose scores with metrics='):
        load(*scored)
    assert list(load(*scored, output("d", scores=[LogScore("t", 1)]), metrics="t").metrics) == ["t"]
    data = load(*(output(name, scores=[LogScore("tone", "warm")]) for name in "ab"))
    assert data.cells["tone"].tolist() == [["warm"], ["warm"]]
    with pytest.raises(UnknownNameError, match='There is no score "u"'):
        load(*scored, metrics="u")


def test_scores_that_the_user_knows_to_be_peoples() -> None:
    path = LOGS / "inspect-small.eval"
    before = io.load(path)
    data = io.load(path, roles={"includes": "human", "style.short": "ignored"})
    np.testing.assert_array_equal(data.aspects["includes"], before.metrics["includes"])
    assert list(data.metrics) == ["style.polite", "model_graded_fact"]
    assert data.truth_scale("includes") == (0, 1)
    assert set(data.repeats.scores) == {"aspect:includes", "metric:style.polite", "metric:model_graded_fact"}
    with pytest.raises(UsageError, match=r"model_graded_fact \(human\) is a score of people"):
        io.load(LOGS / "inspect-edited.eval", roles={"model_graded_fact (human)": "metric"})


def test_the_parts_of_a_log_are_said() -> None:
    data = io.load([LOGS / "inspect-small.eval", LOGS / "inspect-large.eval"])
    assert data.roles is not None
    assert data.roles.lines() == [
        "id → item",
        "input → input",
        "output → output",
        "model → model",
        "epoch → epoch",
        "target → reference",
        "includes → metric (0–1)",
        "style.short → metric (1–1)",
        "style.polite → metric (1–2)",
        "model_graded_fact → metric (0.5–1)",
    ]


def test_what_differs_between_outputs_of_an_item_belongs_to_the_cells() -> None:
    data = load(
        output(columns={"topic": "x", "seed": 1}), output(model="n", columns={"topic": "x", "seed": 2})
    )
    assert data.columns["topic"].tolist() == ["x"]
    assert data.cells["seed"].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("value", "number"),
    [(True, 1), (0.25, 0.25), ("pass", 1), ("No", 0), (" 3 ", 3), ("Paris", None), ([1], None)],
)
def test_scores_as_numbers(value: Any, number: float | None) -> None:
    assert score_number(value) == number


@pytest.mark.parametrize("value", [None, "unknown", "", "N/A"])
def test_no_verdict_is_missing(value: Any) -> None:
    assert np.isnan(score_number(value))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, None),
        ({"question": "Why?"}, "Why?"),
        ({"question": "Why?", "context": "It rained."}, "question: Why?\n\ncontext: It rained."),
        ({"messages": [{"role": "user", "content": "Hi"}], "temperature": 0}, "Hi"),
        (
            [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}],
            "user: Hi\n\nassistant: Yes?",
        ),
        ({"choices": [{"message": {"role": "assistant", "content": "Done"}}]}, "Done"),
        (
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}],
            },
            "A",
        ),
        (
            [{"type": "image_url", "image_url": {"url": "data:…"}}, {"type": "text", "text": "this"}],
            "[image_url]\nthis",
        ),
        (["one", "two"], "one\ntwo"),
        (3, "3"),
    ],
)
def test_texts_as_raters_read_them(value: Any, text: str | None) -> None:
    assert readable(value) == text
