"""A small made set, cut into its cases."""

from __future__ import annotations

import pytest

import sparingly
from benchmarks.papers.saldias.cases import Case, Cases, cases_of


@pytest.fixture(scope="session")
def cases() -> Cases:
    return cases_of("small", sparingly.make_evalset(160, 3, seed=4, raters=0))


@pytest.fixture(scope="session")
def case(cases: Cases) -> Case:
    return cases.cases[0]
