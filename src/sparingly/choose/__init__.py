"""Choosing what people judge: utilities, designs and budgets.

Importing this package registers its methods; a new one is a file of its own and a line here.
"""

from sparingly.choose.design.diffuse import DiffUse
from sparingly.choose.design.heuristic import Heuristic
from sparingly.choose.design.kmeans import KMeans
from sparingly.choose.design.random import Random
from sparingly.choose.design.search import SubsetSearch
from sparingly.choose.design.top import Top
from sparingly.choose.utility.diversity import Diversity
from sparingly.choose.utility.irt import Irt
from sparingly.choose.utility.max_norm import MaxNorm
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.choose.utility.metric_cons import MetricCons
from sparingly.choose.utility.metric_var import MetricVar
from sparingly.choose.utility.mix import Mix
from sparingly.choose.utility.uncertainty import Uncertainty

__all__ = [
    "DiffUse",
    "Diversity",
    "Heuristic",
    "Irt",
    "KMeans",
    "MaxNorm",
    "MetricAvg",
    "MetricCons",
    "MetricVar",
    "Mix",
    "Random",
    "SubsetSearch",
    "Top",
    "Uncertainty",
]
