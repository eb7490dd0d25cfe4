"""What Saldías et al. 2022 published, table by table."""

from __future__ import annotations

from typing import NamedTuple

EN_DE, ZH_EN, EN_RU = "English–German", "Chinese–English", "English–Russian"


class Line(NamedTuple):
    """A row of Tables 1 to 4 and 6: the absolute error, its standard deviation, and wins in percent."""

    error: float
    sd: float
    win: float | None = None


class Bound(NamedTuple):
    """A row of Table 5: calibration in percent, slack, and the bound itself, which both methods share."""

    calibration: int
    slack: float
    width: float


Lines = dict[str, dict[str, Line]]
_BASE = {EN_DE: Line(0.171, 0.128), ZH_EN: Line(0.290, 0.217)}
_DOCS = {EN_DE: Line(0.158, 0.118, 75.7), ZH_EN: Line(0.250, 0.187, 92.4)}
_KNN = {EN_DE: Line(0.158, 0.119, 74.1), ZH_EN: Line(0.246, 0.185, 92.2)}

TABLE_1: Lines = {
    "baseline": _BASE,
    "docs-prop": _DOCS,
    "docs-opt": {EN_DE: Line(0.213, 0.145, 32.6), ZH_EN: Line(0.356, 0.233, 27.2)},
    "metrics-prop": {EN_DE: Line(0.157, 0.118, 77.2), ZH_EN: Line(0.246, 0.185, 91.1)},
    # Named in the text as much worse, without figures.
    "metrics-opt": {},
}
TABLE_2: Lines = {
    "baseline": _BASE,
    "docs-incr-metrics": {EN_DE: Line(0.183, 0.132, 44.1), ZH_EN: Line(0.346, 0.239, 25.4)},
    "docs-incr-human": {EN_DE: Line(0.231, 0.143, 26.7), ZH_EN: Line(0.418, 0.251, 27.4)},
}
TABLE_3: Lines = {
    "baseline": _BASE,
    "cv-bleurt": {EN_DE: Line(0.158, 0.118, 74.3), ZH_EN: Line(0.260, 0.193, 84.1)},
    "cv-mean": {EN_DE: Line(0.159, 0.118, 74.8), ZH_EN: Line(0.251, 0.188, 88.3)},
    "cv-multi": {EN_DE: Line(0.160, 0.118, 73.3), ZH_EN: Line(0.254, 0.188, 88.5)},
    "cv-knn": _KNN,
    # Footnote 1's form of the covariance, without figures.
    "cv-multi, centred": {},
}
TABLE_4: Lines = {
    "baseline": _BASE,
    "docs-prop": _DOCS,
    "cv-knn": _KNN,
    "docs-prop+cv-knn": {EN_DE: Line(0.147, 0.110, 88.5), ZH_EN: Line(0.224, 0.167, 98.5)},
    "metrics-prop+cv-knn": {EN_DE: Line(0.156, 0.116, 77.8), ZH_EN: Line(0.244, 0.182, 92.0)},
}
TABLE_6: Lines = {
    "baseline": {EN_DE: Line(0.203, 0.153), ZH_EN: Line(0.359, 0.267), EN_RU: Line(1.601, 1.197)},
    "docs-prop+cv-knn": {
        EN_DE: Line(0.188, 0.140, 78.1),
        ZH_EN: Line(0.283, 0.212, 97.9),
        EN_RU: Line(1.482, 1.117, 77.3),
    },
    # For sets without documents.
    "cv-knn": {},
}
# By share, the baseline and docs-prop+cv-knn; R = 4 and 7.
TABLE_5: dict[float, dict[str, dict[str, Bound]]] = {
    0.1: {
        "baseline": {EN_DE: Bound(92, 0.36, 0.61), ZH_EN: Bound(89, 0.56, 0.90)},
        "docs-prop+cv-knn": {EN_DE: Bound(96, 0.40, 0.61), ZH_EN: Bound(97, 0.49, 0.90)},
    },
    0.3: {
        "baseline": {EN_DE: Bound(93, 0.19, 0.31), ZH_EN: Bound(90, 0.29, 0.46)},
        "docs-prop+cv-knn": {EN_DE: Bound(96, 0.20, 0.31), ZH_EN: Bound(96, 0.25, 0.46)},
    },
    0.5: {
        "baseline": {EN_DE: Bound(92, 0.12, 0.20), ZH_EN: Bound(90, 0.19, 0.30)},
        "docs-prop+cv-knn": {EN_DE: Bound(96, 0.13, 0.20), ZH_EN: Bound(96, 0.16, 0.30)},
    },
}
# The error of each rater's mean as the others predict it, rater1 to rater6, and the mean as printed.
TABLE_12: dict[str, tuple[float, ...]] = {
    EN_DE: (0.13, 0.22, 0.47, 0.32, 0.14, 0.33),
    ZH_EN: (0.37, 0.60, 0.38, 1.55, 1.40, 0.69),
}
TABLE_12_MEANS = {EN_DE: 0.27, ZH_EN: 0.83}
# Table 8: the mean MQM over all systems, for the scale of the errors.
MEAN_SCORES = {EN_DE: 1.99, ZH_EN: 4.97}


def ratio(lines: Lines, method: str, direction: str) -> float | None:
    """Return the error of a method over that of the baseline; None where it was not published."""
    line = lines[method].get(direction)
    return None if line is None else line.error / lines["baseline"][direction].error
