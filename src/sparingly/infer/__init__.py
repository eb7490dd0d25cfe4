"""What the judged items say: scores of the whole set, rankings of models, and how close a subset comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.catalogue import class_getter

if TYPE_CHECKING:
    from sparingly.infer.estimate.estimators import ControlVariate as ControlVariate
    from sparingly.infer.estimate.estimators import Greg as Greg
    from sparingly.infer.estimate.estimators import Mean as Mean
    from sparingly.infer.estimate.estimators import Ppi as Ppi
    from sparingly.infer.estimate.estimators import StratifiedMean as StratifiedMean
    from sparingly.infer.estimate.estimators import WeightedMean as WeightedMean

__getattr__ = class_getter(__name__)
