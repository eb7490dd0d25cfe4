"""Runs of HELM: a folder per scenario and model.

``run_spec.json`` (``adapter_spec.model``, ``scenario_spec``), ``scenario_state.json`` (``request_states``: an
``instance`` with ``id``, ``input.text``, ``references``, ``split``, ``perturbation``, and a ``result`` with
``completions``), ``per_instance_stats.json`` (``instance_id``, ``perturbation``, ``train_trial_index``,
``stats``: ``name.name`` and ``mean``). Where ``scenario_state.json`` was not kept, ``instances.json`` and
``display_predictions.json`` stand in for it.

- An item is ``SCENARIO#INSTANCE``, the scenario being its name and arguments; that its input is the same for
  every model is checked.
- Perturbed instances are left out and counted in the column ``perturbed``, unless the option ``perturbation``
  names one, which is then taken instead of the originals.
- Of several trials (``train_trial_index``) a metric is the mean, and the output is that of the first.
- Numbers that describe the run and judge nothing (``num_…``, ``inference_…``, ``finish_reason_…`` and the
  like) become columns of the cells; the option ``metrics`` names those that are to be metrics instead.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError, listing
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Head, Options, names_in
from sparingly.data.io.log import LogFormat
from sparingly.data.values import as_id, as_list, as_mapping, as_number, as_text, as_whole, shown

REFERENCE = "reference"
_FOLDERS = ("", "*/", "*/*/", "*/*/*/")
_CHOSEN = "predicted_index"
_DESCRIBING = (
    *("num_", "inference_", "training_", "finish_reason_", "estimated_"),
    *("batch_size", "prompt_truncated", "logprob", "max_prob", _CHOSEN),
)
Trials = dict[str, dict[int, dict[str, float]]]


@register("helm")
class Helm(LogFormat):
    """Run folders of HELM."""

    summary: ClassVar[str] = "HELM runs: a folder per scenario and model with run_spec.json and the rest"
    terms: ClassVar[dict[str, str]] = {
        "item": "instance",
        "input": "input",
        "output": "completion",
        "model": "run",
        "epoch": "trial",
    }
    options: ClassVar[dict[str, str]] = {
        "perturbation": "the perturbation whose instances are taken (default: the unperturbed ones)",
        "metrics": "the statistics that are metrics (default: all that judge something)",
    }

    def recognises(self, head: Head) -> bool:
        """Look for a run's specification beside its instances or statistics."""
        folder = next(_run_folders(head.path), None) if head.is_directory else None
        run_files = (STATE, STATS, INSTANCES, PREDICTIONS)
        return folder is not None and any((folder / name).is_file() for name in run_files)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read every run."""
        runs = [Run(folder) for folder in _run_folders(path)]
        if not runs:
            raise InputError(f"there is no run with a {SPEC} in it", file=path)
        metrics = names_in(options["metrics"]) if "metrics" in options else None
        reader = _HelmReader(EvalSetBuilder(path), options.get("perturbation"), metrics)
        for run in _each_once(runs):
            # A fresh object, so that what it read is let go before the next run is read.
            reader.take(Run(run.folder))
        reader.finish(path)
        return reader.builder.build()


def _run_folders(path: Path) -> Iterator[Path]:
    for depth in _FOLDERS:
        yield from (file.parent for file in sorted(path.glob(f"{depth}{SPEC}")))


def _each_once(runs: list[Run]) -> list[Run]:
    """Return the runs in the order of scenarios and models; two of the same are an error."""
    by_scenario_and_model: dict[tuple[str, str], Run] = {}
    for run in runs:
        earlier = by_scenario_and_model.setdefault((run.scenario, run.model), run)
        if earlier is not run:
            raise InputError(
                f"the model {shown(run.model)} has two runs of {run.scenario}, this and {earlier.folder}",
                file=run.folder,
                fix="Move one away",
            )
    return [by_scenario_and_model[key] for key in sorted(by_scenario_and_model)]


@dataclass
class _HelmReader:
    """Takes runs into a builder."""

    builder: EvalSetBuilder
    perturbation: str | None
    metrics: list[str] | None
    sources: dict[int, tuple[str | None, str]] = field(default_factory=dict)
    perturbed: dict[int, int] = field(default_factory=dict)
    perturbations: dict[str, None] = field(default_factory=dict)
    statistics: dict[str, None] = field(default_factory=dict)

    def take(self, run: Run) -> None:
        """Take a run: its instances, then what the model answered, then the scores."""
        model = self.builder.model(run.model)
        instances, perturbed = self._instances(run)
        items = {name: self.builder.item(f"{run.scenario}#{name}") for name in instances}
        for name, instance in instances.items():
            self._take_item(run, items[name], instance)
            self.perturbed[items[name]] = max(
                self.perturbed.get(items[name], 0), len(perturbed.get(name, ()))
            )
        # The statistics of the wanted instances by trial; of two of one name the last one counts.
        trials: Trials = {}
        for scores in run.scores():
            if scores.perturbation == self.perturbation and scores.id in instances:
                trials.setdefault(scores.id, {}).setdefault(scores.trial, {}).update(scores.by_name)
                self.statistics |= dict.fromkeys(scores.by_name)
        for name, prediction in self._predictions(run, instances, trials).items():
            text = prediction.text if prediction.answer is None else _chosen(instances[name], prediction, run)
            self.builder.output(items[name], model, text)
            self.builder.cell(items[name], model, "mapped_output", prediction.mapped)
        for name, by_trial in trials.items():
            for statistic, value in _means_over_trials(by_trial).items():
                self._take_score(items[name], model, statistic, value)

    def _instances(self, run: Run) -> tuple[dict[str, Instance], dict[str, set[str]]]:
        """Return the instances that are wanted, and the perturbed versions of each that are not."""
        chosen: dict[str, Instance] = {}
        perturbed: dict[str, set[str]] = {}
        for instance in run.instances():
            if instance.perturbation is not None:
                self.perturbations[instance.perturbation] = None
            if instance.perturbation != self.perturbation:
                if instance.perturbation is not None:
                    perturbed.setdefault(instance.id, set()).add(instance.parameters)
                continue
            if chosen.setdefault(instance.id, instance).parameters != instance.parameters:
                raise InputError(
                    f"the instance {shown(instance.id)} has two perturbations called {instance.perturbation}",
                    file=run.folder,
                    fix="Take the unperturbed instances, or another perturbation",
                )
        return chosen, perturbed

    def _take_item(self, run: Run, item: int, instance: Instance) -> None:
        earlier_source, folder = self.sources.setdefault(item, (instance.source, str(run.folder)))
        if earlier_source != instance.source:
            raise InputError(
                f"the instance {shown(instance.id)} of {run.scenario} has another input than in {folder}",
                file=run.folder,
                fix="Run all models on the same version of the scenario",
            )
        if folder != str(run.folder):
            return
        self.builder.source(item, instance.source)
        right = [text for text, correct in instance.answers if correct]
        for place, text in enumerate(right):
            self.builder.reference(item, REFERENCE if place == 0 else f"{REFERENCE}_{place + 1}", text)
        columns = {
            "scenario": run.scenario,
            "split": instance.split,
            "sub_split": instance.sub_split,
            "perturbation": instance.perturbation,
            "answers": [text for text, _ in instance.answers] if len(right) < len(instance.answers) else None,
        }
        for name, value in columns.items():
            self.builder.column(item, name, value)

    def _predictions(self, run: Run, instances: dict[str, Instance], trials: Trials) -> dict[str, Prediction]:
        """Return the first trial's answer to each chosen instance, where it can be identified."""
        by_instance: dict[str, list[Prediction]] = {}
        for prediction in run.predictions():
            if prediction.perturbation == self.perturbation and prediction.id in instances:
                by_instance.setdefault(prediction.id, []).append(prediction)
        answers: dict[str, Prediction] = {}
        for name, predictions in by_instance.items():
            trial = min(prediction.trial for prediction in predictions)
            of_trial = [prediction for prediction in predictions if prediction.trial == trial]
            # Where every possible answer was asked about, a statistic says which of them won.
            winner = trials.get(name, {}).get(trial, {}).get(_CHOSEN)
            won = (
                of_trial if len(of_trial) == 1 else [result for result in of_trial if result.answer == winner]
            )
            if len(won) == 1:
                answers[name] = won[0]
        return answers

    def _take_score(self, item: int, model: int, name: str, value: float) -> None:
        describes = name.startswith(_DESCRIBING) if self.metrics is None else name not in self.metrics
        if describes:
            self.builder.cell(item, model, name, value)
        else:
            self.builder.metric(item, model, name, value, name)

    def finish(self, path: Path) -> None:
        """Take what is known only after the last run, and check that the options matched something."""
        if self.perturbation is not None and self.perturbation not in self.perturbations:
            raise UnknownNameError("perturbation", self.perturbation, self.perturbations)
        for name in self.metrics or ():
            if name not in self.statistics:
                raise UnknownNameError("statistic", name, self.statistics)
        if not len(self.builder.items) and self.perturbations:
            raise InputError(
                "every instance is perturbed",
                file=path,
                fix=f"Choose a perturbation with perturbation=NAME: {listing(self.perturbations)}",
            )
        if any(self.perturbed.values()):
            for item, count in self.perturbed.items():
                self.builder.column(item, "perturbed", count)


