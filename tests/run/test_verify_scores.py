from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.rater_effects import severity
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.verify import Verification, VerifiedResult, load_result

OLD = "0.0.1"
DATA = load_invented()
SELECTIONS: dict[str, Callable[[], sparingly.Selection | None]] = {
    "nothing": lambda: None,
    "uniform": lambda: sparingly.select(DATA, "uniform", 60, seed=3, never=["item-001"]),
    "stratified": lambda: sparingly.select(DATA, "stratified:by=domain", 60, seed=3),
    "spread": lambda: sparingly.select(DATA, "local_pivotal", 60, seed=3),
    "documents": lambda: sparingly.select(DATA, "documents", 90, seed=3),
    "top": lambda: sparingly.select(DATA, "metric_var:metric=learned", 30),
    "two phases": lambda: sparingly.select(
        DATA, "uniform", 40, seed=2, pool=sparingly.select(DATA, "uniform", 120, seed=1)
    ),
    "crowd": lambda: sparingly.select(DATA, "uniform", 60, seed=1, crowd=["Birch", "Juniper", "Rowan"]),
}


def saved(result: sparingly.Estimate | sparingly.Ranking, folder: Path) -> VerifiedResult:
    result.save(folder / "result.json")
    return load_result(folder / "result.json")


# --- it passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", SELECTIONS)
@pytest.mark.parametrize("target", ["set", "population"])
def test_estimates_pass(how: str, target: Any, tmp_path: Path) -> None:
    found = sparingly.estimate(DATA, SELECTIONS[how](), "overall", target=target, by="domain", seed=4)
    assert sparingly.verify(found, DATA) == Verification(())
    assert sparingly.verify(saved(found, tmp_path), DATA).problems == ()


@pytest.mark.parametrize(
    "asked",
    [
        {"estimator": "mean", "interval": "betting", "scale": (0, 100)},
        {"estimator": "control_variate:metric=learned", "interval": "bootstrap", "seed": 7},
        {"estimator": "stratified_mean:by=domain", "level": 0.8},
        {"estimator": "ppi:metric=judge", "interval": "none"},
    ],
)
def test_estimates_pass_whatever_was_asked(asked: dict[str, Any], tmp_path: Path) -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=3)
    found = sparingly.estimate(DATA, chosen, "mean:of=[overall,fluency]", **asked)
    assert sparingly.verify(saved(found, tmp_path), DATA).ok


@pytest.mark.parametrize("how", SELECTIONS)
def test_rankings_pass(how: str, tmp_path: Path) -> None:
    found = sparingly.rank(DATA, SELECTIONS[how](), "overall", estimator="greg", alpha=0.1, seed=4)
    assert sparingly.verify(saved(found, tmp_path), DATA).problems == ()


def test_rankings_with_other_tests_and_claims_pass(tmp_path: Path) -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=3)
    found = sparingly.rank(DATA, chosen, "overall", test="permutation", groups_by="mt_metrics_eval")
    claimed = found.with_claim("equivalent", "Rowan", "Hazel-instruct", 3.0)
    assert sparingly.verify(saved(claimed, tmp_path), DATA) == Verification(())


def test_judgements_that_were_not_used_do_not_matter() -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=3)
    found = sparingly.estimate(DATA, chosen, "overall")
    scores = DATA.aspects["overall"].copy()
    other = np.setdiff1d(np.arange(len(DATA)), DATA.positions(chosen.items))
    scores[other] = np.nan
    assert sparingly.verify(found, DATA.with_aspect("overall", scores)).ok


def test_what_was_ignored_is_no_difference() -> None:
    top = sparingly.select(DATA, "metric_var:metric=learned", 30)
    found = sparingly.estimate(DATA, top, "overall", estimator="greg", by="domain", scale=(0, 100))
    assert sparingly.verify(found, DATA).ok


def test_another_version_with_the_same_answer_passes_with_a_note() -> None:
    found = sparingly.estimate(DATA, SELECTIONS["uniform"](), "overall")
    assert found.signature is not None
    older = replace(found, signature=replace(found.signature, version=OLD), notes=("said otherwise",))
    result = sparingly.verify(older, DATA)
    assert result.ok
    assert result.notes == (f"The estimate was made by version {OLD}; this is {sparingly.__version__}.",)


