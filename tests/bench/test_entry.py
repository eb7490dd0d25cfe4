from __future__ import annotations

from typing import Any

import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.bench.grid import entry_from_table, entry_of, with_metric
from sparingly.choose import MetricVar
from sparingly.published.casf import Casf
from sparingly.published.diffuse_iterative import DiffuseIterative
from sparingly.run.rounds import Waves
from sparingly.run.rounds.strategy import Strategy


@pytest.mark.parametrize(
    ("text", "more", "name", "kind"),
    [
        ("random", {}, "random", "random"),
        ("metric_var:metric={metric}", {}, "metric_var", "deterministic"),
        ("irt:metric={metric},utility=difficulty", {}, "irt:utility=difficulty", "deterministic"),
        ("casf:phases=3,metric={metric}", {}, "casf:phases=3", "stochastic"),
        ("top:utility=(metric_avg:metric={metric})", {}, "top:utility=(metric_avg)", "deterministic"),
        ("search:under={metric},n=5", {}, "search:n=5", "stochastic"),
        ("search:n=5,under={metric},step=2", {}, "search:n=5,step=2", "stochastic"),
        ("kmeans", {}, "kmeans", "stochastic"),
        ("uniform|greg", {"p_values": "full_set"}, "uniform|greg, expected p", "stochastic"),
        ("random|ppi:metric={metric}", {}, "random|ppi", "random"),
        ("waves", {}, "waves", "stochastic"),
        ("waves", {"rounds": 1}, "waves, one round", "stochastic"),
        ("waves", {"rounds": 8}, "waves, 8 rounds", "stochastic"),
        ("waves", {"stop": "best_settled"}, "waves, until best_settled", "stochastic"),
        ("kmeans", {"name": "clusters", "kind": "deterministic"}, "clusters", "deterministic"),
    ],
)
def test_names_and_kinds(text: str, more: dict[str, Any], name: str, kind: str) -> None:
    entry = entry_of(text, **more)
    assert (entry.name, entry.kind) == (name, kind)


def test_strategies_have_five_rounds_and_selectors_none() -> None:
    assert entry_of("waves").rounds == 5
    assert isinstance(entry_of("waves").make_method(None), Strategy)
    assert entry_of("random").rounds is None
    assert not isinstance(entry_of("random").make_method(None), Strategy)


def test_rounds_are_those_of_the_strategy() -> None:
    assert entry_of("waves:waves=3").rounds == 3
    assert entry_of("waves", rounds=2).make_method(None) == Waves(waves=2)
    assert entry_of("casf:metric={metric}", rounds=2).make_method("x") == Casf(metric="x", phases=2)
    assert entry_of("diffuse_iterative", rounds=2).make_method(None) == DiffuseIterative()


def test_the_estimator_stands_behind_the_last_bar() -> None:
    entry = entry_of('metric_var:metric="a|b"|mean')
    assert (entry.method, entry.estimator) == ('metric_var:metric="a|b"', "mean")


def test_a_metric_is_quoted_where_it_must_be() -> None:
    text = with_metric("metric_var:metric={metric}", "Nucleus, (p = 0.3)")
    assert sparingly.parse_method(text) == MetricVar(metric="Nucleus, (p = 0.3)")
    assert with_metric("random", None) == "random"
    with pytest.raises(UsageError, match="has none"):
        with_metric("metric_var:metric={metric}", None)


def test_entries_that_judge_the_same_have_the_same_plan() -> None:
    own, expected = entry_of("random|greg"), entry_of("random|greg", p_values="full_set", runs=3)
    assert own.plan == expected.plan
    assert own.plan != entry_of("random").plan


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        ("randum", {}, "Did you mean random"),
        ("greg", {}, "does not choose items"),
        ("random|waves", {}, "does not estimate scores"),
        ("random|greg|ppi", {}, "names two estimators"),
        ("random", {"p_values": "full_set"}, r"write random\|greg"),
        ("random", {"rounds": 3}, "random is not one"),
        ("random", {"stop": "best_settled"}, "random is not one"),
        ("waves", {"stop": "greg"}, "not a rule to stop"),
        ("incremental_strata", {"rounds": 1}, "incremental_strata has 2 rounds or more"),
        ("waves", {"rounds": 0}, "whole number from 1 on"),
        ("waves", {"rounds": True}, "whole number from 1 on"),
        ("waves", {"slow": "yes"}, "true or false"),
        ("waves", {"name": 3}, "a text"),
        ("waves", {"kind": "lucky"}, 'no kind of an entry "lucky"'),
        ("waves", {"speed": 1}, 'no part of an entry "speed"'),
        ("waves", {"module": "no_such_module"}, "no_such_module of an entry cannot be imported"),
        ("randum", {"module": "sparingly.choose.design.random"}, 'no method of the module .* "randum"'),
    ],
)
def test_wrong_entries_are_refused(text: str, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        entry_of(text, **more)


def test_from_a_table() -> None:
    entry = entry_from_table({"method": "waves", "slow": True, "runs": 3})
    assert (entry.slow, entry.runs) == (True, 3)
    with pytest.raises(UsageError, match="has a method"):
        entry_from_table({"name": "x"})
    with pytest.raises(UnknownNameError):
        entry_from_table({"method": "waves", "estimator": "greg"})
