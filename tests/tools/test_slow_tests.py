"""Which tests are slow, from pytest's own list of durations."""

from __future__ import annotations

from tools.slow_tests import FILE, ROOT, function_seconds, slowest

REPORT = """
============ slowest durations ============
2.50s call     tests/a/test_x.py::test_one[first case]
1.50s setup    tests/a/test_x.py::test_one[second]
0.75s call     tests/test_y.py::test_two
0.00s teardown tests/test_y.py::test_two
0.25s call     tests/test_y.py::test_three
"""


def test_cases_and_phases_are_added_up() -> None:
    assert function_seconds(REPORT) == {
        "tests/a/test_x.py::test_one": 4.0,
        "tests/test_y.py::test_two": 0.75,
        "tests/test_y.py::test_three": 0.25,
    }


def test_the_fewest_are_left_out() -> None:
    seconds = function_seconds(REPORT)
    assert slowest(seconds, 5.0) == []
    assert slowest(seconds, 1.0) == ["tests/a/test_x.py::test_one"]
    assert slowest(seconds, 0.5) == ["tests/a/test_x.py::test_one", "tests/test_y.py::test_two"]


def test_every_slow_test_is_there() -> None:
    names = FILE.read_text(encoding="utf-8").split()
    assert names
    for name in names:
        path, _, function = name.partition("::")
        assert f"def {function.rpartition('::')[2]}(" in (ROOT / path).read_text(encoding="utf-8"), name
