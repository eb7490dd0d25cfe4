"""HELM runs, built by hand as its runner writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.data import io

NAN = float("nan")
TINY, LARGE = "openai/tiny", "lab/Large (v2) + chat"
MISSPELLING = {"name": "misspelling", "robustness": True, "fairness": False, "prob": 0.5}


def spec(model: str, name: str = "gsm", args: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "name": f"{name}:model={model.replace('/', '_')}",
        "scenario_spec": {"class_name": f"helm.scenarios.{name}", "args": args or {}},
        "adapter_spec": {"method": "generation", "model": model, "num_train_trials": 1},
        "metric_specs": [],
        "groups": [name],
    }


def instance(name: str, text: str | None = None, **changed: Any) -> dict[str, Any]:
    return {
        "input": {"text": text or f"question {name}"},
        "references": [{"output": {"text": "4"}, "tags": ["correct"]}],
        "split": "test",
        "id": name,
        **changed,
    }


def state(of: dict[str, Any], text: str | None, trial: int = 0, **changed: Any) -> dict[str, Any]:
    return {
        "instance": of,
        "train_trial_index": trial,
        "request": {"model": "m", "prompt": f"Q: {of['input']}"},
        "result": {
            "success": True,
            "completions": [] if text is None else [{"text": text, "logprob": 0, "tokens": []}],
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
        **changed,
    }


def stats(
    name: str, trial: int = 0, perturbation: dict[str, Any] | None = None, **means: Any
) -> dict[str, Any]:
    context = {"split": "test", **({} if perturbation is None else {"perturbation": perturbation})}
    return {
        "instance_id": name,
        **({} if perturbation is None else {"perturbation": perturbation}),
        "train_trial_index": trial,
        "stats": [
            {
                "name": {"name": metric, **context},
                "count": 0 if mean is None else 1,
                "sum": 0 if mean is None else mean,
                **({} if mean is None else {"mean": mean}),
            }
            for metric, mean in means.items()
        ],
    }


def write(folder: Path, **contents: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    return folder


def write_run(folder: Path, model: str, answers: dict[str, str | None], scores: dict[str, Any]) -> Path:
    return write(
        folder,
        run_spec=spec(model),
        scenario_state={
            "adapter_spec": spec(model)["adapter_spec"],
            "request_states": [state(instance(name), text) for name, text in answers.items()],
        },
        per_instance_stats=[
            stats(name, exact_match=score, num_output_tokens=3) for name, score in scores.items()
        ],
    )


def test_a_folder_of_runs(tmp_path: Path) -> None:
    write_run(
        tmp_path / "v1" / "gsm:model=tiny", TINY, {"id1": "it is 4", "id2": ""}, {"id1": 1.0, "id2": 0.0}
    )
    write_run(
        tmp_path / "v1" / "gsm:model=large,stop=none",
        LARGE,
        {"id2": "4", "id1": "5"},
        {"id2": 1, "id1": None},
    )
    data = io.load(tmp_path)
    assert data.models == (LARGE, TINY)
    assert data.items.tolist() == ["gsm#id1", "gsm#id2"]
    np.testing.assert_array_equal(data.metrics["exact_match"], [[NAN, 1.0], [1.0, 0.0]])
    assert sorted(data.metrics) == ["exact_match"]
    assert data.cells["num_output_tokens"].tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["5", "it is 4"], ["4", ""]]
    assert data.sources is not None
    assert data.sources.tolist() == ["question id1", "question id2"]
    assert data.references == ("reference",)
    assert data.columns["split"].tolist() == ["test", "test"]
    assert data.columns["scenario"].tolist() == ["gsm", "gsm"]
    assert "perturbed" not in data.columns


def test_one_run(tmp_path: Path) -> None:
    data = io.load(write_run(tmp_path / "run", LARGE, {"id1": "4", "id2": None}, {"id1": 1.0}))
    assert data.models == (LARGE,)
    np.testing.assert_array_equal(data.metrics["exact_match"], [[1.0], [NAN]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["4"], [None]]


def test_scenarios_are_told_apart_by_their_arguments(tmp_path: Path) -> None:
    for subject in ("law", "logic"):
        run = write_run(tmp_path / subject, TINY, {"id1": "4"}, {"id1": 1.0})
        write(run, run_spec=spec(TINY, "mmlu", {"subject": subject, "shots": 5}))
    data = io.load(tmp_path)
    assert data.items.tolist() == ["mmlu:shots=5,subject=law#id1", "mmlu:shots=5,subject=logic#id1"]


def test_metrics_can_be_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TINY, {"id1": "4"}, {"id1": 1.0})
    data = io.load(run, metrics="num_output_tokens")
    assert {name: scores.tolist() for name, scores in data.metrics.items()} == {"num_output_tokens": [[3.0]]}
    assert data.cells["exact_match"].tolist() == [[1.0]]
    with pytest.raises(UnknownNameError, match=r'no statistic "exact_macth"\. Did you mean exact_match'):
        io.load(run, metrics=["exact_macth"])


def perturbed_run(folder: Path) -> Path:
    original = instance("id1", "the question")
    worse = instance("id1", "teh qeustion", perturbation=MISSPELLING)
    lower = instance("id1", "THE", perturbation={"name": "caps", "robustness": True})
    alone = instance("id2", "another")
    return write(
        folder,
        run_spec=spec(TINY),
        scenario_state={
            "request_states": [
                state(original, "4"),
                state(worse, "5"),
                state(lower, "6"),
                state(alone, "7"),
            ]
        },
        per_instance_stats=[
            stats("id1", exact_match=1.0),
            stats("id1", perturbation=MISSPELLING, exact_match=0.0),
            stats("id1", perturbation={"name": "caps"}, exact_match=0.0),
            stats("id2", exact_match=0.0),
        ],
    )


def test_perturbed_instances_are_counted_and_left_out(tmp_path: Path) -> None:
    data = io.load(perturbed_run(tmp_path / "run"))
    assert data.items.tolist() == ["gsm#id1", "gsm#id2"]
    assert data.columns["perturbed"].tolist() == [2, 0]
    np.testing.assert_array_equal(data.metrics["exact_match"], [[1.0], [0.0]])
    assert data.sources is not None
    assert data.sources.tolist() == ["the question", "another"]


def test_a_perturbation_can_be_chosen(tmp_path: Path) -> None:
    run = perturbed_run(tmp_path / "run")
    data = io.load(run, perturbation="misspelling")
    assert data.items.tolist() == ["gsm#id1"]
    assert data.columns["perturbation"].tolist() == ["misspelling"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["5"]]
    np.testing.assert_array_equal(data.metrics["exact_match"], [[0.0]])
    with pytest.raises(UnknownNameError, match=r'no perturbation "mispelling"\. Did you mean misspelling'):
        io.load(run, perturbation="mispelling")


def test_only_perturbed_instances(tmp_path: Path) -> None:
    run = perturbed_run(tmp_path / "run")
    path = run / "scenario_state.json"
    states = json.loads(path.read_text(encoding="utf-8"))["request_states"][1:3]
    write(run, scenario_state={"request_states": states})
    with pytest.raises(InputError) as caught:
        io.load(run)
    assert str(caught.value) == (
        f"{run}: every instance is perturbed. "
        "Choose a perturbation with perturbation=NAME: misspelling, caps."
    )


def test_several_trials(tmp_path: Path) -> None:
    run = write(
        tmp_path / "run",
        run_spec=spec(TINY),
        scenario_state={
            "request_states": [state(instance("id1"), text, trial) for trial, text in ((1, "b"), (0, "a"))]
        },
        per_instance_stats=[
            stats("id1", 0, f1=0.2),
            stats("id1", 1, f1=0.5),
            stats("id1", 2, f1=None),
            stats("id1", 0, bleu=3.0),
        ],
    )
    data = io.load(run)
    np.testing.assert_allclose(data.metrics["f1"], [[0.35]])
    np.testing.assert_array_equal(data.metrics["bleu"], [[3.0]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["a"]]


def answers_of(*texts: str, right: int) -> list[dict[str, Any]]:
    return [
        {"output": {"text": text}, "tags": ["correct"] if place == right else []}
        for place, text in enumerate(texts)
    ]


def test_letters_that_stand_for_answers(tmp_path: Path) -> None:
    question = instance("id1", references=answers_of("red", "green", right=1))
    run = write(
        tmp_path / "run",
        run_spec=spec(TINY),
        scenario_state={"request_states": [state(question, " B", output_mapping={"A": "red", "B": "green"})]},
        per_instance_stats=[stats("id1", exact_match=1.0)],
    )
    data = io.load(run)
    assert data.outputs is not None
    assert data.outputs.tolist() == [[" B"]]
    assert data.cells["mapped_output"].tolist() == [["green"]]
    assert data.columns["answers"].tolist() == [["red", "green"]]
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["green"]]


@pytest.mark.parametrize(("winner", "output"), [(0.0, "red"), (1.0, "green"), (None, None)])
def test_answers_asked_about_one_by_one(tmp_path: Path, winner: float | None, output: str | None) -> None:
    question = instance("id1", references=answers_of("red", "green", right=1))
    asked = [
        state(question, f"the colour is {place}", reference_index=place, request_mode=mode)
        for place in (0, 1)
        for mode in ("original", "calibration")
    ]
    run = write(
        tmp_path / "run",
        run_spec=spec(TINY),
        scenario_state={"request_states": asked},
        per_instance_stats=[stats("id1", exact_match=1.0, predicted_index=winner)],
    )
    data = io.load(run)
    assert (None if data.outputs is None else data.outputs.tolist()[0][0]) == output


def test_a_run_without_its_scenario_state(tmp_path: Path) -> None:
    """What the web pages of HELM read is enough."""
    run = write(
        tmp_path / "run",
        run_spec=spec(LARGE),
        instances=[instance("id1"), instance("id1", "qeustion", perturbation=MISSPELLING)],
        display_predictions=[
            {
                "instance_id": "id1",
                "train_trial_index": 0,
                "predicted_text": " B",
                "mapped_output": "green",
                "stats": {"exact_match": 1.0, "num_bytes": 5},
            },
            {
                "instance_id": "id1",
                "perturbation": MISSPELLING,
                "train_trial_index": 0,
                "predicted_text": "no",
                "stats": {"exact_match": 0.0},
            },
        ],
    )
    data = io.load(run)
    assert data.outputs is not None
    assert data.outputs.tolist() == [[" B"]]
    np.testing.assert_array_equal(data.metrics["exact_match"], [[1.0]])
    assert data.columns["perturbed"].tolist() == [1]


def test_inputs_and_outputs_that_are_plain_text(tmp_path: Path) -> None:
    """The first versions of HELM had no objects around them."""
    old = instance("id1", input="the question", references=[{"output": "4", "tags": ["correct"]}])
    run = write(
        tmp_path / "run",
        run_spec=spec(TINY),
        scenario_state={"request_states": [state(old, "4")]},
        per_instance_stats=[],
    )
    data = io.load(run)
    assert data.sources is not None
    assert data.sources.tolist() == ["the question"]
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["4"]]


def test_two_runs_of_one_model(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", TINY, {"id1": "4"}, {})
    second = write_run(tmp_path / "2", TINY, {"id1": "4"}, {})
    with pytest.raises(InputError) as caught:
        io.load(tmp_path)
    assert str(caught.value) == (
        f'{second}: the model "openai/tiny" has two runs of gsm, this and {first}. Move one away.'
    )


def test_another_input_under_the_same_id(tmp_path: Path) -> None:
    first = write_run(tmp_path / "large", LARGE, {"id1": "4"}, {})
    second = write(
        tmp_path / "tiny",
        run_spec=spec(TINY),
        scenario_state={"request_states": [state(instance("id1", "another question"), "4")]},
        per_instance_stats=[],
    )
    with pytest.raises(InputError) as caught:
        io.load(tmp_path)
    assert str(caught.value) == (
        f'{second}: the instance "id1" of gsm has another input than in {first}. '
        "Run all models on the same version of the scenario."
    )


def test_a_statistic_that_is_no_number(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TINY, {"id1": "4"}, {"id1": 1.0})
    write(run, per_instance_stats=[stats("id1", exact_match=1.0), stats("id1", f1="high")])
    with pytest.raises(InputError) as caught:
        io.load(run)
    assert str(caught.value) == (
        f"{run / 'per_instance_stats.json'}, field per_instance_stats[1].stats[0].mean: "
        '"high" is text, not a number. Write the number without quotes, or null where it is missing.'
    )


def test_an_instance_without_an_id(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TINY, {"id1": "4"}, {})
    broken = instance("id1")
    del broken["id"]
    write(run, scenario_state={"request_states": [state(broken, "4")]})
    with pytest.raises(InputError) as caught:
        io.load(run)
    assert str(caught.value) == (
        f"{run / 'scenario_state.json'}, field request_states[0].instance.id: null is not an id. "
        "An id is text or a whole number."
    )


def test_a_run_that_names_no_model(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TINY, {"id1": "4"}, {})
    write(run, run_spec={"name": "gsm", "adapter_spec": {}})
    with pytest.raises(
        InputError, match=r"run_spec.json, field adapter_spec.model: the run names no model\.$"
    ):
        io.load(run)


def test_two_perturbations_of_one_name(tmp_path: Path) -> None:
    both = [
        instance("id1", text, perturbation={"name": "gender", "mode": text}) for text in ("names", "pronouns")
    ]
    run = write(
        tmp_path / "run",
        run_spec=spec(TINY),
        scenario_state={"request_states": [state(held, "4") for held in both]},
        per_instance_stats=[],
    )
    with pytest.raises(InputError, match='the instance "id1" has two perturbations called gender'):
        io.load(run, perturbation="gender")


def test_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run with a run_spec.json in it\.$"):
        io.load(tmp_path, "helm")
