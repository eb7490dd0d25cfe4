"""Choosing what people judge: utilities, designs and budgets.

Importing this package registers its methods; a new one is a file of its own and a line here.
"""

from sparingly.choose.design.anchor_points import AnchorPoints
from sparingly.choose.design.cube import Cube
from sparingly.choose.design.diffuse import DiffUse
from sparingly.choose.design.documents import Documents
from sparingly.choose.design.facility_location import FacilityLocation
from sparingly.choose.design.guided import Guided
from sparingly.choose.design.heuristic import Heuristic
from sparingly.choose.design.kmeans import KMeans
from sparingly.choose.design.local_pivotal import LocalPivotal
from sparingly.choose.design.max_discrepancy import MaxDiscrepancy
from sparingly.choose.design.pivotal import Pivotal
from sparingly.choose.design.random import Random
from sparingly.choose.design.search import SubsetSearch
from sparingly.choose.design.snippets import Snippets
from sparingly.choose.design.stratified import Stratified
from sparingly.choose.design.systematic import Systematic
from sparingly.choose.design.top import Top
from sparingly.choose.design.uniform import Uniform
from sparingly.choose.distil.distilled import Distilled
from sparingly.choose.distil.external.instant_confidence import InstantConfidence
from sparingly.choose.distil.external.precomet import PreComet
from sparingly.choose.distil.external.sentinel_src import SentinelSrc
from sparingly.choose.utility.diversity import Diversity
from sparingly.choose.utility.irt import Irt
from sparingly.choose.utility.max_norm import MaxNorm
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.choose.utility.metric_cons import MetricCons
from sparingly.choose.utility.metric_var import MetricVar
from sparingly.choose.utility.mix import Mix
from sparingly.choose.utility.residual_size import ResidualSize
from sparingly.choose.utility.uncertainty import Uncertainty

__all__ = [
    "AnchorPoints",
    "Cube",
    "DiffUse",
    "Distilled",
    "Diversity",
    "Documents",
    "FacilityLocation",
    "Guided",
    "Heuristic",
    "InstantConfidence",
    "Irt",
    "KMeans",
    "LocalPivotal",
    "MaxDiscrepancy",
    "MaxNorm",
    "MetricAvg",
    "MetricCons",
    "MetricVar",
    "Mix",
    "Pivotal",
    "PreComet",
    "Random",
    "ResidualSize",
    "SentinelSrc",
    "Snippets",
    "Stratified",
    "SubsetSearch",
    "Systematic",
    "Top",
    "Uncertainty",
    "Uniform",
]
