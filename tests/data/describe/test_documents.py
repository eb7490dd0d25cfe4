"""DocumentsSummary: counts, lengths, order in the file; domains."""

from __future__ import annotations

import pytest

from sparingly.data.describe.documents import DocumentsSummary, documents, domains
from sparingly.data.evalset import EvalSet


def in_documents(names: list[str | None], positions: list[float] | None = None) -> EvalSet:
    """Items in the order of the file; their ids run against it, so that order must come from the file."""
    columns = {"document": names} | ({} if positions is None else {"position": positions})
    ids = [f"item-{len(names) - place}" for place in range(len(names))]
    return EvalSet.from_arrays(ids, ["m"], columns=columns)


def described(names: list[str | None], positions: list[float] | None = None) -> DocumentsSummary:
    found = documents(in_documents(names, positions))
    assert found is not None
    return found


def test_counts_and_lengths() -> None:
    found = described(["a", "a", "a", "b", None, "c", "c"])
    assert (found.count, found.shortest, found.median, found.longest, found.without) == (3, 1, 2.0, 3, 1)
    assert found.in_order
    assert (found.scattered, found.disordered, found.with_gaps) == (0, 0, 0)


def test_items_apart_in_the_file_are_scattered() -> None:
    found = described(["a", "b", "a", "b", "c"])
    assert (found.in_order, found.scattered, found.disordered) == (False, 2, 0)


def test_an_item_of_no_document_scatters_its_neighbours() -> None:
    assert described(["a", None, "a"]).scattered == 1


def test_positions_that_fall_are_disordered() -> None:
    found = described(["a", "a", "b", "b"], [1, 0, 0, 1])
    assert (found.in_order, found.disordered, found.with_gaps) == (False, 1, 0)


def test_equal_positions_are_disordered() -> None:
    assert described(["a", "a"], [3, 3]).disordered == 1


@pytest.mark.parametrize(("positions", "gaps"), [([0, 1, 5], 1), ([4, 5, 6], 0), ([0, 2, 3], 1)])
def test_skipped_positions_are_gaps(positions: list[float], gaps: int) -> None:
    found = described(["a", "a", "a"], positions)
    assert (found.with_gaps, found.in_order) == (gaps, True)


def test_a_view_without_positions_is_in_order() -> None:
    data = in_documents(["a", "a", "b"], [5, 1, 0]).only(["column:document"])
    found = documents(data)
    assert found is not None
    assert (found.in_order, found.disordered) == (True, 0)


def test_no_documents() -> None:
    assert documents(EvalSet.from_arrays(["a"], ["m"])) is None
    assert domains(EvalSet.from_arrays(["a"], ["m"])) == {}


def test_domains_largest_first_then_by_name() -> None:
    data = EvalSet.from_arrays(list("abcde"), ["m"], columns={"domain": ["z", "news", "b", "news", None]})
    assert list(domains(data).items()) == [("news", 2), ("b", 1), ("z", 1)]
