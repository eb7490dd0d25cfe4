"""Choosing what people judge: utilities, designs and budgets. Methods are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.catalogue import class_getter

if TYPE_CHECKING:
    from sparingly.choose.design.anchor_points import AnchorPoints as AnchorPoints
    from sparingly.choose.design.cube import Cube as Cube
    from sparingly.choose.design.diffuse import DiffUse as DiffUse
    from sparingly.choose.design.documents import Documents as Documents
    from sparingly.choose.design.facility_location import FacilityLocation as FacilityLocation
    from sparingly.choose.design.guided import Guided as Guided
    from sparingly.choose.design.heuristic import Heuristic as Heuristic
    from sparingly.choose.design.kmeans import KMeans as KMeans
    from sparingly.choose.design.local_pivotal import LocalPivotal as LocalPivotal
    from sparingly.choose.design.max_discrepancy import MaxDiscrepancy as MaxDiscrepancy
    from sparingly.choose.design.pivotal import Pivotal as Pivotal
    from sparingly.choose.design.random import Random as Random
    from sparingly.choose.design.search import SubsetSearch as SubsetSearch
    from sparingly.choose.design.snippets import Snippets as Snippets
    from sparingly.choose.design.stratified import Stratified as Stratified
    from sparingly.choose.design.systematic import Systematic as Systematic
    from sparingly.choose.design.top import Top as Top
    from sparingly.choose.design.uniform import Uniform as Uniform
    from sparingly.choose.distil.apply import Distilled as Distilled
    from sparingly.choose.distil.external_models import InstantConfidence as InstantConfidence
    from sparingly.choose.distil.external_models import PreComet as PreComet
    from sparingly.choose.distil.external_models import SentinelSrc as SentinelSrc
    from sparingly.choose.utility.diversity import Diversity as Diversity
    from sparingly.choose.utility.irt import Irt as Irt
    from sparingly.choose.utility.max_norm import MaxNorm as MaxNorm
    from sparingly.choose.utility.metric_avg import MetricAvg as MetricAvg
    from sparingly.choose.utility.metric_cons import MetricCons as MetricCons
    from sparingly.choose.utility.metric_var import MetricVar as MetricVar
    from sparingly.choose.utility.mix import Mix as Mix
    from sparingly.choose.utility.residual_size import ResidualSize as ResidualSize
    from sparingly.choose.utility.uncertainty import Uncertainty as Uncertainty

__getattr__ = class_getter(__name__)
