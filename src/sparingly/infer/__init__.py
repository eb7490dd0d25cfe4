"""What the judged items say: scores of the whole set, rankings of models, and how close a subset comes.

Importing this package registers its estimators; a new one is a file of its own and a line here.
"""

from sparingly.infer.estimate.control_variate import ControlVariate
from sparingly.infer.estimate.greg import Greg
from sparingly.infer.estimate.mean import Mean
from sparingly.infer.estimate.ppi import Ppi
from sparingly.infer.estimate.stratified_mean import StratifiedMean
from sparingly.infer.estimate.weighted_mean import WeightedMean

__all__ = ["ControlVariate", "Greg", "Mean", "Ppi", "StratifiedMean", "WeightedMean"]