def test_of_another_version_only_what_versions_make_otherwise_may_differ() -> None:
    made = sparingly.rank(DATA, SELECTIONS["uniform"](), "overall")
    signed = made.to_dict()
    signed["signature"] = edited(signed["signature"], ("scores", "version"), lambda _: OLD)
    smaller = edited(signed, ("p_values", 0, 1), lambda _: 0.001)
    result = sparingly.verify(Ranking.from_dict(smaller), DATA)
    assert (result.ok, result.partial) == (True, True)
    assert result.notes[0] == (
        f"Made by {OLD}; {sparingly.__version__} computes intervals and p-values otherwise. "
        "Scores and standard errors agree."
    )
    both = edited(smaller, ("models", 0, "standard_error"), lambda error: error / 2)
    assert "The standard errors of the ranking do not follow from its signature." in (
        sparingly.verify(Ranking.from_dict(both), DATA).problems
    )


# --- it fails ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> sparingly.Estimate:
    return sparingly.estimate(DATA, SELECTIONS["uniform"](), "overall", by="domain")


@pytest.fixture(scope="module")
def ranking() -> sparingly.Ranking:
    made = sparingly.rank(DATA, SELECTIONS["uniform"](), "overall")
    return made.with_claim("superior", "Rowan", "Birch", 1.0)


def edited(values: Any, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Any:
    """The values of a file with one of them changed."""
    copy = json.loads(json.dumps(values))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = change(place[path[-1]])
    return copy


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (("models", 2, "score"), "scores"),
        (("models", 2, "standard_error"), "standard errors"),
        (("models", 0, "low"), "low ends of the intervals"),
        (("models", 0, "high"), "high ends of the intervals"),
        (("covariance", 0, 1), "covariances"),
        (("freedom",), "degrees of freedom"),
        (("level",), "values of level"),
        (("groups", "news", "models", 1, "score"), 'scores in the group "news"'),
    ],
)
def test_an_edited_number_is_found(
    found: sparingly.Estimate, path: tuple[str | int, ...], named: str
) -> None:
    made = Estimate.from_dict(edited(found.to_dict(), path, lambda number: number * (1 + 1e-7)))
    assert sparingly.verify(made, DATA).problems == (
        f"The {named} of the estimate do not follow from its signature.",
    )
    close = Estimate.from_dict(edited(found.to_dict(), path, lambda number: number * (1 + 1e-12)))
    assert sparingly.verify(close, DATA).ok, "sums may differ by that between machines"


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("n",), 59, "numbers of judged items"),
        (("size",), 240, "numbers of items"),
        (("aspect",), "fluency", "values of aspect"),
        (("notes",), [], "notes"),
        (("models", 0, "model"), "Oak", "models"),
        (("models", 0, "interval"), "exact", "kinds of intervals"),
        (("outcome", "printed"), 7, "counts of intervals"),
        (("groups",), {}, "groups"),
    ],
)
def test_edited_words_and_counts_are_found(
    found: sparingly.Estimate, path: tuple[str | int, ...], value: Any, named: str
) -> None:
    made = Estimate.from_dict(edited(found.to_dict(), path, lambda _: value))
    assert (
        f"The {named} of the estimate do not follow from its signature."
        in sparingly.verify(made, DATA).problems
    )


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("models", 0, "chance_of_best"), 0.999, "probabilities of being the best"),
        (("models", 1, "best_rank"), 2, "best possible ranks"),
        (("models", 1, "worst_rank"), 2, "worst possible ranks"),
        (("models", 0, "standardised"), 0.0, "standardised scores"),
        (("p_values", 0, 1), 0.001, "p-values"),
        (("corrected", 0, 1), 0.001, "corrected p-values"),
        (("would_be_significant", 0, 1), 0.001, "probabilities that judging everything shows it"),
        (("alpha",), 0.1, "values of alpha"),
        (("claim", "p_value"), 1e-30, "p-values of claims"),
        (("claim",), None, "claims"),
    ],
)
def test_an_edited_ranking_is_found(
    ranking: sparingly.Ranking, path: tuple[str | int, ...], value: Any, named: str
) -> None:
    made = Ranking.from_dict(edited(ranking.to_dict(), path, lambda _: value))
    assert sparingly.verify(made, DATA).problems == (
        f"The {named} of the ranking do not follow from its signature.",
    )


def test_other_judgements_are_found(found: sparingly.Estimate, ranking: sparingly.Ranking) -> None:
    assert found.selection is not None
    scores = DATA.aspects["overall"].copy()
    scores[DATA.positions(found.selection.items)[0], 0] += 1e-6
    other = DATA.with_aspect("overall", scores)
    for result, what in ((found, "estimate"), (ranking, "ranking")):
        (problem,) = sparingly.verify(result, other).problems
        assert problem.startswith(f"The judgements that the {what} uses are different: digest ")


