"""What Lo and Knowles 2023 published: directions whose ranking changed, and shares by length of document."""

from __future__ import annotations

from typing import NamedTuple

# The truths of Tables 1 to 3 and the columns here that stand for them.
METRICS = {"COMET-20": "COMET", "YiSi-1": "YiSi-1", "sentBLEU": "BLEU", "chrF": "chrF"}


class Runs(NamedTuple):
    """Directions with another ranking in the best, median and worst of 13 runs, of so many directions."""

    best: int
    median: int
    worst: int
    of: int


class Once(NamedTuple):
    """Directions with another ranking in the one sample that was drawn at WMT, of so many directions."""

    changed: int
    of: int


Row = tuple[Runs, Runs, Runs, Runs]

# The mean coverage of the directions of each table (Tables 6 to 8 there).
COVERAGE = {1: 0.54, 2: 0.82, 3: 0.6}
SAMPLED: dict[int, tuple[Once, ...]] = {
    1: (Once(2, 3), Once(6, 9), Once(6, 9), Once(6, 9)),
    2: (Once(26, 35), Once(34, 43), Once(37, 43), Once(34, 43)),
    3: (Once(8, 12), Once(8, 12), Once(9, 12), Once(8, 12)),
}
# Simulated as at WMT: segments and whole documents with a draw for each model, fixed snippets with one.
AS_AT_WMT: dict[int, Row] = {
    1: (Runs(1, 1, 2, 3), Runs(3, 5, 7, 9), Runs(3, 6, 7, 9), Runs(3, 6, 8, 9)),
    2: (Runs(25, 27, 29, 35), Runs(28, 34, 36, 43), Runs(32, 35, 37, 43), Runs(31, 33, 37, 43)),
    3: (Runs(7, 10, 11, 12), Runs(6, 8, 10, 12), Runs(8, 9, 10, 12), Runs(5, 8, 10, 12)),
}
# Budgeted snippets, one draw for all.
BUDGETED: dict[int, Row] = {
    1: (Runs(1, 1, 2, 3), Runs(5, 6, 7, 9), Runs(4, 6, 7, 9), Runs(4, 7, 9, 9)),
    2: (Runs(13, 18, 21, 35), Runs(15, 18, 21, 43), Runs(25, 27, 32, 43), Runs(16, 20, 23, 43)),
    3: (Runs(4, 7, 10, 12), Runs(7, 8, 11, 12), Runs(6, 9, 11, 12), Runs(6, 8, 9, 12)),
}
# Percent of the segments by length of document (1–9, 10–19, … 50 and more): the full set, fixed, budgeted.
BANDS: dict[str, tuple[tuple[int | None, ...], ...]] = {
    "en–de": ((18, 44, 26, 8, 2, 3), (19, 48, 24, 7, 1, 1), (18, 44, 26, 8, 2, 3)),
    "en–ru": ((18, 44, 26, 8, 2, 3), (20, 43, 26, 8, 2, 2), (18, 44, 26, 8, 2, 3)),
    "zh–en": ((25, 26, 46, 3, None, None), (31, 28, 39, 2, None, None), (25, 26, 46, 3, None, None)),
    "sah–ru": ((7, 18, 14, 6, 15, 40), (7, 19, 13, 7, 15, 40), (7, 18, 14, 6, 15, 40)),
    "uk–cs": ((56, 11, 7, 5, 3, 19), (43, 35, 11, 4, 4, 4), (59, 11, 7, 5, 3, 19)),
}