def _chosen(instance: Instance, prediction: Prediction, run: Run) -> str | None:
    place = prediction.answer
    if place is None or not 0 <= place < len(instance.answers):
        raise InputError(
            f"the instance {shown(instance.id)} has no reference {place}",
            file=run.folder,
            field="reference_index",
        )
    return instance.answers[place][0]


def _means_over_trials(by_trial: dict[int, dict[str, float]]) -> dict[str, float]:
    """Return the mean of each statistic over the trials that have it."""
    names = {name: None for scores in by_trial.values() for name in scores}
    values_by_name = {
        name: [scores[name] for scores in by_trial.values() if name in scores] for name in names
    }
    return {name: sum(values) / len(values) for name, values in values_by_name.items()}


# --- One run of HELM as its files hold it ---------------------------------------------------------

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
class TrialScores:
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
        with files.naming(self.folder / SPEC):
            return as_mapping(files.read_json(self.folder / SPEC), "run_spec")

    @cached_property
    def model(self) -> str:
        """The name of the model."""
        with files.naming(self.folder / SPEC):
            adapter = as_mapping(self._spec.get("adapter_spec"), "adapter_spec")
            name = adapter.get("model") or adapter.get("model_deployment")
            if name is None:
                raise InputError("the run names no model", field="adapter_spec.model")
            return as_id(name, "adapter_spec.model")

    @cached_property
    def scenario(self) -> str:
        """The name of the scenario with its arguments: ``mmlu:subject=philosophy``."""
        with files.naming(self.folder / SPEC):
            name = (as_text(self._spec.get("name"), "name") or self.folder.name).partition(":")[0]
            scenario = as_mapping(self._spec.get("scenario_spec"), "scenario_spec")
            arguments = as_mapping(scenario.get("args"), "scenario_spec.args")
            arguments_text = ",".join(
                f"{key}={value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"
                for key, value in sorted(arguments.items())
            )
            return f"{name}:{arguments_text}" if arguments_text else name

    @cached_property
    def _states(self) -> list[dict[str, Any]] | None:
        if not (self.folder / STATE).exists():
            return None
        with files.naming(self.folder / STATE):
            state = as_mapping(files.read_json(self.folder / STATE), "scenario_state")
            return _objects(state.get("request_states"), "request_states")

    def instances(self) -> Iterator[Instance]:
        """Yield every instance, once for each time it was asked."""
        if self._states is None:
            with files.naming(self.folder / INSTANCES):
                for place, values in enumerate(
                    _objects(files.read_json(self.folder / INSTANCES), "instances")
                ):
                    yield _instance(values, f"instances[{place}]")
            return
        with files.naming(self.folder / STATE):
            for place, state in enumerate(self._states):
                field = f"request_states[{place}].instance"
                yield _instance(as_mapping(state.get("instance"), field), field)

    def predictions(self) -> Iterator[Prediction]:
        """Yield every answer."""
        if self._states is None:
            with files.naming(self.folder / PREDICTIONS):
                for place, values in enumerate(self._displayed):
                    yield _displayed_prediction(values, f"display_predictions[{place}]")
            return
        with files.naming(self.folder / STATE):
            for place, state in enumerate(self._states):
                if state.get("request_mode") != "calibration":
                    yield _prediction(state, f"request_states[{place}]")

    @cached_property
    def _displayed(self) -> list[dict[str, Any]]:
        return _objects(files.read_json(self.folder / PREDICTIONS), "display_predictions")

    def scores(self) -> Iterator[TrialScores]:
        """Yield the scores; a trial may have several entries."""
        path = self.folder / (STATS if (self.folder / STATS).exists() else PREDICTIONS)
        with files.naming(path):
            records = (
                self._displayed if path.name == PREDICTIONS else _objects(files.read_json(path), path.stem)
            )
            for place, values in enumerate(records):
                field = f"{path.stem}[{place}]"
                yield TrialScores(*_trial(values, field), _means(values.get("stats"), f"{field}.stats"))


def _objects(value: Any, field: str) -> list[dict[str, Any]]:
    return [as_mapping(entry, f"{field}[{place}]") for place, entry in enumerate(as_list(value, field))]


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
        as_whole(state.get("train_trial_index", 0), f"{field}.train_trial_index"),
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
        as_whole(values.get("train_trial_index", 0), f"{field}.train_trial_index"),
    )


def _answer(values: dict[str, Any], field: str) -> int | None:
    place = values.get("reference_index")
    return None if place is None else as_whole(place, f"{field}.reference_index")


def _perturbation(values: dict[str, Any], field: str) -> str | None:
    perturbation = as_mapping(values.get("perturbation"), f"{field}.perturbation")
    return as_id(perturbation.get("name"), f"{field}.perturbation.name") if perturbation else None


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
