"""One run of HELM as its files hold it: what was asked, what came back, and what the metrics said."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.values import as_id, as_list, as_mapping, as_number, as_text, shown

SPEC, STATE, STATS = "run_spec.json", "scenario_state.json", "per_instance_stats.json"
INSTANCES, PREDICTIONS = "instances.json", "display_predictions.json"
_CORRECT = "correct"


@dataclass(frozen=True)
class Instance:
    """One input of a scenario, as it was or perturbed, with its possible answers: text and whether right."""

    id: str
    perturbation: str | None
    parameters: str
    source: str | None
    answers: tuple[tuple[str | None, bool], ...]
    split: str | None
    sub_split: str | None


@dataclass(frozen=True)
class Prediction:
    """What a model answered in one trial; ``answer``: which possible answer was asked about, if one was."""

    id: str
    perturbation: str | None
    trial: int
    text: str | None
    mapped: str | None
    answer: int | None


@dataclass(frozen=True)
class Scores:
    """What some metrics said of one trial, as far as they said something."""

    id: str
    perturbation: str | None
    trial: int
    by_name: dict[str, float]


@dataclass(frozen=True)
class Run:
    """The folder of a run."""

    folder: Path

    @cached_property
    def _spec(self) -> dict[str, Any]:
        with _placed(self.folder / SPEC):
            return as_mapping(files.read_json(self.folder / SPEC), "run_spec")

    @cached_property
    def model(self) -> str:
        """The name of the model."""
        with _placed(self.folder / SPEC):
            adapter = as_mapping(self._spec.get("adapter_spec"), "adapter_spec")
            name = adapter.get("model") or adapter.get("model_deployment")
            if name is None:
                raise InputError("the run names no model", field="adapter_spec.model")
            return as_id(name, "adapter_spec.model")

    @cached_property
    def scenario(self) -> str:
        """The name of the scenario with its arguments: ``mmlu:subject=philosophy``."""
        with _placed(self.folder / SPEC):
            name = (as_text(self._spec.get("name"), "name") or self.folder.name).partition(":")[0]
            scenario = as_mapping(self._spec.get("scenario_spec"), "scenario_spec")
            arguments = as_mapping(scenario.get("args"), "scenario_spec.args")
            written = ",".join(f"{key}={_plain_text(arguments[key])}" for key in sorted(arguments))
            return f"{name}:{written}" if written else name

    @cached_property
    def _states(self) -> list[dict[str, Any]] | None:
        if not (self.folder / STATE).exists():
            return None
        with _placed(self.folder / STATE):
            state = as_mapping(files.read_json(self.folder / STATE), "scenario_state")
            return _objects(state.get("request_states"), "request_states")

    def instances(self) -> Iterator[Instance]:
        """Yield every instance, one that was asked several times as often."""
        if self._states is None:
            with _placed(self.folder / INSTANCES):
                for place, values in enumerate(
                    _objects(files.read_json(self.folder / INSTANCES), "instances")
                ):
                    yield _instance(values, f"instances[{place}]")
            return
        with _placed(self.folder / STATE):
            for place, state in enumerate(self._states):
                field = f"request_states[{place}].instance"
                yield _instance(as_mapping(state.get("instance"), field), field)

    def predictions(self) -> Iterator[Prediction]:
        """Yield every answer."""
        if self._states is None:
            with _placed(self.folder / PREDICTIONS):
                for place, values in enumerate(self._displayed):
                    yield _displayed_prediction(values, f"display_predictions[{place}]")
            return
        with _placed(self.folder / STATE):
            for place, state in enumerate(self._states):
                if state.get("request_mode") != "calibration":
                    yield _prediction(state, f"request_states[{place}]")

    @cached_property
    def _displayed(self) -> list[dict[str, Any]]:
        return _objects(files.read_json(self.folder / PREDICTIONS), "display_predictions")

    def scores(self) -> Iterator[Scores]:
        """Yield what the metrics said; several metrics may speak of the same trial one after the other."""
        path = self.folder / (STATS if (self.folder / STATS).exists() else PREDICTIONS)
        with _placed(path):
            held = self._displayed if path.name == PREDICTIONS else _objects(files.read_json(path), path.stem)
            for place, values in enumerate(held):
                field = f"{path.stem}[{place}]"
                yield Scores(*_trial(values, field), _means(values.get("stats"), f"{field}.stats"))


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    """Put the file into the errors that are raised within."""
    try:
        yield
    except InputError as error:
        raise error.at(file=path) from None


def _objects(value: Any, field: str) -> list[dict[str, Any]]:
    return [as_mapping(held, f"{field}[{place}]") for place, held in enumerate(as_list(value, field))]


def _instance(values: dict[str, Any], field: str) -> Instance:
    perturbation = as_mapping(values.get("perturbation"), f"{field}.perturbation")
    answers = _objects(values.get("references"), f"{field}.references")
    return Instance(
        as_id(values.get("id"), f"{field}.id"),
        _perturbation(values, field),
        json.dumps(perturbation, sort_keys=True),
        _text_of(values.get("input"), f"{field}.input"),
        tuple(
            (
                _text_of(answer.get("output"), f"{field}.references[{place}].output"),
                _CORRECT in as_list(answer.get("tags"), f"{field}.references[{place}].tags"),
            )
            for place, answer in enumerate(answers)
        ),
        as_text(values.get("split"), f"{field}.split"),
        as_text(values.get("sub_split"), f"{field}.sub_split"),
    )


def _prediction(state: dict[str, Any], field: str) -> Prediction:
    instance = as_mapping(state.get("instance"), f"{field}.instance")
    result = as_mapping(state.get("result"), f"{field}.result")
    completions = _objects(result.get("completions"), f"{field}.result.completions")
    text = as_text(completions[0].get("text"), f"{field}.result.completions[0].text") if completions else None
    mapping = as_mapping(state.get("output_mapping"), f"{field}.output_mapping")
    return Prediction(
        as_id(instance.get("id"), f"{field}.instance.id"),
        _perturbation(instance, f"{field}.instance"),
        _whole(state.get("train_trial_index", 0), f"{field}.train_trial_index"),
        text,
        None if text is None else as_text(mapping.get(text.strip()), f"{field}.output_mapping"),
        _answer(state, field),
    )


def _displayed_prediction(values: dict[str, Any], field: str) -> Prediction:
    return Prediction(
        *_trial(values, field),
        as_text(values.get("predicted_text"), f"{field}.predicted_text"),
        as_text(values.get("mapped_output"), f"{field}.mapped_output"),
        _answer(values, field),
    )


def _trial(values: dict[str, Any], field: str) -> tuple[str, str | None, int]:
    return (
        as_id(values.get("instance_id"), f"{field}.instance_id"),
        _perturbation(values, field),
        _whole(values.get("train_trial_index", 0), f"{field}.train_trial_index"),
    )


def _answer(values: dict[str, Any], field: str) -> int | None:
    place = values.get("reference_index")
    return None if place is None else _whole(place, f"{field}.reference_index")


def _perturbation(values: dict[str, Any], field: str) -> str | None:
    held = as_mapping(values.get("perturbation"), f"{field}.perturbation")
    return as_id(held.get("name"), f"{field}.perturbation.name") if held else None


def _means(stats: Any, field: str) -> dict[str, float]:
    """Return the means that are there: of a list of statistics, or of an object of numbers."""
    if isinstance(stats, dict):
        means = {name: as_number(value, f"{field}.{name}") for name, value in stats.items()}
    else:
        means = dict(_mean(stat, f"{field}[{place}]") for place, stat in enumerate(_objects(stats, field)))
    return {name: mean for name, mean in means.items() if not math.isnan(mean)}


def _mean(stat: dict[str, Any], field: str) -> tuple[str, float]:
    name = as_mapping(stat.get("name"), f"{field}.name")
    return as_id(name.get("name"), f"{field}.name.name"), as_number(stat.get("mean"), f"{field}.mean")


def _text_of(value: Any, field: str) -> str | None:
    """Return the text of an input or output, which older files hold without the object around it."""
    return as_text(value.get("text"), f"{field}.text") if isinstance(value, dict) else as_text(value, field)


def _whole(value: Any, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(f"{shown(value)} is no whole number", field=field)


def _plain_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
