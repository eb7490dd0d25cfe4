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
  like) are kept as columns of the cells; the option ``metrics`` names those that are to be metrics instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from sparingly.base.errors import InputError, UnknownNameError, listing
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.helm.run import INSTANCES, PREDICTIONS, SPEC, STATE, STATS, Instance, Prediction, Run
from sparingly.data.io.records import named
from sparingly.data.values import shown

REFERENCE = "reference"
_FOLDERS = ("", "*/", "*/*/", "*/*/*/")
_CHOSEN = "predicted_index"
_DESCRIBING = (
    *("num_", "inference_", "training_", "finish_reason_", "estimated_"),
    *("batch_size", "prompt_truncated", "logprob", "max_prob", _CHOSEN),
)
Trials = dict[str, dict[int, dict[str, float]]]


class Helm(Format):
    """Run folders of HELM."""

    name: ClassVar[str] = "helm"
    summary: ClassVar[str] = "HELM runs: a folder per scenario and model with run_spec.json and the rest"
    options: ClassVar[dict[str, str]] = {
        "perturbation": "the perturbation whose instances are taken (the unperturbed ones unless given)",
        "metrics": "the statistics that are metrics (all that judge something unless given)",
    }

    def recognises(self, head: Head) -> bool:
        """Look for a run's specification beside its instances or statistics."""
        folder = next(_run_folders(head.path), None) if head.is_directory else None
        others = (STATE, STATS, INSTANCES, PREDICTIONS)
        return folder is not None and any((folder / name).is_file() for name in others)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read every run."""
        runs = [Run(folder) for folder in _run_folders(path)]
        if not runs:
            raise InputError(f"there is no run with a {SPEC} in it", file=path)
        wanted = named(options["metrics"]) if "metrics" in options else None
        reader = _Reader(EvalSetBuilder(path), options.get("perturbation"), wanted)
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
    known: dict[tuple[str, str], Run] = {}
    for run in runs:
        before = known.setdefault((run.scenario, run.model), run)
        if before is not run:
            raise InputError(
                f"the model {shown(run.model)} has two runs of {run.scenario}, this and {before.folder}",
                file=run.folder,
                fix="Move one away",
            )
    return [known[key] for key in sorted(known)]


@dataclass
class _Reader:
    """Takes runs into a builder."""

    builder: EvalSetBuilder
    perturbation: str | None
    wanted: list[str] | None
    sources: dict[int, tuple[str | None, str]] = field(default_factory=dict)
    perturbed: dict[int, int] = field(default_factory=dict)
    perturbations: dict[str, None] = field(default_factory=dict)
    statistics: dict[str, None] = field(default_factory=dict)

    def take(self, run: Run) -> None:
        """Take a run: its instances, then what the model answered, then the scores."""
        model = self.builder.model(run.model)
        instances, others = self._instances(run)
        items = {name: self.builder.item(f"{run.scenario}#{name}") for name in instances}
        for name, instance in instances.items():
            self._take_item(run, items[name], instance)
            self.perturbed[items[name]] = max(self.perturbed.get(items[name], 0), len(others.get(name, ())))
        trials = self._trials(run, instances)
        for name, prediction in self._predictions(run, instances, trials).items():
            text = prediction.text if prediction.answer is None else _chosen(instances[name], prediction, run)
            self.builder.output(items[name], model, text)
            self.builder.cell(items[name], model, "mapped_output", prediction.mapped)
        for name, by_trial in trials.items():
            for statistic, value in _means(by_trial).items():
                self._take_score(items[name], model, statistic, value)

    def _instances(self, run: Run) -> tuple[dict[str, Instance], dict[str, set[str]]]:
        """Return the instances that are wanted, and the perturbed versions of each that are not."""
        taken: dict[str, Instance] = {}
        others: dict[str, set[str]] = {}
        for instance in run.instances():
            if instance.perturbation is not None:
                self.perturbations[instance.perturbation] = None
            if instance.perturbation != self.perturbation:
                if instance.perturbation is not None:
                    others.setdefault(instance.id, set()).add(instance.parameters)
                continue
            if taken.setdefault(instance.id, instance).parameters != instance.parameters:
                raise InputError(
                    f"the instance {shown(instance.id)} has two perturbations called {instance.perturbation}",
                    file=run.folder,
                    fix="Take the unperturbed instances, or another perturbation",
                )
        return taken, others

    def _take_item(self, run: Run, item: int, instance: Instance) -> None:
        before, folder = self.sources.setdefault(item, (instance.source, str(run.folder)))
        if before != instance.source:
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

    def _trials(self, run: Run, instances: dict[str, Instance]) -> Trials:
        """Return the statistics of the wanted instances by trial; of two of one name the last one counts."""
        trials: Trials = {}
        for scores in run.scores():
            if scores.perturbation == self.perturbation and scores.id in instances:
                trials.setdefault(scores.id, {}).setdefault(scores.trial, {}).update(scores.by_name)
                self.statistics |= dict.fromkeys(scores.by_name)
        return trials

    def _predictions(self, run: Run, instances: dict[str, Instance], trials: Trials) -> dict[str, Prediction]:
        """Return the first trial's answer to each wanted instance, where it is known which one that is."""
        found: dict[str, list[Prediction]] = {}
        for prediction in run.predictions():
            if prediction.perturbation == self.perturbation and prediction.id in instances:
                found.setdefault(prediction.id, []).append(prediction)
        answers: dict[str, Prediction] = {}
        for name, predictions in found.items():
            trial = min(prediction.trial for prediction in predictions)
            of_trial = [prediction for prediction in predictions if prediction.trial == trial]
            # Where every possible answer was asked about, a statistic says which of them won.
            winner = trials.get(name, {}).get(trial, {}).get(_CHOSEN)
            won = of_trial if len(of_trial) == 1 else [held for held in of_trial if held.answer == winner]
            if len(won) == 1:
                answers[name] = won[0]
        return answers

    def _take_score(self, item: int, model: int, name: str, value: float) -> None:
        describes = name.startswith(_DESCRIBING) if self.wanted is None else name not in self.wanted
        if describes:
            self.builder.cell(item, model, name, value)
        else:
            self.builder.metric(item, model, name, value, name)

    def finish(self, path: Path) -> None:
        """Take what is known only after the last run, and complain about what was wanted and not found."""
        if self.perturbation is not None and self.perturbation not in self.perturbations:
            raise UnknownNameError("perturbation", self.perturbation, self.perturbations)
        for name in self.wanted or ():
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


def _means(by_trial: dict[int, dict[str, float]]) -> dict[str, float]:
    """Return the mean of each statistic over the trials that have it."""
    names = {name: None for scores in by_trial.values() for name in scores}
    held = {name: [scores[name] for scores in by_trial.values() if name in scores] for name in names}
    return {name: sum(values) / len(values) for name, values in held.items()}
