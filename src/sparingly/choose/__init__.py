"""Choosing what people judge: utilities, designs and budgets. Methods are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.catalogue import class_getter

if TYPE_CHECKING:
    from sparingly.choose.design.clusters import KMeans as KMeans
    from sparingly.choose.design.documents import Documents as Documents
    from sparingly.choose.design.documents import Snippets as Snippets
    from sparingly.choose.design.probability_design import Cube as Cube
    from sparingly.choose.design.probability_design import LocalPivotal as LocalPivotal
    from sparingly.choose.design.probability_design import Pivotal as Pivotal
    from sparingly.choose.design.probability_design import Systematic as Systematic
    from sparingly.choose.design.probability_design import Uniform as Uniform
    from sparingly.choose.design.random import Guided as Guided
    from sparingly.choose.design.random import Random as Random
    from sparingly.choose.design.search import SubsetSearch as SubsetSearch
    from sparingly.choose.design.stratified import Stratified as Stratified
    from sparingly.choose.design.top import Top as Top
    from sparingly.choose.distil.external_models import InstantConfidence as InstantConfidence
    from sparingly.choose.distil.external_models import PreComet as PreComet
    from sparingly.choose.distil.external_models import SentinelSrc as SentinelSrc
    from sparingly.choose.distil.model import Distilled as Distilled
    from sparingly.choose.utility.base import Mix as Mix
    from sparingly.choose.utility.diversity import Diversity as Diversity
    from sparingly.choose.utility.metric import MetricAvg as MetricAvg
    from sparingly.choose.utility.metric import MetricCons as MetricCons
    from sparingly.choose.utility.metric import MetricVar as MetricVar
    from sparingly.choose.utility.metric import Uncertainty as Uncertainty
    from sparingly.choose.utility.residual_size import ResidualSize as ResidualSize

__getattr__ = class_getter(__name__)
