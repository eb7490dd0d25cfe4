"""What the package ships, by kind and name, and the one way to register more.

``CATALOGUE`` says where every method, format, form and annotation tool is defined. Nothing is imported until
it is named: a name of ours loads its module, and only a name that is not ours, or a listing, loads the
modules that other packages name under the entry point ``sparingly.methods``. A class says its ``kind`` and is
registered by ``@register(name)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from sparingly.base.errors import UsageError
from sparingly.base.text import NAME

ENTRY_POINTS = "sparingly.methods"
# The kinds of methods; they share one set of names.
METHOD_KINDS = ("utility", "selector", "design", "strategy", "estimator", "stop")
Registered = TypeVar("Registered", bound=type[Any])
# Filled by the decorator: kind, then name.
_CLASSES: dict[str, dict[str, type[Any]]] = {}

CATALOGUE: dict[str, dict[str, str]] = {
    "utility": {
        "comet_instant_confidence": "sparingly.choose.distil.external_models:InstantConfidence",
        "distilled": "sparingly.choose.distil.model:Distilled",
        "diversity": "sparingly.choose.utility.diversity:Diversity",
        "irt": "sparingly.published.irt.utility:Irt",
        "max_norm": "sparingly.published.diffuse:MaxNorm",
        "metric_avg": "sparingly.choose.utility.metric:MetricAvg",
        "metric_cons": "sparingly.choose.utility.metric:MetricCons",
        "metric_var": "sparingly.choose.utility.metric:MetricVar",
        "mix": "sparingly.choose.utility.base:Mix",
        "precomet": "sparingly.choose.distil.external_models:PreComet",
        "residual_size": "sparingly.choose.utility.residual_size:ResidualSize",
        "sentinel_src": "sparingly.choose.distil.external_models:SentinelSrc",
        "uncertainty": "sparingly.choose.utility.metric:Uncertainty",
    },
    "selector": {
        "anchor_points": "sparingly.published.anchor_points:AnchorPoints",
        "diffuse": "sparingly.published.diffuse:DiffUse",
        "facility_location": "sparingly.published.facility_location:FacilityLocation",
        "guided": "sparingly.choose.design.random:Guided",
        "heuristic": "sparingly.published.heuristic:Heuristic",
        "kmeans": "sparingly.choose.design.clusters:KMeans",
        "max_discrepancy": "sparingly.published.max_discrepancy:MaxDiscrepancy",
        "random": "sparingly.choose.design.random:Random",
        "search": "sparingly.choose.design.search:SubsetSearch",
    },
    "design": {
        "cube": "sparingly.choose.design.probability_design:Cube",
        "documents": "sparingly.choose.design.documents:Documents",
        "local_pivotal": "sparingly.choose.design.probability_design:LocalPivotal",
        "pivotal": "sparingly.choose.design.probability_design:Pivotal",
        "snippets": "sparingly.choose.design.documents:Snippets",
        "stratified": "sparingly.choose.design.stratified:Stratified",
        "systematic": "sparingly.choose.design.probability_design:Systematic",
        "top": "sparingly.choose.design.top:Top",
        "uniform": "sparingly.choose.design.probability_design:Uniform",
        "verdicts": "sparingly.choose.design.stratified:Verdicts",
    },
    "strategy": {
        "active_testing": "sparingly.run.rounds.active_testing:ActiveTesting",
        "auto": "sparingly.run.rounds.auto:Auto",
        "casf": "sparingly.published.casf:Casf",
        "d_optimal": "sparingly.run.rounds.pairs:DOptimal",
        "diffuse_iterative": "sparingly.published.diffuse_iterative:DiffuseIterative",
        "incremental_strata": "sparingly.published.incremental_strata:IncrementalStrata",
        "one_shot": "sparingly.run.rounds.strategy:OneShot",
        "pairs": "sparingly.run.rounds.pairs:RandomPairs",
        "waves": "sparingly.run.rounds.waves:Waves",
    },
    "estimator": {
        "bank": "sparingly.infer.estimate.bank:Bank",
        "control_variate": "sparingly.infer.estimate.estimators:ControlVariate",
        "greg": "sparingly.infer.estimate.estimators:Greg",
        "mean": "sparingly.infer.estimate.estimators:Mean",
        "ppi": "sparingly.infer.estimate.estimators:Ppi",
        "stratified_mean": "sparingly.infer.estimate.estimators:StratifiedMean",
        "weighted_mean": "sparingly.infer.estimate.estimators:WeightedMean",
    },
    "stop": {
        "all_settled": "sparingly.run.rounds.stop.rules:AllSettled",
        "best_settled": "sparingly.run.rounds.stop.rules:BestSettled",
        "budget_spent": "sparingly.run.rounds.stop.rules:BudgetSpent",
        "futility": "sparingly.run.rounds.stop.rules:Futility",
        "hypergeometric": "sparingly.run.rounds.stop.rules:Hypergeometric",
        "margin_settled": "sparingly.run.rounds.stop.rules:MarginSettled",
        "width_reached": "sparingly.run.rounds.stop.rules:WidthReached",
    },
    # In the order in which files are tried.
    "format": {
        "jsonl": "sparingly.data.io.jsonl:JsonLines",
        "parquet": "sparingly.data.io.parquet:Parquet",
        "collection": "sparingly.data.io.collection:Collection",
        "subset2evaluate": "sparingly.data.io.subset2evaluate:Subset2Evaluate",
        "alpaca_eval": "sparingly.data.io.alpaca_eval:AlpacaEval",
        "arena": "sparingly.data.io.arena:Arena",
        "comet": "sparingly.data.io.comet:Comet",
        "lm_eval": "sparingly.data.io.lm_eval:LmEvalSamples",
        "helm": "sparingly.data.io.helm:Helm",
        "mt_metrics_eval": "sparingly.data.io.mt_metrics_eval:MtMetricsEval",
        "promptfoo": "sparingly.data.io.promptfoo:Promptfoo",
        "mlflow": "sparingly.data.io.mlflow:MlflowTraces",
        "langfuse": "sparingly.data.io.langfuse:LangfuseTraces",
        "inspect_ai": "sparingly.data.io.inspect_ai:InspectLogs",
        "lines": "sparingly.data.io.lines:Lines",
        "table": "sparingly.data.io.table:AnyTable",
    },
    "form": {
        "contrastive": "sparingly.run.forms.contrastive:ContrastiveForm",
        "esa": "sparingly.run.forms.spans:EsaForm",
        "mqm": "sparingly.run.forms.spans:MqmForm",
        "pair": "sparingly.run.forms.pair:PairForm",
        "pass_fail": "sparingly.run.forms.pass_fail:PassFailForm",
        "ranking": "sparingly.run.forms.ranking:RankingForm",
        "rubric": "sparingly.run.forms.rubric:RubricForm",
        "score": "sparingly.run.forms.score:ScoreForm",
        "spans": "sparingly.run.forms.spans:SpansForm",
        "stars": "sparingly.run.forms.stars:StarsForm",
    },
    "annotation tool": {
        "appraise": "sparingly.run.exchange.appraise:Appraise",
        "argilla": "sparingly.run.exchange.argilla:Argilla",
        "csv": "sparingly.run.exchange.csv_table:CsvTable",
        "inspect": "sparingly.run.exchange.harnesses:InspectAi",
        "label-studio": "sparingly.run.exchange.label_studio:LabelStudio",
        "lm-eval": "sparingly.run.exchange.harnesses:LmEval",
        "pearmut": "sparingly.run.exchange.pearmut:Pearmut",
        "potato": "sparingly.run.exchange.potato:Potato",
        "prodigy": "sparingly.run.exchange.prodigy:Prodigy",
    },
}


def register(name: str) -> Callable[[Registered], Registered]:
    """Register a class under a name; its ``kind`` says what it is."""

    def add(cls: Registered) -> Registered:
        kind = getattr(cls, "kind", "")
        if kind not in CATALOGUE:
            raise UsageError(f'"{name}" has an unknown kind. Kinds are: {", ".join(CATALOGUE)}.')
        if kind in METHOD_KINDS and not NAME.fullmatch(name):
            raise UsageError(f'The name "{name}" of a method must be small letters, digits and _.')
        for other_kind in METHOD_KINDS if kind in METHOD_KINDS else (kind,):
            namesake = _CLASSES.get(other_kind, {}).get(name)
            if namesake is not None and namesake.__qualname__ != cls.__qualname__:
                noun = "methods" if kind in METHOD_KINDS else f"{kind}s"
                raise UsageError(
                    f'Two {noun} are called "{name}": {namesake.__module__} and {cls.__module__}.'
                )
        cls.name = name
        _CLASSES.setdefault(kind, {})[name] = cls
        return cls

    return add


def find_class(name: str, kinds: tuple[str, ...]) -> type[Any] | None:
    """Return the class registered under a name of some kinds, ours first; None where there is none."""
    cls = _registered_class(name, kinds)
    if cls is None:
        load_entry_points()
        cls = _registered_class(name, kinds)
    return cls


def _registered_class(name: str, kinds: tuple[str, ...]) -> type[Any] | None:
    for kind in kinds:
        if name in CATALOGUE[kind]:
            import_module(CATALOGUE[kind][name].partition(":")[0])
        if name in _CLASSES.get(kind, {}):
            return _CLASSES[kind][name]
    return None


def names(kinds: tuple[str, ...]) -> list[str]:
    """Return the names of some kinds: ours in the catalogue's order, then others registered so far."""
    ours = [name for kind in kinds for name in CATALOGUE[kind]]
    return list(dict.fromkeys([*ours, *(name for kind in kinds for name in _CLASSES.get(kind, ()))]))


def registered_classes(kinds: tuple[str, ...]) -> dict[str, type[Any]]:
    """Load everything of some kinds, other packages' included, and return the classes by name."""
    load_entry_points()
    classes = {name: _registered_class(name, kinds) for name in names(kinds)}
    return {name: cls for name, cls in classes.items() if cls is not None}


@cache
def load_entry_points() -> None:
    """Import the modules that other packages name; importing them registers what they define."""
    from importlib import metadata

    for entry in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        import_module(entry.module)


def class_getter(package: str) -> Callable[[str], type[Any]]:
    """Return the ``__getattr__`` of a package: it loads the classes catalogued under it when first used."""
    places = {
        place.partition(":")[2]: place.partition(":")[0]
        for kind in CATALOGUE.values()
        for place in kind.values()
        if place.startswith(f"{package}.")
    }

    def load(name: str) -> type[Any]:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        cls: type[Any] = getattr(import_module(places[name]), name)
        return cls

    return load
