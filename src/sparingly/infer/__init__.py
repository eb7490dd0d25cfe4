"""What the judged items say: scores of the whole set, rankings of models, and how close a subset comes.

Importing this package registers its estimators; a new one is a file of its own and a line here.
"""

from sparingly.infer.estimate.estimators import ControlVariate, Greg, Mean, Ppi, StratifiedMean, WeightedMean

__all__ = ["ControlVariate", "Greg", "Mean", "Ppi", "StratifiedMean", "WeightedMean"]
