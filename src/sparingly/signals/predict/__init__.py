"""Human scores predicted from metrics and texts, cross-fitted: the model that predicts an item never saw it.

``predict_scores`` is the one door. ``Features`` says what a prediction may look at, ``Neighbours`` and
``Boosting`` are regressors with parameters, and any scikit-learn regressor can stand in for them.
"""

from sparingly.signals.predict.features import Features
from sparingly.signals.predict.predict import Predictions, predict_scores
from sparingly.signals.predict.regressors import Boosting, Neighbours, Ridge

__all__ = ["Boosting", "Features", "Neighbours", "Predictions", "Ridge", "predict_scores"]