def test_other_inputs_are_found(found: sparingly.Estimate) -> None:
    metric = DATA.metrics["learned"].copy()
    metric[1, 0] += 1e-6
    (problem,) = sparingly.verify(found, DATA.with_metric("learned", metric)).problems
    assert problem.startswith("The data that the estimate reads is different: digest ")


def test_columns_that_the_estimate_reads_are_inputs() -> None:
    parts: dict[str, Any] = {"aspects": {"overall": np.random.default_rng(1).normal(size=(40, 2))}}
    names = [f"i{place:02d}" for place in range(40)]

    def made(columns: dict[str, Any]) -> EvalSet:
        return EvalSet.from_arrays(names, ["x", "y"], **parts, columns=columns)

    columns: dict[str, Any] = {
        "domain": ["a", "b"] * 20,
        "document": ["c", "d"] * 20,
        "weight": [1.0, 2.0] * 20,
    }
    data = made(columns)
    found = sparingly.estimate(data, sparingly.select(data, "uniform", 20), "overall", by="domain")
    assert sparingly.verify(found, data).ok
    for name in columns:
        other = made({**columns, name: columns[name][::-1]})
        assert "reads is different" in sparingly.verify(found, other).problems[0]


def test_a_selection_that_was_shopped_for_is_found(found: sparingly.Estimate) -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=3)
    lucky = sparingly.select(DATA, "uniform", 60, seed=4)
    forged = replace(lucky, signature=chosen.signature)
    (first, *_) = sparingly.verify(sparingly.estimate(DATA, forged, "overall"), DATA).problems
    assert first.startswith("Its selection: ")
    assert "should not be there, such as" in first
    bare = replace(found, selection=None)
    assert sparingly.verify(bare, DATA).problems == (
        "The estimate does not hold the selection that its signature names.",
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seed": 5, "of": 3}, "The signature says of 3, but it is 239."),
        ({"selection": "random"}, "The signature says selection random, but it is "),
        ({"aspect": "fluenc"}, "The estimate cannot be made from this data: There is no"),
        (
            {"estimator": "dowsing"},
            'The estimate cannot be made from this data: There is no method "dowsing".',
        ),
        ({"level": 2.0}, "The estimate cannot be made from this data: "),
        ({"interval": "wide"}, "The estimate cannot be made from this data: "),
        ({"target": "moon"}, "The estimate cannot be made from this data: "),
    ],
)
def test_an_edited_signature_is_found(
    found: sparingly.Estimate, change: dict[str, Any], problem: str
) -> None:
    assert found.signature is not None
    other = replace(found, signature=replace(found.signature, **change))
    assert sparingly.verify(other, DATA).problems[0].startswith(problem)


def test_plain_arrays_cannot_be_verified() -> None:
    scores = np.random.default_rng(1).normal(size=(40, 2))
    with pytest.raises(UsageError, match="has no signature"):
        sparingly.verify(sparingly.estimate_scores(scores, size=100), DATA)
    with pytest.raises(UsageError, match="has no signature"):
        sparingly.verify(sparingly.rank_scores(np.array([1.0, 2.0]), np.eye(2)), DATA)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"format": "sparingly/evalset"}', 'field format: this is a "sparingly/evalset" file, none of'),
        ("{}", "field format: this is a null file, none of sparingly/selection, sparingly/estimate"),
        ('{"format": ["a"]}', "field format: this is a "),
        ('{"format": "sparingly/ranking", "version": 2}', "field version: version 2 is newer"),
        ('{"format": "sparingly/estimate"}', "field version: null is not a version"),
        ('{"format": "sparingly/est', "this is not JSON"),
        ("[]", "field file: expected an object"),
    ],
)
def test_broken_files_are_one_sentence(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        load_result(path)


def test_errors_that_count_raters_are_derived_again(tmp_path: Path) -> None:
    data = load_invented()
    found = sparingly.estimate(data, sparingly.select(data, "uniform", 80), "overall", target="population")
    wider = sparingly.with_rater_errors(found, data)
    wider.save(tmp_path / "scores.json")
    again = sparingly.Estimate.load(tmp_path / "scores.json")
    assert again.signature is not None
    assert "|raters:" in str(again.signature)
    assert sparingly.verify(again, data).ok
    tampered = replace(again, standard_errors=found.standard_errors)
    assert "standard errors" in sparingly.verify(tampered, data).problems[0]


def test_a_severity_that_was_handed_over_leaves_no_signature() -> None:
    data = load_invented()
    found = sparingly.estimate(data, None, "overall", target="population")
    assert sparingly.with_rater_errors(found, data, severity(data, "overall")).signature is None
