"""``sparingly --cite``: how to cite the package and the methods it builds on."""

from __future__ import annotations

import sys

from sparingly._version import __version__

_OURS = """@software{{sparingly,
  title   = {{sparingly: choosing what people judge, and learning what judging everything would have said}},
  author  = {{{{The sparingly developers}}}},
  version = {{{version}}},
  year    = {{2026}}
}}
"""
_PAPERS = """
Please cite the papers whose methods you use, too:
  metric_avg, metric_var, metric_cons, mix, cost-aware selection: Zouhar, Cui and Sachan (2025),
    How to Select Datapoints for Efficient Human Evaluation of NLG Models?
  soft pairwise accuracy: Thompson, Mathur, Deutsch and Khayrallah (2024),
    Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy
"""


def cite() -> None:
    """Print how to cite the package and the methods."""
    sys.stdout.write(_OURS.format(version=__version__) + _PAPERS)
