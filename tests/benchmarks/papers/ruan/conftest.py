"""The demo set, cut down until a learner takes no time."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from benchmarks.papers.work import Effort, Work
from sparingly.data.synthetic import load_invented


class SmallWork(Work):
    """Work whose every data set is a small one."""

    def load(self, name: str) -> sparingly.EvalSet:
        demo = load_invented()
        return demo.at(range(0, len(demo), 4)).take(models=demo.models[:4])


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Return work whose cells are kept, so that tables which show the same compute it once."""
    effort = Effort(random_runs=3, seeds=2, parity_runs=1)
    return SmallWork(Path(), tmp_path_factory.mktemp("kept"), effort, is_demo=True)
