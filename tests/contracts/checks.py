"""What every method that chooses items must keep, each promise a function of the method's text.

They are plain functions, so that a method which is registered later, here or by somebody else, can be held
to the same promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.registry import parse_method
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector, select
from sparingly.choose.utility.base import Utility
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.verify import Verification
from tests.contracts.examples import designs_of
from tests.contracts.made import ITEMS, SCORELESS, build, made_set, scores

Check = Callable[[str], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


def runs(
    text: str, *budgets: int | str, choose: Callable[..., Selection] | None = None
) -> Iterator[tuple[dict[str, Any], Any, Selection]]:
    """Yield every design of a method with budgets, and what it chooses from the made set.

    A choice is made once for all promises, which compare it with choices of their own; ``choose`` makes anew.
    """
    for design in designs_of(text):
        costly = (
            ("cost:60", "cost:100.5")
            if design.get("cost") == "cost"
            else ("50min",)
            if "cost" in design
            else ()
        )
        for budget in (*budgets, *costly):
            yield design, budget, (choose or chosen_once)(text, budget, **design)


@cache
def chosen_once(text: str, budget: int | str, **design: Any) -> Selection:
    return select(made_set(), text, budget, seed=3, **design)


def reads(chosen: Selection, data: EvalSet) -> frozenset[str]:
    """Return what the method of a selection says that it reads."""
    return as_selector(chosen.signature.method).reads(data)


@check
def same_seed_same_answer(text: str) -> None:
    for design, budget, chosen in runs(text, 12, "30%"):
        again = select(made_set(), text, budget, seed=3, **design)
        assert again.to_dict() == chosen.to_dict()


@check
def another_seed_settles_ties_or_draws_only(text: str) -> None:
    data = made_set()
    first, second = (select(data, text, 9, seed=seed) for seed in (1, 2))
    if first.is_probability_sample or first.utility is None or second.utility is None:
        assert first.is_probability_sample or not as_selector(text).is_nested, (
            "a choice without utilities is a draw, and knows its probabilities, or it is one of the whole set"
        )
        assert not first.is_probability_sample or set(first.items) != set(second.items)
        return
    # Utilities are rounded to 1e-9 of their range before they are ordered.
    spread = np.ptp(first.utility[np.isfinite(first.utility)])
    np.testing.assert_allclose(first.utility, second.utility, rtol=0, atol=2e-9 * max(spread, 1.0))


@check
def order_in_the_file_does_not_matter(text: str) -> None:
    shuffled = made_set(shuffled=8)
    for design, budget, chosen in runs(text, 12, "30%"):
        again = select(shuffled, text, budget, seed=3, **design)
        assert again.to_dict() == chosen.to_dict(), (design, budget)


@check
def budget_is_respected(text: str) -> None:
    for design, budget, chosen in runs(text, 10, 20, "50%", "100%"):
        amount = Budget.parse(budget)
        assert len(chosen) == chosen.signature.n > 0
        if amount.kind == "cost":
            assert chosen.total_cost is not None
            # A draw may overspend by chance if it says so.
            warned = any("overspent by chance" in note for note in chosen.notes)
            assert chosen.total_cost <= amount.amount or warned
        elif chosen.unit is not None or design.get("unit") == "document":
            # Documents have three items, and every group may have two of its items left over.
            room = 3 * 2 if design.get("balance") else 2
            over = 2 if any("overspent by chance" in note for note in chosen.notes) else 0
            assert amount.count_of(48) - room <= len(chosen) <= amount.count_of(48) + over
        else:
            assert len(chosen) == amount.count_of(48)


@check
def nothing_is_chosen_twice(text: str) -> None:
    data = made_set()
    for _, _, chosen in runs(text, 20, "100%"):
        assert len(set(chosen.items)) == len(chosen)
        assert set(chosen.items) <= set(data.items)


@check
def balance_and_documents_are_kept(text: str) -> None:
    data = made_set()
    for design, _, chosen in runs(text, 21):
        rows = data.positions(chosen.items)
        if design == {"balance": "domain"}:
            _, counts = np.unique(data.columns["domain"][rows].astype(str), return_counts=True)
            assert counts.tolist() == [7, 7, 7]
        if design.get("unit") == "document":
            documents = list(data.columns["document"][rows])
            assert documents[::3] == documents[1::3] == documents[2::3], "whole documents"
            assert [*data.columns["position"][rows]] == [0, 1, 2] * (len(rows) // 3), "in order of position"


@check
def it_reads_what_it_says_and_no_more(text: str) -> None:
    data = made_set()
    for _, budget, chosen in runs(text, 12):
        shown = reads(chosen, data)
        assert shown <= set(data.fields)
        # The method as it was settled: a cost that was fitted to ratings is a line by now.
        settled = chosen.signature.method
        assert select(data.only(shown), settled, budget, seed=3).to_dict() == chosen.to_dict()


@check
def what_it_reads_and_misses_is_said_in_a_sentence(text: str) -> None:
    data = made_set()
    for _, budget, chosen in runs(text, 12):
        # As settled: what is taken where it is there may be missing elsewhere.
        chooser = as_selector(chosen.signature.method)
        shown = chooser.reads(data)
        for hidden in shown:
            view = data.only(shown - {hidden})
            with pytest.raises((MissingDataError, UsageError)) as caught:
                select(view, chosen.signature.method, budget)
            sentence = str(caught.value)
            assert "\n" not in sentence
            assert sentence[0].isupper()
            assert sentence.endswith((".", "?"))
            with pytest.raises((MissingDataError, UsageError)):
                chooser.choose(view, Budget.parse(budget), np.arange(48), 0)


@check
def needs_and_reads_agree(text: str) -> None:
    data = made_set()
    shown = reads(select(data, text, 12), data)
    needs = as_selector(text).needs
    assert needs or not shown, "it needs something if it reads something"
    assert shown or all(word.startswith("what its ") for word in needs), "and only if, or its parts do"


@check
def hidden_labels_change_nothing(text: str) -> None:
    data = made_set()
    for _, budget, chosen in runs(text, 12):
        if fields.labels(reads(chosen, data)):
            assert chosen.signature.labels is not None
            continue
        assert chosen.signature.labels is None
        settled = chosen.signature.method
        assert select(data.without_labels(), settled, budget, seed=3).to_dict() == chosen.to_dict()


@check
def the_input_is_unchanged(text: str) -> None:
    data = made_set()
    before = data.digest()
    for _ in runs(text, 12, "100%", choose=lambda *how, **design: select(data, *how, seed=3, **design)):
        pass
    assert data.digest() == before == build(scores()).digest()


@check
def probabilities_are_probabilities(text: str) -> None:
    data = made_set()
    for design, budget, chosen in runs(text, 20, "50%", "100%"):
        if chosen.probability is None or chosen.weight is None:
            continue
        assert (chosen.probability > 0).all()
        assert (chosen.probability <= 1).all()
        if any("overspent by chance" in note for note in chosen.notes):
            # The number of items is the budget on average only.
            continue
        even = text.partition(":")[0] == "random" or np.ptp(chosen.probability) <= 1e-12
        if design.get("balance") is None and even:
            assert chosen.probability == pytest.approx(len(chosen) / len(data)), budget
        if not even and type(as_selector(text)).kind == "design":
            # Unequal weights add up to the number of items on average only.
            continue
        # Within groups of equal chances, the design weights add up to the number of items.
        assert chosen.weight.sum() == pytest.approx(len(data)), (design, budget)


@check
def it_can_be_verified(text: str) -> None:
    for design, budget, chosen in runs(text, 12, "30%"):
        assert sparingly.verify(chosen, made_set(shuffled=2)) == Verification(()), (design, budget)


@check
def an_item_without_scores_comes_last(text: str) -> None:
    method = parse_method(text)
    data = made_set()
    if not isinstance(method, Utility) or method.resolve(data).reads(data) & {"sources", "outputs"}:
        return
    values = method.resolve(data).values(data)
    assert values.shape == (48,)
    assert values.dtype == np.float64
    scoreless = data.positions([ITEMS[SCORELESS]])
    assert np.isnan(values[scoreless]).all()
    assert not np.isnan(np.delete(values, scoreless)).any()
    chosen = select(data, method, "100%", seed=1)
    assert chosen.items[-1] == ITEMS[SCORELESS]
    assert any("1 of 48 items have no utility" in note for note in chosen.notes)


@check
def short_and_full_text_give_the_design_back(text: str) -> None:
    for design in designs_of(text):
        chooser = replace(as_selector(text), **design)
        assert as_selector(str(chooser)) == as_selector(chooser.full_text) == chooser
