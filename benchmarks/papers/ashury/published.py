"""The published figures of Ashury Tahan et al. 2024; those of their plots are not given as numbers."""

from __future__ import annotations

from collections.abc import Mapping

# Tables 2 (p = 0.2) and 3 (p = 0.1): labels, error %, success %, inconclusive %, and the mean distance in all
# runs and in those that ended in an error, a success, or inconclusive (None: no such run).
Row = tuple[float, float, float, float, float, float | None, float, float]
P02: Mapping[tuple[str, str], Row] = {
    ("CNN/DailyMail", "DiffUse"): (15.90, 11.97, 86.50, 1.53, 0.27, 0.06, 0.30, 0.09),
    ("CNN/DailyMail", "random"): (22.47, 16.77, 80.32, 2.91, 0.27, 0.10, 0.31, 0.07),
    ("NarrativeQA", "DiffUse"): (28.77, 4.20, 89.64, 6.16, 0.31, 0.06, 0.34, 0.05),
    ("NarrativeQA", "random"): (118.69, 0.72, 43.03, 56.25, 0.31, 0.11, 0.55, 0.13),
    ("NaturalQuestions, closed book", "DiffUse"): (189.05, 0.20, 6.40, 93.41, 0.15, 0.12, 0.32, 0.13),
    ("NaturalQuestions, closed book", "random"): (191.74, 0.11, 4.37, 95.53, 0.15, 0.10, 0.32, 0.14),
    ("NaturalQuestions, open book", "DiffUse"): (85.25, 0.93, 62.81, 36.26, 0.20, 0.03, 0.28, 0.06),
    ("NaturalQuestions, open book", "random"): (160.97, 0.17, 21.79, 78.05, 0.20, 0.15, 0.44, 0.13),
    ("QuAC", "DiffUse"): (86.91, 7.75, 58.24, 34.01, 0.15, 0.07, 0.20, 0.08),
    ("QuAC", "random"): (128.93, 4.37, 35.93, 59.70, 0.15, 0.09, 0.25, 0.10),
    ("XSum", "DiffUse"): (44.25, 6.86, 79.38, 13.75, 0.30, 0.09, 0.35, 0.08),
    ("XSum", "random"): (59.39, 6.05, 72.45, 21.50, 0.30, 0.10, 0.37, 0.09),
}
P01: Mapping[tuple[str, str], Row] = {
    ("CNN/DailyMail", "DiffUse"): (34.54, 7.13, 86.44, 6.43, 0.27, 0.05, 0.30, 0.07),
    ("CNN/DailyMail", "random"): (51.98, 8.65, 79.32, 12.03, 0.27, 0.07, 0.32, 0.07),
    ("NarrativeQA", "DiffUse"): (47.80, 1.35, 84.53, 14.11, 0.31, 0.05, 0.36, 0.05),
    ("NarrativeQA", "random"): (132.75, 0.05, 37.69, 62.27, 0.31, 0.05, 0.59, 0.14),
    ("NaturalQuestions, closed book", "DiffUse"): (195.37, 0.00, 3.30, 96.70, 0.15, None, 0.37, 0.14),
    ("NaturalQuestions, closed book", "random"): (197.35, 0.00, 1.65, 98.35, 0.15, None, 0.40, 0.14),
    ("NaturalQuestions, open book", "DiffUse"): (111.02, 0.23, 52.87, 46.91, 0.20, 0.02, 0.30, 0.07),
    ("NaturalQuestions, open book", "random"): (172.34, 0.02, 16.71, 83.27, 0.20, 0.05, 0.49, 0.14),
    ("QuAC", "DiffUse"): (129.20, 2.96, 43.26, 53.78, 0.15, 0.06, 0.23, 0.09),
    ("QuAC", "random"): (158.26, 1.14, 25.11, 73.75, 0.15, 0.08, 0.29, 0.11),
    ("XSum", "DiffUse"): (71.18, 2.16, 73.21, 24.62, 0.30, 0.07, 0.37, 0.08),
    ("XSum", "random"): (88.84, 2.09, 63.90, 34.01, 0.30, 0.08, 0.41, 0.10),
}
BY_RISK: Mapping[float, Mapping[tuple[str, str], Row]] = {0.2: P02, 0.1: P01}
